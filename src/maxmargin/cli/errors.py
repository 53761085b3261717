"""Exit codes and error messages."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from .screen import Screen

# Exit codes; the page on the command line lists them.
UNEXPECTED, USAGE, DATA, MODEL, UNFINISHED, INTERRUPTED, TERMINATED = 1, 2, 3, 4, 5, 130, 143
# Signals received so far, of those that end the command cleanly.
came: set[int] = set()


class UsageError(ValueError):
    """Options that contradict each other, or do not fit the data."""


class Stopped(Exception):
    """Ctrl-C; the text says what was kept."""


def obey_termination() -> None:
    """Treat SIGTERM, which schedulers send, like Ctrl-C, and lose neither."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _repeat_interrupt


def _repeat_interrupt(unraisable: Any) -> None:
    """Interrupt again, because Python discards exceptions raised in callbacks such as LLVM's."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    timer = threading.Timer(0.02, _interrupt_main_thread)
    timer.daemon = True
    timer.start()


def _interrupt_main_thread() -> None:
    if hasattr(signal, "pthread_kill"):
        # Also interrupts a blocking system call.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _terminate(number: int, frame: Any) -> None:
    del frame
    came.add(number)
    signal.raise_signal(signal.SIGINT)


@contextmanager
def explained(screen: Screen) -> Iterator[None]:
    """Turn expected errors into a message and an exit code."""
    try:
        yield
    except BrokenPipeError:
        # The reader has closed the pipe: do not flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (Exception, KeyboardInterrupt) as error:
        code = code_of(error)
        if code == UNEXPECTED:
            raise
        screen.close()
        screen.complain(said(error))
        raise typer.Exit(code) from None


def code_of(error: BaseException) -> int:
    """The exit code of an error; `UNEXPECTED` for bugs of ours."""
    if isinstance(error, Stopped | KeyboardInterrupt):
        # The signal may have arrived during an import: import nothing here.
        return TERMINATED if signal.SIGTERM in came else INTERRUPTED
    from ..archive import ModelFileError
    from ..data.sources import DataError

    codes = {
        ModelFileError: MODEL,
        UsageError: USAGE,
        DataError: DATA,
        OSError: DATA,
        MemoryError: DATA,
    }
    return next((code for kind, code in codes.items() if isinstance(error, kind)), UNEXPECTED)


def said(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, MemoryError):
        return f"not enough memory: {str(error) or 'the system refused an allocation'}"
    if isinstance(error, OSError):
        return f"{error.filename or 'file'}: {error.strerror or error}"
    return str(error)
