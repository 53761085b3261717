"""The computations of one shard of a linear machine: sums over its samples, in one pass.

With outputs z = Xw + b and the responses β(z), h(z) of `primal.response`, a pass returns

    Σβ   Σβx   Σh   Σhx   Σh xxᵀ   Σℓ   and the complementarity Σ ℓ + ℓ* + zβ

which is all that a Newton step and the duality gap need. The state of a shard is the proximal
centre of its β, for losses with kinks; smooth losses have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ....runtime.parallel import single_threaded_blas
from ..certificate import violations
from ..data.matrix import DenseMatrix, Matrix, as_matrix
from ..losses import CLASSIFICATION, REGRESSION, Float, Loss
from ..primal import response
from .compiled import outputs, weigh


@dataclass(frozen=True)
class LinearTask:
    """One problem, from which every shard can set up its losses.

    Attributes
    ----------
    loss : str
        A key of `losses.CLASSIFICATION` or `losses.REGRESSION`.
    C, epsilon : float
    positive : label, optional
        Of the positive class; all others are negative.
    factors : tuple of (label, float)
        Weights of the classes; labels that are absent have no samples.
    """

    loss: str
    C: float
    epsilon: float = 0.0
    positive: Any = None
    factors: tuple[tuple[Any, float], ...] = ()

    @property
    def smooth(self) -> bool:
        return self.loss not in ("hinge", "epsilon_insensitive")

    def losses(self, y: Any, weight: Any) -> tuple[Loss, Any]:
        """The losses of the samples that have a weight, and the places of these."""
        y = np.asarray(y)
        cost = np.ones(y.size) if weight is None else np.maximum(np.asarray(weight, float), 0.0)
        if self.loss in CLASSIFICATION:
            of_class = np.zeros(y.size)
            for label, factor in self.factors:
                of_class[y == label] = factor
            cost = cost * of_class
        kept = np.flatnonzero(cost > 0.0)
        y, cost = y[kept], self.C * cost[kept]
        if self.loss in CLASSIFICATION:
            return CLASSIFICATION[self.loss](np.where(y == self.positive, 1.0, -1.0), cost), kept
        y = y.astype(np.float64)
        if self.loss == "squared":
            return REGRESSION["squared"](y, cost), kept
        kind: Any = REGRESSION[self.loss]
        return kind(y, cost, self.epsilon), kept


class Sums(NamedTuple):
    """Sums over samples; those of several shards are added.

    Attributes
    ----------
    value, slack : float
        Σ ℓ(z), and Σ ℓ(z) + ℓ*(−β) + zβ.
    rising, falling : float
        Sums of the positive and of the negative β.
    combined : float array of shape (d,)
        Σ βx.
    gram, border, corner
        Σ h xxᵀ, Σ hx, Σ h.
    moved : float
        Σ (β − centre)².
    support, free : int
        β that are not 0, and those with h.
    """

    value: float
    slack: float
    rising: float
    falling: float
    combined: Float
    gram: Float
    border: Float
    corner: float
    moved: float
    support: int
    free: int

    def plus(self, other: Sums) -> Sums:
        pairs: Any = zip(self, other)
        return Sums._make(mine + theirs for mine, theirs in pairs)


class Pass(NamedTuple):
    """What a pass leaves on its shard, the responses β, and what it sends."""

    beta: Float
    sums: Sums


def evaluated(
    part: Any, task: LinearTask, center: Float | None, w: Float, b: float, inv_sigma: float
) -> Pass:
    """The sums of a part at w and b."""
    matrix, loss = _posed(part, task)
    d, n = matrix.d, matrix.n
    gram, border, combined = np.zeros((d, d)), np.zeros(d), np.zeros(d)
    beta, h = np.empty(n), np.empty(n)
    center = np.zeros(n) if center is None else center
    value = slack = corner = 0.0
    with single_threaded_blas():
        for rows, block in _blocks(matrix):
            own, z = loss.at(rows), _outputs(block, w, b)
            _, stiffness = response.respond(own, z, center[rows], inv_sigma, beta[rows], h[rows])
            corner += stiffness
            more, rest = response.measure(own, z, beta[rows])
            value, slack = value + more, slack + rest
            if isinstance(block, DenseMatrix):
                gram += _weighed(block.X, beta[rows], h[rows], combined, border)
                continue
            combined += block.combine(beta)
            face = np.flatnonzero(h)
            if face.size:
                block.add_outer(face, h[face], gram, border)
    sums = Sums(
        value=value,
        slack=slack,
        rising=float(np.sum(beta, where=beta > 0.0)),
        falling=float(np.sum(beta, where=beta < 0.0)),
        combined=combined,
        gram=gram,
        border=border,
        corner=corner,
        moved=float(np.sum(np.square(beta - center))),
        support=int(np.count_nonzero(beta)),
        free=int(np.count_nonzero(h)),
    )
    return Pass(beta, sums)


def _weighed(X: Any, beta: Float, h: Float, combined: Float, border: Float) -> Any:
    """Σ h xxᵀ in the precision of the inputs, as a Newton step needs no more of it; adds the other
    two sums, in float64."""
    largest = float(h.max())
    weighted = np.empty((int(np.count_nonzero(h)), X.shape[1]), X.dtype)
    weigh(X, beta, h, largest, combined, border, weighted)
    # A product with itself is half the work.
    return (weighted.T @ weighted).astype(np.float64) * largest


def slopes(
    part: Any,
    task: LinearTask,
    center: Float | None,
    w: Float,
    b: float,
    inv_sigma: float,
    dw: Float,
    db: float,
    lengths: Float,
) -> Float:
    """−Σβ(z + t dz) dz for each step length t."""
    matrix, loss = _posed(part, task)
    found = np.zeros(lengths.size)
    center = np.zeros(matrix.n) if center is None else center
    with single_threaded_blas():
        for rows, block in _blocks(matrix):
            own, z, dz = loss.at(rows), _outputs(block, w, b), _outputs(block, dw, db)
            beta, h = np.empty(z.size), np.empty(z.size)
            for k, t in enumerate(lengths):
                response.respond(own, z + t * dz, center[rows], inv_sigma, beta, h)
                found[k] -= float(beta @ dz)
    return found


class Proof(NamedTuple):
    """What a shard adds to a certificate: Σ ℓ, the complementarity, Σβ and Σβx of its scaled β, and
    the largest violation of a sample."""

    value: float
    slack: float
    total: float
    combined: Float
    violation: float


def proven(
    part: Any,
    task: LinearTask,
    center: Float | None,
    w: Float,
    b: float,
    inv_sigma: float,
    scales: tuple[float, float],
) -> Proof:
    """The sums of a certificate for β(z), of which positive and negative ones are scaled."""
    matrix, loss = _posed(part, task)
    center = np.zeros(matrix.n) if center is None else center
    value = slack = total = worst = 0.0
    combined = np.zeros(matrix.d)
    with single_threaded_blas():
        for rows, block in _blocks(matrix):
            own, z = loss.at(rows), _outputs(block, w, b)
            beta, h = np.empty(z.size), np.empty(z.size)
            response.respond(own, z, center[rows], inv_sigma, beta, h)
            beta *= np.where(beta > 0.0, *scales)
            more, rest = response.measure(own, z, beta)
            value, slack, total = value + more, slack + rest, total + float(beta.sum())
            combined += block.combine(beta)
            off = np.abs(violations(own, own.target - z, beta)).max(initial=0.0)
            worst = max(worst, float(off))
    return Proof(value, slack, total, combined, worst)


def _posed(part: Any, task: LinearTask) -> tuple[Matrix, Loss]:
    """Inputs and losses of the samples that have a weight."""
    part = part() if callable(part) else part
    loss, kept = task.losses(part.y, part.weight)
    matrix = as_matrix(part.X)
    return (matrix if kept.size == matrix.n else matrix.take(kept)), loss


def _blocks(matrix: Matrix) -> Iterator[tuple[slice, Matrix]]:
    """Blocks of dense rows that stay in the processor's cache; a sparse matrix is one block."""
    if not isinstance(matrix, DenseMatrix):
        yield slice(0, matrix.n), matrix
        return
    for rows in matrix.blocks():
        yield rows, DenseMatrix(matrix.X[rows])


def _outputs(block: Matrix, w: Float, b: float) -> Float:
    """z = Xw + b, in float64."""
    if not isinstance(block, DenseMatrix):
        return block.margins(w) + b
    z = np.empty(block.n)
    outputs(block.X, w, b, z)
    return z
