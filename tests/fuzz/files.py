"""Random damage and forgeries of all file formats: `run(seed, seconds)` tells what went wrong.

    python -m tests.fuzz.files --seed 7 --seconds 60
    python -m tests.fuzz.files --seed 7 --case 123       # one case, in this process

A case takes a valid file, changes bytes, tokens or structure, and reads it as a user would. It
fails where reading crashes, raises what is not documented, takes more than five seconds of CPU or
1 GB, unpickles something, accepts damaged bytes of a file with checksums, or gives a model that
cannot predict. Cases run in a process of their own, which is started again after a crash.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.fuzz import mutations
from tests.fuzz.originals import EXPECTED, INPUTS, LABELS, build

# Limits of a case: seconds of CPU, bytes, and seconds by the wall clock on a busy machine.
CPU_SECONDS, LARGEST, WALL_SECONDS = 5.0, 1 << 30, 120.0
# Seconds that a process has to start.
START_SECONDS = 300.0
ROOT = Path(__file__).resolve().parents[2]


class Failure(NamedTuple):
    """What went wrong, and how to see it again."""

    seed: int
    case: int
    what: str
    reproduction: str


class Tally(NamedTuple):
    """How many cases there were, and how many files were accepted, by format."""

    tried: Counter[str]
    accepted: Counter[str]


def run(seed: int, seconds: float) -> list[Failure]:
    """Try random cases for so many seconds."""
    return tried(seed, seconds)[0]


def told(seed: int, seconds: float) -> list[Failure]:
    """As `run`; prints what was tried, and the failures."""
    failures, tally = tried(seed, seconds)
    for family in sorted(tally.tried):
        tries, accepted = tally.tried[family], tally.accepted[family]
        print(f"{family:>12}: {tries:,} tried, {accepted:,} accepted")
    for failure in failures:
        print(f"\n{failure.what}\n{failure.reproduction}")
    return failures


def tried(seed: int, seconds: float) -> tuple[list[Failure], Tally]:
    """The failures, and what was tried."""
    failures: list[Failure] = []
    tally = Tally(Counter(), Counter())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder)
        deadline, case = time.monotonic() + seconds, 0
        while time.monotonic() < deadline:
            case = _supervised(seed, case, folder, deadline, failures, tally)
    return failures, tally


# ---- the process that watches --------------------------------------------------------------


def _supervised(
    seed: int, case: int, folder: Path, deadline: float, failures: list[Failure], tally: Tally
) -> int:
    """Run cases in a process until it ends or time is over; the next case."""
    arguments = [sys.executable, "-m", "tests.fuzz.files", "--worker", str(folder)]
    arguments += ["--seed", str(seed), "--case", str(case)]
    with subprocess.Popen(
        arguments, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for heard in _lines(process, deadline):
            if heard is None:
                _fail(failures, seed, case, folder, "it hangs")
                case += 1
                break
            if heard["format"]:
                tally.tried[heard["format"]] += 1
                tally.accepted[heard["format"]] += heard["accepted"]
            if heard["wrong"]:
                _fail(failures, seed, case, folder, heard["wrong"])
            case += 1
        else:
            if time.monotonic() < deadline and process.wait() != 0:
                last = process.stderr.read().strip().splitlines()[-3:]
                what = f"the process ended with {process.returncode}: {' | '.join(last)}"
                _fail(failures, seed, case, folder, what)
                case += 1
        process.kill()
    return case


def _lines(process: Any, deadline: float) -> Iterator[Any]:
    """What a process says, a case a line; None where it is silent for too long."""
    patience = START_SECONDS
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return
        ready = select.select([process.stdout], [], [], min(patience, left))[0]
        if not ready:
            if left > patience:
                yield None
            return
        line = process.stdout.readline()
        if not line:
            return
        patience = WALL_SECONDS
        yield json.loads(line)


def _fail(failures: list[Failure], seed: int, case: int, folder: Path, what: str) -> None:
    del folder
    how = f"python -m tests.fuzz.files --seed {seed} --case {case}"
    failures.append(Failure(seed, case, what, how))


# ---- the process that is watched -----------------------------------------------------------


def work(folder: Path, seed: int, case: int) -> None:
    """Run cases from this one on, and tell of each in a line."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        before = resource.getrusage(resource.RUSAGE_SELF)
        outcome = attempt(folder, seed, case)
        after = resource.getrusage(resource.RUSAGE_SELF)
        seconds = after.ru_utime - before.ru_utime
        if not outcome["wrong"] and seconds > CPU_SECONDS:
            outcome["wrong"] = f"{outcome['did']}: it took {seconds:.1f} s"
        large = (after.ru_maxrss - before.ru_maxrss) * 1024 > LARGEST
        if not outcome["wrong"] and large:
            outcome["wrong"] = f"{outcome['did']}: it took {after.ru_maxrss // 1024:,} MB"
        print(json.dumps(outcome), flush=True)
        if large:
            # The peak of a process never falls again.
            return
        case += 1


def attempt(folder: Path, seed: int, case: int) -> dict[str, Any]:
    """One case: the format, what was done, whether the file was accepted, what went wrong."""
    random = np.random.default_rng([seed, case])
    name = str(random.choice(sorted(EXPECTED)))
    kind = EXPECTED[name]
    path = folder / f"changed.{name}"
    tracer = folder / "unpickled"
    did = mutations.change(folder / name, path, kind.family, random, tracer)
    outcome = {"format": kind.family, "did": f"{name}, {did}", "accepted": False, "wrong": ""}
    same = path.read_bytes() == (folder / name).read_bytes()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(sys.stderr):
            warnings.simplefilter("ignore")
            try:
                found = kind.read(path)
            except kind.refusals:
                return outcome
            outcome["accepted"] = not same
            if did.startswith("bytes") and kind.checked and not same:
                outcome["wrong"] = f"{name}, {did}: damaged bytes were accepted"
                return outcome
            kind.use(found, INPUTS, LABELS)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        outcome["wrong"] = f"{name}, {did}: {type(error).__name__} at {place}: {error}"[:400]
    finally:
        path.unlink(missing_ok=True)
    if tracer.exists():
        tracer.unlink()
        outcome["wrong"] = f"{name}, {did}: it was unpickled"
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--case", type=int, help="only this one, with its traceback")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.worker, given.seed, given.case)
    elif given.case is not None:
        with tempfile.TemporaryDirectory() as folder:
            build(Path(folder))
            print(attempt(Path(folder), given.seed, given.case))
    else:
        sys.exit(bool(told(given.seed, given.seconds)))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
