"""Output of the command line: text, JSON, and progress bars."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

# Work shorter than this, in seconds, shows no bar.
PATIENCE = 1.0


class Screen:
    """Where a command prints.

    Parameters
    ----------
    quiet : bool
        Print errors only.
    as_json : bool
        Print nothing but one JSON object at the end.
    aside : bool
        Print to standard error, because standard output is for data.
    """

    def __init__(self, quiet: bool = False, as_json: bool = False, aside: bool = False) -> None:
        self.quiet, self.as_json = quiet or as_json, as_json
        self.stream = sys.stderr if aside else sys.stdout
        self.bar: Any = None

    def say(self, subject: str, text: str) -> None:
        """Print a line: subject and text."""
        if not self.quiet:
            head, *rest = text.splitlines() or [""]
            lines = [f"{subject:>11}  {head}", *(f"{'':>11}  {line}" for line in rest)]
            print("\n".join(lines), file=self.stream, flush=True)

    def say_all(self, subject: str, texts: Any) -> None:
        for place, text in enumerate(texts):
            self.say("" if place else subject, text)

    def complain(self, text: str) -> None:
        print(f"maxmargin: {text}", file=sys.stderr, flush=True)
        if self.as_json:
            self.result({"error": text})

    def result(self, values: dict[str, Any]) -> None:
        """Print the outcome as JSON."""
        if self.as_json:
            print(json.dumps(plain(values), ensure_ascii=False), flush=True)

    @contextmanager
    def working(self, what: str) -> Iterator[Bar]:
        """A progress bar on standard error, shown after a second and only on a terminal."""
        self.bar = Bar(what, shown=not self.quiet and sys.stderr.isatty())
        try:
            yield self.bar
        finally:
            self.close()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


class Bar:
    """Progress of one piece of work."""

    def __init__(self, what: str, shown: bool) -> None:
        self.what = what
        self.progress: Any = None
        self.task: Any = None
        self.lock = threading.Lock()
        self.timer = threading.Timer(PATIENCE, self._start)
        self.timer.daemon = True
        if shown:
            self.timer.start()

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
        )

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TaskProgressColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
        )
        with self.lock:
            if self.what:
                progress = Progress(*columns, console=Console(stderr=True), transient=True)
                progress.start()
                self.task = progress.add_task(self.what, total=None, note="")
                self.progress = progress

    def update(self, done: float | None, note: str = "") -> None:
        """The completed fraction, between 0 and 1, or None if unknown."""
        if self.progress is not None:
            total = None if done is None else 1.0
            self.progress.update(self.task, total=total, completed=done or 0.0, note=note)

    def close(self) -> None:
        self.timer.cancel()
        with self.lock:
            if self.progress is not None:
                self.progress.stop()
                self.progress = None
            self.what = ""

    def of_a_fit(self, tol: float) -> Callable[[Any], bool]:
        """A callback for estimators that shows the violation falling towards `tol`."""
        first: list[float] = []

        def show(progress: Any) -> bool:
            violation = progress.violation
            if np.isfinite(violation) and violation > 0:
                first[:] = first or [max(violation, 10 * tol)]
                way = np.log(first[0] / tol)
                part = float(np.clip(np.log(first[0] / violation) / way, 0.0, 1.0))
                self.update(part, f"violation {violation:.1e}, gap {progress.gap:.2g}")
            return False

        return show


def plain(value: Any) -> Any:
    """Values for JSON; non-finite numbers become null, columns of tables lists."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(entry) for entry in value]
    if hasattr(value, "to_list"):
        return plain(value.to_list())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
