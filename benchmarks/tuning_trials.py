"""What the tuning benchmarks share: samples of the known distributions, splits of real data, trials
in processes, and results in a file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin.data import chess_board, sparse_coordinate

RESULTS = Path(__file__).resolve().parent / "results"
FIGURES = RESULTS / "tuning.json"
ARTIFICIAL: dict[str, Callable[..., Any]] = {
    "sparse-3": lambda n, seed: sparse_coordinate(n, ones=3, random_state=seed),
    "sparse-5": lambda n, seed: sparse_coordinate(n, ones=5, random_state=seed),
    "chess": lambda n, seed: chess_board(n, random_state=seed),
    "noisy-chess": lambda n, seed: chess_board(n, noise=0.2, random_state=seed),
}
# Table 12.2.
RAETSCH = (
    "banana",
    "diabetis",
    "flare-solar",
    "german",
    "image",
    "ringnorm",
    "splice",
    "titanic",
    "twonorm",
    "waveform",
)


def artificial(name: str, seed: int, train: int = 200, test: int = 20_000) -> tuple[Any, ...]:
    """Training and test inputs and labels of one trial."""
    return (*ARTIFICIAL[name](train, 2 * seed), *ARTIFICIAL[name](test, 2 * seed + 1))


def real(name: str, seed: int, train: int = 200) -> tuple[Any, ...]:
    """A random training part of a real set and the rest of it."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    import realdata

    X, y = realdata.load(name)
    order = np.random.default_rng(seed).permutation(len(y))
    first, rest = order[:train], order[train:]
    return X[first], y[first], X[rest], y[rest]


def run_trials(
    work: Callable[[Any], dict[str, Any]], jobs: Iterable[Any], name: str, processes: int
) -> list[dict[str, Any]]:
    """Do what is not in the file of results yet; all results of these jobs, in their order.

    Each job is a tuple of names and numbers, the key of its result.
    """
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.jsonl"
    done = {}
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines()
        done = {tuple(record["job"]): record for record in map(json.loads, lines)}
    jobs = [tuple(job) for job in jobs]
    missing = [job for job in jobs if job not in done]
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with ProcessPoolExecutor(processes) as pool, path.open("a", encoding="utf-8") as file:
        for job, record in zip(missing, pool.map(work, missing)):
            done[job] = {"job": list(job), **record}
            file.write(json.dumps(done[job]) + "\n")
            file.flush()
    return [done[job] for job in jobs]


def saved() -> dict[str, Any]:
    """The figures that docs/guide/tuning.md is written from, by study."""
    return json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}


def save(study: str, found: Any) -> None:
    """Keep the figures of one study."""
    FIGURES.parent.mkdir(exist_ok=True)
    content = json.dumps(saved() | {study: found}, indent=1, sort_keys=True, allow_nan=False)
    FIGURES.write_text(content + "\n", encoding="utf-8")
