"""`fit_linear`: one call for all losses and penalties, in budgets, with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...dual.certificate import Certificate
from ...runtime.parallel import single_threaded_blas
from ..interrupt import deferred_interrupts
from .certificate import feasible
from .costs import COSTS
from .data.chunked import ChunkedMatrix
from .data.intercept import settled_intercept
from .data.matrix import as_matrix
from .data.units import Units, units_of
from .dual.coordinate import Switches, check_switches, run_coordinate, warm_up
from .losses import LOGISTIC, Float, Loss
from .primal.lasso import run_lasso
from .primal.linear_program import run_linear_program
from .primal.newton import ProximalNewton
from .primal.repair import repaired
from .primal.systems import never
from .primal.unpenalised import run_unpenalised
from .records import (
    ENDING,
    Budget,
    Intercept,
    LinearProblem,
    LinearSolution,
    OutOfTime,
    Point,
    TraceRows,
)

FREE_INTERCEPT = Intercept(True)
SOLVERS = ("auto", "newton", "coordinate")


def fit_linear(
    X: Any,
    loss: Loss,
    *,
    penalty: str = "l2",
    intercept: Intercept = FREE_INTERCEPT,
    tol: float = 1e-6,
    solver: str = "auto",
    order: str = "permutation",
    shrinking: bool = True,
    stop: str = "gap",
    start: Point | None = None,
    max_steps: float | None = None,
    max_seconds: float | None = None,
    callback: Callable[[Any], Any] | None = None,
    trace: bool = False,
    random_state: int = 0,
) -> LinearSolution:
    """Minimise ``penalty(w) + Σ ℓ_i(x_i·w + b)``, with a certificate.

    Parameters
    ----------
    X : array, sparse matrix, Matrix or ChunkedMatrix
        Samples as rows, float32 or float64.
    loss : Loss
        From `losses`: hinge, squared_hinge, logistic, epsilon_insensitive,
        squared_epsilon_insensitive, squared.
    penalty : {"l2", "l1", "none"}
        ½‖w‖² or ‖w‖₁; with "l1" and a loss that has kinks it is a linear program for HiGHS.
        "none" leaves the loss alone: squared, logistic or hinge.
    intercept : Intercept
    tol : float
        Duality gap relative to the objective at the end. For ``solver="coordinate"`` with another
        `stop` than "gap": the limit of ‖Δw‖ or of the range of the projected gradient.
    solver : {"auto", "newton", "coordinate"}
        "coordinate" is plain dual coordinate descent; "newton" begins with a few epochs of it.
    order : {"permutation", "blocks", "cyclic"}
        Of coordinate descent: a new permutation for each epoch, of samples or of runs of eight, or
        always the same.
    shrinking : bool
        Whether coordinate descent leaves out variables that are pushed against a bound.
    stop : {"gap", "range", "step"}
        What ends coordinate descent: the gap, the range M − m of the projected gradient, or ‖Δw‖.
    start : Point, optional
        Starting point.
    max_steps, max_seconds : float, optional
        Budgets: epochs and Newton steps, time.
    callback : callable, optional
        Called with a `LinearProgress` after every step; a true answer stops the run.
    trace : bool
        Record every step.
    random_state : int
        Of the permutations.

    Returns
    -------
    LinearSolution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import fit_linear, hinge
    >>> y = np.array([-1.0, 1.0, 1.0])
    >>> fit_linear(np.array([[-1.0], [1.0], [3.0]]), hinge(y, np.full(3, 10.0))).w
    array([1.])
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {SOLVERS}, got {solver!r}")
    check_switches(order, stop)
    if penalty not in ("l1", "l2", "none"):
        raise ValueError(f'penalty must be "l1", "l2" or "none", got {penalty!r}')
    matrix = X if hasattr(X, "margins") else as_matrix(X)
    if loss.target.shape != (matrix.n,):
        raise ValueError(f"loss has {loss.target.size} samples, X has {matrix.n}")
    problem = LinearProblem(matrix, loss, intercept, penalty)
    by_gap = solver != "coordinate" or stop == "gap"
    limit = np.inf if max_steps is None else max_steps
    seconds = (
        np.inf if max_seconds is None else max_seconds - ENDING.last_passes * matrix.pass_seconds
    )
    if penalty == "none":
        return fit_without_penalty(problem, tol, limit, seconds, callback)
    rows = TraceRows() if trace else None
    with deferred_interrupts() as interrupt, single_threaded_blas(), np.errstate(all="ignore"):
        budget = Budget(limit, seconds, callback, interrupt)
        # Other stopping rules have limits in the units of the data.
        units = units_of(problem) if by_gap else Units(penalty=penalty)
        budget.unit = units.objective
        own = units.problem(problem)
        begin = None if start is None else units.point(start)
        aim = ENDING.aim * tol if by_gap else tol
        with looking_at_the_clock(own.matrix, budget):
            if penalty == "l1" and not loss.smooth:
                found = run_linear_program(own, budget)
            elif penalty == "l1":
                found = run_lasso(own, begin, aim, budget, rows)
            elif solver == "coordinate":
                switches = Switches(order, shrinking, stop, random_state)
                descent, status = run_coordinate(own, begin, aim, budget, switches, rows)
                found = descent.w, descent.b, descent.beta, status
            else:
                found = run_newton(own, begin, aim, budget, rows)
        status = found[3]
        w, b, beta, certificate = certified(problem, units, found[:3], tol if by_gap else 1.0)
    if by_gap and status in ("converged", "precision"):
        status = "converged" if certificate.relative_gap <= tol else "precision"
    return LinearSolution(
        w=w,
        b=float(b),
        beta=beta,
        certificate=certificate,
        status=status,
        steps=budget.steps,
        seconds=budget.seconds,
        trace=None if rows is None else rows.finished(units.ratio, units.height, units.objective),
    )


def fit_without_penalty(
    problem: LinearProblem,
    tol: float,
    max_steps: float,
    max_seconds: float,
    callback: Callable[[Any], Any] | None,
) -> LinearSolution:
    """Minimise the loss alone; raises `Separable` if that has no solution."""
    with deferred_interrupts() as interrupt, single_threaded_blas(), np.errstate(all="ignore"):
        budget = Budget(max_steps, max_seconds, callback, interrupt)
        w, b, beta, status, certificate = run_unpenalised(problem, tol, budget)
    return LinearSolution(w, float(b), beta, certificate, status, budget.steps, budget.seconds)


@contextmanager
def looking_at_the_clock(matrix: Any, budget: Budget) -> Iterator[None]:
    """Let a chunked matrix raise `OutOfTime` between chunks when the time limit is reached."""
    if not isinstance(matrix, ChunkedMatrix):
        yield
        return
    matrix.check = budget.check
    try:
        yield
    finally:
        matrix.check = never


def certified(
    problem: LinearProblem, units: Units, found: tuple[Float, float, Float], tol: float
) -> tuple[Float, float, Float, Certificate]:
    """w, b and β as delivered, and their certificate.

    It is computed in the units of the solver, where nothing overflows, but without their shift.
    """
    w, b, beta = units.model(*found)
    plain = units.unshifted()
    own, point = plain.problem(problem), plain.point(Point(beta, w, b))
    if not (np.isfinite(w).all() and np.isfinite(b) and np.isfinite(beta).all()):
        point = Point(np.zeros_like(beta), np.zeros_like(w), 0.0)
    assert point.w is not None
    w, b, beta, certificate = repaired(own, point.w, float(point.b), point.beta, tol)
    w, b, beta = plain.model(w, b, beta)
    return w, b, beta, plain.certificate(certificate)


def run_newton(
    problem: LinearProblem, start: Point | None, tol: float, budget: Budget, trace: TraceRows | None
) -> tuple[Float, float, Float, str]:
    """Newton steps until the gap is within `tol`: w, b, β and the status."""
    small = problem.matrix.entries <= COSTS.polished_entries
    if start is None and problem.loss.kind != LOGISTIC:
        descent, status = warm_up(problem, tol, budget)
        status = status or budget.ended()
        w, b, beta = descent.w, descent.b, descent.beta
        if status and not (status == "converged" and small):
            if status == "converged":
                b = settled_intercept(problem, w, b, beta)
            return w, b, beta, status
        beginning = w, b, beta, True
    else:
        beginning = _beginning(problem, start)
    try:
        state = ProximalNewton(problem, *beginning, check=budget.check)
    except OutOfTime:
        return *beginning[:3], budget.ended()
    polish, patience = Polish(), ENDING.patience_for_small if small else ENDING.patience
    best, dual, since, status = np.inf, -np.inf, 0, ""
    while not status:
        support = int(np.count_nonzero(state.dual))
        if budget.asked_to_stop(state.objective, state.gap, support, state.awake.z.size):
            status = "stopped"
        elif polish.steps:
            status = polish.look(state)
        elif state.converged(tol):
            try:
                if not state.verify(tol):
                    continue
            except OutOfTime:
                status = budget.ended()
                continue
            status = polish.look(state) if small else "converged"
        else:
            here = state.objective - state.gap
            better = state.gap < 0.9 * best or here > dual + 0.01 * abs(dual)
            since = 0 if better else since + 1
            best, dual = min(best, state.gap), max(dual, here)
            status = "precision" if since > patience else ""
        status = status or budget.ended()
        if not status:
            before = state.w.copy()
            try:
                state.advance()
            except OutOfTime:
                status = budget.ended()
                continue
            budget.steps += 1
            if trace is not None:
                trace.add(
                    float(np.linalg.norm(state.w - before)),
                    np.nan,
                    state.awake.z.size,
                    state.objective - state.gap,
                    state.objective,
                    budget.seconds,
                )
    if polish.steps:
        w, b, beta = polish.best
        status = "stopped" if status == "stopped" else "converged"
    else:
        w, b, beta = state.w, state.b, state.dual_point()
    if status == "converged":
        b = settled_intercept(problem, w, b, beta)
    return w, b, beta, status


class Polish:
    """Steps beyond convergence, and the best point they have seen."""

    def __init__(self) -> None:
        self.steps, self.since, self.gap = 0, 0, np.inf
        self.best: tuple[Float, float, Float]

    def look(self, state: ProximalNewton) -> str:
        """ "converged" when there is nothing more to gain, else an empty string."""
        self.steps += 1
        self.since += 1
        if state.gap < self.gap or self.steps == 1:
            self.since = 0 if state.gap < 0.9 * self.gap else self.since
            self.gap = state.gap
            self.best = state.w.copy(), state.b, state.dual_point()
        done = self.steps > ENDING.polish_steps or self.since > ENDING.polish_patience
        return "converged" if done or state.gap <= ENDING.polished * state.objective else ""


def _beginning(problem: LinearProblem, start: Point | None) -> tuple[Float, float, Float, bool]:
    """w, b and β to begin with, and whether w = Σ β x."""
    matrix = problem.matrix
    if start is None:
        return np.zeros(matrix.d), 0.0, np.zeros(matrix.n), True
    beta = feasible(problem.loss, problem.intercept, start.beta)
    if start.w is not None:
        return start.w, start.b, beta, False
    return matrix.combine(beta), start.b, beta, True
