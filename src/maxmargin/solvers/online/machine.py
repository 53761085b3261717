"""A machine for two classes that learns from a stream.

It holds a feasible point of the dual problem of the examples seen so far,

    maximise  y·α − ½ αᵀKα,   α between 0 and y·bound,   Σ α = 0

of which only the support set is kept, with its Gram matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...dual import kernel_expansion
from ...kernels import Kernel
from ...kernels.base import Array, count, take
from ...kernels.vector.base import VectorKernel
from ..interrupt import deferred_interrupts
from ..result import Progress, Solution
from ..smo import state as r
from ..solver import solve
from .inputs import Frame, grown, points_for
from .loop import (
    COUNTERS,
    REMOVED,
    SIZE,
    STEPS,
    ZEROS,
    Examples,
    OnlineControl,
    Support,
    learn_examples,
)
from .support_set import SupportSet, empty_support

POLICIES = {"second_order": r.SECOND_ORDER, "mvp": r.MVP}


class Sizes(NamedTuple):
    """Sizes of chunks, and limits, of an online machine."""

    # Examples per chunk, whose kernel rows are computed by one product, or value by value.
    chunk: int = 512
    expensive_chunk: int = 64
    # Products, or kernel values computed one by one, per chunk: about a tenth of a second between
    # checks of the clock. An example costs as many as its features and the passes of its steps.
    chunk_work: float = 1e8
    expensive_chunk_work: float = 2e4
    step_work: int = 30
    # Examples of one class kept at zero until the first one of the other class arrives.
    waiting: int = 100
    unlimited: int = 1 << 40
    # Σα = 0 holds up to this fraction of Σ|α|.
    summed: float = 1e-13
    # A violation up to this multiple of tol counts as within tol, because it is rounded
    # differently.
    rounding: float = 1.000001


SIZES = Sizes()

NEVER_TWICE = np.empty(0, dtype=np.int64)


class OnlineSettings(NamedTuple):
    """Settings of a machine.

    Attributes
    ----------
    selection : {"second_order", "mvp"}
    reprocess : int
        Steps inside the support set after each example.
    tol : float
        Smallest violation of a pair for which a step is taken.
    budget : int or None
        Largest support set.
    """

    selection: str = "second_order"
    reprocess: int = 1
    tol: float = 1e-3
    budget: int | None = None


class OnlineState(NamedTuple):
    """The whole state of a machine, as arrays."""

    alpha: np.ndarray
    gradient: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    diagonal: np.ndarray
    number: np.ndarray
    counters: np.ndarray
    scale: np.ndarray
    rows: np.ndarray  # the lower triangle of the Gram matrix, row by row
    inputs: Any
    frame: Frame | None


class OnlineMachine(SupportSet):
    """LASVM with second-order selection (chapter 8).

    Parameters
    ----------
    kernel : Kernel
    settings : OnlineSettings
    dtype : float32 or float64
        Of kernel rows.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.solvers.online.machine import OnlineMachine, OnlineSettings
    >>> machine = OnlineMachine(Linear(), OnlineSettings())
    >>> machine.learn(np.array([[-1.0], [1.0], [3.0]]), np.array([-1.0, 1.0, 1.0]), np.ones(3))
    >>> machine.alpha, machine.bias, machine.dual
    (array([-0.5,  0.5]), 0.0, 0.5)
    """

    def __init__(self, kernel: Kernel, settings: OnlineSettings, dtype: Any = np.float64) -> None:
        self.kernel, self.settings, self.dtype = kernel, settings, np.dtype(dtype)
        self.points: Any = None
        self.counters = np.zeros(COUNTERS, dtype=np.int64)
        self.scale = 0.0
        self.support = empty_support(0, self.dtype)

    def learn(
        self,
        X: Any,
        labels: np.ndarray,
        bound: np.ndarray,
        number: np.ndarray | None = None,
        place: np.ndarray = NEVER_TWICE,
        order: np.ndarray | None = None,
    ) -> None:
        """Process every example once.

        Parameters
        ----------
        X : inputs
        labels : float array
            ±1.
        bound : float array
            C times weight, finite; examples with 0 are skipped.
        number : int array, optional
            Their numbers, as in `number`.
        place : int array, optional
            If examples occur more than once: the place of each number in the support set, or -1.
            It is updated.
        order : int array, optional
            Order of processing.
        """
        self.begin(X)
        number = np.arange(count(X)) if number is None else number
        for these, chunk in chunks(self.kernel, X, bound, order, lambda: self.size):
            with deferred_interrupts() as interrupt:
                self.learn_chunk(chunk, labels[these], bound[these], number[these], place)
            if interrupt.pressed:
                raise KeyboardInterrupt("learning was interrupted; the model so far is kept")

    def begin(self, X: Any) -> None:
        """Initialise for inputs like these, if nothing has been learned yet."""
        if self.points is None:
            self.points = points_for(self.kernel, X, self.dtype)

    def learn_chunk(
        self, X: Any, labels: np.ndarray, bound: np.ndarray, number: np.ndarray, place: np.ndarray
    ) -> None:
        """As `learn`, after `begin`, for a few examples with weight, with interrupts deferred."""
        refuse_overflow(self.kernel, X)
        with np.errstate(over="ignore", invalid="ignore"):
            diagonal = np.asarray(self.kernel.diagonal(X), dtype=np.float64)
            self._check_finite(diagonal)
            block = self.points.meet(X)
        self._check_finite(block)
        self.scale = max(self.scale, float(np.abs(diagonal).max()))
        self._reserve(labels.size)
        self.support.column[: self.size] = np.arange(self.size)
        examples = Examples(
            np.asarray(labels, dtype=np.float64),
            np.asarray(bound, dtype=np.float64),
            diagonal,
            np.asarray(number, dtype=np.int64),
            block,
        )
        row = np.empty(self.support.alpha.size, dtype=self.dtype)
        extremes = np.empty(1), np.empty(1)
        learn_examples(
            self.support, examples, place, self._control(), self.counters, row, *extremes
        )
        self.points.rearrange(self.support.column[: self.size])
        self._repair_sum()

    def _repair_sum(self) -> None:
        """Σα = 0 again, if rounding of much larger coefficients than are left has changed it."""
        n, s = self.size, self.support
        alpha = s.alpha[:n]
        if not abs(float(alpha.sum())) > SIZES.summed * float(np.abs(alpha).sum()):
            return
        repaired = self.problem().feasible(alpha.copy())
        s.gradient[:n] -= s.rows[:n, :n] @ (repaired - alpha)
        self._set_alpha(repaired)
        self.counters[ZEROS] = int((repaired == 0).sum())

    def _set_alpha(self, alpha: np.ndarray) -> None:
        n, s = self.size, self.support
        s.alpha[:n] = alpha
        s.rise[:n] = np.where(s.alpha[:n] < s.upper[:n], 0.0, -np.inf)
        s.fall[:n] = np.where(s.alpha[:n] > s.lower[:n], 0.0, np.inf)

    def _check_finite(self, values: np.ndarray) -> None:
        # A finite sum has finite terms, and is faster than checking each of them.
        if np.isfinite(values.sum(dtype=np.float64)) and values.dtype == self.dtype:
            return
        if not np.abs(values).max(initial=0.0) <= np.finfo(self.dtype).max:
            raise ValueError(
                f"kernel must be finite in {self.dtype}, got NaN or infinity from {self.kernel!r}: "
                "scale the inputs, or choose another kernel"
            )

    def _control(self) -> OnlineControl:
        s, scale = self.settings, self.scale or 1.0
        budget = SIZES.unlimited if s.budget is None else int(s.budget)
        return OnlineControl(
            selection=POLICIES[s.selection],
            reprocess=int(s.reprocess),
            tol=float(s.tol),
            scale=scale,
            floor=max(1e-12, 4.0 * float(np.finfo(self.dtype).eps)) * scale,
            budget=budget,
            waiting=min(SIZES.waiting, budget - 1),
        )

    def _reserve(self, more: int) -> None:
        needed = self.size + more
        if self.settings.budget is not None:
            needed = min(needed, max(self.size, self.settings.budget) + 1)
        if needed > self.support.alpha.size:
            self.support = self._moved(grown(needed), np.arange(self.size))

    def _moved(self, places: int, kept: np.ndarray) -> Support:
        """The kept members of the support set in new arrays."""
        support = empty_support(places, self.dtype)
        n = kept.size
        arrays: Iterable[tuple[Array, Array]] = zip(self.support[:-1], support[:-1])
        for old, new in arrays:
            new[:n] = old[kept]
        if n == self.size:
            support.rows[:n, :n] = self.support.rows[:n, :n]
        else:
            for place, a in enumerate(kept):
                support.rows[place, :n] = self.support.rows[a, kept]
        return support

    def finish(
        self,
        tol: float,
        max_seconds: float | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> Solution | None:
        """Continue inside the support set to the tolerance; None while there is only one class.

        It works in float64, whatever the precision of the rows. Members whose coefficient ends at
        zero are removed, except those that determine the threshold. Budgets, callback and Ctrl-C
        are those of `solve`, and end it at a feasible point.
        """
        n, s = self.size, self.support
        if np.unique(self.labels).size < 2:
            return None
        if self.dtype == np.float64:
            gram: Any = s.rows[:n, :n].copy()
        else:
            gram = self.kernel.bind(_in_double(self.inputs), np.float64)
        solution = solve(
            self.problem(),
            gram,
            tol=tol,
            alpha=self.alpha,
            max_seconds=max_seconds,
            callback=callback,
        )
        if not np.isfinite(solution.gradient).all():
            return solution
        self._set_alpha(solution.alpha)
        s.gradient[:n] = self.labels - _sums(gram, solution.alpha)
        self.counters[STEPS] += solution.steps
        if solution.status == "converged" and self.violation > SIZES.rounding * tol:
            solution = replace(solution, status="precision")
        self._keep(np.flatnonzero(self._needed()))
        return solution

    def _needed(self) -> np.ndarray:
        """Members with a coefficient and, if all of these are at their bounds, the two that
        determine the threshold: without them any b of an interval would be optimal for the support
        set, but not for the examples."""
        n, s = self.size, self.support
        alpha, needed = s.alpha[:n], np.asarray(s.alpha[:n] != 0.0)
        if (needed & (alpha > s.lower[:n]) & (alpha < s.upper[:n])).any():
            return needed
        needed[int((s.gradient[:n] + s.rise[:n]).argmax())] = True
        needed[int((s.gradient[:n] + s.fall[:n]).argmin())] = True
        return needed

    def _keep(self, kept: np.ndarray) -> None:
        """Remove all other members, which are at zero."""
        if kept.size < self.size and kept.size >= 2:
            self.support = self._moved(grown(kept.size), kept)
            self.points.rearrange(kept)
            self.counters[REMOVED] += self.size - kept.size
            self.counters[SIZE] = kept.size
        self.counters[ZEROS] = int((self.alpha == 0).sum())

    def state(self) -> OnlineState:
        n, s = self.size, self.support
        triangle = [s.rows[a, : a + 1] for a in range(n)]
        return OnlineState(
            alpha=self.alpha.copy(),
            gradient=self.gradient.copy(),
            lower=s.lower[:n].copy(),
            upper=s.upper[:n].copy(),
            diagonal=s.diagonal[:n].copy(),
            number=self.number.copy(),
            counters=self.counters.copy(),
            scale=np.array([self.scale]),
            rows=np.concatenate([*triangle, np.empty(0, dtype=self.dtype)]),
            inputs=None if self.points is None else take(self.inputs, np.arange(n)),
            frame=None if self.points is None else self.points.frame,
        )

    @classmethod
    def restored(
        cls, kernel: Kernel, settings: OnlineSettings, dtype: Any, state: OnlineState
    ) -> OnlineMachine:
        """The machine with this state. Missing rows are recomputed."""
        machine = cls(kernel, settings, dtype)
        machine.counters[...] = state.counters
        machine.scale = float(state.scale[0])
        n = machine.size
        if state.inputs is not None:
            machine.points = points_for(kernel, state.inputs, dtype, state.frame)
            machine.points.take_in(state.inputs)
            machine.points.rearrange(np.arange(n))
        machine.support = s = empty_support(grown(n), machine.dtype)
        for name in ("alpha", "gradient", "lower", "upper", "diagonal", "number"):
            getattr(s, name)[:n] = getattr(state, name)
        s.rise[:n] = np.where(s.alpha[:n] < s.upper[:n], 0.0, -np.inf)
        s.fall[:n] = np.where(s.alpha[:n] > s.lower[:n], 0.0, np.inf)
        if n and not state.rows.size:
            s.rows[:n, :n] = kernel.bind(state.inputs, dtype).matrix()
            return machine
        end = 0
        for a in range(n):
            start, end = end, end + a + 1
            s.rows[a, : a + 1] = state.rows[start:end]
            s.rows[: a + 1, a] = state.rows[start:end]
        return machine

    def __getstate__(self) -> tuple[Any, ...]:
        return self.kernel, self.settings, self.dtype, self.state()

    def __setstate__(self, stored: tuple[Any, ...]) -> None:
        vars(self).update(vars(self.restored(*stored)))


def chunks(
    kernel: Kernel,
    X: Any,
    bound: np.ndarray,
    order: np.ndarray | None = None,
    members: Callable[[], int] = int,
) -> Iterator[tuple[np.ndarray, Any]]:
    """The examples with weight, in that order, a chunk at a time: their indices and inputs.

    `members` returns the number of support vectors: the more, the smaller the chunks.
    """
    order = np.arange(count(X)) if order is None else order
    order = order[bound[order] > 0]
    start = 0
    while start < order.size:
        these = order[start : start + chunk_size(kernel, X, members())]
        start += these.size
        whole = these.size == count(X) and (np.diff(these) == 1).all()
        yield these, X if whole else take(X, these)


def refuse_overflow(kernel: Kernel, X: Any) -> None:
    """Raise ValueError if the squared norms used by a kernel of vectors overflow."""
    if not isinstance(kernel, VectorKernel):
        return
    entries = X.data if hasattr(X, "nnz") else X
    largest = float(np.abs(entries).max(initial=0.0))
    if np.isinf(largest * largest * X.shape[1]):
        raise ValueError(
            f"X has entries of up to {largest:.0e}, whose squares overflow float64: scale the "
            "inputs, for example by sklearn.preprocessing.StandardScaler"
        )


def chunk_size(kernel: Kernel, X: Any, members: int) -> int:
    """Number of examples per chunk, given the number of support vectors."""
    if not isinstance(kernel, VectorKernel):
        return int(max(1, min(SIZES.expensive_chunk, SIZES.expensive_chunk_work / max(1, members))))
    features = X.nnz / max(1, X.shape[0]) if hasattr(X, "nnz") else X.shape[1]
    each = max(1.0, members * (features + SIZES.step_work))
    return int(max(1, min(SIZES.chunk, SIZES.chunk_work / each)))


def _sums(gram: Any, alpha: np.ndarray) -> np.ndarray:
    """Kα, of a matrix or of a Gram."""
    return gram @ alpha if isinstance(gram, np.ndarray) else kernel_expansion(alpha, gram)


def _in_double(X: Any) -> Any:
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
