"""Ctrl-C between slabs: the state of a solver is never torn in the middle of an update."""

import signal
import threading
from contextlib import contextmanager

_of_thread = threading.local()


class Interrupt:
    """Whether the run is to end: Ctrl-C was pressed, or whoever started the thread says so.

    A second press of Ctrl-C is not held back.
    """

    def __init__(self, stop=None):
        self.stop = stop
        self.held = False

    @property
    def pressed(self):
        return self.held or (self.stop is not None and self.stop())

    def press(self, signum, frame):
        if self.held:
            signal.default_int_handler(signum, frame)
        self.held = True


@contextmanager
def interrupted_when(stop):
    """Runs in this thread end as by Ctrl-C when stop() is true; only the main thread hears it."""
    _of_thread.stop = stop
    try:
        yield
    finally:
        _of_thread.stop = None


@contextmanager
def held_interrupts():
    """Record the first Ctrl-C instead of raising it; other handlers and threads are left alone."""
    interrupt = Interrupt(getattr(_of_thread, "stop", None))
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupt
        return
    signal.signal(signal.SIGINT, interrupt.press)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
