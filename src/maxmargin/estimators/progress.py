"""A running fit: its time limit, and its progress on a live line and in callbacks."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..solvers import Progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before its callback protocol

    class CallbackSupportMixin:  # type: ignore[no-redef]  # stands in for the import
        """Empty stand-in."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        return method


__all__ = ["CallbackSupportMixin", "Clock", "OutOfTime", "Reporter", "screen_for", "with_callbacks"]
# Seconds between two updates of the line.
LINE_EVERY = 0.1


class OutOfTime(Exception):
    """The time limit ran out during optional work."""


class Clock:
    """The time that is left of `max_seconds`."""

    def __init__(self, max_seconds: float | None) -> None:
        self.limit = np.inf if max_seconds is None else float(max_seconds)
        self.began = time.perf_counter()

    def left(self) -> float:
        return max(0.0, self.limit - (time.perf_counter() - self.began))

    def overtime(self) -> None:
        """Raise `OutOfTime` if a certificate would exceed the limit by more than is documented."""
        grace = min(0.25, 0.05 * self.limit) if np.isfinite(self.limit) else 0.0
        if time.perf_counter() - self.began > self.limit + grace:
            raise OutOfTime


class Reporter:
    """Passes the progress of every problem of a fit on to all listeners.

    Parameters
    ----------
    estimator : estimator
        With `verbose`, `callback`, `tol` and `max_seconds`.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator, self.clock = estimator, Clock(estimator.max_seconds)
        self.line: Line | None = None
        self.hooks: Hooks | None = None
        self.heard = estimator.callback is not None  # whether there is any listener

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *error: object) -> None:
        if self.line is not None:
            self.line.end()

    def begin(self, problems: int, **data: Any) -> None:
        """Called before the problems are solved."""
        if self.estimator.verbose:
            self.line = Line(self.estimator, problems)
            self.heard = True
        if getattr(self.estimator, "_skl_callbacks", None):
            self.hooks = Hooks(self.estimator, problems)
            self.heard = True
            self.hooks.begin(**data)

    def end(self, attributes: dict[str, Any], **data: Any) -> None:
        """Called when the model is complete."""
        if self.hooks is not None:
            self.hooks.end(attributes, **data)

    def listen(self, number: int, name: str) -> Callable[[Progress], bool] | None:
        """The callback for `solve` of one problem; None without listeners."""
        if not self.heard:
            return None
        listeners: list[Callable[[Progress], Any]] = []
        if self.line is not None:
            listeners.append(self.line.of(number, name))
        if self.hooks is not None:
            listeners.append(self.hooks.of(number, name))
        if self.estimator.callback is not None:
            listeners.append(self.estimator.callback)

        def tell_all(progress: Progress) -> bool:
            answers = [listener(progress) for listener in listeners]
            return any(answers)

        return tell_all

    def finish(self, number: int) -> None:
        """Called when a problem is solved."""
        if self.hooks is not None:
            self.hooks.finish(number)


class Line:
    """One live line on the terminal about the progress of a fit; silent without a terminal."""

    def __init__(self, estimator: Any, problems: int) -> None:
        self.tol, self.problems = estimator.tol, problems
        limit = estimator.max_seconds
        self.limit = np.inf if limit is None else float(limit)
        self.began = time.perf_counter()
        self.shown = 0.0
        self.lock = threading.Lock()
        self.screen = screen_for(sys.stderr)

    def of(self, number: int, name: str) -> Callable[[Progress], None]:
        start: list[tuple[float, float]] = []

        def show(progress: Progress) -> None:
            if not start and np.isfinite(progress.violation):
                start.append((progress.seconds, progress.violation))
            with self.lock:
                now = time.perf_counter()
                if self.screen is None or now - self.shown < LINE_EVERY:
                    return
                self.shown = now
                left = self._seconds_left(progress, start, now)
                self.screen.show(described(progress, self._place(number, name), left))

        return show

    def end(self) -> None:
        if self.screen is not None:
            self.screen.end()

    def _place(self, number: int, name: str) -> str:
        return f"{name} ({number + 1}/{self.problems})" if self.problems > 1 else name

    def _seconds_left(self, progress: Any, start: list[Any], now: float) -> float:
        """Estimate, assuming that the violation keeps falling by the same factor per second."""
        limit = self.limit - (now - self.began)
        if hasattr(progress, "seconds_left"):
            return min(limit, float(progress.seconds_left))
        if not start:
            return limit
        seconds, violation = progress.seconds - start[0][0], start[0][1]
        if seconds <= 0 or not 0 < progress.violation < violation:
            return limit
        rate = np.log(violation / progress.violation) / seconds
        return min(limit, max(0.0, float(np.log(progress.violation / self.tol) / rate)))


def described(progress: Any, place: str, left: float) -> str:
    """The line: ``a vs b: violation 1.2e-02, gap 3.4, 560 support vectors, …``"""
    parts = [
        f"violation {progress.violation:.1e}",
        f"gap {progress.gap:.3g}",
        f"{progress.support:,} support vectors",
        f"{progress.rows:,} rows" if hasattr(progress, "rows") else f"step {progress.steps:,}",
        f"{progress.seconds:.1f} s",
    ]
    if hasattr(progress, "moved"):
        parts[3] = f"round {progress.steps:,}"
        parts.append(f"{progress.moved / 1e6:,.0f} MB moved, {progress.workers} workers")
    if np.isfinite(left):
        parts.append(f"about {left:.0f} s left")
    return f"{place}: " + ", ".join(parts)


def screen_for(stream: Any) -> RichScreen | PlainScreen | None:
    """Where a live line can be written: with rich if it is installed; None if not a terminal."""
    if not (hasattr(stream, "isatty") and stream.isatty()):
        return None
    try:
        return RichScreen(stream)
    except ImportError:
        return PlainScreen(stream)


class RichScreen:
    def __init__(self, stream: Any) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self.text = Text
        self.live = Live(console=Console(file=stream), transient=True, auto_refresh=False)
        self.live.start()

    def show(self, text: str) -> None:
        self.live.update(self.text(text, no_wrap=True, overflow="ellipsis"), refresh=True)

    def end(self) -> None:
        self.live.stop()


class PlainScreen:
    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def show(self, text: str) -> None:
        self.stream.write(f"\r\x1b[K{text[:120]}")
        self.stream.flush()

    def end(self) -> None:
        self.stream.write("\r\x1b[K")
        self.stream.flush()


class Hooks:
    """scikit-learn's callback protocol: the fit, its problems, and inside each its progress."""

    def __init__(self, estimator: Any, problems: int) -> None:
        self.estimator = estimator
        self.fit = estimator._init_callback_context(
            max_subtasks=problems, sequential_subtasks=False
        )
        self.problems: dict[int, Any] = {}

    def begin(self, **data: Any) -> None:
        self.fit.call_on_fit_task_begin(estimator=self.estimator, **data)

    def end(self, attributes: dict[str, Any], **data: Any) -> None:
        self.fit.call_on_fit_task_end(
            estimator=self.estimator, reconstruction_attributes=lambda: attributes, **data
        )

    def of(self, number: int, name: str, every: float = 0.1) -> Callable[[Progress], bool]:
        """The callback of a problem, called at most once in so many seconds."""
        if number not in self.problems:
            problem = self.fit.subcontext(task_name=name, task_id=number, max_subtasks=None)
            problem.call_on_fit_task_begin(estimator=self.estimator)
            self.problems[number] = problem
        problem = self.problems[number]
        last = [-np.inf]

        def call(progress: Progress) -> bool:
            now = time.perf_counter()
            if progress.violation > self.estimator.tol and now - last[0] < every:
                return False
            last[0] = now
            step = problem.subcontext(task_name="progress")
            step.call_on_fit_task_begin(estimator=self.estimator)
            return bool(step.call_on_fit_task_end(estimator=self.estimator))

        return call

    def finish(self, number: int) -> None:
        self.problems[number].call_on_fit_task_end(estimator=self.estimator)
