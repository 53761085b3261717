"""A second process that compiles some functions while this one compiles others.

Numba compiles one function after the other in one thread. The first fit on a machine compiles for
about ten seconds, and some of its functions do not depend on each other: a new Python process
compiles these, keeps them on disk, and prints the name of each. `CodeCache` waits for a function
that is promised, and loads it. If the process cannot be started, fails or takes too long, the
function is compiled here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from multiprocessing import parent_process
from pathlib import Path
from threading import Timer
from typing import Any

# Functions, each with the Numba types of its arguments; and how they follow from those of a caller.
Types = tuple[Any, ...]
Works = list[tuple[Any, Types]]
Parts = Callable[[Types], Works]

ROOT = Path(__file__).resolve().parents[2]
COMMAND = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {__name__} as m; m.main()"


class SecondProcess:
    """The process, and what it still has to compile."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.timer: Timer | None = None
        self.promised: set[str] = set()

    def compile(self, works: Works) -> None:
        """Start compiling these functions; returns at once, and does nothing if it cannot."""
        if self.process is not None or not is_useful():
            return
        names = [name_of(function) for function, _ in works]
        orders = [(*name, types) for name, (_, types) in zip(names, works)]
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            assert self.process.stdin is not None
            with self.process.stdin as pipe:
                pipe.write(pickle.dumps(orders))
        except (OSError, pickle.PicklingError):
            self.end()
            return
        self.promised = {".".join(name) for name in names}
        self.timer = Timer(60.0, self.process.kill)  # seconds
        self.timer.daemon = True
        self.timer.start()

    def has_promised(self, function: Any) -> bool:
        """Whether the process is still to compile a function."""
        return ".".join(name_of(function)) in self.promised

    def wait_for(self, function: Any) -> bool:
        """Wait until a promised function is on disk; returns whether it is."""
        name = ".".join(name_of(function))
        if name not in self.promised or self.process is None:
            return False
        assert self.process.stdout is not None
        while name in self.promised:
            line = self.process.stdout.readline().decode().strip()
            if not line:
                self.end()
                return False
            self.promised.discard(line)
        if not self.promised:
            self.end()
        return True

    def end(self) -> None:
        """Stop waiting for anything."""
        self.promised = set()
        if self.timer is not None:
            self.timer.cancel()
        if self.process is not None and self.process.stdout is not None:
            self.process.kill()
            self.process.stdout.close()
            self.process.wait()


def name_of(function: Any) -> tuple[str, str]:
    python = getattr(getattr(function, "dispatcher", function), "py_func", function)
    return python.__module__, python.__name__


def is_useful() -> bool:
    """Whether there is a second core and an interpreter to start; not in worker processes."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    interpreter = Path(sys.executable or "").name  # in embedded Python it may be another program
    return cores > 1 and "python" in interpreter and parent_process() is None


def main() -> None:
    """Compile what standard input asks for."""
    for module, name, types in pickle.load(sys.stdin.buffer):
        function = getattr(import_module(module), name)
        getattr(function, "dispatcher", function).compile(types)
        print(f"{module}.{name}", flush=True)


second_process = SecondProcess()
