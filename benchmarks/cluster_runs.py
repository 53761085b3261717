"""One fit on shards, measured: seconds, rounds, bytes moved, memory, certificate."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import dask
import numpy as np
import psutil
from distributed import Client, LocalCluster

from .machine import peak

# Seconds between two looks at the memory of a process.
LOOK_EVERY = 0.1
# A `LocalCluster` gives up a worker for good that is absent this long after it was lost. By default
# it is 15 s: less than a restart takes on a busy machine, and a worker that is killed twice within
# that time counts as absent too.
GIVEN_UP_AFTER = "1 hour"
# Seconds between two looks for a worker that was killed.
GONE_EVERY = 0.02
# Bytes that go with the inputs of a sample: place, row, label, bounds, group, α and gradient.
BESIDE_INPUTS = 8 * 8


@dataclass
class Run:
    """A fit.

    Attributes
    ----------
    seconds, gap, dual : float
    status : str
    support, rounds, moved, wire : int
        Support vectors, rounds, bytes that the library counts as moved (once for each worker that
        they go to or come from; the scheduler, which relays them, is not counted), and bytes that
        went over the loopback device meanwhile, whoever sent them.
    allowed : list of int
        Bytes that each round may move, see `allowed_bytes`.
    by_round : list of int
        Bytes that each round moved, of which the last one is the certificate.
    worker_peak, driver_peak : int
        Most bytes in use by a worker and by this process.
    """

    seconds: float
    gap: float
    dual: float
    status: str
    support: int = 0
    rounds: int = 0
    moved: int = 0
    wire: int = 0
    worker_peak: int = 0
    driver_peak: int = 0
    allowed: list[int] = field(default_factory=list)
    by_round: list[int] = field(default_factory=list)
    history: list[dict[str, float]] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        return asdict(self)


class History:
    """A callback that keeps and prints one line a round."""

    def __init__(self, quiet: bool = False) -> None:
        self.rounds: list[Any] = []
        self.quiet = quiet

    def __call__(self, progress: Any) -> None:
        if not hasattr(progress, "moved"):
            return
        if self.rounds and progress.rounds <= self.rounds[-1].rounds:
            return
        self.rounds.append(progress)
        if not self.quiet:
            print(
                f"    {progress.seconds:7.1f} s  round {progress.rounds}: violation "
                f"{progress.violation:.1e}, gap {relative(progress):.1e}, {progress.support:,} of "
                f"{progress.active:,} members support, {progress.moved / 1e6:,.0f} MB moved",
                flush=True,
            )

    def lines(self) -> list[dict[str, float]]:
        return [
            {
                "seconds": round(p.seconds, 2),
                "violation": float(f"{p.violation:.3g}"),
                "gap": float(f"{relative(p):.3g}"),
                "support": p.support,
                "members": p.active,
                "moved": p.moved,
                "sent": p.sent,
            }
            for p in self.rounds
        ]


def relative(progress: Any) -> float:
    return float(progress.gap / max(abs(progress.dual), 1e-300))


@contextmanager
def cluster(workers: int, memory: str | int = "auto") -> Iterator[Client]:
    """Single-threaded worker processes on this machine, with a limit of memory each."""
    settings = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": memory}
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": GIVEN_UP_AFTER}),
        LocalCluster(n_workers=workers, **settings) as made,
        Client(made) as client,
    ):
        yield client


def measured(
    fit: Callable[[Any], Any], client: Client | None = None, files: Any = None, quiet: bool = False
) -> Run:
    """Time `fit`, which is given a callback and returns a model."""
    history = History(quiet)
    before, began = psutil.net_io_counters(), time.perf_counter()
    model = fit(history)
    seconds, after = time.perf_counter() - began, psutil.net_io_counters()
    certificate = model.certificate_
    run = Run(seconds, certificate.relative_gap, certificate.dual, model.status_)
    run.support = int(getattr(model, "n_support_", [0])[0] and sum(model.n_support_))
    run.driver_peak = peak()
    run.history = history.lines()
    if hasattr(model, "rounds_"):
        run.rounds, run.moved = model.rounds_[0], model.moved_bytes_
    if client is not None:
        run.wire = after.bytes_sent - before.bytes_sent
        run.worker_peak = max(client.run(peak).values())
        if files is not None and history.rounds:
            moved = [*(progress.moved for progress in history.rounds), run.moved]
            run.by_round = np.diff(moved, prepend=0).tolist()
            run.allowed = allowed_bytes(history.rounds, len(workers_of(client)), files).tolist()
    return run


def allowed_bytes(rounds: list[Any], workers: int, files: Any) -> Any:
    """2·q·d·itemsize + O(q) for each worker, in each round.

    The inputs of the q samples that a round adds are fetched at the end of the round before, and
    sent at its beginning: half of the bytes are allowed in each of the two. The numbers that go
    with them are those of the q samples and of all members. The certificate sends all members, and
    fetches none.
    """
    known = np.array([progress.active for progress in rounds] + [rounds[-1].active])
    sent = np.diff([progress.sent for progress in rounds], prepend=0)
    fetched = np.append(sent[1:], [0, 0])
    q = np.append(sent, known[-1]) + fetched
    return workers * (q * files.features * files.itemsize + BESIDE_INPUTS * (q + known))


class Watch:
    """The most bytes that this process has in memory of its own, files it maps not counted."""

    def __init__(self) -> None:
        self.most, self._ended = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(LOOK_EVERY):
            for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
                if line.startswith("RssAnon"):
                    self.most = max(self.most, 1024 * int(line.split()[1]))


def kill_one(client: Client, seconds: float, seed: int) -> None:
    """Kill a random worker after some seconds, whatever it does then, and wait until the scheduler
    has noticed."""
    time.sleep(seconds)
    workers = workers_of(client)
    address = random.Random(seed).choice(sorted(workers))
    os.kill(workers[address], signal.SIGKILL)
    while address in workers_of(client):
        time.sleep(GONE_EVERY)


def workers_of(client: Client) -> dict[str, int]:
    """Addresses and process ids of the workers that the scheduler knows."""
    scheduler = client.cluster.scheduler
    return {address: worker.pid for address, worker in list(scheduler.workers.items())}
