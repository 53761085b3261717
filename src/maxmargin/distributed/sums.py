"""Sums over shards of a linear machine on a Dask cluster: pure tasks, O(d²) numbers each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from distributed import Client, Future

from ..solvers.linear.losses import Float
from ..solvers.linear.sums import LinearTask, SumsSession, shard
from ..solvers.linear.sums.shard import Pass, Sums
from ..solvers.sharded.inputs import in_bytes
from .backend import results, submitted, workers_of


class DaskSums(SumsSession):
    """One problem on the parts of a cluster.

    The centres are the results of tasks that depend on those before them, and in the end on the
    parts: a lost worker costs the passes since the first centre, on its parts.

    Parameters
    ----------
    client : distributed.Client
    parts : sequence of futures or of functions
        Parts, or what reads them anew in every pass.
    task : LinearTask
    pause : callable
        Called while tasks are waited for; it may raise.
    """

    def __init__(
        self,
        client: Client,
        parts: Sequence[Any],
        task: LinearTask,
        pause: Callable[[], object],
    ) -> None:
        self.client, self.parts, self.task, self.pause = client, parts, task, pause
        self.centers = self.latest = [None] * len(parts)

    def evaluate(self, w: Float, b: float, inv_sigma: float) -> Sums:
        if self.task.smooth:  # nothing stays on the shards, so no task of its own takes the sums
            found = self._results(self._submitted(evaluated_sums, shard.evaluated, w, b, inv_sigma))
        else:
            jobs = self._submitted(from_center, shard.evaluated, w, b, inv_sigma)
            found = self._results([self._submit(sums_of, job) for job in jobs])
            self.latest = list(jobs)
        total: Sums = reduce(Sums.plus, found)
        return total

    def _each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return self._results(self._submitted(from_center, function, *arguments))

    def _submitted(
        self, task: Callable[..., Any], function: Callable[..., Any], *arguments: Any
    ) -> list[Future[Any]]:
        self.passes += 1
        self.moved += in_bytes(list(arguments)) * workers_of(self.client)
        return [
            self._submit(task, function, part, self.task, center, *arguments)
            for part, center in zip(self.parts, self.centers)
        ]

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        return submitted(self.client, function, *arguments)

    def _results(self, jobs: list[Future[Any]]) -> list[Any]:
        found = results(self.client, jobs, self.pause)
        self.moved += sum(in_bytes(one) for one in found)
        return found


def sums_of(found: Pass) -> Sums:
    return found.sums


def from_center(
    function: Callable[..., Any], part: Any, task: LinearTask, center: Pass | None, *arguments: Any
) -> Any:
    """A function of `shard` with the responses of an earlier pass as centres."""
    return function(part, task, None if center is None else center.beta, *arguments)


def evaluated_sums(*arguments: Any) -> Sums:
    return sums_of(from_center(*arguments))
