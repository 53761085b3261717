"""Problems without a bias, by way of problems with one.

Without a bias no sum of α is demanded: single variables move, not pairs. One more sample whose
kernel values are all 0, whose variable is free, takes up whatever the others sum to::

    maximise  linear·α − ½ αᵀQα + 0·z    subject to  lower ≤ α ≤ upper,  Σ α + z = 0

Its gradient is 0 wherever α is. As it may rise and fall, the bias at the optimum is 0, and a pair
of any variable with it is a step of that variable alone.

The machines with ν demand the sums of two groups, one of variables α ≥ 0 and one of α ≤ 0. Without
a bias what is left of this is Σ|α|: with the signs s of the groups, β = s·α has one sum, and the
Gram matrix is s_a s_b K_ab. Its multiplier λ is that of the first group, −λ that of the second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dual.problem import DualProblem, Float, Int
from ..kernels import Gram
from ..kernels.base import MOST_PREPARED
from .result import Solution


class Columns(NamedTuple):
    """Where samples stand among some columns, which different ones these are, which of them is at
    each place, and with which sign."""

    at: Int
    names: Int
    inverse: Int
    signs: Float


class MappedGram(Gram):
    """A Gram matrix whose rows and columns are samples of another, each with a sign, or a sample
    whose kernel values are all 0.

    Parameters
    ----------
    inner : Gram
        Of the samples.
    places : int array
        Which of them each row belongs to, −1 for the one with zeros.
    signs : float array
        ±1 for each row.
    """

    def __init__(self, inner: Gram, places: Int, signs: Float) -> None:
        super().__init__(inner.kernel, inner.X, inner.dtype)
        self.inner, self.places, self.signs = inner, places, signs
        self.n = places.size
        self._remembered: list[tuple[Any, Columns]] = []

    def rows(self, indices: Any, columns: Any = None, out: Any = None) -> NDArray[Any]:
        chosen, right = np.asarray(indices), self._columns(columns)
        width = self.n if columns is None else len(columns)
        block = np.zeros((chosen.size, width), self.dtype) if out is None else out
        block[...] = 0.0
        left = self._found(chosen)
        if left.at.size and right.at.size:
            values = self.inner.rows(left.names, right.names)
            values = values[np.ix_(left.inverse, right.inverse)]
            block[np.ix_(left.at, right.at)] = values * np.outer(left.signs, right.signs)
        return block

    def _found(self, chosen: Int) -> Columns:
        own = self.places[chosen]
        at = np.flatnonzero(own >= 0)
        names, inverse = np.unique(own[at], return_inverse=True)
        return Columns(at, names, inverse.ravel(), self.signs[chosen[at]])

    def _columns(self, columns: Any) -> Columns:
        """The same arrays for the same columns, as `Gram.rows` asks for."""
        for known, found in self._remembered:
            if known is columns:
                return found
        found = self._found(np.arange(self.n) if columns is None else np.asarray(columns))
        self._remembered = [(columns, found), *self._remembered][:MOST_PREPARED]
        return found

    def diagonal(self) -> Float:
        values = np.append(self.inner.diagonal(), 0.0)
        return values[self.places]

    def matrix(self, pause: Callable[[], object] | None = None) -> NDArray[Any]:
        found, matrix = self._columns(None), np.zeros((self.n, self.n), self.dtype)
        values = self.inner.matrix_among(found.names, pause)[np.ix_(found.inverse, found.inverse)]
        matrix[np.ix_(found.at, found.at)] = values * np.outer(found.signs, found.signs)
        return matrix

    def among(self, samples: Any) -> MappedGram:
        chosen = np.asarray(samples)
        found, places = self._found(chosen), np.full(chosen.size, -1)
        places[found.at] = found.inverse
        return MappedGram(self.inner.among(found.names), places, self.signs[chosen])

    def release(self) -> None:
        self.inner.release()


class Posed(NamedTuple):
    """A problem with a bias in place of one without, its Gram matrix, and where to begin."""

    problem: DualProblem
    gram: Gram
    start: Float | None


def posed(problem: DualProblem, gram: Gram, alpha: Float | None) -> Posed:
    """The problem with a bias of one without."""
    start = None if alpha is None else problem.feasible(alpha)
    if problem.totals.size == 2:
        mapped = MappedGram(gram, problem.index, problem.signs)
        return Posed(problem.in_sizes, mapped, None if start is None else problem.signs * start)
    places = np.append(np.arange(gram.n), -1)
    mapped = MappedGram(gram, places, np.ones(places.size))
    return Posed(padded(problem, start), mapped, padded_start(problem, start))


def padded(problem: DualProblem, start: Float | None) -> DualProblem:
    """The problem with a bias and one more sample, of a problem without; `start` is where its
    solver will begin."""
    most = largest_sum(problem)
    if start is not None:
        most = max(most, 2.0 * abs(float(start.sum())))
    lower, upper = (0.0, -most), (most, 0.0)
    if problem.copies == 1:
        lower, upper = (-most, -most), (most, most)
    return DualProblem(
        linear=with_one_more(problem, problem.linear, (0.0, 0.0)),
        lower=with_one_more(problem, problem.lower, lower),
        upper=with_one_more(problem, problem.upper, upper),
        ridge=with_one_more(problem, problem.ridge, (0.0, 0.0)),
        group=np.zeros(problem.size + problem.copies, dtype=np.int64),
        totals=np.zeros(1),
        samples=problem.samples + 1,
    )


def largest_sum(problem: DualProblem) -> float:
    """A number that |Σα| stays strictly below: twice the sum of all boxes. Where these are infinite
    and there is a ridge, they end at 2 |linear| / ridge: beyond, the dual value is negative."""
    size = np.maximum(np.abs(problem.lower), np.abs(problem.upper))
    if np.isfinite(size).all():
        return 2.0 * float(size.sum())
    linear, ridge = problem.linear[size > 0], problem.ridge[size > 0]
    if np.isfinite(size[size > 0]).any() or not ridge.all():
        return np.inf
    return 4.0 * float(np.abs(linear).max() * (1.0 / ridge).sum())


def with_one_more(problem: DualProblem, values: Float, added: tuple[float, float]) -> Float:
    """Values of all variables, and in each copy of the samples one of the additional sample."""
    rows = values.reshape(problem.copies, problem.samples)
    column = np.array(added[: problem.copies])[:, None]
    return np.hstack([rows, column]).ravel()


def padded_start(problem: DualProblem, alpha: Float | None) -> Float | None:
    """Where the padded problem begins: the additional variable makes the sum 0."""
    if alpha is None:
        return None
    rest = -float(alpha.sum())
    added = (rest, 0.0) if problem.copies == 1 else (max(rest, 0.0), min(rest, 0.0))
    return with_one_more(problem, alpha, added)


def read_back(problem: DualProblem, found: Solution) -> Solution:
    """The solution of the problem without a bias, from that of the one posed."""
    if problem.totals.size == 2:
        alpha, gradient = problem.signs * found.alpha, problem.signs * found.gradient
    else:
        inside = (problem.copies, problem.samples + 1)
        alpha = found.alpha.reshape(inside)[:, :-1].ravel()
        gradient = found.gradient.reshape(inside)[:, :-1].ravel()
    bias, violation = problem.bias_and_violation(alpha, gradient)
    return replace(
        found,
        alpha=alpha,
        gradient=gradient,
        bias=bias,
        dual=problem.value(alpha, gradient),
        violation=violation,
    )
