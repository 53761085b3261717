"""Points inside the boxes of small problems, where face steps begin."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin.dual import epsilon_svr, hinge, nu_svc, squared_hinge
from maxmargin.solvers.drivers.working_set import Active
from maxmargin.solvers.rows.lru import FullRows


def active_at(problem, K, alpha):
    gradient = problem.gradient(alpha, K @ problem.per_sample(alpha))
    return Active.of(problem, FullRows(K), np.diagonal(K).copy(), alpha, gradient)


def point_of(active, problem):
    """α and gradient of the problem's own variables."""
    alpha, gradient = np.zeros((2, problem.size))
    active.write(alpha, gradient)
    return alpha, gradient


def inside(problem, rng, width=1.0):
    """A feasible point with all variables well inside their boxes, cut to the given width."""
    lower, upper = np.maximum(problem.lower, -width), np.minimum(problem.upper, width)
    start = lower + (upper - lower) * rng.uniform(0.3, 0.7, size=problem.size)
    return problem.feasible(start)


def cloud(rng, n=40):
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return rbf_kernel(X, gamma=0.3), y


def positive(rng, size):
    """A positive definite matrix."""
    A = rng.normal(size=(size, size))
    return A @ A.T + np.eye(size)


def machines(y, C):
    return [
        hinge(y, C),
        squared_hinge(y, C),
        epsilon_svr(y, C, 0.1),
        nu_svc(y, 0.5, np.full(y.size, C)),
    ]
