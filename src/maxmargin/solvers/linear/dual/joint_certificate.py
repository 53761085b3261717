"""The joint problem of Crammer and Singer, and the certificate of a solution.

β_i has a number a class, with Σ_k β_ik = 0, β_ik ≤ 0 for the wrong classes and β_ik ≤ C_i for the
sample's own. An intercept without penalty demands Σ_i β_ik = 0 for every class as well. β is made
to obey before it is certified.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....dual.certificate import Certificate
from ..certificate import products_in, square, widest_kind
from ..costs import COSTS
from ..data.chunked import dense
from ..data.matrix import Matrix
from ..data.units import Units
from ..losses import Float
from ..primal.repair import STRETCHES
from ..records import Intercept


class JointProblem(NamedTuple):
    """Samples, their classes 0 … k−1, their C, and the intercept.

    Attributes
    ----------
    matrix : Matrix
        See `as_matrix`.
    codes : int array
        The class of each sample.
    cost : float array
        The C of each sample.
    classes : int
        Their number.
    intercept : Intercept

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import Intercept, JointProblem, as_matrix
    >>> matrix = as_matrix(np.array([[-1.0], [0.0], [1.0]]))
    >>> problem = JointProblem(matrix, np.arange(3), np.ones(3), 3, Intercept(True))
    >>> problem.outputs(W=np.array([[-1.0], [0.0], [1.0]]), b=np.zeros(3)).argmax(axis=1)
    array([0, 0, 2])
    """

    matrix: Matrix
    codes: Any
    cost: Float
    classes: int
    intercept: Intercept

    def outputs(self, W: Float, b: Float) -> Float:
        """W x_i + b for every sample, a column for each class."""
        return np.column_stack([self.matrix.margins(w) for w in W]) + b

    def combined(self, beta: Float) -> Float:
        """Σ β_i x_i for every class."""
        columns = np.ascontiguousarray(beta.T)
        return np.array([self.matrix.combine(column) for column in columns])

    def in_units(self, units: Units) -> JointProblem:
        """The problem in other units."""
        return self._replace(
            matrix=units.matrix(self.matrix),
            cost=self.cost / units.dual,
            intercept=units.intercept(self.intercept),
        )

    def take(self, rows: Any) -> JointProblem:
        """The problem of some samples."""
        return self._replace(
            matrix=self.matrix.take(rows), codes=self.codes[rows], cost=self.cost[rows]
        )


def joint_values(
    problem: JointProblem, W: Float, b: Float, G: Float, g: Float, value: float
) -> tuple[float, float]:
    """The objective, and the part of the gap that w − w_β and the intercept make."""
    penalty = problem.intercept.penalty
    objective = 0.5 * float((W * W).sum()) + 0.5 * penalty * float(b @ b) + value
    defect = 0.5 * float((G * G).sum())
    if problem.intercept.fitted:
        # Without penalty β has to be changed until g = 0, at the cost of about 1 a unit of it.
        free = float(np.abs(g).sum()) * (1.0 + float(np.abs(b).max(initial=0.0)))
        defect += 0.5 * float(g @ g) / penalty if penalty > 0.0 else free
    return objective, defect


def certify_joint(
    problem: JointProblem, W: Float, b: Float, beta: Float
) -> tuple[Certificate, Float]:
    """The certificate, recomputed from the data, and the feasible β that it refers to."""
    rows = np.arange(problem.codes.size)
    free = problem.intercept.fitted and problem.intercept.penalty == 0.0
    beta, kind = feasible_joint(problem, beta), widest_kind(problem.matrix)
    products = [
        products_in(kind, problem.matrix, w, column, free)
        for w, column in zip(W, np.ascontiguousarray(beta.T))
    ]
    W, b = W.astype(kind), b.astype(kind)
    wrong = beta.astype(kind)
    wrong[rows, problem.codes] = 0.0
    Z = np.column_stack([product.margins for product in products]) + b
    excess = 1.0 + Z - Z[rows, problem.codes][:, None]
    excess[rows, problem.codes] = 0.0
    worst = excess.max(axis=1)
    G = W - np.array([product.combined for product in products])
    g = problem.intercept.penalty * b - np.array([product.total for product in products])
    primal, defect = joint_values(problem, W, b, G, g, float(problem.cost @ worst))
    unused = np.maximum(problem.cost + wrong.sum(axis=1), 0.0)
    slack = unused * worst + ((excess - worst[:, None]) * wrong).sum(axis=1)
    misplaced = np.where(wrong < 0.0, worst[:, None] - excess, 0.0)
    lacking = np.where(unused > 0.0, worst, 0.0)
    violation = max(float(misplaced.max(initial=0.0)), float(lacking.max(initial=0.0)))
    rounding = sum(
        float(product.errors @ np.abs(beta[:, k])) + 0.5 * square(product.error)
        for k, product in enumerate(products)
    )
    gap = defect + float(slack.sum()) + rounding
    return Certificate(primal, primal - gap, gap, violation, 0.0), beta


def feasible_joint(problem: JointProblem, beta: Float) -> Float:
    """β within its bounds and, for an intercept without penalty, with Σ_i β_ik = 0."""
    rows = np.arange(problem.codes.size)
    wrong = np.minimum(beta, 0.0)
    wrong[rows, problem.codes] = 0.0
    if problem.intercept.fitted and problem.intercept.penalty == 0.0:
        wrong = balanced(problem, wrong)
    mass = -wrong.sum(axis=1)
    excess = mass / problem.cost
    if problem.intercept.fitted and problem.intercept.penalty == 0.0:
        wrong /= max(1.0, float(excess.max(initial=0.0)))
    else:
        wrong /= np.maximum(excess, 1.0)[:, None]
    beta = wrong.copy()
    beta[rows, problem.codes] = -wrong.sum(axis=1)
    return beta


def balanced(problem: JointProblem, wrong: Float) -> Float:
    """The variables of the wrong classes times d_own / d_wrong, with d such that every class gets
    as much from the others as it gives to them: Osborne's balancing of a matrix."""
    k = problem.classes
    transport = np.zeros((k, k))
    np.add.at(transport, problem.codes, -wrong)
    d = np.ones(k)
    for _ in range(200):
        row, column = transport.sum(axis=1), transport.sum(axis=0)
        if np.abs(row - column).max() <= 1e-16 * transport.sum():
            break
        for c in range(k):
            row, column = float(transport[c].sum()), float(transport[:, c].sum())
            # A class with only outgoing or only incoming weight is set to zero.
            factor = np.sqrt(column / row) if row > 0.0 and column > 0.0 else 0.0
            if factor == 0.0:
                transport[c], transport[:, c], d[c] = 0.0, 0.0, 0.0
            else:
                transport[c] *= factor
                transport[:, c] /= factor
                d[c] *= factor
    inverse = np.divide(1.0, d, out=np.zeros(k), where=d > 0.0)
    return np.asarray(wrong * d[problem.codes][:, None] * inverse)


def repaired_joint(
    problem: JointProblem, W: Float, b: Float, beta: Float, tol: float
) -> tuple[Float, Float, Float, Certificate]:
    """W, b and β with the effects of rounding repaired, as in `repair`, and the certificate."""
    if problem.classes == 2:
        W, b = opposite(W), opposite(b)
    certificate, beta = certify_joint(problem, W, b, beta)
    best = W, b, beta, certificate
    if not certificate.gap <= certificate.primal < np.inf:
        best = _better(problem, best, W, b, np.zeros_like(beta))
        best = _better(problem, best, np.zeros_like(W), np.zeros_like(b), np.zeros_like(beta))
    small = problem.matrix.n * problem.matrix.d <= COSTS.small_entries
    if certificate.relative_gap <= tol or not small:
        return best
    for _ in range(2):
        moved = consistent_joint(problem, *best[:3])
        best = _better(problem, best, best[0], best[1], moved)
    W, b = best[:2]
    for stretch in STRETCHES:
        factor = 1.0 + stretch * float(np.finfo(np.float64).eps)
        best = _better(problem, best, W * factor, b * factor, best[2])
    return best


def opposite(values: Float) -> Float:
    """The values of two classes as −v and v with the same difference: all that a model of two
    classes delivers, so that the smaller W is the one to certify."""
    half = 0.5 * (values[1] - values[0])
    return np.stack([-half, half])


def _better(
    problem: JointProblem,
    best: tuple[Float, Float, Float, Certificate],
    W: Float,
    b: Float,
    beta: Float,
) -> tuple[Float, Float, Float, Certificate]:
    certificate, beta = certify_joint(problem, W, b, beta)
    better = certificate.gap < best[3].gap or np.isnan(best[3].gap)
    return (W, b, beta, certificate) if better else best


def consistent_joint(problem: JointProblem, W: Float, b: Float, beta: Float) -> Float:
    """β with Σ_i β_ik x_i = w_k and Σ_i β_ik = penalty·b_k, by the smallest change of those that
    are not at zero."""
    n, k = beta.shape
    wrong = beta < 0.0
    wrong[np.arange(n), problem.codes] = False
    samples, classes = np.nonzero(wrong)
    A, aim = dense(problem.matrix), W
    if problem.intercept.fitted:
        A = np.column_stack([A, np.ones(n)])
        aim = np.column_stack([W, problem.intercept.penalty * b])
    if samples.size * k * A.shape[1] > COSTS.repaired_equations or not samples.size:
        return beta
    kind: Any = np.longdouble
    missing = (aim.astype(kind) - beta.astype(kind).T @ A.astype(kind)).astype(np.float64)
    equations = np.zeros((k, A.shape[1], samples.size))
    pairs = np.arange(samples.size)
    equations[classes, :, pairs] = A[samples]
    equations[problem.codes[samples], :, pairs] -= A[samples]
    flat = equations.reshape(-1, samples.size)
    change = np.linalg.lstsq(flat, missing.ravel(), rcond=None)[0]
    moved = beta.copy()
    moved[samples, classes] += change
    return moved
