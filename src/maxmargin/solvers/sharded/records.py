"""Records of a run over shards: settings, progress, messages, solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...dual.certificate import Certificate
from ...dual.problem import DualProblem, Float, Int
from ...kernels.base import take
from ..result import Solution


class ShardedProgress(NamedTuple):
    """What a callback sees: the state of all samples after the last round.

    `moved` counts bytes, `sent` the samples whose inputs were sent to the shards or, in
    the beginning, to the driver.
    """

    steps: int
    violation: float
    dual: float
    gap: float
    seconds: float
    support: int
    active: int
    moved: int
    workers: int
    sent: int = 0

    @property
    def rounds(self) -> int:
        return self.steps


@dataclass(frozen=True)
class ShardedSettings:
    """Budgets and methods; see `solvers.solve`.

    Attributes
    ----------
    most_members : int or None
        With more members than this, only some are optimised at a time; None is a number that
        depends on the size of the inputs.
    checkpoint : callable or None
        Called with rows and α of the members of every shard after each round.
    """

    tol: float = 1e-3
    gap: float = 1e-4
    precision: str = "auto"
    cache_size: float | str = "auto"
    most_members: int | None = None
    max_rounds: float = np.inf
    max_seconds: float = np.inf
    callback: Callable[[ShardedProgress], Any] | None = None
    checkpoint: Callable[[list[Int], list[Float]], object] | None = None
    random_state: int = 0


class Taken(NamedTuple):
    """Samples on their way to the driver: their places in the problem of the shard and in its part,
    labels, inputs, and the variables of each, shape (copies, samples)."""

    places: Int
    rows: Int
    y: Any
    X: Any
    linear: Float
    lower: Float
    upper: Float
    ridge: Float
    group: Int

    def at(self, chosen: Any) -> Taken:
        """The samples selected by a mask."""
        if chosen.all():
            return self
        places = np.flatnonzero(chosen)
        own = [array[..., places] for array in (self.places, self.rows, self.y)]
        variables = (self.linear, self.lower, self.upper, self.ridge, self.group)
        return Taken._make([*own, take(self.X, places), *(a[:, places] for a in variables)])


class Members(NamedTuple):
    """The samples of a shard that the driver knows: their places, and α of shape (copies, …)."""

    places: Int
    alpha: Float


@dataclass(frozen=True)
class ShardedSolution:
    """The result of a run over shards.

    Attributes
    ----------
    X : inputs
        Of the support vectors.
    y : array
        Their labels.
    shard, row : int arrays
        Shard and row of each of them.
    problem : DualProblem
        Restricted to them.
    solution : Solution
        With α and the gradient of the support vectors alone.
    certificate : Certificate
    proven : bool
        Whether the certificate was recomputed; else it is the state after the last round.
    rounds, moved : int
    """

    X: Any
    y: Any
    shard: Int
    row: Int
    problem: DualProblem
    solution: Solution
    certificate: Certificate
    proven: bool
    rounds: int
    moved: int


class Standing(NamedTuple):
    """The combined state of all shards."""

    violation: float
    gap: float
    dual: float
    bias: Float

    @property
    def relative_gap(self) -> float:
        size = max(abs(self.dual), abs(self.dual + self.gap), float(np.finfo(np.float64).tiny))
        return self.gap / size


class Ended(Exception):
    """A budget ended the run; the message is the status."""
