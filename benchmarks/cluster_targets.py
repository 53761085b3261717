"""The targets of fits on shards: what is run for each, and whether it was met."""

from __future__ import annotations

import multiprocessing
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import maxmargin
from maxmargin import distributed

from . import cluster_data
from .cluster_runs import Run, Watch, cluster, kill_one, measured
from .limited import limited

DIGITS = {"C": 50.0, "gamma": 255.0**2 / (2 * 3500.0**2)}
BOARD = {"C": 1e3, "gamma": 0.5}
WARM_UP = 2000
HOUR = 3600.0
# Seconds that a killed worker is given to come back.
MOST_RESTART = 600.0
# Dual values of the same optimum differ by this much for rounding alone, relative to them.
ROUNDING = 1e-10


@dataclass
class Options:
    """Size of all sets as a share of the issue's, workers, parts of a set for each worker, and
    seconds after which a fit in one process beside it is stopped."""

    scale: float = 1.0
    workers: int = 2
    parts: int = 4
    kills: int = 20
    folder: str | None = None
    most_alone: float | None = None

    def samples(self, full: int) -> int:
        return max(2 * WARM_UP, int(self.scale * full))


@dataclass
class Verdict:
    """A target, what was measured, whether it was met, and all that was recorded."""

    name: str
    target: str
    measured: str
    met: bool
    details: dict[str, Any] = field(default_factory=dict)


@contextmanager
def scratch(options: Options) -> Any:
    """A folder for the samples, removed at the end."""
    path = Path(tempfile.mkdtemp(prefix="maxmargin_", dir=options.folder))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def kernel_fit(files: Any, **settings: Any) -> Callable[[Any], Any]:
    return lambda callback: distributed.SVC(**settings, callback=callback).fit(files.X, files.y)


def warm_up(client: Any, folder: Path, files: Any, options: Options, **settings: Any) -> None:
    """Compile on both sides, on some of the samples."""
    (folder / "warm").mkdir()
    few = cluster_data.saved(folder / "warm", *first(files, WARM_UP), 2 * options.workers)
    with client.as_current():
        distributed.SVC(**settings).fit(few.X, few.y)
    maxmargin.SVC(**settings).fit(*few.arrays())


def beside_one_process(
    name: str, make: Any, full: int, most: float, settings: dict[str, Any], options: Options
) -> list[Verdict]:
    """A fit on a cluster, and of the same samples in this process."""
    with scratch(options) as folder, cluster(options.workers) as client:
        files = make(folder, options.samples(full), options.parts * options.workers)
        warm_up(client, folder, files, options, **settings)
        together = measured(kernel_fit(files, **settings), client, files)
        show("cluster", together)
        X, y = files.arrays()
        limit = {"max_seconds": options.most_alone}
        alone = measured(lambda _: maxmargin.SVC(**settings, **limit).fit(X, y))
        show("one process", alone)
    details = {"cluster": together.record(), "one process": alone.record()}
    details |= {"samples": files.samples, "features": files.features}
    return [
        beside(name, most, together, alone, options, details),
        bytes_moved(name, together, options),
    ]


def beside(
    name: str, most: float, together: Run, alone: Run, options: Options, details: dict[str, Any]
) -> Verdict:
    """A fit on a cluster against one in this process.

    If the latter was stopped it would have taken longer than it was given, so that the ratio to
    that time is an upper bound; the optimum lies between its dual and its primal value.
    """
    ratio, stopped = together.seconds / alone.seconds, ""
    if alone.status == "time_limit" and options.most_alone is not None:
        ratio = together.seconds / options.most_alone
        stopped = f", which was stopped after {options.most_alone:g} s"
    slack = (together.gap + ROUNDING) * abs(together.dual)
    primal = alone.dual / (1.0 - alone.gap)
    close = alone.dual - slack <= together.dual <= primal + slack
    certified = together.status == "converged" and together.gap <= 1e-4 and close
    return Verdict(
        name,
        f"ends certified; ≤ {most:g} × one process",
        f"gap {together.gap:.0e}, {together.seconds:.1f} s, {ratio:.2f} × one process{stopped}",
        certified and ratio <= most,
        details,
    )


def bytes_moved(name: str, run: Run, options: Options) -> Verdict:
    each = run.moved / max(1, run.rounds) / options.workers
    shares = [moved / allowed for moved, allowed in zip(run.by_round, run.allowed)]
    return Verdict(
        f"{name}: bytes moved",
        "≤ 2·q·d·itemsize a worker + O(q) in every round",
        f"{each / 1e6:.2f} MB a round and worker on average, {max(shares):.2f} × allowed in the "
        f"round that moved most beside it, {sum(run.by_round) / sum(run.allowed):.2f} in all",
        max(shares) <= 1.0,
    )


def mnist(options: Options) -> list[Verdict]:
    return beside_one_process("MNIST", cluster_data.mnist, 60_000, 2.5, DIGITS, options)


def board(options: Options) -> list[Verdict]:
    return beside_one_process("chess board", cluster_data.board, 5_000_000, 3.0, BOARD, options)


def digits(options: Options) -> list[Verdict]:
    """Deformed digits on workers of 1.5 GB."""
    with scratch(options) as folder, cluster(options.workers, "1.5GB") as client:
        began = time.perf_counter()
        files = cluster_data.digits(folder, options.samples(300_000), 8 * options.workers)
        print(f"    samples made in {time.perf_counter() - began:.0f} s", flush=True)
        warm_up(client, folder, files, options, **DIGITS)
        run = measured(kernel_fit(files, **DIGITS, gap=1e-3), client, files)
        show("cluster", run)
    met = run.status == "converged" and run.gap <= 1e-3 and run.seconds < HOUR
    return [
        Verdict(
            "deformed digits, workers of 1.5 GB",
            "certified at gap ≤ 1e-3 in under an hour",
            f"gap {run.gap:.0e}, {run.seconds:.0f} s, worker's peak {run.worker_peak / 1e9:.2f} GB",
            met,
            {"cluster": run.record(), "samples": files.samples, "features": files.features},
        ),
        bytes_moved("deformed digits", run, options),
    ]


def from_file(options: Options) -> list[Verdict]:
    """Deformed digits from a memory map in a control group of 1 GB, and with memory enough."""
    with scratch(options) as folder:
        files = cluster_data.digits(folder, options.samples(300_000), 8)
        files.memory_map(folder / "all.f32")
        with limited(10**9):
            bounded = in_a_process(mapped_fit, folder / "all.f32", files)
        show("1 GB", bounded["run"])
        free = in_a_process(loaded_fit, folder / "all.f32", files)
        show("memory enough", free["run"])
    run, other = bounded["run"], free["run"]
    ratio = run.seconds / other.seconds
    return [
        Verdict(
            "out of core, 1 GB for everything",
            "certified; ≤ 2 × the time with memory enough",
            f"gap {run.gap:.0e}, {run.seconds:.0f} s, {ratio:.2f} × with memory enough, peak "
            f"{bounded['most'] / 1e9:.2f} GB",
            run.status == "converged" and run.gap <= 1e-3 and ratio <= 2.0,
            {"bounded": run.record(), "free": other.record(), "samples": files.samples},
        )
    ]


def mapped_fit(path: Path, files: Any) -> dict[str, Any]:
    """A fit from the map."""
    from maxmargin.estimators.kernel.training import sharded

    # A share of the set is a smaller file, and read in parts all the same.
    sharded.KEPT_BYTES = 0
    X, y = mapped(path, files)
    with Watch() as watch:
        run = measured(
            lambda callback: maxmargin.SVC(
                **DIGITS, gap=1e-3, cache_size=160, callback=callback
            ).fit(X, y)
        )
    return {"run": run, "most": watch.most}


def loaded_fit(path: Path, files: Any) -> dict[str, Any]:
    """A fit of the same samples in memory."""
    X, y = mapped(path, files)
    return {"run": measured(lambda _: maxmargin.SVC(**DIGITS, gap=1e-3).fit(np.array(X), y))}


def mapped(path: Path, files: Any) -> tuple[Any, Any]:
    """Inputs and labels, after a fit of some of them."""
    few, labels = first(files, WARM_UP)
    maxmargin.SVC(**DIGITS).fit(few, labels)
    y = np.concatenate([np.load(part) for part in files.y])
    X = np.memmap(path, dtype=np.float32, mode="r", shape=(files.samples, files.features))
    return X, y


def first(files: Any, samples: int) -> tuple[Any, Any]:
    """Some samples of the first part."""
    return np.load(files.X[0])[:samples], np.load(files.y[0])[:samples]


def linear(options: Options) -> list[Verdict]:
    """Hinge and squared hinge on a table in Parquet files, workers of 1.5 GB."""
    found = []
    with scratch(options) as folder, cluster(options.workers, "1.5GB") as client:
        samples = options.samples(10_000_000)
        files = cluster_data.table(folder, samples, max(8, samples // 125_000))
        reading = min(reading_seconds(client, files) for _ in range(2))
        print(f"    reading all files: {reading:.2f} s", flush=True)
        few = files.X[:2]
        for loss in ("squared_hinge", "hinge"):
            distributed.LinearSVC(loss=loss, max_iter=2).fit(few, files.y)
            run, passes = linear_run(client, files, loss)
            show(loss, run)
            each = run.seconds / passes
            found.append(
                Verdict(
                    f"linear {loss}, workers of 1.5 GB",
                    "gap ≤ 1e-6; seconds a pass ≤ 2 × reading the files",
                    f"gap {run.gap:.0e}, {run.seconds:.0f} s, {passes} passes of {each:.2f} s, "
                    f"{each / reading:.2f} × reading",
                    run.status == "converged" and run.gap <= 1e-6 and each <= 2.0 * reading,
                    {"run": run.record(), "passes": passes, "reading": reading, "samples": samples},
                )
            )
    return found


def linear_run(client: Any, files: Any, loss: str) -> tuple[Run, int]:
    models = []

    def fit(callback: Any) -> Any:
        settings = {"loss": loss, "tol": 1e-6, "callback": callback}
        models.append(distributed.LinearSVC(**settings).fit(files.X, files.y))
        return models[0]

    run = measured(fit, client)
    return run, models[0].passes_


def reading_seconds(client: Any, files: Any) -> float:
    """Seconds in which the workers read all files, and keep nothing."""
    from maxmargin.distributed.inputs import file_readers

    began = time.perf_counter()
    readers = file_readers(files.X, files.y, None)
    client.gather([client.submit(rows_read, read, pure=False) for read in readers])
    return time.perf_counter() - began


def rows_read(read: Any) -> int:
    return len(read().X)


def kills(options: Options) -> list[Verdict]:
    """Fits during each of which a worker is killed at a random moment."""
    same, results = 0, []
    with scratch(options) as folder, cluster(options.workers, "1.5GB") as client:
        files = cluster_data.board(folder, options.samples(100_000), 4 * options.workers)
        warm_up(client, folder, files, options, **BOARD)
        for _ in range(2):  # the first fit still loads code on the workers
            calm = measured(kernel_fit(files, **BOARD), client, files, quiet=True)
        show("without kills", calm)
        for seed in range(options.kills):
            moment = random.Random(seed).uniform(0.0, calm.seconds)
            with ThreadPoolExecutor(1) as other:
                killed = other.submit(kill_one, client, moment, seed)
                run = measured(kernel_fit(files, **BOARD), quiet=True)
                killed.result()
            began = time.perf_counter()
            client.wait_for_workers(options.workers, timeout=MOST_RESTART)
            restart = time.perf_counter() - began
            apart = abs(run.dual - calm.dual) / abs(calm.dual)
            good = (
                run.status == "converged"
                and run.gap <= 1e-4
                and apart <= run.gap + calm.gap + ROUNDING
            )
            same += good
            results.append(
                {"moment": moment, "seconds": run.seconds, "gap": run.gap, "apart": apart}
            )
            print(
                f"    killed after {moment:.1f} s: {run.status} in {run.seconds:.1f} s, gap "
                f"{run.gap:.1e}, dual differs by {apart:.1e}; all workers back {restart:.1f} s "
                "later",
                flush=True,
            )
    inside = sum(result["moment"] < result["seconds"] for result in results)
    return [
        Verdict(
            f"{options.kills} random SIGKILLs",
            "all certified, none different beyond the gap",
            f"{same} of {options.kills} certified and the same, {inside} struck during the fit",
            same == options.kills,
            {"calm": calm.record(), "kills": results, "samples": files.samples},
        )
    ]


TARGETS: dict[str, Callable[[Options], list[Verdict]]] = {
    "mnist": mnist,
    "board": board,
    "digits": digits,
    "file": from_file,
    "linear": linear,
    "kills": kills,
}


def in_a_process(work: Callable[..., Any], *arguments: Any) -> Any:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def show(name: str, run: Run) -> None:
    print(
        f"    {name}: {run.status} in {run.seconds:.1f} s, gap {run.gap:.1e}, {run.support:,} "
        f"support vectors, {run.rounds} rounds, {run.moved / 1e6:,.1f} MB moved "
        f"({run.wire / 1e6:,.1f} MB on the loopback device, by all programs), peak of a worker "
        f"{run.worker_peak / 1e9:.2f} GB",
        flush=True,
    )
