"""Where the shards of a linear machine are: the interface, and shards that this process reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..losses import Float
from . import shard
from .shard import LinearTask, Proof, Sums


class SumsSession(ABC):
    """One problem on all shards.

    Attributes
    ----------
    passes : int
        Times that all samples were read.
    moved : int
        Bytes that went to shards or came from them.
    centers, latest : list
        The proximal centres of each shard, and its responses in the last evaluation; None where a
        shard has none.
    """

    passes = 0
    moved = 0
    centers: list[Any]
    latest: list[Any]

    @abstractmethod
    def evaluate(self, w: Float, b: float, inv_sigma: float) -> Sums:
        """The sums of all shards; their responses are remembered."""

    def recentre(self) -> None:
        """Make the responses of the last evaluation the centres."""
        self.centers = self.latest

    def slopes(
        self, w: Float, b: float, inv_sigma: float, dw: Float, db: float, lengths: Float
    ) -> Float:
        """−Σβ(z + t dz) dz for each step length t."""
        total: Float = np.sum(self._each(shard.slopes, w, b, inv_sigma, dw, db, lengths), axis=0)
        return total

    def prove(self, w: Float, b: float, inv_sigma: float, scales: tuple[float, float]) -> Proof:
        """The sums of a certificate, see `shard.proven`."""
        return joined(self._each(shard.proven, w, b, inv_sigma, scales))

    @abstractmethod
    def _each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """The results of function(part, task, center, *arguments) for all shards: one pass."""


class LocalSums(SumsSession):
    """Shards that this process reads, one after the other.

    Parameters
    ----------
    parts : sequence
        Of `Part`s, or of functions that read them.
    task : LinearTask
    pause : callable
        Called before a shard is read; it may raise.
    """

    def __init__(
        self, parts: Sequence[Any], task: LinearTask, pause: Callable[[], object] = lambda: None
    ) -> None:
        self.parts, self.task, self.pause = parts, task, pause
        self.centers = self.latest = [None] * len(parts)

    def evaluate(self, w: Float, b: float, inv_sigma: float) -> Sums:
        found = self._each(shard.evaluated, w, b, inv_sigma)
        self.latest = [one.beta for one in found]
        total: Sums = reduce(Sums.plus, (one.sums for one in found))
        return total

    def _each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        self.passes += 1
        found = []
        for part, center in zip(self.parts, self.centers):
            self.pause()
            found.append(function(part, self.task, center, *arguments))
        return found


def joined(proofs: Sequence[Proof]) -> Proof:
    """The proof of all shards."""
    value, slack, total, combined, violation = zip(*proofs)
    return Proof(sum(value), sum(slack), sum(total), np.sum(combined, axis=0), max(violation))
