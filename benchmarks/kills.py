"""Stop `maxmargin train` and `tune` at random times: nothing is half-written, and runs go on.

python -m benchmarks.kills --trials 30                            # all signals, both commands
python -m benchmarks.kills --command tune --signal KILL --trials 100

Each trial starts the command, from wherever earlier trials stopped, and sends the signal. After it,
model and checkpoint must be whole or absent, after SIGINT and SIGTERM no unfinished file may be
left. Every few trials the command runs to its end, and must give what an undisturbed run gives.
Searches are cut to so many evaluations that they take about as long as the start of the process,
and write checkpoints ten times a second.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maxmargin.data import chess_board
from maxmargin.models import load, load_checkpoint

PROGRAM = (sys.executable, "-m", "maxmargin.cli")
# A search with the default number of evaluations takes 10 s, in which kill after kill finds the
# same loop.
SHORT_SEARCH = """
from maxmargin.cli import main
from maxmargin.cli.training import resuming
from maxmargin.tuning.course import Search
resuming.KEEP_EVERY = 0.1
Search.iterations = lambda *_: 2000
main()
"""
SEARCH_PROGRAM = (sys.executable, "-c", SHORT_SEARCH)
OPTIONS = ("--C", "1000", "--gamma", "2", "--no-report", "--quiet")
SEARCH = ("--strategy", "posterior", "--no-probability", "--no-report", "--json")
TUNE = ("--strategy", "posterior", "--json")
SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "KILL": signal.SIGKILL}
# How a process ends by a signal: by code once the command has begun, else by the signal itself. An
# interrupt inside a text that an import executes makes CPython end by SIGINT, handled or not.
ENDS = {"INT": (130, -2), "TERM": (143, -15, -2), "KILL": (-9,)}
FINISH_EVERY = 3


class Trial(NamedTuple):
    """What a stopped run left behind; it ran for so many seconds."""

    seconds: float
    code: int
    model: bool
    stage: str
    unfinished: int


def write_data(folder: Path, samples: int = 2000) -> Path:
    """A chess board as CSV."""
    X, y = chess_board(samples, noise=0.05, random_state=0)
    path = folder / "board.csv"
    table = np.column_stack([X, y])
    np.savetxt(path, table, delimiter=",", header="x,y,class", comments="", fmt="%.8g")
    return path


def checkpoint_of(data: Path, command: str) -> Path:
    return data.with_suffix(".tune.checkpoint" if command == "tune" else ".mm.checkpoint")


def options_of(command: str, search: bool) -> tuple[str, ...]:
    if command == "tune":
        return TUNE
    return SEARCH if search else OPTIONS


def program_of(options: tuple[str, ...]) -> tuple[str, ...]:
    return PROGRAM if options == OPTIONS else SEARCH_PROGRAM


def started(arguments: tuple[str, ...], errors: Any) -> Any:
    """The command in a process of its own, its errors in a file."""
    program = program_of(arguments[2:])
    return subprocess.Popen(
        [*program, *arguments], stdout=subprocess.DEVNULL, stderr=errors, env=environment()
    )


def stopped(
    data: Path,
    seconds: float,
    name: str = "KILL",
    command: str = "train",
    options: tuple[str, ...] = OPTIONS,
    start: Callable[[tuple[str, ...], Any], Any] = started,
) -> Trial:
    """Start a command, send the signal after so many seconds, and read what it left.

    What is wrong with files or exit codes is raised.
    """
    model, checkpoint = data.with_suffix(".mm"), checkpoint_of(data, command)
    with tempfile.TemporaryFile() as errors:
        process = start((command, str(data), *options), errors)
        began = time.perf_counter()
        try:
            process.wait(seconds)
            seconds = time.perf_counter() - began
        except subprocess.TimeoutExpired:
            process.send_signal(SIGNALS[name])
        code = process.wait(300)
        errors.seek(0)
        said = errors.read().decode()
    # CPython gives up where an interrupt strikes before any code of ours runs.
    at_start = name == "INT" and "Fatal Python error: init_import_site" in said
    if code not in (0, *ENDS[name]) and not at_start:
        raise AssertionError(f"{command} ended with {code} after SIG{name}:\n{said}")
    if model.exists():
        load(model)
    stage = load_checkpoint(checkpoint).stage if checkpoint.exists() else ""
    unfinished = [path for path in data.parent.iterdir() if path.suffix == ".part"]
    if unfinished and name != "KILL":
        raise AssertionError(f"{command} left {unfinished[0].name} after SIG{name}")
    return Trial(seconds, code, model.exists(), stage, len(unfinished))


def finished(data: Path, command: str = "train", options: tuple[str, ...] = OPTIONS) -> Any:
    """Run to the end, from wherever earlier runs stopped: parameters and decision values."""
    arguments = [*program_of(options), command, str(data), *options]
    done = subprocess.run(arguments, check=True, capture_output=True, env=environment())
    return outcome(data, command, done.stdout.decode())


def outcome(data: Path, command: str, said: str) -> Any:
    """Parameters and decision values of a run to its end."""
    left = [path.name for path in data.parent.iterdir() if path.suffix in (".part", ".checkpoint")]
    if left:
        raise AssertionError(f"{command} left {left} at its regular end")
    parameters = json.loads(said)["parameters"] if said.strip() else {}
    if command == "tune":
        return parameters, np.empty(0)
    model = load(data.with_suffix(".mm"))
    X, _ = chess_board(500, random_state=1)
    schema = model.schema
    assert schema is not None
    return parameters, model.estimator.decision_function((X - schema.center) / schema.scale)


def environment() -> dict[str, str]:
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


def compare(found: Any, expected: Any) -> None:
    assert found[0] == expected[0], (found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6, atol=1e-6)


def series(command: str, name: str, trials: int, search: bool, seed: int) -> list[Trial]:
    """Trials with one command and one signal."""
    options, rng = options_of(command, search), random.Random(f"{command}{name}{seed}")
    with tempfile.TemporaryDirectory() as folder:
        data = write_data(Path(folder), 60 if options is not OPTIONS else 2000)
        finished(data, command, options)
        began = time.perf_counter()
        expected = finished(data, command, options)
        longest = time.perf_counter() - began
        seen = []
        for number in range(trials):
            data.with_suffix(".mm").unlink(missing_ok=True)
            seen.append(stopped(data, rng.uniform(0.0, longest), name, command, options))
            if seen[-1].code == 0:
                # A busy machine has become idle: signals are to come before the end.
                longest = min(longest, seen[-1].seconds)
            print(command, name, number + 1, seen[-1], flush=True)
            if (number + 1) % FINISH_EVERY == 0 or number + 1 == trials:
                compare(finished(data, command, options), expected)
        return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=30, help="for each command and signal")
    parser.add_argument("--command", choices=("train", "tune"))
    parser.add_argument("--signal", choices=tuple(SIGNALS))
    parser.add_argument("--fixed", action="store_true", help="train without a search")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    # Shells let their background jobs, and what these start, ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for command in [given.command] if given.command else ["train", "tune"]:
        for name in [given.signal] if given.signal else list(SIGNALS):
            seen = series(command, name, given.trials, not given.fixed, given.seed)
            ended = sum(trial.code == 0 for trial in seen)
            stages = [trial.stage for trial in seen if trial.stage]
            print(
                f"{command}, SIG{name}: {len(seen)} trials, {ended} had ended before, "
                f"{len(stages)} left a checkpoint ({stages.count('search')} of a search), "
                f"{sum(trial.unfinished for trial in seen)} unfinished files; all results equal",
                flush=True,
            )


if __name__ == "__main__":
    main()
