"""Where compile time goes, by function: `python -m benchmarks.compile`.

Each case is a new process with an empty Numba cache (`--warm` names a case that is run first, in
a process of its own that fills the cache). Seconds are CPU seconds of the process. A function's
own seconds exclude the functions that Numba compiles on its behalf, which have lines of their own.

    python -m benchmarks.compile                       # first fit ever, 500 samples
    python -m benchmarks.compile large --after small   # 8,000 samples, when 500 are compiled
    python -m benchmarks.compile --passes              # by pass of Numba's compiler
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FEATURES = 20
SIZES = {"small": 500, "large": 8_000, "huge": 20_000}


@dataclass
class Function:
    """One specialisation of a compiled function."""

    name: str
    arguments: str
    own: float = 0.0
    total: float = 0.0


@dataclass
class Account:
    """What a process compiled.

    Attributes
    ----------
    functions : list of Function
        In the order in which they were finished.
    passes : dict
        CPU seconds by pass of Numba's compiler.
    seconds : float
        CPU seconds of the whole case, importing included.
    wall : float
    imported : float
        CPU seconds of importing, of these.
    """

    functions: list[Function] = field(default_factory=list)
    passes: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    wall: float = 0.0
    imported: float = 0.0

    @property
    def compiling(self) -> float:
        return sum(function.own for function in self.functions)


@contextmanager
def listening(account: Account) -> Iterator[None]:
    """Note all functions that Numba compiles meanwhile."""
    from numba.core import event

    stack: list[tuple[Function, float, list[float]]] = []
    passes: list[tuple[float, list[float]]] = []

    class Functions(event.Listener):  # type: ignore[misc]
        def on_start(self, happening: Any) -> None:
            python = happening.data["dispatcher"].py_func
            name = f"{python.__module__}.{python.__qualname__}"
            arguments = ", ".join(str(kind) for kind in happening.data["args"])
            stack.append((Function(name, arguments), time.process_time(), [0.0]))

        def on_end(self, _happening: Any) -> None:
            function, began, inner = stack.pop()
            function.total = time.process_time() - began
            function.own = function.total - inner[0]
            account.functions.append(function)
            if stack:
                stack[-1][2][0] += function.total

    class Passes(event.Listener):  # type: ignore[misc]
        def on_start(self, _happening: Any) -> None:
            passes.append((time.process_time(), [0.0]))

        def on_end(self, happening: Any) -> None:
            began, inner = passes.pop()
            took = time.process_time() - began
            name = happening.data["name"].split(" ")[0]
            account.passes[name] = account.passes.get(name, 0.0) + took - inner[0]
            if passes:
                passes[-1][1][0] += took

    with (
        event.install_listener("numba:compile", Functions()),
        event.install_listener("numba:run_pass", Passes()),
    ):
        yield


def fit(samples: int) -> Callable[[], Any]:
    def work() -> Any:
        import numpy as np

        from maxmargin import SVC

        random = np.random.default_rng(0)
        X = random.standard_normal((samples, FEATURES))
        y = np.where(X[:, 0] > 0, 1, -1)
        return SVC().fit(X, y)

    return work


def predict() -> Any:
    import numpy as np

    return fit(SIZES["small"])().predict(np.zeros((10, FEATURES)))


def warmup() -> Any:
    from maxmargin.cli.commands.warmup import compile_everything

    return compile_everything(lambda *_: None)


CASES: dict[str, Callable[[], Any]] = {
    **{name: fit(samples) for name, samples in SIZES.items()},
    "predict": predict,
    "warmup": warmup,
}


def run_case(name: str) -> Account:
    """In this process."""
    account = Account()
    clock, began = time.perf_counter(), time.process_time()
    import maxmargin  # noqa: F401

    account.imported = time.process_time() - began
    with listening(account):
        CASES[name]()
    account.seconds = time.process_time() - began
    account.wall = time.perf_counter() - clock
    return account


def measured(name: str, cache: str) -> Account:
    """In a new process, with compiled code in that folder."""
    command = [sys.executable, "-m", "benchmarks.compile", name, "--here"]
    done = subprocess.run(
        command,
        cwd=Path(__file__).resolve().parents[1],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    return Account(**{**found, "functions": [Function(**one) for one in found["functions"]]})


def table(account: Account, rows: int) -> str:
    """Functions by their own seconds, specialisations of one together."""
    own, total, count = Counter[str](), Counter[str](), Counter[str]()
    for function in account.functions:
        own[function.name] += function.own
        total[function.name] += function.total
        count[function.name] += 1
    lines = [f"{'own s':>7} {'total s':>8} {'times':>6}  function"]
    lines += [
        f"{seconds:7.2f} {total[name]:8.2f} {count[name]:6d}  {name}"
        for name, seconds in own.most_common(rows)
    ]
    return "\n".join(lines)


def summary(name: str, account: Account) -> str:
    distinct = len({function.name for function in account.functions})
    return (
        f"{name}: {account.seconds:.1f} CPU s ({account.wall:.1f} s by the clock), "
        f"importing {account.imported:.1f}, compiling {account.compiling:.1f}: "
        f"{len(account.functions)} specialisations of {distinct} functions"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.compile", description=__doc__)
    parser.add_argument("case", nargs="?", choices=CASES, default="small")
    parser.add_argument("--after", choices=CASES, action="append", default=[])
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--passes", action="store_true")
    parser.add_argument("--signatures", action="store_true", help="print each specialisation")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.here:
        print(json.dumps(asdict(run_case(given.case))))
        return
    with tempfile.TemporaryDirectory() as cache:
        for before in given.after:
            measured(before, cache)
        account = measured(given.case, cache)
    print(summary(given.case, account))
    print(table(account, given.rows))
    if given.passes:
        for name, seconds in Counter(account.passes).most_common(12):
            print(f"{seconds:7.2f}  {name}")
    if given.signatures:
        for function in account.functions:
            print(f"{function.own:6.2f} {function.name}({function.arguments})")


if __name__ == "__main__":
    main()
