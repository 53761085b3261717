"""The slow obvious truth: kernels by loops, textbook objectives, dense quadratic programs.

`solve_dual` gives the optimum of any `DualProblem`, singular Gram matrices and infinite boxes
included, with a bound on its own error; `solve_by_quadprog` is a second opinion on definite ones.
"""

from typing import NamedTuple

import numpy as np
import quadprog


def gram(kernel, A, B=None):
    """k(a, b) for every pair, one at a time."""
    B = A if B is None else B
    return np.array([[kernel(a, b) for b in B] for a in A], dtype=np.float64)


def linear(a, b):
    return sum(u * v for u, v in zip(a, b))


def polynomial(gamma, coef0, degree):
    return lambda a, b: (gamma * linear(a, b) + coef0) ** degree


def sigmoid(gamma, coef0):
    return lambda a, b: np.tanh(gamma * linear(a, b) + coef0)


def gaussian(gamma):
    return lambda a, b: np.exp(-gamma * sum((u - v) ** 2 for u, v in zip(a, b)))


def hinge_primal(K, y, C, coef, b):
    f = K @ coef + b
    return 0.5 * coef @ K @ coef + sum(c * max(0.0, 1.0 - t * v) for c, t, v in zip(C, y, f))


def squared_hinge_primal(K, y, C, coef, b):
    f = K @ coef + b
    return 0.5 * coef @ K @ coef + sum(c * max(0.0, 1.0 - t * v) ** 2 for c, t, v in zip(C, y, f))


def hard_margin_primal(K, y, coef):
    """½‖w‖² once w is as long as it takes to make the smallest margin 1, at the best b."""
    f = K @ coef
    margin = 0.5 * (f[y > 0].min() - f[y < 0].max())
    return 0.5 * coef @ K @ coef / margin**2 if margin > 0 else np.inf


def epsilon_svr_primal(K, y, C, epsilon, coef, b):
    f = K @ coef + b
    losses = (c * max(0.0, abs(t - v) - epsilon) for c, t, v in zip(C, y, f))
    return 0.5 * coef @ K @ coef + sum(losses)


def nu_svc_primal(K, y, nu, weight, coef, b, rho):
    f = K @ coef + b
    losses = (w * max(0.0, rho - t * v) for w, t, v in zip(weight, y, f))
    return 0.5 * coef @ K @ coef - nu * rho * sum(weight) + sum(losses)


def nu_svr_primal(K, y, nu, C, coef, b, epsilon):
    return epsilon_svr_primal(K, y, C, epsilon, coef, b) + nu * epsilon * sum(C)


def one_class_primal(K, weight, nu, coef, rho):
    losses = (w * max(0.0, rho - v) for w, v in zip(weight, K @ coef))
    return 0.5 * coef @ K @ coef - nu * rho * sum(weight) + sum(losses)


def enclosing_ball_primal(K, coef, b):
    """½R² of the ball around c = Σ coef_i φ(x_i) with R² = ‖c‖² + 2b, or more if it takes more."""
    length = coef @ K @ coef
    return 0.5 * max(length + 2.0 * b, *(np.diag(K) - 2.0 * K @ coef + length))


class Optimum(NamedTuple):
    """A feasible alpha, its dual value, and how far below the optimum that can be."""

    alpha: np.ndarray
    value: float
    gap: float


class Program(NamedTuple):
    """linear·x − ½xᵀQx → max subject to Ax = totals, lower ≤ x ≤ upper, where lower < upper."""

    Q: np.ndarray
    linear: np.ndarray
    A: np.ndarray
    totals: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def gap(self, x, y):
        """How far x can be from the value of an optimum at most R away, by the multipliers y of
        the sums: e = linear − Qx − Aᵀy pulls every variable towards a bound."""
        e = self.linear - self.Q @ x - self.A.T @ y
        R = 1.0 + 2.0 * np.abs(x).sum()
        rise, fall = np.minimum(self.upper - x, R), np.minimum(x - self.lower, R)
        missing, price = np.abs(self.totals - self.A @ x), np.abs(y) + np.abs(e).max()
        return np.maximum(e * rise, -e * fall).sum() + missing @ price

    def meeting(self, x):
        """Largest gradient that may rise, smallest that may fall, in each group."""
        e = self.linear - self.Q @ x
        tops = np.max(np.where((self.A > 0) & (x < self.upper), e, -np.inf), axis=1)
        bottoms = np.min(np.where((self.A > 0) & (x > self.lower), e, np.inf), axis=1)
        return tops, bottoms

    def violation(self, x):
        tops, bottoms = self.meeting(x)
        return max(0.0, np.max(tops - bottoms))

    def magnitude(self, x, y):
        """Size of the terms that the value and the gap are made of."""
        return np.abs(np.concatenate([self.linear * x, x * (self.Q @ x), y * self.totals])).sum()

    def rounding(self, x):
        """What is lost where large terms of xᵀQx cancel; never quite nothing."""
        return 1e-15 * x.size * np.abs(x) @ np.abs(self.Q) @ np.abs(x) + 1e-30


def program_of(problem, K):
    """The program over the variables that can move, and alpha where it cannot: the box is a
    point, or the sum demanded of the group is that of all its bounds."""
    Q = np.tile(np.asarray(K, dtype=np.float64), (problem.copies, problem.copies))
    Q = Q + np.diag(problem.ridge)
    moving = problem.lower < problem.upper
    alpha = np.where(moving, 0.0, problem.lower)
    for g, total in enumerate(problem.totals):
        for bound in (problem.lower, problem.upper):
            members = problem.group == g
            rounding = 1e-14 * np.abs(bound[members]).sum()
            if abs(bound[members].sum() - total) <= rounding < np.inf:
                alpha[members] = bound[members]
                moving &= ~members
    groups = np.unique(problem.group[moving])
    settled = [alpha[problem.group == g].sum() for g in groups]
    program = Program(
        Q[np.ix_(moving, moving)],
        (problem.linear - Q @ alpha)[moving],
        (problem.group[moving] == groups[:, None]).astype(np.float64),
        problem.totals[groups] - np.array(settled),
        problem.lower[moving],
        problem.upper[moving],
    )
    return program, moving, alpha


def solve_dual(problem, K, accuracy=1e-9):
    """The optimum of a `DualProblem` on the Gram matrix K.

    Raises ArithmeticError where the gap stays above `accuracy` times the magnitude of the terms
    that make up the value (and 1e-12), rounding apart, as it does when the problem is unbounded.
    """
    program, moving, alpha = program_of(problem, K)
    if not moving.any():
        return Optimum(alpha, dual_value(problem, K, alpha), 0.0)
    x, y = polished(program, *interior_point(program))
    gap, magnitude = program.gap(x, y), program.magnitude(x, y)
    allowed = accuracy * magnitude + min(program.rounding(x), 1e-6 * magnitude + 1e-8) + 1e-12
    if not gap <= allowed:
        raise ArithmeticError(f"gap {gap:.1e} at values of {magnitude:.1e}")
    alpha[moving] = x
    return Optimum(alpha, dual_value(problem, K, alpha), float(gap))


def dual_value(problem, K, alpha):
    Q = np.tile(K, (problem.copies, problem.copies)) + np.diag(problem.ridge)
    return float(problem.linear @ alpha - 0.5 * alpha @ Q @ alpha)


@np.errstate(all="ignore")
def interior_point(program, steps=300):
    """Newton steps along the central path s·z = μ → 0, until rounding ends them.

    The bounds are Bx + c = s ≥ 0 with multipliers z ≥ 0; all of x, y, s, z move together.
    """
    Q, slope, A, totals, lower, upper = program
    eye = np.eye(slope.size)
    below, above = np.isfinite(lower), np.isfinite(upper)
    B = np.vstack([eye[below], -eye[above]])
    c = np.concatenate([-lower[below], upper[above]])
    width = np.where(below & above, upper - lower, 2.0)
    x = np.where(below, lower + 0.5 * width, np.where(above, upper - 0.5 * width, 0.0))
    y, s = np.zeros(totals.size), B @ x + c
    z = np.full(c.size, max(1.0, np.abs(slope - Q @ x).max()))

    def newton(products):
        """The step after which s·z would be `products` and all residuals zero."""
        H = Q + B.T @ ((z / s)[:, None] * B)
        slack = B @ x + c - s
        stationarity = slope - Q @ x - A.T @ y + B.T @ z
        right = stationarity + B.T @ ((products - s * z - z * slack) / s)
        matrix = np.block([[H, A.T], [A, np.zeros((len(A), len(A)))]])
        step = np.linalg.solve(matrix, np.concatenate([right, totals - A @ x]))
        dx, dy = step[: slope.size], step[slope.size :]
        ds = B @ dx + slack
        return dx, dy, ds, (products - s * z - z * ds) / s

    def longest(ds, dz):
        """A step that keeps s and z positive and their products within reach of each other."""
        v, dv = np.concatenate([s, z]), np.concatenate([ds, dz])
        t = min(1.0, 0.99 * np.min(-v[dv < 0] / dv[dv < 0], initial=np.inf))
        for _ in range(50):
            products = (s + t * ds) * (z + t * dz)
            if products.min() >= 1e-6 * products.mean():
                break
            t *= 0.8
        return t

    for _ in range(steps):
        mu = s @ z / s.size
        if mu * s.size < 1e-17 * (program.magnitude(x, y) + program.rounding(x)):
            break
        try:
            dx, dy, ds, dz = newton(0.1 * mu)
        except np.linalg.LinAlgError:
            break
        if not np.isfinite(dx).all():
            break
        t = longest(ds, dz)
        x, y, s, z = x + t * dx, y + t * dy, s + t * ds, z + t * dz
    return np.clip(x, lower, upper), y


@np.errstate(all="ignore")
def polished(program, x, y):
    """The variables near a bound put there and the others solved for exactly.

    Of several ideas of 'near' it takes those with a gap as small as can be, and of these the one
    with the least violation.
    """
    Q, slope, A, totals, lower, upper = program
    found = [(x, y)]
    newton = np.abs(slope).max() / max(np.diag(Q).max(), 1e-300)
    for nearness in 10.0 ** np.arange(-13, -2):
        close = nearness * np.minimum(upper - lower, max(np.abs(x).max(), newton))
        near = np.where(x - lower < close, lower, np.where(upper - x < close, upper, x))
        free = (lower < near) & (near < upper)
        corner = np.zeros((len(A), len(A)))
        matrix = np.block([[Q[np.ix_(free, free)], A[:, free].T], [A[:, free], corner]])
        right = np.concatenate([(slope - Q @ near - A.T @ y)[free], totals - A @ near])
        step = np.linalg.lstsq(matrix, right, rcond=1e-13)[0]
        near[free] = np.clip(near[free] + step[: free.sum()], lower[free], upper[free])
        tops, bottoms = program.meeting(near)
        found.append((near, np.minimum(np.maximum(y, tops), bottoms)))
    gaps = np.array([program.gap(*each) for each in found])
    small = gaps <= 10 * gaps.min() + program.rounding(x) + 1e-12 * program.magnitude(x, y)
    return min((found[k] for k in np.flatnonzero(small)), key=lambda xy: program.violation(xy[0]))


def solve_by_quadprog(problem, K):
    """alpha by a dual active-set method that wants Q definite and room between the bounds."""
    program, moving, alpha = program_of(problem, K)
    Q, slope, A, totals, lower, upper = program
    eye = np.eye(slope.size)
    below, above = np.isfinite(lower), np.isfinite(upper)
    constraints = np.vstack([A, eye[below], -eye[above]]).T
    limits = np.concatenate([totals, lower[below], -upper[above]])
    alpha[moving] = quadprog.solve_qp(Q, slope, constraints, limits, len(A))[0]
    return alpha
