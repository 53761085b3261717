"""Problems without a bias, by way of problems with one.

Without a bias no sum of α is demanded: single variables move, not pairs. One more sample whose
kernel values are all 0, whose variable is free, takes up whatever the others sum to::

    maximise  linear·α − ½ αᵀQα + 0·z    subject to  lower ≤ α ≤ upper,  Σ α + z = 0

Its gradient is 0 wherever α is. As it may rise and fall, the bias at the optimum is 0, and a pair
of any variable with it is a step of that variable alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dual.problem import DualProblem, Float, Int
from ..kernels import Gram
from .result import Solution

# Sets of columns whose places are remembered.
MOST_REMEMBERED = 3


class PaddedGram(Gram):
    """The Gram matrix of some samples and of one more whose kernel values are all 0.

    Parameters
    ----------
    inner : Gram
        Of the samples.
    places : int array, optional
        Which of them each row belongs to, −1 for the additional one; by default all in their order,
        then that one.
    """

    def __init__(self, inner: Gram, places: Int | None = None) -> None:
        super().__init__(inner.kernel, inner.X, inner.dtype)
        self.inner = inner
        self.places = np.append(np.arange(inner.n), -1) if places is None else places
        self.n = self.places.size
        self._remembered: list[tuple[Any, Int, Int]] = []

    def rows(self, indices: Any, columns: Any = None, out: Any = None) -> NDArray[Any]:
        own = self.places[np.asarray(indices)]
        at, names = self._columns(columns)
        width = self.n if columns is None else len(columns)
        block = np.zeros((own.size, width), self.dtype) if out is None else out
        block[...] = 0.0
        present = np.flatnonzero(own >= 0)
        if present.size and names.size:
            block[np.ix_(present, at)] = self.inner.rows(own[present], names)
        return block

    def _columns(self, columns: Any) -> tuple[Int, Int]:
        """Where the samples among these columns stand, and which they are; the same arrays for the
        same columns, as `Gram.rows` asks for."""
        for known, at, names in self._remembered:
            if known is columns:
                return at, names
        own = self.places if columns is None else self.places[np.asarray(columns)]
        at = np.flatnonzero(own >= 0)
        found = (columns, at, own[at])
        self._remembered = [found, *self._remembered][:MOST_REMEMBERED]
        return found[1:]

    def diagonal(self) -> Float:
        values = np.append(self.inner.diagonal(), 0.0)
        return values[self.places]

    def matrix(self, pause: Callable[[], object] | None = None) -> NDArray[Any]:
        matrix = np.zeros((self.n, self.n), self.dtype)
        at = np.flatnonzero(self.places >= 0)
        matrix[np.ix_(at, at)] = self.inner.matrix_among(self.places[at], pause)
        return matrix

    def among(self, samples: Any) -> PaddedGram:
        own = self.places[np.asarray(samples)]
        at = np.flatnonzero(own >= 0)
        places = np.full(own.size, -1)
        places[at] = np.arange(at.size)
        return PaddedGram(self.inner.among(own[at]), places)

    def release(self) -> None:
        self.inner.release()


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


def without_padding(problem: DualProblem, found: Solution) -> Solution:
    """The solution of the problem without a bias, from that of the padded one."""
    inside = (problem.copies, problem.samples + 1)
    alpha = found.alpha.reshape(inside)[:, :-1].ravel()
    gradient = found.gradient.reshape(inside)[:, :-1].ravel()
    return replace(
        found,
        alpha=alpha,
        gradient=gradient,
        bias=np.zeros(1),
        dual=problem.value(alpha, gradient),
        violation=problem.violation(alpha, gradient),
    )
