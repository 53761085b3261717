"""Ctrl-C between slabs: the state of a solver is never torn in the middle of an update."""

import signal
import threading
from contextlib import contextmanager

_of_thread = threading.local()


class Interrupt:
    """Whether the run is to end: Ctrl-C was pressed, or whoever started the thread says so.

    While it is entered, the first Ctrl-C is recorded instead of raised, a second one is not held
    back; other handlers and threads are left alone. Where the run may be over in less time than it
    takes to change the handler, that is left until somebody asks for the second time.
    """

    def __init__(self, may_be_short):
        self.stop = getattr(_of_thread, "stop", None)
        self.received = self.listening = False
        self.unasked = 2 if may_be_short else 0

    @property
    def pressed(self):
        if self.unasked:
            self.unasked -= 1
            if not self.unasked:
                self._listen()
        return self.received or (self.stop is not None and self.stop())

    def __enter__(self):
        if not self.unasked:
            self._listen()
        return self

    def _listen(self):
        if threading.current_thread() is threading.main_thread():
            self.listening = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self.listening:
            signal.signal(signal.SIGINT, self._press)

    def __exit__(self, *error):
        if self.listening:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _press(self, signum, frame):
        if self.received:
            signal.default_int_handler(signum, frame)
        self.received = True


def deferred_interrupts(may_be_short: bool = False) -> Interrupt:
    """Record the first Ctrl-C instead of raising it."""
    return Interrupt(may_be_short)


@contextmanager
def interrupted_when(stop):
    """Runs in this thread end as by Ctrl-C when stop() is true; only the main thread hears it."""
    _of_thread.stop = stop
    try:
        yield
    finally:
        _of_thread.stop = None
