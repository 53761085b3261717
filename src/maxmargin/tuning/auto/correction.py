"""C of a subsample, corrected on all samples by a short path with warm starts.

The search uses a subsample of large data sets, whose best C need not be best for all samples. A
fifth of the samples is held out; machines at C, then at smaller and larger C as long as that pays,
are trained on the others, each from the previous one. A step pays if the held-out loss falls by
more than its standard error: among values of C that are equal up to noise, the search's is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels import Kernel
from ...kernels.base import take
from ..base import Float, Point
from ..journal import SearchInterrupted, SearchProgress
from ..machines.optimum import Int
from ..optimizers import Result
from ..outcome import Chosen, Stage
from ..start import subsample

# Most steps in one direction.
MOST_STEPS = 3


class Held(NamedTuple):
    """Samples to train on and samples held out."""

    X: Any
    y: NDArray[Any]
    held_X: Any
    held_y: NDArray[Any]
    weight: Float


def held_out(X: Any, y: NDArray[Any], codes: Int, weight: Float | None, seed: int) -> Held:
    """At most 20,000 samples, stratified by class, with a fifth of them held out."""
    used = subsample(codes, 20_000, seed)
    held = used[subsample(codes[used], round(0.2 * used.size), seed)]
    train = np.setdiff1d(used, held)
    weight = np.ones(y.size) if weight is None else weight
    return Held(take(X, train), y[train], take(X, held), y[held], weight[held])


class Correction:
    """The walk over C.

    Parameters
    ----------
    model : estimator
        With the kernel found and all other parameters but C.
    data : Held
    losses : callable
        Takes a fitted model and held-out samples, returns the loss of each.
    seconds : float
        Time limit.
    callback : callable, optional
        Called with a `SearchProgress` after each fit; returning true ends the walk.
    """

    def __init__(
        self,
        model: Any,
        data: Held,
        losses: Callable[[Any, Any, NDArray[Any]], Float],
        seconds: float = np.inf,
        callback: Callable[[SearchProgress], Any] | None = None,
    ) -> None:
        self.model = model.set_params(warm_start=True)
        self.data, self.losses, self.callback = data, losses, callback
        self.began, self.seconds = time.perf_counter(), seconds
        self.status = "finished"
        self.tried: list[tuple[float, float]] = []
        self.what = f"path of C on {len(data.y) + len(data.held_y):,} samples"

    def walk(self, C: float) -> float:
        """The best C around one."""
        best, least = C, self._loss(C)
        if least is None:
            return C
        ratio = 10.0**0.5  # of neighbouring C
        for factor in (1.0 / ratio, ratio):
            start = best
            for step in range(1, MOST_STEPS + 1):
                trial = start * factor**step
                losses = self._loss(trial)
                if losses is None or not pays(losses - least):
                    break
                best, least = trial, losses
            if best != C or self.status != "finished":
                break
        return best

    def _loss(self, C: float) -> Float | None:
        """Weighted losses of the held-out samples at C; None if time has run out."""
        left = self.seconds - (time.perf_counter() - self.began)
        if self.status != "finished" or left <= 0:
            self.status = "time_limit" if self.status == "finished" else self.status
            return None
        limit = None if np.isinf(left) else left
        self.model.set_params(C=C, max_seconds=limit).fit(self.data.X, self.data.y)
        if self.model.status_ == "time_limit":
            self.status = "time_limit"
            return None
        weight = self.data.weight / self.data.weight.mean()
        losses: Float = weight * self.losses(self.model, self.data.held_X, self.data.held_y)
        self.tried.append((C, float(losses.mean())))
        self._tell()
        return losses

    def _tell(self) -> None:
        if self.callback is None:
            return
        value, best = self.tried[-1][1], min(loss for _, loss in self.tried)
        seconds, most = time.perf_counter() - self.began, 1 + 2 * MOST_STEPS
        if self.callback(
            SearchProgress(self.what, len(self.tried), most, 1.0, value, best, seconds)
        ):
            self.status = "stopped"

    def stage(self, kernel: Any, C: float) -> Stage:
        """The points tried, in order of C."""
        tried = dict(self.tried)
        history = {
            "log_C": np.log(sorted(tried)),
            "value": np.array([tried[c] for c in sorted(tried)]),
        }
        seconds = time.perf_counter() - self.began
        value = tried.get(C, np.nan)
        result = Result(Point(kernel, C), value, len(tried), seconds, "exhausted", 0, ())
        return Stage(self.what, result, history)


def pays(change: Float) -> bool:
    """Whether losses fall by more than the standard error of their change."""
    error = float(change.std()) / np.sqrt(change.size)
    return bool(change.mean() < -error)


def corrected(found: Chosen, correction: Correction, kernel: Kernel) -> Chosen:
    """The choice with the C that is best on all samples; Ctrl-C raises `SearchInterrupted` with
    the choice of the search. `kernel` is in the units of its stages."""
    try:
        C = correction.walk(found.C)
    except KeyboardInterrupt:
        raise SearchInterrupted(found._replace(status="interrupted")) from None
    if not correction.tried:
        return found._replace(status=correction.status)
    stages = [*found.stages, correction.stage(kernel, C)]
    seconds = found.seconds + time.perf_counter() - correction.began
    return found._replace(C=C, stages=stages, seconds=seconds, status=correction.status)
