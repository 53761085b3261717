"""Kernel values that workers keep: between the samples of every part and members that moved.

A member moves in many rounds, and its kernel values are the same in all of them. The first time it
moves, they become the result of a task of their own, one for each part, as long as there is memory;
states are then updated from these results. Like a state, they are lost with their worker and
computed again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from distributed import Future
from numpy.typing import NDArray

from ..dual.problem import Float, Int

Bool = NDArray[np.bool_]

# The share of the workers' memory for parts and kernel values together.
SHARE = 0.3


class Group(NamedTuple):
    """Members that moved for the first time in the same round, with their rows of every part."""

    members: slice
    rows: list[Future[Any]]


class KeptRows:
    """The rows of kernel values that are kept, and to which member each belongs.

    Parameters
    ----------
    samples : int
        Of all parts: the length of a row.
    capacity : float
        Bytes for all rows.
    """

    def __init__(self, samples: int, capacity: float) -> None:
        self.samples, self.capacity = samples, capacity
        self.forget()

    def forget(self) -> None:
        self.groups: list[Group] = []
        self.size, self.dtype = 0, np.dtype(np.float64)
        self.row_of: list[Int] = []  # of every sample in each block; -1 where it has none

    def split(self, deltas: list[Float], dtype: Any) -> tuple[Float, list[Bool]]:
        """Changes of the members whose rows are kept, in the order of the rows, and masks of the
        samples of each block that move and have no row."""
        for delta in deltas[len(self.row_of) :]:
            self.row_of.append(np.full(delta.size, -1))
        if np.dtype(dtype).itemsize > self.dtype.itemsize:
            self.groups, self.size = [], 0
            self.row_of = [np.full(rows.size, -1) for rows in self.row_of]
        changes, without = np.zeros(self.size), []
        for delta, rows in zip(deltas, self.row_of):
            known = rows >= 0
            changes[rows[known]] = delta[known]
            without.append((delta != 0.0) & ~known)
        return changes, without

    def fits(self, count: int, dtype: Any) -> bool:
        """Whether there is memory for so many more rows."""
        entries = (self.size + count) * self.samples
        return count > 0 and entries * np.dtype(dtype).itemsize <= self.capacity

    def add(self, samples: list[Bool], dtype: Any, rows: list[Future[Any]]) -> None:
        """Keep rows of these samples of each block, in this order after all others."""
        first = self.size
        for own, known in zip(samples, self.row_of):
            last = self.size + int(np.count_nonzero(own))
            known[own], self.size = np.arange(self.size, last), last
        self.dtype = np.dtype(dtype)
        self.groups.append(Group(slice(first, self.size), rows))
