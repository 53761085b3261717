"""Processes that compute answers, so that one visitor never waits for the run of another.

A request runs in a process of its own until it answers or its time is up; then the process is
ended and another takes its place. One process more than are busy is kept ready, up to a limit.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from multiprocessing.connection import Connection
from typing import Any

from .rooms import NAMES, RequestError, answer, example

# Seconds until a process is ready, and for the first answer of a room: on a new machine both
# compile parts of the library, once.
STARTING = 300.0
READY = "ready"


class Worker:
    """One process and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.ready = False

    def ask(self, room: str, request: Any, seconds: float) -> Any:
        """Wait for an answer, in a thread; None where the time is up."""
        if not self.ready:
            if not self.pipe.poll(STARTING):
                raise RequestError("the lab could not start a process: is there memory left?")
            self.pipe.recv()
            self.ready = True
        self.pipe.send((room, request))
        return self.pipe.recv() if self.pipe.poll(seconds) else None

    def end(self) -> None:
        """End the process. A thread that waits on the pipe wakes up; to close the pipe under it
        could let it wait for ever, so that is left to the end of this object."""
        self.process.kill()
        self.process.join(5)


class Workers:
    """At most `most` processes; requests wait their turn while all are busy.

    An answer may take `seconds`.
    """

    def __init__(self, most: int = 4, seconds: float = 30.0) -> None:
        self.most, self.seconds = most, seconds
        self.free = asyncio.Semaphore(most)
        self.idle: list[Worker] = []
        self.busy: set[Worker] = set()
        self.compiled: set[str] = set()  # rooms that have answered
        self._keep_spare()

    async def ask(self, room: str, request: Any) -> dict[str, Any]:
        """The answer of a room, or `RequestError`."""
        async with self.free:
            # One that is ready, if there is.
            worker = max(self.idle, key=lambda one: one.ready or one.pipe.poll())
            self.idle.remove(worker)
            self.busy.add(worker)
            self._keep_spare()
            seconds = self.seconds if room in self.compiled else STARTING
            try:
                found = await asyncio.to_thread(worker.ask, room, request, seconds)
            except (asyncio.CancelledError, RequestError):
                self._end(worker)
                raise
            except (EOFError, OSError):
                self._end(worker)
                raise RequestError(
                    "the process computing this ended unexpectedly: try fewer points"
                ) from None
            if found is None:
                self._end(worker)
                raise RequestError(
                    f"this took longer than {seconds:g} s and was stopped: "
                    "try fewer points, a smaller C or a larger tol"
                )
            self.busy.discard(worker)
            self.idle.append(worker)
        kind, value = found
        if kind == "error":
            raise RequestError(value)
        self.compiled.add(room)
        result: dict[str, Any] = value
        return result

    def _keep_spare(self) -> None:
        if not self.idle and len(self.busy) < self.most:
            self.idle.append(Worker())

    def _end(self, worker: Worker) -> None:
        self.busy.discard(worker)
        worker.end()
        self._keep_spare()

    def close(self) -> None:
        for worker in (*self.idle, *self.busy):
            worker.end()


def _serve(pipe: Connection) -> None:
    # Ctrl-C in a terminal reaches every process of it; the server ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answer(NAMES[0], example(NAMES[0]))
    pipe.send(READY)
    while True:
        try:
            room, request = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(_answered(room, request))


def _answered(room: str, request: Any) -> tuple[str, Any]:
    try:
        return "answer", answer(room, request)
    except RequestError as error:
        return "error", str(error)
    except Exception as error:
        return "error", f"the lab failed ({type(error).__name__}: {error}); please report this"
