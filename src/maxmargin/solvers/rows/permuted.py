"""A problem with its samples in another order.

Those of an early stage of the driver `blocks` are then the first ones of the next, and so are their
Gram values in every row.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...kernels.base import MOST_PREPARED
from ...kernels.row_sums import KnownSums, StoredRows, in_places


class Arrangement:
    """A problem and its Gram matrix with the samples in another order.

    Parameters
    ----------
    problem : DualProblem
    gram : Gram
    order : int array
        Which sample stands at each place.
    """

    def __init__(self, problem, gram, order):
        self.given = problem, gram
        copies = np.arange(problem.copies)[:, None]
        self.variables = (copies * problem.samples + order).ravel()
        names = ("linear", "lower", "upper", "ridge", "group")
        arrays = {name: getattr(problem, name)[self.variables] for name in names}
        self.problem, self.gram = replace(problem, **arrays), ArrangedGram(gram, order)

    def put_back(self, values):
        """Values of all variables, in the order of the problem that was given."""
        return in_places(self.variables, values)


class ArrangedGram:
    """What the driver asks of a Gram matrix, with the samples in another order.

    All columns are prepared at once: successive ones are then a view of them.
    """

    def __init__(self, gram, order):
        self.natural, self.order = gram, order
        self.n, self.dtype, self.tiled = gram.n, gram.dtype, gram.tiled
        self._named = ()
        gram.rows(order[:0], order)

    def rows(self, indices, columns=None, out=None):
        return self.natural.rows(self.order[indices], self._names(columns), out)

    def matrix_among(self, samples, pause=None):
        return self.natural.matrix_among(self.order[samples], pause)

    def diagonal(self):
        return self.natural.diagonal()[self.order]

    def keep_rows(self, rows):
        slot = in_places(self.order, rows.slot)
        self.natural.keep_rows(StoredRows(rows.values, slot, self.order))

    def keep_sums(self, sums):
        coef, values = (in_places(self.order, part) for part in sums)
        self.natural.keep_sums(KnownSums(coef, values))

    def _names(self, columns):
        """What columns are called in the matrix; the same array for the same ones, as it is by the
        array that the matrix finds what it prepared for them."""
        if columns is None:
            return self.order
        known = [names for names in self._named if names[0] is columns]
        others = [names for names in self._named if names[0] is not columns]
        known = known or [(columns, self.order[columns])]
        self._named = (*known, *others)[:MOST_PREPARED]
        return known[0][1]
