"""Backends of shards: the interface that the driver uses, and its implementation in this process.

A backend holds the parts. A session on it is one dual problem: the states of the shards, and the
inputs that were sent to them, in blocks. `LocalBackend` reads a part whenever it is needed, from
memory or from a file, and keeps no more than one at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dual.problem import Float, Int
from ...kernels.base import count
from . import shard
from .inputs import in_bytes
from .records import Members, Taken
from .shard import Part, Proposal, ShardState, ShardTask
from .summary import Summary, summary

# Called between the shards of a pass; it may raise.
Pause = Callable[[], object]


class Session(ABC):
    """One dual problem on the shards of a backend.

    Attributes
    ----------
    moved : int
        Bytes that went to shards or came from them.
    sent : int
        Samples whose inputs were sent to the shards, or to the driver in the beginning.
    reroot_every : int
        The states are rebuilt from the members after this many changes, which bounds the recovery
        of a lost state; 0 is never.
    in_process : bool
        Whether the shards read the inputs of members where the driver has them.
    """

    moved = 0
    sent = 0
    reroot_every = 0
    in_process = False

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of worker processes."""

    @abstractmethod
    def sample(self, share: float, least: int, seed: int) -> list[Taken]:
        """A random sample of every shard: this share of it, but at least `least` samples."""

    @abstractmethod
    def fetch(self, rows: list[Int]) -> list[Taken]:
        """The samples at these rows of each shard."""

    @abstractmethod
    def send(self, X: Any) -> None:
        """Send a block of inputs to the shards."""

    @abstractmethod
    def restart(self, X: Any) -> None:
        """Forget states and blocks; the inputs are the only block."""

    def reuse(self, X: Any) -> None:
        """Read the inputs of all members, now the only block, where the driver has them; only where
        `in_process` is true."""
        raise NotImplementedError

    @abstractmethod
    def advance(
        self,
        members: list[Members],
        deltas: list[Float],
        dtype: Any,
        bias: Float,
        most: int,
        leash: float,
        keep: bool = True,
    ) -> list[Proposal]:
        """Change α by the deltas of all blocks, and get the candidates of every shard. Samples that
        satisfy their condition by more than the leash are set aside. Kernel values may be kept for
        the next change, unless it is said that there is none."""

    @abstractmethod
    def gaps(self, members: list[Members], bias: Float) -> list[float]:
        """The contribution of every shard to the duality gap at a bias."""

    @abstractmethod
    def close(self) -> None:
        """Release states and blocks."""


class Backend(ABC):
    """Parts of the samples, wherever they are."""

    @abstractmethod
    def summaries(self, classes: bool) -> list[Summary]:
        """The summary of every part."""

    @abstractmethod
    def session(self, task: ShardTask, pause: Pause) -> Session:
        """A session for one problem."""

    # Problems that may be solved at the same time.
    side_by_side = 1
    # Where the source knows them.
    feature_names: Any = None


class LocalBackend(Backend):
    """Parts that this process can read, one at a time.

    Parameters
    ----------
    parts : sequence of callables
        Each reads a part: from memory, or from a file.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.sharded import LocalBackend
    >>> backend = LocalBackend.of_arrays(np.arange(6.0).reshape(3, 2), np.array([0, 1, 1]), rows=2)
    >>> [summary.samples for summary in backend.summaries(classes=True)]
    [2, 1]
    """

    def __init__(self, parts: Sequence[Callable[[], Part]]) -> None:
        self.parts = parts

    @classmethod
    def of_arrays(
        cls, X: Any, y: Any = None, weight: Any = None, rows: int = 1 << 16
    ) -> LocalBackend:
        """The parts of arrays, which may be memory maps, of `rows` rows each."""
        starts = range(0, X.shape[0], rows)
        return cls([ArrayPart(X, y, weight, slice(start, start + rows)) for start in starts])

    @classmethod
    def of_chunks(cls, source: Any, y: Any = None, weight: Any = None) -> LocalBackend:
        """The chunks of a source, see `solvers.linear.data.chunked`."""
        return cls([ChunkPart(source, y, weight, k) for k in range(len(source.edges) - 1)])

    def summaries(self, classes: bool) -> list[Summary]:
        return [summary(read(), classes) for read in self.parts]

    def session(self, task: ShardTask, pause: Pause) -> LocalSession:
        return LocalSession(self.parts, task, pause)


class ArrayPart:
    """Some rows of arrays."""

    def __init__(self, X: Any, y: Any, weight: Any, rows: slice) -> None:
        self.X, self.y, self.weight, self.rows = X, y, weight, rows

    def __call__(self) -> Part:
        X = self.X[self.rows]
        if isinstance(X, np.memmap):
            X = np.array(X)
        if getattr(X, "dtype", None) not in (None, np.float32, np.float64):
            X = X.astype(np.float64)
        return Part(X, of_rows(self.y, self.rows), of_rows(self.weight, self.rows))


class ChunkPart:
    """A chunk of a source."""

    def __init__(self, source: Any, y: Any, weight: Any, k: int) -> None:
        self.source, self.y, self.weight, self.k = source, y, weight, k

    def __call__(self) -> Part:
        rows = slice(int(self.source.edges[self.k]), int(self.source.edges[self.k + 1]))
        X = self.source.read(self.k)
        return Part(X, of_rows(self.y, rows), of_rows(self.weight, rows))


def of_rows(values: Any, rows: slice) -> Any:
    return None if values is None else np.asarray(values[rows])


class LocalSession(Session):
    """A session of this process."""

    workers = 1
    in_process = True

    def __init__(self, parts: Sequence[Callable[[], Part]], task: ShardTask, pause: Pause) -> None:
        self.parts, self.task, self.pause = parts, task, pause
        self.states: list[ShardState | None] = [None] * len(parts)
        self.blocks: list[Any] = []

    def sample(self, share: float, least: int, seed: int) -> list[Taken]:
        taken = [
            shard.sampled(part, self.task, share, least, seed + k) for k, part in self._in_turn()
        ]
        self.sent += sum(some.places.size for some in taken)
        return taken

    def fetch(self, rows: list[Int]) -> list[Taken]:
        return [shard.fetched(part, self.task, rows[k]) for k, part in self._in_turn()]

    def send(self, X: Any) -> None:
        self.blocks.append(X)
        self.moved += in_bytes(X)
        self.sent += count(X)

    def restart(self, X: Any) -> None:
        self.states, self.blocks = [None] * len(self.parts), []
        self.send(X)

    def reuse(self, X: Any) -> None:
        self.blocks = [X]

    def advance(
        self,
        members: list[Members],
        deltas: list[Float],
        dtype: Any,
        bias: Float,
        most: int,
        leash: float,
        keep: bool = True,
    ) -> list[Proposal]:
        del keep
        steps = [
            shard.advanced(
                part,
                self.states[k],
                self.task,
                members[k],
                self.blocks,
                deltas,
                dtype,
                bias,
                most,
                leash,
            )
            for k, part in self._in_turn()
        ]
        # Assigned at once, so that an interrupted pass changes nothing.
        self.states = [step.state for step in steps]
        proposals = [step.proposal for step in steps]
        self.moved += in_bytes(deltas) + sum(in_bytes(proposal) for proposal in proposals)
        return proposals

    def gaps(self, members: list[Members], bias: Float) -> list[float]:
        found = []
        for k, part in self._in_turn():
            state = self.states[k]
            assert state is not None
            found.append(shard.gap_part(part, state, self.task, members[k], bias))
        return found

    def close(self) -> None:
        self.states, self.blocks = [], []

    def _in_turn(self) -> Any:
        for k, read in enumerate(self.parts):
            self.pause()
            yield k, read()
