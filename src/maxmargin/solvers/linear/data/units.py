"""Rescaling of problems to samples of about unit length and targets of about unit size.

With x = length·x' + shift and target = height·target' + offset, the original problem has the model

    w = (height / length) w',   b = height·b' + offset − w·shift,   β = (height / length²) β'

for the penalty ½‖w‖²; for ‖w‖₁ β = β' / length, and targets keep their height. `length` and
`height` are powers of two, so that nothing is rounded; the remaining scale is C·‖x‖², which no
choice of units changes. If the intercept has no penalty, samples far from the origin are also
shifted, because the products of Newton's method would cancel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....dual.certificate import Certificate
from ..costs import COSTS
from ..losses import LOGISTIC, Float, Loss
from ..records import Intercept, LinearProblem, Point
from .chunked import ChunkedMatrix, dense
from .matrix import DenseMatrix


class Scales(NamedTuple):
    """When samples are rescaled or shifted."""

    # Lengths and heights within this factor of 1 are kept, and the data is not copied.
    ordinary: float = 2.0**20
    # Samples are shifted if the norm of their mean is this multiple of their spread; smaller for
    # small problems, for which shifting costs nothing.
    far: float = 100.0
    far_for_small: float = 4.0
    # Number of rows used to decide whether samples are far from the origin.
    probed: int = 256
    # Squares below this may underflow, and C in the units of the problem stays above it.
    smallest: float = 2.0**-800


SCALES = Scales()


class Units(NamedTuple):
    """The conversion between the original problem and the rescaled one."""

    length: float = 1.0
    height: float = 1.0
    shift: Float | None = None
    offset: float = 0.0
    penalty: str = "l2"

    @property
    def ratio(self) -> float:
        """w / w'."""
        return self.height / self.length

    @property
    def dual(self) -> float:
        """β / β'."""
        return 1.0 / self.length if self.penalty == "l1" else self.ratio / self.length

    @property
    def objective(self) -> float:
        """The objective in units of that of the problem that is solved."""
        return self.ratio if self.penalty == "l1" else self.ratio * self.ratio

    def unshifted(self) -> Units:
        return self._replace(shift=None, offset=0.0)

    def matrix(self, matrix: Any) -> Any:
        if self.shift is not None:
            return DenseMatrix((dense(matrix) - self.shift) / self.length)
        return matrix if self.length == 1.0 else matrix.scaled(1.0 / self.length)

    def intercept(self, intercept: Intercept) -> Intercept:
        factor = self.length if self.penalty == "l1" else self.length * self.length
        return intercept._replace(penalty=intercept.penalty * factor)

    def loss(self, loss: Loss) -> Loss:
        if self.length == self.height == 1.0 and self.offset == 0.0:
            return loss
        return Loss(
            kind=loss.kind,
            target=(loss.target - self.offset) / self.height,
            lower=loss.lower / self.dual,
            upper=loss.upper / self.dual,
            ridge=loss.ridge * (self.dual / self.height),
            epsilon=loss.epsilon / self.height,
        )

    def problem(self, problem: LinearProblem) -> LinearProblem:
        return LinearProblem(
            self.matrix(problem.matrix),
            self.loss(problem.loss),
            self.intercept(problem.intercept),
            problem.penalty,
        )

    def point(self, point: Point) -> Point:
        """The starting point in these units."""
        b = np.asarray(point.b) - self.offset
        if self.shift is not None and point.w is not None:
            b = b + point.w @ self.shift
        w = None if point.w is None else point.w / self.ratio
        return Point(point.beta / self.dual, w, b / self.height)

    def model(self, w: Float, b: Any, beta: Float) -> tuple[Float, Any, Float]:
        """w, b and β of the original problem."""
        w, b = w * self.ratio, b * self.height + self.offset
        if self.shift is not None:
            b = b - w @ self.shift
        return w, b, beta * self.dual

    def certificate(self, certificate: Certificate) -> Certificate:
        """The certificate of the original problem."""
        unit = self.objective
        violation = self.dual if self.penalty == "l1" else self.height
        return Certificate(
            primal=certificate.primal * unit,
            dual=certificate.dual * unit,
            gap=certificate.gap * unit,
            violation=certificate.violation * violation,
            infeasibility=certificate.infeasibility,
        )


def units_of(problem: LinearProblem) -> Units:
    """Units in which the numbers of a problem are of moderate size."""
    loss = problem.loss
    offset, height = 0.0, 1.0
    if loss.kind != LOGISTIC and problem.penalty == "l2":
        middle = float(np.partition(loss.target, loss.target.size // 2)[loss.target.size // 2])
        free = problem.intercept.fitted and problem.intercept.penalty == 0.0
        if free and abs(middle) > SCALES.far * float(np.abs(loss.target - middle).mean()):
            offset = middle
        height = _power(float(np.abs(loss.target - offset).max(initial=0.0)))
    cost = float((loss.height if np.isfinite(loss.upper).all() else 1.0 / loss.ridge).min())
    units = units_of_matrix(problem.matrix, problem.intercept, cost, problem.penalty)
    return units._replace(height=height, offset=offset, penalty=problem.penalty)


def units_of_matrix(matrix: Any, intercept: Intercept, cost: float, penalty: str = "l2") -> Units:
    """Length and shift for samples of this least cost."""
    shift = _shift(matrix) if intercept.fitted and intercept.penalty == 0.0 else None
    if shift is None:
        size = _size(matrix)
    else:
        size = _size(DenseMatrix(dense(matrix) - shift))
    if intercept.fitted and intercept.penalty > 0.0:
        # A constant feature stands for the intercept.
        constant = 1.0 / intercept.penalty
        size = float(np.hypot(size, constant if penalty == "l1" else np.sqrt(constant)))
    # In a shorter unit the smallest bound of β would underflow.
    least = np.sqrt(SCALES.smallest / cost) if 0.0 < cost < np.inf else 0.0
    return Units(length=_power(max(size, least) if size > 0.0 else 1.0), shift=shift)


def _size(matrix: Any) -> float:
    """The typical length of a sample."""
    mean = float(matrix.squared_norms.mean())
    return float(np.sqrt(mean)) if SCALES.smallest <= mean < np.inf else matrix.largest


def _power(size: float) -> float:
    """1, or the nearest power of two of a size that is far from it."""
    if not (size > 0.0) or 1.0 / SCALES.ordinary <= size <= SCALES.ordinary:
        return 1.0
    return float(2.0 ** np.round(np.log2(size)))


def _shift(matrix: Any) -> Float | None:
    """The mean of samples that lie far from the origin."""
    if isinstance(matrix, ChunkedMatrix):
        return None
    small = matrix.n * matrix.d <= COSTS.small_entries
    if not isinstance(matrix, DenseMatrix) and not small:
        return None
    probed = dense(matrix.take(np.arange(0, matrix.n, max(1, matrix.n // SCALES.probed))))
    largest = float(np.abs(probed).max(initial=0.0))
    if largest == 0.0:
        return None
    probed = probed / largest
    mean = probed.mean(axis=0)
    spread = probed - mean
    far = SCALES.far_for_small if small else SCALES.far
    if float(mean @ mean) * len(probed) <= far * far * float((spread * spread).sum()):
        return None
    # Differences to one sample are exactly 0 if all are equal, unlike those to a rounded mean.
    X = dense(matrix)
    result: Float | None = X[0] + (X - X[0]).mean(axis=0)
    return result
