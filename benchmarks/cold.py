"""What the beginning costs: importing, the first fit ever, the first fit of a new process.

Run as a script it is the process that is measured: it prints its seconds as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

# The Gram matrix of the large problem is larger than the memory it is given by default.
SIZES = {"small": 500, "large": 20_000}
FEATURES = 20


@dataclass(frozen=True)
class Start:
    """Seconds at the beginning of a process, medians of several.

    Attributes
    ----------
    case : str
    first : float
        The first fit of the process.
    again : float
        The same fit a second time.
    """

    case: str
    first: float
    again: float


@dataclass(frozen=True)
class Beginning:
    """Seconds of imports (by module), and of first fits."""

    imports: dict[str, float]
    starts: list[Start]


def beginning(repeats: int = 3, sizes: dict[str, int] = SIZES) -> Beginning:
    """Measure in new processes; compiled code is kept in a folder that is empty at first."""
    imports = {
        module: median(_process("import", module)[0] for _ in range(repeats))
        for module in ("maxmargin.estimators", "sklearn.svm")
    }
    starts = []
    for case, samples in sizes.items():
        ever, new = [], []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                ever.append(_process("fit", str(samples), cache=cache))
                new.append(_process("fit", str(samples), cache=cache))
        for when, runs in (("first fit ever", ever), ("first fit in a new process", new)):
            first, again = (median(seconds) for seconds in zip(*runs))
            starts.append(Start(f"{when}, {case} ({samples:,} samples)", first, again))
    return Beginning(imports, starts)


def _process(*arguments: str, cache: str | None = None) -> list[float]:
    environment = dict(os.environ)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    command = [sys.executable, "-m", "benchmarks.cold", *arguments]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        command, cwd=root, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout)


def _import_seconds(module: str) -> list[float]:
    began = time.perf_counter()
    __import__(module)
    return [time.perf_counter() - began]


def _fit_seconds(samples: int) -> list[float]:
    import numpy as np

    from maxmargin import SVC

    random = np.random.default_rng(0)
    X = random.standard_normal((samples, FEATURES))
    y = np.where(X[:, 0] > 0, 1, -1)
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        SVC().fit(X, y)
        seconds.append(time.perf_counter() - began)
    return seconds


if __name__ == "__main__":
    what, argument = sys.argv[1:]
    print(
        json.dumps(_import_seconds(argument) if what == "import" else _fit_seconds(int(argument)))
    )
