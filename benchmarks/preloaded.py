"""Run Python modules in processes forked from one that has imported the libraries already.

    with Preloaded(["numpy"]) as preloaded:
        ended = preloaded.run(["pytest", "tests/dual"], folder, environment, output)

Importing NumPy, SciPy, scikit-learn, Numba and pytest takes about 4 s of CPU time, which is more
than most of the runs of `benchmarks.mutants`.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

ROOT = Path(__file__).resolve().parents[1]
# What most tests import, besides the package.
LIBRARIES = (
    "hypothesis.extra.numpy",
    "matplotlib.figure",
    "numba",
    "polars",
    "pytest",
    "rich.console",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.stats",
    "sklearn.datasets",
    "sklearn.model_selection",
    "sklearn.pipeline",
    "sklearn.svm",
    "sklearn.utils.estimator_checks",
    "typer.testing",
)


class Ended(NamedTuple):
    """How a process ended."""

    code: int  # negative: the signal that ended it
    seconds: float  # of CPU time


class Preloaded:
    """A process that waits for modules to run, one after the other."""

    def __init__(self, libraries: Sequence[str] = LIBRARIES) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.preloaded", *libraries],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: dict[str, str],
        output: Path,
        limit: int | None = None,
    ) -> Ended:
        """Run a module with arguments until it ends, for at most `limit` seconds of CPU time."""
        request = [list(arguments), str(folder), environment, str(output), limit]
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return Ended(*json.loads(self._server.stdout.readline()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.communicate()


def serve(libraries: Sequence[str]) -> None:
    for name in libraries:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        request = json.loads(line)
        process = os.fork()
        if process == 0:
            run_here(*request)
        _, status, usage = os.wait4(process, 0)
        ended = Ended(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)
        print(json.dumps(ended), flush=True)


def run_here(
    arguments: list[str], folder: str, environment: dict[str, str], output: str, limit: int | None
) -> None:
    """Run a module as `python -m` does, and end this process."""
    for opened, number in ((os.devnull, 0), (output, 1)):
        file = os.open(opened, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)
    os.dup2(1, 2)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    if "numba" in sys.modules:
        sys.modules["numba.core.config"].reload_config()
    sys.path[:1] = [folder, *environment.get("PYTHONPATH", "").split(os.pathsep)]
    sys.argv = list(arguments)
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    serve(sys.argv[1:])
