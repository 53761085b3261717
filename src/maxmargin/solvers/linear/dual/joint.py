"""The joint multi-class machine of Crammer and Singer.

    minimise  ½ Σ_k ‖w_k‖² + ½ penalty Σ_k b_k² + Σ_i C_i max_k(e_ik + z_ik − z_i,own)

with z_i = W x_i + b and e_ik = 1 for every class but the sample's own. The method is that of
`newton`: a few epochs of coordinate descent, then semismooth Newton steps on the problem smoothed
by a proximal pull of β, whose centre follows. The Newton systems have a row a class and feature;
they are solved directly where there are few, by conjugate gradients where there are many.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....linalg.jitter import solve
from ....runtime.parallel import single_threaded_blas
from ...interrupt import deferred_interrupts
from ..costs import COSTS
from ..data.units import Units, units_of_matrix
from ..losses import Float
from ..records import ENDING, Budget, LinearSolution, OutOfTime, Point
from . import joint_compiled as jc
from . import sweeps
from .coordinate import SEED
from .joint_certificate import JointProblem, joint_values, repaired_joint


class Rules(NamedTuple):
    """How the joint Newton method decides."""

    # Epochs of coordinate descent before the first Newton step.
    epochs: int = 10
    # σ of the first pull, in units of 1/‖x‖².
    first_pull: float = 3.0
    # A smoothed problem is solved when its own gap is below this fraction of the rest of the gap.
    solved: float = 0.5
    # An inexact Newton step may leave this fraction of the residual, and takes at most so many
    # iterations.
    step_accuracy: float = 0.1
    most_iterations: int = 300
    # Largest σ, relative to the ratio of the sizes of β and the outputs.
    digits: float = 1e9
    # Problems with a larger C are first solved with this one.
    largest_cost: float = 1e6


RULES = Rules()


class JointNewton:
    """The method and its state: W, b, outputs Z, responses β and their centre."""

    def __init__(self, problem: JointProblem, budget: Budget, start: Point | None = None) -> None:
        self.problem, self.check = problem, budget.check
        n, k = problem.matrix.n, problem.classes
        norm = float(problem.matrix.squared_norms.mean())
        self.norm = norm if norm > 0.0 else 1.0
        self.sigma = min(RULES.first_pull / self.norm, 2.0 * float(problem.cost.mean()))
        self.beta, self.free = np.zeros((n, k)), np.zeros((n, k), dtype=bool)
        if start is None:
            self.W, self.b = self._warm_up(budget)
        else:
            self.beta = np.array(start.beta)
            self.W, self.b = problem.combined(self.beta), np.array(start.b, dtype=np.float64)
        self.center = self.beta.copy()
        self.Z = problem.outputs(self.W, self.b)
        self.inner = 0
        self.respond()

    def _warm_up(self, budget: Budget) -> tuple[Float, Float]:
        problem, matrix = self.problem, self.problem.matrix
        intercept = problem.intercept
        kappa = 0.0
        if intercept.fitted:
            kappa = 1.0 / intercept.penalty if intercept.penalty > 0.0 else self.norm
        W, b = np.zeros((matrix.d, problem.classes)), np.zeros(problem.classes)
        order, state = np.arange(matrix.n), np.array([SEED], dtype=np.uint64)
        for _ in range(RULES.epochs):
            if budget.ended():
                break
            sweeps.shuffle(order, matrix.n, state)
            matrix.joint_sweep(
                problem.codes, problem.cost, matrix.squared_norms, self.beta, W, b, kappa, order
            )
            budget.steps += 1
        return np.ascontiguousarray(W.T), b

    def respond(self) -> None:
        problem, intercept = self.problem, self.problem.intercept
        jc.respond(
            self.Z, problem.codes, problem.cost, self.center, self.sigma, self.beta, self.free
        )
        self.G = self.W - problem.combined(self.beta)
        total = self.beta.sum(axis=0)
        self.g = intercept.penalty * self.b - total if intercept.fitted else np.zeros_like(total)
        value, self.slack = jc.measure(self.Z, problem.codes, problem.cost, self.beta)
        self.objective, self.defect = joint_values(problem, self.W, self.b, self.G, self.g, value)
        self.gap = self.defect + self.slack

    def converged(self, tol: float) -> bool:
        return self.gap <= tol * abs(self.objective)

    def advance(self) -> None:
        """One Newton step; if the smoothed problem is solved, the centre moves first."""
        if self.defect <= RULES.solved * self.slack:
            self.center = self.beta.copy()
            growth = 4.0 if self.inner <= 1 else (2.0 if self.inner <= 4 else 1.5)
            self.sigma = max(self.sigma, min(growth * self.sigma, self.weakest_pull()))
            self.inner = 0
            self.respond()
        rows = np.flatnonzero(self.free.sum(axis=1) > 1)
        part, free = self.problem.take(rows), np.ascontiguousarray(self.free[rows])
        k, d = self.W.shape
        unknowns = k * (d + self.problem.intercept.fitted)
        step = (
            self._direct(part, free)
            if unknowns <= COSTS.joint_factored
            else self._iterative(part, free)
        )
        self._move(*step)
        self.inner += 1
        self.respond()

    def weakest_pull(self) -> float:
        """The σ at which rounding of the outputs becomes visible in β."""
        outputs = float(np.abs(self.Z).max(initial=1.0))
        return RULES.digits * float(np.abs(self.beta).max(initial=0.0)) / outputs

    def intercept_curvature(self, samples: int) -> float:
        """The curvature of the penalty, plus enough to keep the step of a free intercept near 1."""
        damping = 1e-12 * self.sigma * max(1, samples) + float(np.abs(self.g).max(initial=0.0))
        return self.problem.intercept.penalty + damping

    def _hessian(self, part: JointProblem, free: Any, V: Float, v: Float) -> tuple[Float, Float]:
        U = part.outputs(V, v)
        jc.apply_face(free, self.sigma, U)
        penalty = self.intercept_curvature(free.shape[0])
        across = penalty * v + U.sum(axis=0) if self.problem.intercept.fitted else np.zeros_like(v)
        return V + part.combined(U), across

    def _iterative(self, part: JointProblem, free: Any) -> tuple[Float, Float]:
        V, v = np.zeros_like(self.W), np.zeros_like(self.b)
        R, r = -self.G, -self.g
        P, p = R.copy(), r.copy()
        rr = start = float((R * R).sum() + r @ r)
        for _ in range(RULES.most_iterations):
            if rr <= RULES.step_accuracy**2 * start or rr == 0.0:
                break
            self.check()
            A, a = self._hessian(part, free, P, p)
            curvature = float((P * A).sum() + p @ a)
            if not curvature > 0.0:
                break
            length = rr / curvature
            V += length * P
            v += length * p
            R -= length * A
            r -= length * a
            last, rr = rr, float((R * R).sum() + r @ r)
            P, p = R + (rr / last) * P, r + (rr / last) * p
        return V, v

    def _direct(self, part: JointProblem, free: Any) -> tuple[Float, Float]:
        fitted = self.problem.intercept.fitted
        k, d = self.W.shape
        width = d + fitted
        H = np.zeros((k, width, k, width))
        counts = np.maximum(free.sum(axis=1), 1)
        for c in range(k):
            for e in range(c + 1):
                self.check()
                weight = self.sigma * free[:, c] * ((c == e) - free[:, e] / counts)
                rows = np.flatnonzero(weight)
                gram, border = np.zeros((d, d)), np.zeros(d)
                part.matrix.add_outer(rows, weight[rows], gram, border)
                gram = np.tril(gram) + np.tril(gram, -1).T
                H[c, :d, e, :d] = gram
                if fitted:
                    H[c, d, e, :d] = H[c, :d, e, d] = border
                    H[c, d, e, d] = weight.sum()
                H[e, :, c, :] = H[c, :, e, :].T
        H = H.reshape(k * width, k * width)
        raised = np.ones((k, width))
        if fitted:
            raised[:, d] = self.intercept_curvature(counts.size)
        H[np.diag_indices_from(H)] += raised.ravel()
        right = np.column_stack([self.G, self.g]) if fitted else self.G
        step = -solve(H, right.ravel()).reshape(k, width)
        return step[:, :d], step[:, d] if fitted else np.zeros(k)

    def _move(self, V: Float, v: Float) -> None:
        """Move along the step until the derivative has nearly vanished."""
        problem = self.problem
        dZ = problem.outputs(np.ascontiguousarray(V), v)
        linear = float((self.W * V).sum() + problem.intercept.penalty * (self.b @ v))
        quadratic = float((V * V).sum() + problem.intercept.penalty * (v @ v))

        def slope(t: float) -> float:
            loss = jc.slope_along(
                self.Z, dZ, t, problem.codes, problem.cost, self.center, self.sigma
            )
            return loss + linear + t * quadratic

        low, high, t = 0.0, np.inf, 1.0
        enough = 0.1 * abs(slope(0.0))
        for _ in range(50):
            here = slope(t)
            if abs(here) <= enough:
                break
            if here < 0.0:
                low = t
            else:
                high = t
            t = 2.0 * t if np.isinf(high) else 0.5 * (low + high)
        self.W = self.W + t * V
        self.b = self.b + t * v
        self.Z = self.Z + t * dZ


def fit_joint(
    problem: JointProblem,
    *,
    tol: float = 1e-6,
    start: Point | None = None,
    max_steps: float = np.inf,
    max_seconds: float = np.inf,
    callback: Any = None,
) -> LinearSolution:
    """Minimise the joint objective; `w` of the solution has a row and `b` an entry a class, and
    the `beta` of a start a row a sample and a column a class.

    Parameters
    ----------
    problem : JointProblem
    tol : float
        Relative duality gap at which the run ends.
    max_steps, max_seconds : float
        Limits of the run.
    start : Point, optional
        Of an earlier run.
    callback : callable, optional
        Called with a `LinearProgress` between steps; returning true ends the run.

    Returns
    -------
    LinearSolution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import Intercept, JointProblem, as_matrix, fit_joint
    >>> matrix = as_matrix(np.array([[-2.0], [0.0], [2.0]]))
    >>> solution = fit_joint(JointProblem(matrix, np.arange(3), np.ones(3), 3, Intercept(True)))
    >>> solution.status, solution.w.shape
    ('converged', (3, 1))
    """
    units = units_of_matrix(problem.matrix, problem.intercept, float(problem.cost.min()))
    own = problem.in_units(units)
    begin = None if start is None else units.point(start)
    with deferred_interrupts() as interrupt, single_threaded_blas(), np.errstate(all="ignore"):
        budget = Budget(max_steps, max_seconds, callback, interrupt, units.objective)
        solution = None
        if begin is None:
            solution = _with_smaller_cost(own, ENDING.aim * tol, budget)
        status, found = "converged", _delivered(problem, units, solution, tol)
        if found is None or found[3].relative_gap > tol:
            solution = run_joint(own, begin, ENDING.aim * tol, budget)
            status = solution[3]
            other = _delivered(problem, units, solution, tol)
            found = other if found is None or other[3].gap < found[3].gap else found
        W, b, beta, certificate = found
    if status in ("converged", "precision"):
        status = "converged" if certificate.relative_gap <= tol else "precision"
    return LinearSolution(W, b, beta, certificate, status, budget.steps, budget.seconds)


def _delivered(problem: JointProblem, units: Units, solution: Any, tol: float) -> Any:
    """W, b and β of a solution in original units, and their certificate."""
    if solution is None:
        return None
    W, b, beta = units.model(*solution[:3])
    plain = units.unshifted()
    point = plain.point(Point(beta, W, b))
    if not (np.isfinite(W).all() and np.isfinite(b).all() and np.isfinite(beta).all()):
        point = Point(np.zeros_like(beta), np.zeros_like(W), np.zeros_like(b))
    assert point.w is not None
    W, b, beta, certificate = repaired_joint(
        problem.in_units(plain), point.w, point.b, point.beta, tol
    )
    return *plain.model(W, b, beta), plain.certificate(certificate)


def _with_smaller_cost(
    problem: JointProblem, tol: float, budget: Budget
) -> tuple[Float, Float, Float, str] | None:
    """The solution for a smaller C that loses no digits, if it is also one for the larger C: no
    sample is at its bound. Separable samples have such a solution."""
    largest = float(problem.cost.max())
    if largest <= RULES.largest_cost:
        return None
    smaller = problem._replace(cost=problem.cost * (RULES.largest_cost / largest))
    solution = run_joint(smaller, None, tol, budget)
    own = solution[2][np.arange(problem.codes.size), problem.codes]
    return solution if (own < 0.5 * smaller.cost).all() else None


def run_joint(
    problem: JointProblem, begin: Point | None, tol: float, budget: Budget
) -> tuple[Float, Float, Float, str]:
    """Newton steps until the gap is within `tol`: W, b, β and the status."""
    state = JointNewton(problem, budget, begin)
    small = problem.matrix.entries * problem.classes <= COSTS.small_entries
    best, since, status, polishing = np.inf, 0, "", 0
    kept = (state.W, state.b, state.beta.copy(), np.inf)
    while not status:
        support = int(np.count_nonzero(state.beta.any(axis=1)))
        since = 0 if state.gap < 0.9 * best else since + 1
        best = min(best, state.gap)
        if state.gap < kept[3]:
            kept = (state.W, state.b, state.beta.copy(), state.gap)
        polishing += polishing > 0 or state.converged(tol)
        if budget.asked_to_stop(state.objective, state.gap, support, problem.matrix.n):
            status = "stopped"
        elif polishing:
            over = polishing > ENDING.polish_steps or since > ENDING.polish_patience
            over |= state.gap <= ENDING.polished * state.objective
            status = "converged" if over or not small else ""
        elif since > ENDING.patience:
            status = "precision"
        status = status or ("converged" if polishing and budget.ended() else budget.ended())
        if not status:
            try:
                state.advance()
            except OutOfTime:
                status = budget.ended()
                continue
            budget.steps += 1
    W, b, beta, _ = kept
    if problem.intercept.penalty == 0.0:
        # The same number added to all outputs changes nothing.
        b = b - b.mean()
    return W, b, beta, status
