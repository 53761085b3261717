"""Predicts the time of fits on larger clusters than this machine, from runs that it can measure.

    python -m benchmarks.cluster_model                       # measure, validate, predict
    python -m benchmarks.cluster_model --page docs/guide/scaling.md

A run with one worker process gives the times of tasks, the rounds and the bytes. The simulation
schedules the tasks of each round on W workers, adds what the driver computes alone, the bytes at a
bandwidth, and the scheduler's time for each task. It is compared with measured runs of 1, 2 and 4
processes, and then asked for sizes and clusters that are not at hand.
"""

from __future__ import annotations

import argparse
import heapq
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin import distributed
from maxmargin.distributed.backend import DaskSession
from maxmargin.solvers.sharded import driver

from . import cluster_data
from .cluster_runs import cluster, measured
from .cluster_targets import DIGITS, Options, scratch, warm_up
from .distributed import commit
from .machine import cores, description, load

FILE = Path(__file__).parent / "results" / "cluster_model.json"
WORKERS, GIGABITS, SAMPLES = (2, 4, 16, 64, 256), (1, 10, 100), (10**6, 10**7, 10**8)
PARTS = 4
FEATURES = 100


@dataclass
class Round:
    """What a round needs: seconds of the driver alone, seconds of one worker for all samples, bytes
    to each worker, and bytes from all of them."""

    alone: float
    shards: float
    to_each: float
    back: float


@dataclass
class Profile:
    """A measured run with one worker: its rounds, samples, seconds of the scheduler for a task, and
    how the rounds grow with the samples."""

    name: str
    samples: int
    rounds: list[Round]
    per_task: float
    alone_power: float = 1.0
    shards_power: float = 1.0
    bytes_power: float = 1.0

    def at(self, samples: float) -> Profile:
        """The rounds of so many samples."""
        growth = samples / self.samples
        rounds = [
            Round(
                r.alone * growth**self.alone_power,
                r.shards * growth**self.shards_power,
                r.to_each * growth**self.bytes_power,
                r.back * growth**self.bytes_power,
            )
            for r in self.rounds
        ]
        return replace(self, samples=int(samples), rounds=rounds)

    @property
    def one_worker(self) -> float:
        return sum(r.alone + r.shards for r in self.rounds)


def simulated(profile: Profile, workers: int, gigabits: float, processors: float) -> float:
    """Seconds of a fit: tasks of each round on the first worker that is free."""
    total, parts = 0.0, PARTS * workers
    slowdown = max(1.0, workers / processors)
    for r in profile.rounds:
        free = [0.0] * workers
        for k in range(parts):
            # The scheduler hands out one task after the other.
            ready = max(heapq.heappop(free), (k + 1) * profile.per_task)
            heapq.heappush(free, ready + slowdown * r.shards / parts)
        # Inputs go on from worker to worker; answers arrive at the driver one after the other.
        hops = 1.0 + np.ceil(np.log2(workers))
        wire = 8e-9 / gigabits * (hops * r.to_each + r.back)
        total += r.alone + max(free) + parts * profile.per_task + wire
    return total


class Clock:
    """Seconds of the driver's own solver and of questions to the shards, by round."""

    def __init__(self) -> None:
        self.solve: list[float] = []
        self.ask: list[tuple[float, float]] = []

    def __enter__(self) -> Clock:
        self._kept = driver.solve, DaskSession.advance
        driver.solve = self._timed(driver.solve, self.solve)
        DaskSession.advance = self._asked(DaskSession.advance)
        return self

    def __exit__(self, *_: object) -> None:
        driver.solve, DaskSession.advance = self._kept

    @staticmethod
    def _timed(function: Any, seconds: list[float]) -> Any:
        def work(*arguments: Any, **settings: Any) -> Any:
            began = time.perf_counter()
            answer = function(*arguments, **settings)
            seconds.append(time.perf_counter() - began)
            return answer

        return work

    def _asked(self, function: Any) -> Any:
        def work(session: Any, *arguments: Any) -> Any:
            began, before = time.perf_counter(), session.moved
            answer = function(session, *arguments)
            self.ask.append((time.perf_counter() - began, session.moved - before))
            return answer

        return work


def task_seconds(client: Any, count: int = 300) -> float:
    """Seconds of the scheduler for a task that does nothing."""
    began = time.perf_counter()
    client.gather(client.map(int, range(count), pure=False))
    return (time.perf_counter() - began) / count


def kernel_run(samples: int, workers: int) -> tuple[float, Profile]:
    """Seconds of a fit of digits, and its profile."""
    options = Options(workers=workers)
    with scratch(options) as folder, cluster(workers) as client:
        files = cluster_data.mnist(folder, samples, PARTS * workers)
        warm_up(client, folder, files, options, **DIGITS)
        per_task = task_seconds(client)
        with Clock() as clock:
            run = measured(
                lambda _: distributed.SVC(**DIGITS).fit(files.X, files.y), client, quiet=True
            )
    inputs = run.moved / max(1, len(clock.ask))
    solve = clock.solve + [0.0] * (len(clock.ask) - len(clock.solve))
    rest = run.seconds - sum(clock.solve) - sum(seconds for seconds, _ in clock.ask)
    tasks = 2 * PARTS * workers * per_task
    rounds = [
        Round(alone, max(0.0, seconds - tasks), inputs / 2, inputs / 2)
        for alone, (seconds, _) in zip(solve, clock.ask)
    ]
    # What is left: reading and summing up the samples, the first sample.
    rounds.insert(0, Round(0.0, rest, 0.0, 0.0))
    return run.seconds, Profile("kernel", samples, rounds, 2 * per_task)


def linear_run(samples: int, workers: int) -> tuple[float, Profile]:
    """Seconds of a fit of a table by the squared hinge, and its profile."""
    options = Options(workers=workers)
    with scratch(options) as folder, cluster(workers) as client:
        files = cluster_data.table(folder, samples, PARTS * workers, FEATURES)
        distributed.LinearSVC().fit(files.X, files.y)
        per_task = task_seconds(client)
        began = time.perf_counter()
        model = distributed.LinearSVC().fit(files.X, files.y)
        seconds = time.perf_counter() - began
    each = seconds / model.passes_
    sums = 8.0 * (FEATURES + 2) ** 2 * PARTS * workers
    tasks = PARTS * workers * per_task
    one = Round(0.0, max(0.0, each - tasks), 16.0 * FEATURES, sums)
    return seconds, Profile("linear", samples, [one] * model.passes_, per_task)


def grown(small: Profile, large: Profile, constant_bytes: bool) -> Profile:
    """The larger profile, with powers of the samples that lead to it from the smaller one."""
    ratio = np.log(large.samples / small.samples)

    def power(field: str) -> float:
        sums = [sum(getattr(r, field) for r in p.rounds) for p in (small, large)]
        return float(np.log(sums[1] / sums[0]) / ratio) if min(sums) > 0 else 1.0

    alone, shards = power("alone"), power("shards")
    moved = 0.0 if constant_bytes else power("to_each")
    return replace(large, alone_power=alone, shards_power=shards, bytes_power=moved)


def profiles(run: Any, samples: int) -> tuple[Profile, Profile]:
    """Of half the samples and of all, with one worker."""
    run(samples // 2, 1)  # compiles what larger problems than those of `warm_up` need
    return run(samples // 2, 1)[1], run(samples, 1)[1]


def validated(run: Any, samples: int, constant_bytes: bool) -> dict[str, Any]:
    """The profile of a run, and its prediction beside measured runs."""
    profile = grown(*profiles(run, samples), constant_bytes)
    rows = []
    for workers in (1, 2, 4):
        seconds, _ = run(samples, workers)
        predicted = simulated(profile, workers, 100.0, cores())
        rows.append({"workers": workers, "measured": seconds, "predicted": predicted})
        print(
            f"  {profile.name}, {workers} processes: measured {seconds:.1f} s, predicted "
            f"{predicted:.1f} s ({predicted / seconds:.2f} ×)",
            flush=True,
        )
    return {"profile": asdict(profile), "validation": rows, "predictions": predictions(profile)}


def predictions(profile: Profile) -> list[dict[str, float]]:
    """Seconds for all sizes, bandwidths and workers, each worker with a processor of its own."""
    found = []
    for samples in SAMPLES:
        own = profile.at(samples)
        for gigabits in GIGABITS:
            for workers in WORKERS:
                seconds = simulated(own, workers, gigabits, np.inf)
                found.append(
                    {
                        "samples": samples,
                        "gigabits": gigabits,
                        "workers": workers,
                        "seconds": seconds,
                        "speedup": own.one_worker / seconds,
                    }
                )
    return found


def readable(seconds: float) -> str:
    for unit, size in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} s"


def tables(found: dict[str, Any]) -> str:
    """All results as Markdown."""
    lines: list[str] = []
    for name in ("kernel", "linear"):
        one = found[name]
        p = one["profile"]
        lines += [
            f"## {TITLES[name]}",
            "",
            f"Measured with {p['samples']:,} samples and one worker: {len(p['rounds'])} rounds or "
            f"passes, {sum(r['alone'] for r in p['rounds']):.1f} s of the driver alone (growing as "
            f"n^{p['alone_power']:.2f}), {sum(r['shards'] for r in p['rounds']):.1f} s of the "
            f"shards (as n^{p['shards_power']:.2f}), {1e3 * p['per_task']:.1f} ms for a task.",
            "",
            "| processes on this machine | measured | predicted |",
            "|---|---|---|",
            *(
                f"| {r['workers']} | {r['measured']:.1f} s | {r['predicted']:.1f} s |"
                for r in one["validation"]
            ),
            "",
            "| samples | Gb/s | " + " | ".join(f"{w} workers" for w in WORKERS) + " |",
            "|---|---|" + "---|" * len(WORKERS),
        ]
        for samples in SAMPLES:
            for gigabits in GIGABITS:
                cells = [
                    f"{readable(r['seconds'])} ({r['speedup']:.1f} ×)"
                    for r in one["predictions"]
                    if r["samples"] == samples and r["gigabits"] == gigabits
                ]
                lines.append(f"| {samples:,} | {gigabits} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


TITLES = {
    "kernel": "A kernel machine: digits 0 to 4 against 5 to 9",
    "linear": f"A linear machine: squared hinge, {FEATURES} features, from Parquet files",
}

PAGE = """# Where a cluster pays, and where it does not

Written by `python -m benchmarks.cluster_model --page docs/guide/scaling.md` at commit {commit}, on
{cores} cores ({processor}; load before: {load:.1f}). Figures in parentheses say how many times as
fast as one worker that is. Times of clusters are **simulated** from measured tasks, rounds and
bytes; they leave out failures, other users, and disks that are slower than processors. The measured
columns show how far the simulation can be trusted: this machine has {cores} cores, so that more
processes cannot be faster there. Growth with n is measured between half the samples and all of
them: rows of more than a hundred times as many samples give no more than an order of magnitude.
Support vectors of hard problems grow faster than those of digits.

**A kernel machine** costs (support vectors) × n kernel values, divided among the workers, and the
problem of the support vectors, which the driver solves alone. Where support vectors grow with n the
driver's share grows faster than that of the workers, and more workers soon change nothing.
**A linear machine** costs a few passes over the samples and sends d² numbers a part and pass: it
gains from workers until the scheduler's time for tasks is all that is left.

{tables}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernel-samples", type=int, default=24_000)
    parser.add_argument("--linear-samples", type=int, default=1_000_000)
    parser.add_argument("--page", type=Path, help="a Markdown file to write")
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--again", action="store_true", help="predict from the results in --out")
    given = parser.parse_args()
    if given.again:
        found = json.loads(given.out.read_text(encoding="utf-8"))
        for name in ("kernel", "linear"):
            profile = Profile(**found[name]["profile"])
            profile.rounds = [Round(**r) for r in found[name]["profile"]["rounds"]]
            found[name]["predictions"] = predictions(profile)
    else:
        found = {"commit": commit(), "machine": description(), "load": load()}
        found["kernel"] = validated(kernel_run, given.kernel_samples, False)
        found["linear"] = validated(linear_run, given.linear_samples, True)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(tables(found))
    if given.page is not None:
        machine = found["machine"]
        text = PAGE.format(
            commit=found["commit"],
            cores=machine["cores"],
            processor=machine["processor"],
            load=found["load"],
            tables=tables(found),
        )
        given.page.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
