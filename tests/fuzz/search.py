"""The search: cases one after the other in a process of their own, failures by their kind."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .failure import Failure
from .problems import draw
from .snippet import snippet

ROOT = Path(__file__).resolve().parents[2]
# Seconds without an answer after which a process is taken as dead-locked: CPU time has a limit of
# its own, so that this one is about waiting.
LONGEST_WAIT = 600.0
# How a case dies that only takes too much time.
SLOW = ("it waits for ever", "it takes too long")


@dataclass
class Found:
    """A case that failed."""

    number: int
    estimator: str
    failure: Failure

    @property
    def kind(self) -> tuple[str, str]:
        return self.estimator, self.failure.check


@dataclass
class Report:
    """What a search has seen."""

    seed: int
    only: tuple[str, ...] = ()
    cases: int = 0
    estimators: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)

    def kinds(self) -> dict[tuple[str, str], list[Found]]:
        kinds: dict[tuple[str, str], list[Found]] = {}
        for found in self.found:
            kinds.setdefault(found.kind, []).append(found)
        return kinds


class Worker:
    """A process that examines cases, and is started again when it dies."""

    def __init__(self, seed: int, only: tuple[str, ...]) -> None:
        self.arguments = [sys.executable, "-m", f"{__package__}.worker", str(seed), ",".join(only)]
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def ask(self, question: str) -> dict[str, Any]:
        """The answer, or how the process died."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                self.arguments, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], LONGEST_WAIT)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        if not ready:
            self.stop()
            return {"death": SLOW[0]}
        code = self.process.wait()
        if code == -signal.SIGPROF:
            return {"death": SLOW[1]}
        return {"death": f"the process ended with {code}"}


def search(
    seed: int,
    seconds: float,
    only: tuple[str, ...] = (),
    first: int = 0,
    most: int | None = None,
    tell: Callable[[str], None] = str,
) -> Report:
    """Examine cases for so many seconds (or so many of them), going on whatever happens."""
    report, number = Report(seed, only), first
    end = time.monotonic() + seconds
    with Worker(seed, only) as worker:
        while time.monotonic() < end and (most is None or number < first + most):
            estimator = draw(seed, number, only).estimator
            for failure in failures_of(worker, number):
                found = Found(number, estimator, failure)
                if found.kind not in report.kinds():
                    tell(f"case {number}: {found.estimator}: {failure.check}: {failure.message}")
                report.found.append(found)
            number += 1
            report.cases += 1
            report.estimators[estimator] += 1
    return report


def failures_of(worker: Worker, number: int) -> list[Failure]:
    answer = worker.ask(str(number))
    if answer.get("death") in SLOW:
        # What was compiled meanwhile is in Numba's cache: only a second time counts.
        answer = worker.ask(str(number))
    if "death" in answer:
        return [Failure("death", answer["death"])]
    return [Failure(*failure) for failure in answer["failures"]]


def explained(report: Report, seconds: float = 0.0) -> str:
    """The failures, a snippet for each kind, made smaller as long as there is time."""
    lines = [f"{report.cases} cases of seed {report.seed}, {len(report.found)} failures"]
    if report.estimators:
        counts = (f"{name} {count}" for name, count in sorted(report.estimators.items()))
        lines += [", ".join(counts)]
    end = time.monotonic() + seconds
    with Worker(report.seed, report.only) as worker:
        for kind, members in report.kinds().items():
            found = members[0]
            case = draw(report.seed, found.number, report.only)
            text = snippet(case, found.failure)
            if time.monotonic() < end and found.failure.check != "death":
                text = worker.ask(f"{found.number} {found.failure.check}").get("snippet", text)
            numbers = ", ".join(str(member.number) for member in members[:8])
            lines += ["", f"{' | '.join(kind)}: {len(members)} times, cases {numbers}", text]
    return "\n".join(lines)
