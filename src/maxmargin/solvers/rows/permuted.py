"""A problem with its samples permuted.

The samples of each stage of the driver `blocks` are then the first ones of the next stage, and
their values are the first entries of every row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np

from ...dual.problem import DualProblem, Float, Int
from ...kernels.base import MOST_PREPARED, Array, Gram
from ...kernels.row_sums import KnownSums, StoredRows, in_places


class Arrangement:
    """A problem and its Gram matrix with the samples permuted.

    Parameters
    ----------
    problem : DualProblem
    gram : Gram
    order : int array
        The sample at each place.
    """

    def __init__(self, problem: DualProblem, gram: Gram, order: Int) -> None:
        self.original = problem, gram
        copies = np.arange(problem.copies)[:, None]
        self.variables = (copies * problem.samples + order).ravel()
        names = ("linear", "lower", "upper", "ridge", "group")
        arrays = {name: getattr(problem, name)[self.variables] for name in names}
        self.problem = replace(problem, **arrays)
        # It has all that the driver uses.
        self.gram = cast(Gram, ArrangedGram(gram, order))

    def put_back(self, values: Float) -> Float:
        """Values of all variables in the original order."""
        return in_places(self.variables, values)


class ArrangedGram:
    """The part of the Gram interface that the driver uses, with the samples permuted.

    All columns are prepared at once, so that a consecutive range of them is a view.
    """

    def __init__(self, gram: Gram, order: Int) -> None:
        self.natural, self.computed, self.order = gram, gram.source, order
        self.n, self.dtype, self.tiled = gram.n, gram.dtype, gram.tiled
        self._named: tuple[tuple[Int, Int], ...] = ()
        self.computed.rows(order[:0], order)

    def rows(self, indices: Int, columns: Int | None = None, out: Array | None = None) -> Array:
        return self.computed.rows(self.order[indices], self._names(columns), out)

    def matrix_among(self, samples: Int, pause: Callable[[], object] | None = None) -> Array:
        return self.computed.matrix_among(self.order[samples], pause)

    @property
    def source(self) -> ArrangedGram:
        return self

    def diagonal(self) -> Float:
        return self.natural.diagonal()[self.order]

    def keep_rows(self, rows: StoredRows) -> None:
        slot = in_places(self.order, rows.slot)
        self.natural.keep_rows(StoredRows(rows.values, slot, self.order))

    def keep_sums(self, sums: KnownSums) -> None:
        coef, values = (in_places(self.order, part) for part in sums)
        self.natural.keep_sums(KnownSums(coef, values))

    def _names(self, columns: Int | None) -> Int:
        """Original indices of columns. Equal columns give the same array object, because the Gram
        matrix finds prepared columns by object identity."""
        if columns is None:
            return self.order
        known = [names for names in self._named if names[0] is columns]
        others = [names for names in self._named if names[0] is not columns]
        known = known or [(columns, self.order[columns])]
        self._named = (*known, *others)[:MOST_PREPARED]
        return known[0][1]
