"""Exit codes and error messages."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

import typer

from .screen import Screen

# Signals received so far, of those that end the command cleanly.
came: set[int] = set()


class ExitCode(IntEnum):
    """Exit codes; the page on the command line lists them."""

    UNEXPECTED = 1
    USAGE = 2
    DATA = 3
    MODEL = 4
    UNFINISHED = 5
    INTERRUPTED = 128 + signal.SIGINT
    TERMINATED = 128 + signal.SIGTERM


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
        if code == ExitCode.UNEXPECTED:
            raise
        screen.close()
        screen.complain(said(error))
        raise typer.Exit(code) from None


def code_of(error: BaseException) -> ExitCode:
    """The exit code of an error; `UNEXPECTED` for bugs of maxmargin."""
    if isinstance(error, Stopped | KeyboardInterrupt):
        # The signal may have arrived during an import: import nothing here.
        return ExitCode.TERMINATED if signal.SIGTERM in came else ExitCode.INTERRUPTED
    from ..archive import ModelFileError
    from ..data.sources import DataError

    codes = {
        ModelFileError: ExitCode.MODEL,
        UsageError: ExitCode.USAGE,
        DataError: ExitCode.DATA,
        OSError: ExitCode.DATA,
        MemoryError: ExitCode.DATA,
    }
    found = (code for kind, code in codes.items() if isinstance(error, kind))
    return next(found, ExitCode.UNEXPECTED)


def said(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, MemoryError):
        return f"not enough memory: {str(error) or 'the system refused an allocation'}"
    if isinstance(error, OSError):
        return f"{error.filename or 'file'}: {error.strerror or error}"
    return str(error)
