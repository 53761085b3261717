"""Kill `maxmargin train` at random times: no model is ever half-written, and runs go on.

python -m benchmarks.kills --trials 50
python -m benchmarks.kills --trials 50 --search     # in the middle of a search, mostly
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from maxmargin.data import chess_board
from maxmargin.models import load, load_checkpoint

COMMAND = (sys.executable, "-m", "maxmargin.cli", "train")
OPTIONS = ("--C", "1000", "--gamma", "2", "--no-report", "--quiet")
SEARCH = ("--strategy", "posterior", "--no-probability", "--no-report", "--quiet")


class Trial(NamedTuple):
    """What a killed run left behind."""

    seconds: float
    finished: bool
    model: bool
    checkpoint: bool
    stage: str


def write_data(folder: Path, samples: int = 2000) -> Path:
    """A chess board as CSV."""
    X, y = chess_board(samples, noise=0.05, random_state=0)
    path = folder / "board.csv"
    table = np.column_stack([X, y])
    np.savetxt(path, table, delimiter=",", header="x,y,class", comments="", fmt="%.8g")
    return path


def killed(data: Path, seconds: float, options: tuple[str, ...] = OPTIONS) -> Trial:
    """Start training, kill it after so many seconds, and read what it left; errors propagate."""
    model = data.with_suffix(".mm")
    checkpoint = model.with_name(model.name + ".checkpoint")
    with subprocess.Popen([*COMMAND, str(data), *options]) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
    if model.exists():
        load(model)
    stage = load_checkpoint(checkpoint).stage if checkpoint.exists() else ""
    return Trial(seconds, process.returncode == 0, model.exists(), bool(stage), stage)


def finished(data: Path, options: tuple[str, ...] = OPTIONS) -> np.ndarray:
    """Train to the end, from wherever earlier runs stopped, and predict."""
    subprocess.run([*COMMAND, str(data), *options], check=True)
    model = load(data.with_suffix(".mm"))
    X, _ = chess_board(500, random_state=1)
    schema = model.schema
    return model.estimator.decision_function((X - schema.center) / schema.scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--search", action="store_true", help="let train search for parameters")
    arguments = parser.parse_args()
    trials, options = arguments.trials, SEARCH if arguments.search else OPTIONS
    random.seed(0)
    with tempfile.TemporaryDirectory() as folder:
        data = write_data(Path(folder), 300 if arguments.search else 2000)
        began = time.perf_counter()
        expected = finished(data, options)
        longest = time.perf_counter() - began
        seen = []
        for number in range(trials):
            data.with_suffix(".mm").unlink(missing_ok=True)
            seen.append(killed(data, random.uniform(0.0, longest), options))
            print(number + 1, seen[-1], flush=True)
        np.testing.assert_allclose(finished(data, options), expected, rtol=1e-6, atol=1e-6)
    for name in ("finished", "model", "checkpoint"):
        print(f"{sum(getattr(trial, name) for trial in seen)} of {trials} left a {name}")
    print(f"{sum(trial.stage == 'search' for trial in seen)} checkpoints were of a search")


if __name__ == "__main__":
    main()
