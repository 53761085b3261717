"""Shards on a Dask cluster: pure tasks on immutable states, held as futures.

The future of a state depends on the future of the state before it, and ultimately on the part of
the samples, which Dask can load again. Losing a worker costs a reload and the tasks since states
were last rebuilt from the members (`Session.reroot_every`). Nothing is scattered or pinned: inputs
sent to the shards are also the result of a task, which each worker fetches once.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from distributed import CancelledError, Client, Future, KilledWorker, get_client, wait
from distributed.client import ClosedClientError
from distributed.comm.core import CommClosedError

from ..dual.problem import Float, Int
from ..kernels.base import count, take
from ..solvers.sharded import shard
from ..solvers.sharded.backend import Backend, Pause, Session
from ..solvers.sharded.inputs import in_bytes, stacked
from ..solvers.sharded.records import Members, Taken
from ..solvers.sharded.shard import Part, Proposal, ShardTask, Step, interpolation_at
from ..solvers.sharded.summary import Summary, summary
from .kept import SHARE, Bool, KeptRows

# Seconds between two checks of the time limit and of Ctrl-C while workers compute.
LOOK_EVERY = 0.2
# Seconds without a result after which it is checked that there are workers.
LONELY_AFTER = 10.0
# Errors by which a lost scheduler shows.
LOST = (CommClosedError, CancelledError, ClosedClientError, OSError, TimeoutError)


class LostCluster(RuntimeError):
    """Raised by `fit` when the scheduler can no longer be reached.

    Examples
    --------
    >>> from maxmargin.distributed import SVC, LostCluster
    >>> model = SVC(checkpoint="fit.npz")
    >>> try:  # doctest: +SKIP
    ...     model.fit(X, y)
    ... except LostCluster:
    ...     model.set_params(client="tcp://another-scheduler:8786").fit(X, y)
    """


def client_of(client: Any) -> Client:
    """The client given, or the current one."""
    if isinstance(client, Client):
        return client
    if client is not None:
        raise TypeError(
            f"client must be a distributed.Client, an address or None, got {type(client).__name__}"
        )
    try:
        current: Client = get_client()
        return current
    except ValueError:
        raise ValueError(
            "there is no Dask client: start one with `from distributed import Client; client = "
            "Client()`, or give client=Client('tcp://scheduler:8786')"
        ) from None


class DaskBackend(Backend):
    """Parts that are the results of Dask tasks.

    Parameters
    ----------
    client : distributed.Client
    parts : list of futures or of functions
        Of `Part`s, or what reads them.
    """

    def __init__(self, client: Client, parts: list[Any], feature_names: Any = None) -> None:
        self.client, self.parts, self.feature_names = client, parts, feature_names
        self.samples, self.nbytes = 0, 0

    def keep(self, nbytes: int = 0, share: float = 0.4) -> None:
        """Let the workers keep parts that are read, unless `nbytes` exceed this share of their
        memory: then files are read in every pass."""
        if nbytes > share * memory_of(self.client):
            return
        self.parts = [
            submitted(self.client, part) if callable(part) else part for part in self.parts
        ]

    @property
    def side_by_side(self) -> int:  # type: ignore[override]
        return workers_of(self.client)

    def summaries(self, classes: bool) -> list[Summary]:
        futures = [submitted(self.client, summary_of, part, classes) for part in self.parts]
        found = results(self.client, futures, lambda: None)
        self.samples = sum(one.samples for one in found)
        self.nbytes = sum(one.nbytes for one, part in zip(found, self.parts) if not callable(part))
        return found

    def session(self, task: ShardTask, pause: Pause) -> DaskSession:
        memory = memory_of(self.client)
        capacity = 0.0 if np.isinf(memory) else (SHARE * memory - self.nbytes) / self.side_by_side
        return DaskSession(self.client, self.parts, task, pause, KeptRows(self.samples, capacity))


class Piece(NamedTuple):
    """Some rows of a block, whose inputs are the result of a task."""

    rows: slice
    inputs: Future[Any]


class DaskSession(Session):
    """A session on a cluster."""

    reroot_every = 16

    def __init__(
        self,
        client: Client,
        parts: list[Future[Any]],
        task: ShardTask,
        pause: Pause,
        kept: KeptRows,
    ) -> None:
        self.client, self.parts, self.pause = client, parts, pause
        self.task, self.kept, self.keeps = task, kept, False
        self.states: list[Future[Any] | None] = [None] * len(parts)
        self.blocks: list[list[Piece]] = []

    @property
    def workers(self) -> int:
        return workers_of(self.client)

    def sample(self, share: float, least: int, seed: int) -> list[Taken]:
        jobs = [
            self._submit(shard.sampled, part, self.task, share, least, seed + k)
            for k, part in enumerate(self.parts)
        ]
        taken = self._results(jobs)
        self.sent += sum(some.places.size for some in taken)
        return taken

    def fetch(self, rows: list[Int]) -> list[Taken]:
        jobs = [
            self._submit(shard.fetched, part, self.task, own) for part, own in zip(self.parts, rows)
        ]
        return self._results(jobs)

    def send(self, X: Any) -> None:
        # Pieces of at most 4 MB.
        rows = max(1, int((4 << 20) * count(X) / max(1, in_bytes(X))))
        self.blocks.append(
            [
                Piece(slice(start, start + rows), self._submit(same, X[start : start + rows]))
                for start in range(0, count(X), rows)
            ]
        )
        # Once to the cluster, and from there once to each worker.
        self.moved += in_bytes(X) * self.workers
        self.sent += count(X)

    def restart(self, X: Any) -> None:
        self.states, self.blocks = [None] * len(self.parts), []
        self.kept.forget()
        self.keeps = interpolation_at(self.task.kernel, X) is None
        self.send(X)

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
        changes, without = self.kept.split(deltas, dtype)
        new = [delta[own] for delta, own in zip(deltas, without)]
        if keep and self.keeps and self.kept.fits(sum(map(len, new)), dtype):
            self.kept.add(without, dtype, self._rows(without, dtype))
            changes, without = np.concatenate([changes, *new]), []
        groups = [group for group in self.kept.groups if changes[group.members].any()]
        pieces = self._pieces(without)
        direct = [deltas[number][piece.rows] * chosen for number, piece, chosen in pieces]
        blocks = [piece.inputs for _, piece, _ in pieces]
        message = self._submit(same, (direct, [changes[group.members] for group in groups]))
        steps = [
            self._submit(
                advanced,
                part,
                state,
                self.task,
                own,
                blocks,
                [group.rows[k] for group in groups],
                message,
                dtype,
                bias,
                most,
                leash,
            )
            for k, (part, state, own) in enumerate(zip(self.parts, self.states, members))
        ]
        proposals = self._results([self._submit(proposal_of, step) for step in steps])
        # All at once, so that an interrupted pass changes nothing.
        self.states = list(steps)
        self.moved += in_bytes(deltas) * self.workers + in_bytes(members)
        return proposals

    def _pieces(self, samples: list[Bool]) -> list[tuple[int, Piece, Bool]]:
        """The pieces of blocks with some of these samples: block, piece, and which of its rows."""
        found = []
        for number, (block, own) in enumerate(zip(self.blocks, samples)):
            found += [(number, piece, own[piece.rows]) for piece in block if own[piece.rows].any()]
        return found

    def _rows(self, samples: list[Bool], dtype: Any) -> list[Future[Any]]:
        """Tasks for the kernel values of these samples of each block, one for each part."""
        pieces = self._pieces(samples)
        blocks = [piece.inputs for _, piece, _ in pieces]
        chosen = [np.flatnonzero(rows) for _, _, rows in pieces]
        return [
            self._submit(rows_of, part, self.task, blocks, chosen, dtype) for part in self.parts
        ]

    def gaps(self, members: list[Members], bias: Float) -> list[float]:
        jobs = [
            self._submit(gap_part, part, state, self.task, own, bias)
            for part, state, own in zip(self.parts, self.states, members)
        ]
        return self._results(jobs)

    def close(self) -> None:
        # Not left to the garbage collector: workers keep what a future still refers to.
        self.states, self.blocks, self.parts = [], [], []

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return submitted(self.client, function, *arguments)

    def _results(self, futures: list[Future[Any]]) -> list[Any]:
        found = results(self.client, futures, self.pause)
        self.moved += sum(in_bytes(one) for one in found)
        return found


def submitted(client: Client, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """The future of a task that may be run again on another worker."""
    try:
        return client.submit(function, *arguments, pure=False, retries=3)
    except LOST as error:
        raise LostCluster(LOST_MESSAGE) from error


def results(
    client: Client, futures: list[Future[Any]], pause: Pause, retries: int = 5
) -> list[Any]:
    """The results of tasks; `pause` is called while waiting for them, and may raise.

    Tasks that Dask gives up because their workers were killed are retried `retries` times.
    """
    for last in (*[False] * retries, True):
        try:
            wait_for(client, futures, pause)
            return [received(client, future, pause) for future in futures]
        except KilledWorker:
            if last:
                raise
            client.retry(futures)
        except LOST as error:
            raise LostCluster(LOST_MESSAGE) from error
        except BaseException:
            client.cancel(futures)
            raise
    raise AssertionError("not reached")


def wait_for(client: Client, futures: list[Future[Any]], pause: Pause) -> None:
    look = Lookout(client)
    while not all(future.done() for future in futures):
        try:
            with client.as_current():
                wait(futures, timeout=LOOK_EVERY)
        except TimeoutError:
            look()
        pause()


def received(client: Client, future: Future[Any], pause: Pause) -> Any:
    """The result of a task that was done; if the worker that held it has died since, of the task
    that is run again."""
    look = Lookout(client)
    while True:
        try:
            return future.result(timeout=LOOK_EVERY)
        except TimeoutError:
            look()
            pause()


class Lookout:
    """Called while results are overdue: an error if the scheduler is lost, a warning if there are
    no workers, as then a fit waits until one is added."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.next = time.perf_counter() + LONELY_AFTER

    def __call__(self) -> None:
        if self.client.status != "running":
            raise LostCluster(LOST_MESSAGE)
        if time.perf_counter() < self.next:
            return
        self.next += LONELY_AFTER
        if not self.client.nthreads():
            warnings.warn(LONELY_MESSAGE, RuntimeWarning, stacklevel=2)


LONELY_MESSAGE = (
    "the Dask cluster has no workers: the fit waits until one is added. A LocalCluster gives up "
    "workers that are absent 15 s after they were lost; a longer "
    "distributed.deploy.lost-worker-timeout allows them more time"
)
LOST_MESSAGE = (
    "the Dask scheduler was lost. Start another one and fit again; with checkpoint='file' the new "
    "fit resumes from the last round"
)


def workers_of(client: Client) -> int:
    """Their number, as far as it is known."""
    try:
        return max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    except (*LOST, ValueError):
        return 1


def memory_of(client: Client) -> float:
    """The limits of memory of all workers, in bytes; infinite where there is none."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    limits = [worker["memory_limit"] for worker in workers]
    return float(sum(limits)) if all(limits) and limits else float("inf")


def summary_of(part: Any, classes: bool) -> Summary:
    return summary(part() if callable(part) else part, classes)


def same(X: Any) -> Any:
    return X


def advanced(
    part: Part,
    state: Step | None,
    task: ShardTask,
    members: Members,
    blocks: list[Any],
    rows: list[Any],
    message: tuple[list[Float], list[Float]],
    dtype: Any,
    bias: Float,
    most: int,
    leash: float,
) -> Step:
    before, (deltas, changes) = None if state is None else state.state, message
    kept = zip(rows, changes)
    return shard.advanced(
        part, before, task, members, blocks, deltas, dtype, bias, most, leash, kept
    )


def rows_of(part: Part, task: ShardTask, blocks: list[Any], chosen: list[Int], dtype: Any) -> Any:
    """Kernel values between these rows of each block and all samples of a part."""
    members = stacked([take(X, rows) for X, rows in zip(blocks, chosen)])
    return shard.kernel_rows(part, task, members, dtype)


def gap_part(part: Part, state: Step, *arguments: Any) -> float:
    return shard.gap_part(part, state.state, *arguments)


def proposal_of(step: Step) -> Proposal:
    return step.proposal


def parts_of(
    client: Client, X: Iterable[Any], y: Iterable[Any], weight: Iterable[Any]
) -> list[Future[Any]]:
    """Futures of the parts of delayed blocks of X, y and weights."""
    return [
        submitted(client, as_part, *map(client.compute, blocks)) for blocks in zip(X, y, weight)
    ]


def as_part(X: Any, y: Any, weight: Any) -> Part:
    """A `Part` from blocks of a collection."""
    from .inputs import as_inputs, as_vector

    return Part(as_inputs(X), as_vector(y), as_vector(weight))
