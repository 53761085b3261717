"""Linear machines the slow way: a dense quadratic program, or L-BFGS in the primal.

`quadratic_optimum` is for piecewise quadratic losses, `primal_optimum` for smooth ones, with
w = u − v for the penalty ‖w‖₁. Neither knows anything of the solvers.
"""

import numpy as np
import quadprog
from scipy.optimize import minimize

REGULARISED = 1e-9


def loss_value(name, z, y, C, epsilon):
    match name:
        case "hinge":
            return C @ np.maximum(0, 1 - y * z)
        case "squared_hinge":
            return C @ np.maximum(0, 1 - y * z) ** 2
        case "logistic":
            return C @ np.logaddexp(0, -y * z)
        case "epsilon_insensitive":
            return C @ np.maximum(0, np.abs(y - z) - epsilon)
        case "squared_epsilon_insensitive":
            return C @ np.maximum(0, np.abs(y - z) - epsilon) ** 2
        case "squared":
            return C @ (y - z) ** 2
    raise ValueError(name)


def objective(name, X, y, C, epsilon, intercept, w, b, penalty="l2"):
    """The primal objective, written out."""
    size = np.abs(w).sum() if penalty == "l1" else 0.5 * w @ w
    own = 0.0
    if intercept.fitted:
        own = intercept.penalty * (abs(b) if penalty == "l1" else 0.5 * b * b)
    return size + own + loss_value(name, X @ w + b, y, C, epsilon)


def loss_slope(name, z, y, C, epsilon):
    match name:
        case "squared_hinge":
            return -2 * C * y * np.maximum(0, 1 - y * z)
        case "logistic":
            return -C * y / (1 + np.exp(y * z))
        case "squared_epsilon_insensitive":
            r = y - z
            return -2 * C * np.sign(r) * np.maximum(0, np.abs(r) - epsilon)
        case "squared":
            return -2 * C * (y - z)
    raise ValueError(name)


def primal_optimum(name, X, y, C, epsilon, intercept, penalty="l2"):
    """The smallest objective of a smooth loss that L-BFGS-B finds."""
    n, d = X.shape
    A = np.hstack([X, np.ones((n, 1))])
    split = penalty == "l1"
    weight = np.append(np.ones(d), intercept.penalty)

    def of(x):
        v = x[: d + 1] - x[d + 1 :] if split else x
        z = A @ v
        slope = A.T @ loss_slope(name, z, y, C, epsilon)
        value = loss_value(name, z, y, C, epsilon)
        if split:
            return value + weight @ (x[: d + 1] + x[d + 1 :]), np.concatenate(
                [slope + weight, -slope + weight]
            )
        return value + 0.5 * weight @ (v * v), slope + weight * v

    size = 2 * (d + 1) if split else d + 1
    bounds = [(0, None) if split else (None, None)] * size
    if not intercept.fitted:
        bounds[d] = (0, 0)
        bounds[-1] = (0, 0)
    best = minimize(
        of,
        np.zeros(size),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 50_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-12},
    )
    return best.fun


def quadratic_optimum(name, X, y, C, epsilon, intercept):
    """The objective at the solution of the quadratic program in (w, b, ξ).

    The program is made strictly convex by REGULARISED on every variable.
    """
    n, d = X.shape
    squared = name.startswith("squared")
    curvature = np.concatenate(
        [
            np.ones(d),
            [intercept.penalty if intercept.fitted else 1e9],
            2.0 * C if squared else np.zeros(n),
        ]
    )
    price = np.concatenate([np.zeros(d + 1), np.zeros(n) if squared else C])
    A = np.hstack([X, np.ones((n, 1))])
    slack, none = np.eye(n), np.zeros((n, d + 1))
    if "hinge" in name:
        rows = [np.hstack([y[:, None] * A, slack]), np.hstack([none, slack])]
        least = [np.ones(n), np.zeros(n)]
    else:
        rows = [np.hstack([A, slack]), np.hstack([-A, slack]), np.hstack([none, slack])]
        least = [y - epsilon, -y - epsilon, np.zeros(n)]
    solution = quadprog.solve_qp(
        np.diag(curvature + REGULARISED), -price, np.vstack(rows).T, np.concatenate(least)
    )[0]
    w, b = solution[:d], solution[d] if intercept.fitted else 0.0
    return objective(name, X, y, C, epsilon, intercept, w, b)
