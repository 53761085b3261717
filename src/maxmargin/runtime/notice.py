"""The line on stderr that announces compilation: what, about how long, and that it happens once.

Numba's event API reports when it begins to compile a function. The line is printed if stderr is a
terminal or a notebook. ``MAXMARGIN_COMPILING=always`` prints it everywhere, ``never`` nowhere.
"""

from __future__ import annotations

import os
import sys
import time
from multiprocessing import parent_process
from typing import Any

from numba.core import event

PACKAGE = __name__.split(".", maxsplit=1)[0] + "."
# Module prefixes, their subject, and the seconds of compiling for a first fit; the first match
# counts. `python -m benchmarks.compile` measures them.
SUBJECTS = (
    ("solvers.linear.", "linear machines", 6),
    ("solvers.online.", "online machines", 6),
    ("tuning.", "the tuning of parameters", 8),
    ("kernels.sequence.", "sequence kernels", 4),
    ("dual.", "kernel machines", 7),
    ("solvers.", "kernel machines", 7),
)


class Notice(event.Listener):  # type: ignore[misc]
    """Listens to Numba's compile events and prints a line when compilation takes noticeable
    time."""

    def __init__(self) -> None:
        self.depth = 0
        self.began = self.ended = self.spent = 0.0
        self.known: set[str] = set()  # subjects that were announced
        self.told = self.quiet = False

    def on_start(self, happening: Any) -> None:
        now = time.perf_counter()
        if self.depth == 0:
            if now - self.ended > 2.0:  # seconds without compilation: counting starts again
                self.spent, self.told = 0.0, False
            self.began = now
        self.depth += 1
        module = getattr(happening.data["dispatcher"].py_func, "__module__", "") or ""
        if module.startswith(PACKAGE) and not self.told:
            self.consider(module.removeprefix(PACKAGE), self.spent + now - self.began)

    def on_end(self, _happening: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.ended = time.perf_counter()
            self.spent += self.ended - self.began

    def consider(self, module: str, spent: float) -> None:
        """Print a line: at once if it will take long, otherwise when it has taken long."""
        found = (row for row in SUBJECTS if module.startswith(row[0]))
        _, subject, seconds = next(found, ("", "code", 0))
        if seconds and subject not in self.known:
            self.known.add(subject)
            self.tell(subject, f"about {seconds} s")
        elif spent > 0.7:  # seconds of silence
            self.tell(subject, "a few seconds")

    def tell(self, subject: str, how_long: str) -> None:
        self.told = True
        if not self.quiet and is_read():
            line = f"maxmargin: compiling {subject} for this machine: {how_long}, only once"
            print(line, file=sys.stderr, flush=True)


def is_read() -> bool:
    """Whether stderr is a terminal or a notebook, or output was asked for."""
    asked = os.environ.get("MAXMARGIN_COMPILING", "")
    if asked in ("always", "never"):
        return asked == "always"
    if sys.stderr is None or parent_process() is not None:
        return False
    return sys.stderr.isatty() or "ipykernel" in sys.modules


notice = Notice()
event.register("numba:compile", notice)
