"""Results of a solver: progress, trace, solution."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .plan import Plan
from .smo import state as r

# All statuses of a run.
STATUSES = {
    "converged": "the largest violation is within tol",
    "stationary": "a KKT point; the kernel is not positive semi-definite, so not proven optimal",
    "step_limit": "max_steps was reached",
    "time_limit": "max_seconds was reached",
    "target": "the dual value asked for was reached",
    "stopped": "the callback asked to stop",
    "interrupted": "Ctrl-C",
    "stuck": "the selection policy finds no pair although the point is not optimal",
    "unbounded": "the dual is unbounded: the data cannot be separated without error",
    "precision": "no further progress in this floating-point precision",
}

# Fields that are summed if one run continues another.
COSTS = (
    "steps",
    "face_steps",
    "planned_steps",
    "kernel_evaluations",
    "row_hits",
    "row_misses",
    "seconds",
)


class Progress(NamedTuple):
    """What a callback sees between slabs.

    Attributes
    ----------
    steps : int
        So far.
    violation : float
        ψ(α), the largest KKT violation of a pair.
    dual, gap : float
        Dual value, and an estimate of its distance from the optimum.
    seconds : float
    support, active : int
        Variables other than 0, and variables that are not shrunk.
    rows : int
        Rows of the Gram matrix computed.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import solve
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.kernels import Linear
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1, 1, 1])
    >>> seen = []
    >>> gram = Linear().bind(X, np.float64)
    >>> solution = solve(hinge(y, C=1.0).problem, gram, callback=seen.append)
    >>> all(now.violation >= 0.0 for now in seen)
    True
    """

    steps: int
    violation: float
    dual: float
    gap: float
    seconds: float
    support: int
    active: int
    rows: int


@dataclass(frozen=True)
class Trace:
    """One entry per step; a face step is one entry of kind ``"face"``.

    Attributes
    ----------
    violation, dual : float arrays
    kind : int array
        Of the step; `kinds` counts them by name.
    ratio : float array
        Step in units of the Newton step, NaN of a face step.
    active, free : int arrays
        Variables that were not shrunk, and variables between their bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import solve
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.kernels import Linear
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1, 1, 1])
    >>> solution = solve(hinge(y, C=1.0).problem, Linear().bind(X, np.float64), trace=True)
    >>> sum(solution.trace.kinds().values()) == solution.trace.dual.size
    True
    """

    violation: np.ndarray
    dual: np.ndarray
    kind: np.ndarray
    ratio: np.ndarray
    active: np.ndarray
    free: np.ndarray

    def kinds(self) -> dict[str, int]:
        """Number of steps of each kind."""
        return {name: int((self.kind == k).sum()) for k, name in enumerate(r.STEP_KINDS)}


def empty_trace(steps: int) -> r.StepTrace:
    return r.StepTrace(
        np.empty(steps),
        np.empty(steps),
        np.empty(steps, dtype=np.int64),
        np.empty(steps),
        np.empty((steps, 2), dtype=np.int64),
        np.empty((steps, 2)),
    )


NO_TRACE = empty_trace(0)


class TraceBuilder:
    """Collects slabs of steps into a `Trace`."""

    def __init__(self, wanted: bool, dual: float):
        self.wanted = wanted
        self.start = dual
        self.parts: list[tuple[np.ndarray, ...]] = []

    def buffers(self, steps: int) -> r.StepTrace:
        return empty_trace(steps) if self.wanted else NO_TRACE

    def add(self, buffers: r.StepTrace, steps: int, active: int, free: int) -> None:
        if self.wanted and steps:
            part = tuple(array[:steps] for array in buffers[:4])
            self.parts.append((*part, np.full(steps, active), np.full(steps, free)))

    def add_face(self, violation: float, gain: float, active: int, free: int) -> None:
        if self.wanted:
            entries = (violation, gain, r.FACE, np.nan, active, free)
            self.parts.append(tuple(np.array([entry]) for entry in entries))

    def finished(self) -> Trace | None:
        if not self.wanted:
            return None
        columns = [np.concatenate(c) for c in zip(*self.parts)] or [np.empty(0)] * 6
        violation, gain, kind, ratio, active, free = columns
        return Trace(violation, self.start + np.cumsum(gain), kind, ratio, active, free)


@dataclass(frozen=True)
class Solution:
    """The result of a run: the point, its quality, the status and the cost.

    Attributes
    ----------
    alpha, gradient : float arrays
        The dual variables and G = linear − Qα.
    bias : float array
        The threshold between rising and falling variables, one per group.
    dual : float
        Dual value.
    violation : float
        ψ(α), the largest KKT violation of a pair.
    status : str
        One of `STATUSES`.
    steps, face_steps, planned_steps : int
    kernel_evaluations, row_hits, row_misses : int
    seconds : float
    trace : Trace or None
    plan : Plan or None
        What ran, and why; its string is a sentence. Not kept in files.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import solve
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.kernels import Linear
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1, 1, 1])
    >>> solution = solve(hinge(y, C=1.0).problem, Linear().bind(X, np.float64))
    >>> solution.status, solution.alpha
    ('converged', array([-0.5,  0.5,  0. ]))
    """

    alpha: np.ndarray
    gradient: np.ndarray
    bias: np.ndarray
    dual: float
    violation: float
    status: str
    steps: int
    face_steps: int
    planned_steps: int
    kernel_evaluations: int
    row_hits: int
    row_misses: int
    seconds: float
    trace: Trace | None = field(default=None, repr=False)
    plan: Plan | None = field(default=None, repr=False, compare=False)

    @cached_property
    def converged(self) -> bool:
        return self.status in ("converged", "stationary")

    def after(self, earlier: Solution | None) -> Solution:
        """This solution with the cost of an earlier run added, which it continued."""
        if earlier is None:
            return self
        costs = {name: getattr(earlier, name) + getattr(self, name) for name in COSTS}
        return replace(self, **costs)

    def __repr__(self) -> str:
        return (
            f"Solution({self.status}: dual={self.dual:.9g}, violation={self.violation:.2g}, "
            f"steps={self.steps}, face_steps={self.face_steps}, "
            f"kernel_evaluations={self.kernel_evaluations}, seconds={self.seconds:.3g})"
        )
