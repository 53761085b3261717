"""Ctrl-C is handled between slabs, so that the state of a solver is always consistent."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_of_thread = threading.local()


class Interrupt:
    """Whether the run must end: Ctrl-C was pressed, or the starter of this thread asks for it.

    Inside its context the first Ctrl-C is recorded instead of raised, a second one is raised; other
    handlers and threads are not affected. For runs that may be shorter than the installation of a
    handler, this is deferred to the second query of `pressed`.
    """

    def __init__(self, may_be_short: bool) -> None:
        self.stop = getattr(_of_thread, "stop", None)
        self.received = self.listening = False
        self.unasked = 2 if may_be_short else 0

    @property
    def pressed(self) -> bool:
        if self.unasked:
            self.unasked -= 1
            if not self.unasked:
                self._listen()
        return self.received or (self.stop is not None and self.stop())

    def __enter__(self) -> Interrupt:
        if not self.unasked:
            self._listen()
        return self

    def _listen(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self.listening = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self.listening:
            signal.signal(signal.SIGINT, self._press)

    def __exit__(self, *error: object) -> None:
        if self.listening:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _press(self, signum: int, frame: FrameType | None) -> None:
        if self.received:
            signal.default_int_handler(signum, frame)
        self.received = True


def deferred_interrupts(may_be_short: bool = False) -> Interrupt:
    """Record the first Ctrl-C instead of raising it."""
    return Interrupt(may_be_short)


@contextmanager
def interrupted_when(stop: Callable[[], bool]) -> Iterator[None]:
    """Runs in this thread end as by Ctrl-C when stop() is true; signals reach the main thread
    only."""
    _of_thread.stop = stop
    try:
        yield
    finally:
        _of_thread.stop = None
