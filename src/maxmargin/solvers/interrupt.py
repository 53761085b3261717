"""Ctrl-C between slabs: the state of a solver is never torn in the middle of an update."""

import signal
import threading
from contextlib import contextmanager


class Interrupt:
    """Whether Ctrl-C was pressed. A second press is not held back."""

    def __init__(self):
        self.pressed = False

    def press(self, signum, frame):
        if self.pressed:
            signal.default_int_handler(signum, frame)
        self.pressed = True


@contextmanager
def held_interrupts():
    """Record the first Ctrl-C instead of raising it; other handlers and threads are left alone."""
    interrupt = Interrupt()
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield interrupt
        return
    signal.signal(signal.SIGINT, interrupt.press)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
