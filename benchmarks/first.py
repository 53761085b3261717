"""What a user sees first: import, fit and predict in a new process, ours beside the peers.

Compiled code is on disk already (each contender runs once before it counts); contenders take turns,
and the median of the runs counts. Run as a script it is the process that is measured, and prints
its seconds as JSON: `python -m benchmarks.speed --first` is what to call.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

FEATURES = 20
SIZES = (500, 5_000, 20_000)
MNIST = "mnist-10000"
NEW_INPUTS = 1_000


@dataclass(frozen=True)
class First:
    """A contender on a problem, medians of new processes.

    Attributes
    ----------
    problem, contender : str
    importing, fitting, predicting, total, processor : float
        Seconds, the last of them of all cores together.
    megabytes : float
        Largest memory of the process.
    """

    problem: str
    contender: str
    importing: float
    fitting: float
    predicting: float
    total: float
    processor: float
    megabytes: float


def first_contacts(
    contenders: Sequence[Any],
    repeats: int = 5,
    sizes: Sequence[int] = SIZES,
    mnist: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> list[First]:
    """All problems, from the small to the large."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, arrays in data_sets(sizes, mnist):
            runs: dict[str, list[list[float]]] = {one.name: [] for one in contenders}
            for round_ in range(repeats + 1):
                for one in contenders:
                    say(f"{name}: {one.name}, {round_} of {repeats}")
                    seconds = _process(one.module, saved(arrays, one.dtype, folder))
                    if round_:
                        runs[one.name].append(seconds)
            found += [First(name, key, *map(median, zip(*rows))) for key, rows in runs.items()]
    return found


def data_sets(
    sizes: Sequence[int] = SIZES, mnist: bool = True
) -> list[tuple[str, tuple[Any, Any, Any]]]:
    """Names, and inputs with labels and new inputs."""
    import numpy as np

    random, sets = np.random.default_rng(0), []
    for samples in sizes:
        X = random.standard_normal((samples + NEW_INPUTS, FEATURES))
        y = np.where(X[:, 0] + np.sin(2.0 * X[:, 1]) > 0.5 * random.standard_normal(len(X)), 1, -1)
        sets.append((f"{samples:,} × {FEATURES}", (X[:samples], y[:samples], X[samples:])))
    if mnist:
        from .problems import PROBLEMS, load

        X, y, X_new = load(PROBLEMS[MNIST])
        sets.append((MNIST, (X, y, X_new[:NEW_INPUTS])))
    return sets


def table_of(found: Sequence[First]) -> str:
    lines = [
        f"{'problem':<14} {'contender':<18} {'import':>7} {'fit':>7} {'predict':>8} {'total s':>8} "
        f"{'CPU s':>7} {'peak MB':>8}"
    ]
    for row in found:
        lines.append(
            f"{row.problem:<14} {row.contender:<18} {row.importing:7.2f} {row.fitting:7.2f} "
            f"{row.predicting:8.2f} {row.total:8.2f} {row.processor:7.2f} {row.megabytes:8.0f}"
        )
    return "\n".join(lines)


def write(found: Sequence[First], machine: dict[str, Any], folder: Path) -> None:
    write_rows("first", found, machine, folder)
    (folder / "first.txt").write_text(table_of(found) + "\n", encoding="utf-8")


def write_rows(name: str, found: Sequence[Any], machine: dict[str, Any], folder: Path) -> None:
    """Write records and the machine that they were measured on to a file of this name."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {"machine": machine, name: [asdict(row) for row in found]}
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def saved(arrays: tuple[Any, Any, Any], dtype: str, folder: str) -> str:
    """The path of a file with these arrays."""
    import numpy as np

    X, y, X_new = arrays
    path = str(Path(folder) / f"{dtype}.npz")
    np.savez(path, X=X.astype(dtype), y=y, X_new=X_new.astype(dtype))
    return path


def _process(module: str, path: str) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.first", module, path]
    root = Path(__file__).resolve().parents[1]
    # Installed packages have their bytecode on disk.
    settings = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        command, cwd=root, env=settings, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def measured(module: str, path: str) -> list[float]:
    """The figures of `First`, of this process."""
    began, spent = time.perf_counter(), time.process_time()
    import numpy as np

    model = importlib.import_module(module).SVC()
    imported, spent_importing = time.perf_counter() - began, time.process_time() - spent
    with np.load(path) as arrays:
        X, y, X_new = arrays["X"], arrays["y"], arrays["X_new"]
    began, spent = time.perf_counter(), time.process_time()
    model.fit(X, y)
    fitted = time.perf_counter()
    model.predict(X_new)
    ended, processor = time.perf_counter(), spent_importing + time.process_time() - spent
    # Not above: it imports NumPy, whose time counts.
    from .machine import peak

    megabytes = peak() / 2**20
    fit, predict = fitted - began, ended - fitted
    return [imported, fit, predict, imported + fit + predict, processor, megabytes]


if __name__ == "__main__":
    print(json.dumps(measured(*sys.argv[1:])))
