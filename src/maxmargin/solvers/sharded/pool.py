"""The members: all samples whose α is not 0, and candidates for it, as the driver knows them.

Inputs go to the shards in blocks, each once; a block stays with the shards until states are
rebuilt. A member is identified by its block and its row there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...dual.problem import DualProblem, Float, Int
from ...kernels import Kernel
from ...kernels.base import take
from .inputs import in_bytes, stacked
from .records import Members, Taken
from .shard import kernel_sums


class Columns(NamedTuple):
    """The attributes of each member, of shape (members,) or (copies, members)."""

    shard: Int
    place: Int
    row: Int
    y: Any
    block: Int
    spot: Int
    linear: Float
    lower: Float
    upper: Float
    ridge: Float
    group: Int
    alpha: Float
    sent: Float

    def at(self, chosen: Any) -> Columns:
        return Columns._make(column[..., chosen] for column in self)


class Pool:
    """Members with their inputs and α.

    Attributes
    ----------
    X : inputs
    at : Columns
    blocks : list of int
        Rows of the blocks that shards know.
    """

    def __init__(self, shards: int, copies: int) -> None:
        self.shards = shards
        nothing, variables = np.empty(0, dtype=np.int64), np.empty((copies, 0))
        self.X: Any = None
        self.blocks: list[int] = []
        groups = variables.astype(np.int64)
        self.at = Columns._make([*[nothing] * 6, *[variables] * 4, groups, variables, variables])

    def __len__(self) -> int:
        return int(self.at.shard.size)

    @property
    def coef(self) -> Float:
        """Σ α over the variables of each member."""
        total: Float = self.at.alpha.sum(axis=0)
        return total

    @property
    def support(self) -> int:
        return int(np.count_nonzero(self.coef))

    @property
    def sample_bytes(self) -> float:
        """Bytes of the inputs of a member."""
        return in_bytes(self.X) / max(1, len(self))

    def violation(self, gradient: Float, groups: int) -> float:
        """The largest violation of a pair of members."""
        at, found = self.at, -np.inf
        for g in range(groups):
            inside = at.group == g
            highest = gradient.max(initial=-np.inf, where=inside & (at.alpha < at.upper))
            lowest = gradient.min(initial=np.inf, where=inside & (at.alpha > at.lower))
            found = max(found, float(highest - lowest))
        return found

    def sums(self, groups: int) -> Float:
        """Σ α inside each group."""
        return np.array([self.at.alpha[self.at.group == g].sum() for g in range(groups)])

    def infeasibility(self, totals: Float) -> float:
        """The largest excess over a bound or a sum, as a fraction of Σ|α|."""
        at = self.at
        outside = np.maximum(at.lower - at.alpha, at.alpha - at.upper).max(initial=0.0)
        off = np.abs(totals - self.sums(totals.size)).max()
        size = max(float(np.abs(at.alpha).sum()), float(np.abs(totals).max()))
        return max(float(outside), float(off)) / size if size > 0 else 0.0

    def add(self, taken: list[Taken]) -> Any:
        """Add samples of every shard as members in a new block; returns its inputs, or None if
        there are no samples."""
        sizes = [some.places.size for some in taken]
        if not sum(sizes):
            return None
        X = stacked([some.X for some in taken])
        size = sum(sizes)
        zeros = np.zeros((self.at.alpha.shape[0], size))
        joined = [
            np.concatenate([getattr(some, name) for some in taken], axis=-1)
            for name in ("linear", "lower", "upper", "ridge", "group")
        ]
        columns = (
            np.repeat(np.arange(self.shards), sizes),
            np.concatenate([some.places for some in taken]),
            np.concatenate([some.rows for some in taken]),
            np.concatenate([some.y for some in taken if some.places.size]),
            np.full(size, len(self.blocks)),
            np.arange(size),
            *joined,
            zeros,
            zeros,
        )
        new = Columns._make(columns)
        self.blocks.append(size)
        if self.X is None:
            self.X, self.at = X, new
            return X
        self.X = stacked([self.X, X])
        both = zip(self.at, new)
        self.at = Columns._make(np.concatenate([old, more], axis=-1) for old, more in both)
        return X

    def keep(self, chosen: Any) -> None:
        """Drop all other members."""
        chosen = np.flatnonzero(chosen)
        if chosen.size < len(self):
            self.X, self.at = take(self.X, chosen), self.at.at(chosen)

    def merged(self) -> Any:
        """Put all members into one block, in place of all others; returns its inputs."""
        self.blocks = [len(self)]
        block, spot = np.zeros(len(self), dtype=np.int64), np.arange(len(self))
        self.at = self.at._replace(block=block, spot=spot)
        return self.X

    def one_block(self) -> Any:
        """Put all members into one block that has not been sent; returns its inputs."""
        self.at = self.at._replace(sent=np.zeros_like(self.at.alpha))
        return self.merged()

    def deltas(self) -> list[Float]:
        """Changes of α not yet sent to the shards, for the rows of each block."""
        change = (self.at.alpha - self.at.sent).sum(axis=0)
        deltas = [np.zeros(rows) for rows in self.blocks]
        for number, delta in enumerate(deltas):
            own = self.at.block == number
            delta[self.at.spot[own]] = change[own]
        return deltas

    def told(self) -> None:
        """Record that the shards have the current α."""
        self.at = self.at._replace(sent=self.at.alpha.copy())

    def members(self) -> list[Members]:
        """Places and α of the members of each shard, in their order here."""
        return [
            Members(self.at.place[own], self.at.alpha[:, own])
            for own in (self.at.shard == k for k in range(self.shards))
        ]

    def in_order(self, parts: list[Any]) -> Any:
        """Per-shard values of members, (copies, members) each, in the order of the pool."""
        joined = np.empty(self.at.alpha.shape)
        for k, part in enumerate(parts):
            joined[:, self.at.shard == k] = part
        return joined

    def restricted(self, chosen: Any, totals: Float, kernel: Kernel) -> DualProblem:
        """The dual problem over some members, all others fixed.

        G = linear − Qα, and all nonzero α are here: so `linear` of the restricted problem is the
        original one minus the contribution of the members that are not chosen.
        """
        own, others = self.at.at(chosen), ~chosen & (self.coef != 0.0)
        linear, totals = own.linear, totals.copy()
        outside = self.at.at(~chosen)
        np.subtract.at(totals, outside.group, outside.alpha)
        if others.any():
            some, coef = take(self.X, np.flatnonzero(others)), self.coef[others]
            inside = take(self.X, np.flatnonzero(chosen))
            linear = linear - kernel_sums(kernel, inside, some, coef, np.float64)
        return DualProblem(
            linear=linear.ravel(),
            lower=own.lower.ravel(),
            upper=own.upper.ravel(),
            ridge=own.ridge.ravel(),
            group=own.group.ravel(),
            totals=totals,
            samples=own.shard.size,
        )

    def write(self, chosen: Any, alpha: Float) -> None:
        """Set α of the chosen members."""
        values = self.at.alpha.copy()
        values[:, chosen] = alpha.reshape(values.shape[0], -1)
        self.at = self.at._replace(alpha=values)

    def inputs(self, chosen: Any) -> Any:
        if chosen.all():
            return self.X
        return take(self.X, np.flatnonzero(chosen))
