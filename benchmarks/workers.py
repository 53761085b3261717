"""Fits in processes of their own, one for each contender, that are ended when a budget is used up.

A process lives through the whole benchmark, so that compiled code, threads and imports are warm. It
holds the data of one problem at a time and works only when asked, so that all others are idle.
"""

from __future__ import annotations

import gc
import signal
import time
import warnings
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .contenders import INTELEX, Contender, Unavailable
from .machine import peak, reset_peak
from .problems import Problem, load
from .recompute import Model

# A run repeats a short fit until this many seconds are filled, at most so many times.
FILL, MOST_REPEATS = 0.1, 100
WARM_UP_SAMPLES = 300


class BudgetUsed(Exception):
    """A request took longer than it may; its process was ended."""


class Failed(Exception):
    """A request raised; the text says what."""


class Fit(NamedTuple):
    """One run: seconds (the median of its fits), how many fits, and what came out."""

    seconds: float
    fits: int
    model: Model
    finished: bool
    remark: str


class Memory(NamedTuple):
    """Bytes: of the inputs, and by how many a fit raises what is in use at its peak."""

    inputs: int
    peak: int


class Session:
    """What a process does: every request is one of its methods."""

    def __init__(self, contender: Contender) -> None:
        self.contender = contender

    def prepare(self, problem: Problem) -> None:
        """Load the data and warm up on a part of them."""
        self.contender.estimator(problem)
        self.problem, self.data = problem, load(problem, self.contender.dtype)
        X, y, X_new = self.data
        part = np.unique(np.linspace(0, X.shape[0] - 1, WARM_UP_SAMPLES).astype(np.int64))
        for settings in self.contender.warm_ups():
            model = self.contender.estimator(problem, **settings)
            model.fit(X[part], None if y is None else y[part])
            model.predict(X_new[:WARM_UP_SAMPLES])

    def fit(self) -> Fit:
        seconds, self.model = timed(self._next_fit)
        return Fit(
            seconds=float(np.median(seconds)),
            fits=len(seconds),
            model=_model(self.model),
            finished=not np.any(self.model.fit_status_),
            remark=self._remark(),
        )

    def predict(self) -> float:
        """Seconds for the new inputs, by the model of the last fit."""
        seconds, _ = timed(lambda: partial(self.model.predict, self.data.X_new))
        return float(np.median(seconds))

    def memory(self) -> Memory:
        gc.collect()
        before = reset_peak()
        self._next_fit()()
        return Memory(_bytes(self.data.X), max(0, peak() - before))

    def _next_fit(self) -> Callable[[], Any]:
        return partial(self.contender.estimator(self.problem).fit, self.data.X, self.data.y)

    def _remark(self) -> str:
        handed_over = self.contender.library == INTELEX and not hasattr(
            self.model, "_onedal_estimator"
        )
        return "handed over to scikit-learn" if handed_over else ""


class Worker:
    """The parent's end of the process of one contender."""

    def __init__(self, contender: Contender) -> None:
        self.contender = contender
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def ask(self, request: str, *arguments: Any, budget: float | None = None) -> Any:
        """The answer of a method of `Session`; after `BudgetUsed` the process begins anew."""
        if self._process is None:
            self._start()
        assert self._connection is not None
        self._connection.send((request, arguments))
        if not self._connection.poll(budget):
            self.close()
            raise BudgetUsed
        try:
            error, answer = self._connection.recv()
        except EOFError:
            self.close()
            raise Failed("its process died") from None
        if error is not None:
            raise error(answer)
        return answer

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = self._connection = None

    def _start(self) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self.contender), daemon=True)
        self._process.start()
        theirs.close()


def timed(prepare: Callable[[], Callable[[], Any]]) -> tuple[list[float], Any]:
    """Seconds of each repetition of what `prepare` returns, and the last result."""
    seconds: list[float] = []
    while sum(seconds) < FILL and len(seconds) < MOST_REPEATS:
        work = prepare()
        began = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - began)
    return seconds, result


def _serve(connection: Connection, contender: Contender) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    warnings.simplefilter("ignore")
    session = Session(contender)
    while True:
        try:
            request, arguments = connection.recv()
        except EOFError:
            return
        try:
            connection.send((None, getattr(session, request)(*arguments)))
        except Unavailable as error:
            connection.send((Failed, str(error)))
        except Exception as error:
            connection.send((Failed, f"{type(error).__name__}: {error}"))


def _model(estimator: Any) -> Model:
    coef = estimator.dual_coef_
    return Model(
        dual_coef=coef.toarray() if sparse.issparse(coef) else np.asarray(coef),
        support=np.asarray(estimator.support_),
        intercept=np.asarray(estimator.intercept_),
    )


def _bytes(X: Any) -> int:
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    return sum(part.nbytes for part in parts)
