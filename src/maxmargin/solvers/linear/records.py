"""Records of a linear solver: problem, progress, trace, solution, budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...dual.certificate import Certificate
from ..interrupt import Interrupt
from .data.matrix import Matrix
from .losses import Float, Loss


class Ending(NamedTuple):
    """When a run of a linear machine ends."""

    # Small problems are solved on to this relative gap, in at most `polish_steps` more steps, or
    # `polish_patience` without progress.
    polished: float = 1e-15
    polish_steps: int = 60
    polish_patience: int = 10
    # The run aims at this fraction of the tolerance, because the certificate is recomputed with
    # other rounding.
    aim: float = 0.95
    # Passes over the data after a run, for the certificate.
    last_passes: int = 4
    # Newton steps without a smaller gap after which a run ends with status "precision"; and the
    # same for small problems.
    patience: int = 60
    patience_for_small: int = 200


ENDING = Ending()


class Intercept(NamedTuple):
    """Whether there is an intercept b, and its weight in the penalty: ½ penalty b², or
    penalty |b| beside ‖w‖₁. A constant feature s with a penalised weight has penalty 1/s²,
    or 1/s beside ‖w‖₁.

    Attributes
    ----------
    fitted : bool
    penalty : float

    Examples
    --------
    >>> from maxmargin.solvers.linear import Intercept
    >>> Intercept(fitted=True)
    Intercept(fitted=True, penalty=0.0)
    """

    fitted: bool
    penalty: float = 0.0


class LinearProblem(NamedTuple):
    """minimise  penalty(w) + Σ ℓ_i(x_i·w + b),  with the penalty ½‖w‖² ("l2") or ‖w‖₁ ("l1")."""

    matrix: Matrix
    loss: Loss
    intercept: Intercept
    penalty: str = "l2"


class Point(NamedTuple):
    """A starting point: dual variables, and the model if it is not Σ β_i x_i.

    Attributes
    ----------
    beta : float array
    w : float array or None
        Weights.
    b : float
        Intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import Point
    >>> Point(beta=np.array([0.5, -0.5])).b
    0.0
    """

    beta: Float
    w: Float | None = None
    b: Any = 0.0


class LinearProgress(NamedTuple):
    """What a callback sees between steps.

    Attributes
    ----------
    steps : int
        Epochs of coordinate descent and Newton steps so far.
    violation : float
        The gap relative to the objective: the number that is compared with `tol`.
    objective : float
    gap : float
        Upper bound on the distance of the objective from the optimum.
    seconds : float
    support : int
        Samples with a dual variable other than 0.
    active : int
        Samples that are not shrunk.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import fit_linear, hinge
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1.0, 1.0, 1.0])
    >>> seen = []
    >>> solution = fit_linear(X, hinge(y, np.ones(3)), callback=seen.append)
    >>> all(now.gap >= 0.0 for now in seen)
    True
    """

    steps: int
    violation: float
    objective: float
    gap: float
    seconds: float
    support: int
    active: int


@dataclass(frozen=True)
class LinearTrace:
    """One entry per epoch of coordinate descent or step of Newton's method.

    Attributes
    ----------
    change : float array
        ‖Δw‖.
    range : float array
        Largest minus smallest projected gradient of the dual (coordinate descent only, else NaN).
    active : int array
        Number of samples that were not shrunk.
    dual, primal : float arrays
    seconds : float array
    members : list of int arrays
        The active samples, if requested.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import fit_linear, hinge
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1.0, 1.0, 1.0])
    >>> trace = fit_linear(X, hinge(y, np.ones(3)), trace=True).trace
    >>> trace.dual.size == trace.primal.size == trace.seconds.size
    True
    """

    change: Float
    range: Float
    active: np.ndarray
    dual: Float
    primal: Float
    seconds: Float
    members: list[np.ndarray] = field(default_factory=list, repr=False)


class TraceRows:
    """Collects the rows of a `LinearTrace`."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, ...]] = []
        self.members: list[np.ndarray] = []

    def add(self, *row: float) -> None:
        self.rows.append(row)

    def finished(self, length: float, height: float, objective: float) -> LinearTrace:
        """The trace, with ‖Δw‖, the gradient and the objective in these units."""
        columns = np.array(self.rows, dtype=np.float64).reshape(-1, 6).T
        change, spread, active, dual, primal, seconds = columns
        return LinearTrace(
            change=change * length,
            range=spread * height,
            active=active.astype(np.int64),
            dual=dual * objective,
            primal=primal * objective,
            seconds=seconds,
            members=self.members,
        )


@dataclass(frozen=True)
class LinearSolution:
    """The result of a run: the model, its dual variables, its quality, and the cost.

    Attributes
    ----------
    w : float array
    b : float
    beta : float array
        Signed dual variables, one for each sample; w = Σ β_i x_i at the optimum of "l2".
    certificate : Certificate
    status : str
        "converged", "step_limit", "time_limit", "stopped", "interrupted" or "precision".
    steps : int
        Epochs of coordinate descent and Newton steps.
    seconds : float
    trace : LinearTrace or None

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import fit_linear, hinge
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1.0, 1.0, 1.0])
    >>> solution = fit_linear(X, hinge(y, np.ones(3)))
    >>> solution.status, solution.w.round(6), solution.certificate.relative_gap < 1e-6
    ('converged', array([1.]), True)
    """

    w: Float
    b: float
    beta: Float = field(repr=False)
    certificate: Certificate
    status: str
    steps: int
    seconds: float
    trace: LinearTrace | None = field(default=None, repr=False)

    @property
    def converged(self) -> bool:
        return self.status == "converged"


class OutOfTime(Exception):
    """The time limit was reached, or Ctrl-C pressed, within a step."""


class Budget:
    """Steps, seconds, a callback and Ctrl-C: everything that may end a run early. The callback gets
    objective and gap times `unit`."""

    def __init__(
        self,
        max_steps: float,
        max_seconds: float,
        callback: Callable[[Any], Any] | None,
        interrupt: Interrupt,
        unit: float = 1.0,
    ) -> None:
        self.max_steps, self.max_seconds = max_steps, max_seconds
        self.callback, self.interrupt, self.unit = callback, interrupt, unit
        self.began = time.perf_counter()
        self.steps = 0

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def ended(self) -> str:
        """The reason to end the run now, or an empty string."""
        if self.interrupt.pressed:
            return "interrupted"
        if self.seconds > self.max_seconds:
            return "time_limit"
        return "step_limit" if self.steps >= self.max_steps else ""

    def check(self) -> None:
        """Raise if time is up in the middle of a step, which is then abandoned."""
        if self.interrupt.pressed or self.seconds > self.max_seconds:
            raise OutOfTime

    def asked_to_stop(self, objective: float, gap: float, support: int, active: int) -> bool:
        if self.callback is None:
            return False
        relative = gap / max(abs(objective), np.finfo(np.float64).tiny)
        progress = LinearProgress(
            self.steps,
            relative,
            objective * self.unit,
            gap * self.unit,
            self.seconds,
            support,
            active,
        )
        return bool(self.callback(progress))
