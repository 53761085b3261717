"""Sums over shards of a linear machine on a Dask cluster: pure tasks, O(d²) numbers each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from distributed import Client, Future

from ..solvers.linear.losses import Float
from ..solvers.linear.sums import LinearTask, SumsSession, shard
from ..solvers.linear.sums.session import joined
from ..solvers.linear.sums.shard import Pass, Proof, Sums
from ..solvers.sharded.shard import in_bytes
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
        self.centers: list[Future[Any] | None] = [None] * len(parts)
        self.latest: list[Future[Any] | None] = self.centers

    def evaluate(self, w: Float, b: float, inv_sigma: float) -> Sums:
        jobs = self._submitted(evaluated, w, b, inv_sigma)
        found = self._results([self._submit(sums_of, job) for job in jobs])
        # A smooth loss leaves nothing on the shards.
        self.latest = [None] * len(jobs) if self.task.smooth else list(jobs)
        total: Sums = reduce(Sums.plus, found)
        return total

    def recentre(self) -> None:
        self.centers = self.latest

    def slopes(
        self, w: Float, b: float, inv_sigma: float, dw: Float, db: float, lengths: Float
    ) -> Float:
        jobs = self._submitted(slopes, w, b, inv_sigma, dw, db, lengths)
        total: Float = np.sum(self._results(jobs), axis=0)
        return total

    def prove(self, w: Float, b: float, inv_sigma: float, scales: tuple[float, float]) -> Proof:
        return joined(self._results(self._submitted(proven, w, b, inv_sigma, scales)))

    def _submitted(self, function: Callable[..., Any], *arguments: Any) -> list[Future[Any]]:
        self.passes += 1
        self.moved += in_bytes(list(arguments)) * workers_of(self.client)
        return [
            self._submit(function, part, self.task, center, *arguments)
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


def evaluated(part: Any, task: LinearTask, center: Pass | None, *arguments: Any) -> Pass:
    found = shard.evaluated(part, task, _center(center), *arguments)
    return found._replace(beta=np.empty(0)) if task.smooth else found


def slopes(part: Any, task: LinearTask, center: Pass | None, *arguments: Any) -> Float:
    return shard.slopes(part, task, _center(center), *arguments)


def proven(part: Any, task: LinearTask, center: Pass | None, *arguments: Any) -> Proof:
    return shard.proven(part, task, _center(center), *arguments)


def _center(found: Pass | None) -> Float | None:
    return None if found is None else found.beta
