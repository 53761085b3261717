"""Dual coordinate descent, with the variants of the report as switches.

    for i in order:   β_i ← the maximiser of the dual in β_i alone,   w ← w + Δβ_i x_i

The order is cyclic, or a new random permutation for every epoch, of samples or of blocks of eight
that are neighbours in memory, which makes epochs nearly twice as fast. Shrinking leaves out
variables at a bound whose gradient exceeds the range of the projected gradient in the epoch before;
before the end all variables are checked again. Stopping is by ‖Δw‖ in an epoch, by the range of the
projected gradient, or by the duality gap.

An intercept with penalty is a constant feature. Without penalty it is the multiplier of Σβ = 0:
a constant feature again, whose pull starts anew from the b that was reached whenever the problem
with that pull is nearly solved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..certificate import feasible, square
from ..costs import COSTS
from ..data.chunked import ChunkedMatrix
from ..losses import LOGISTIC
from ..primal import response
from ..primal.systems import Check, cost_of_run, in_pieces, never
from ..records import Budget, LinearProblem, OutOfTime, Point, TraceRows
from . import sweeps

ORDERS = ("permutation", "blocks", "cyclic")
STOPS = ("gap", "range", "step")


class Rules(NamedTuple):
    """How coordinate descent decides."""

    # The pull on a free intercept is restarted when the range of the projected gradient is below
    # this fraction of it.
    recentred: float = 0.3
    # Interval between checks: this fraction of the epochs or of the work so far, whichever is more.
    look: float = 0.2
    # A gap above this fraction of the objective is no evidence of the rate of convergence.
    telling_gap: float = 0.5
    # All variables are reactivated if the gap has not fallen to this fraction between checks.
    stuck: float = 0.5
    # If the gap decides, all variables are reactivated whenever the range has fallen to this
    # fraction.
    returned: float = 0.1


RULES = Rules()

# Default seed of the permutations; any odd number works.
SEED = 88172645463325252


class Switches(NamedTuple):
    """The choices: `order` is one of ORDERS, `stop` one of STOPS."""

    order: str = "permutation"
    shrinking: bool = True
    stop: str = "gap"
    random_state: int = 0


class CoordinateDescent:
    """The method and its state; `epoch` advances it."""

    def __init__(
        self,
        problem: LinearProblem,
        start: Point | None,
        switches: Switches,
        check: Check = never,
    ) -> None:
        self.check = check
        if problem.loss.kind == LOGISTIC:
            raise ValueError('solver="coordinate" has no logistic loss: use solver="newton"')
        if problem.penalty != "l2":
            raise ValueError('solver="coordinate" has no penalty "l1": use solver="auto"')
        self.problem, self.switches = problem, switches
        matrix, intercept = problem.matrix, problem.intercept
        self.beta = np.zeros(matrix.n)
        self.w, self.b = np.zeros(matrix.d), 0.0
        if start is not None:
            self.beta = feasible(problem.loss, intercept, start.beta)
            self.w, self.b = matrix.combine(self.beta), float(start.b)
        self.kappa = constant_feature(problem)
        if intercept.fitted and intercept.penalty > 0.0:
            self.b = self.kappa * float(self.beta.sum())
        self.order = np.arange(matrix.n)
        self.state = np.array([SEED + 2 * switches.random_state], dtype=np.uint64)
        self.low, self.high = -np.inf, np.inf
        self.reactivate_all()

    def reactivate_all(self) -> None:
        self.count = self.problem.matrix.n
        self.least, self.most = -np.inf, np.inf

    def epoch(self, look: bool = False) -> None:
        """One sweep over the active variables; with `look` the change of w is measured."""
        intercept = self.problem.intercept
        if intercept.fitted and intercept.penalty == 0.0:
            pull = self.kappa * float(self.beta.sum())
            if self.range <= RULES.recentred * abs(pull):
                self.b += pull
                self.reactivate_all()
        if self.switches.order == "permutation":
            sweeps.shuffle(self.order, self.count, self.state)
        elif self.switches.order == "blocks":
            whole = self.count - self.count % 8
            blocks = np.arange(whole // 8)
            sweeps.shuffle(blocks, blocks.size, self.state)
            self.order[:whole] = self.order[:whole].reshape(-1, 8)[blocks].ravel()
        before, w = self.count, self.w.copy() if look else self.w
        low, high = self._sweep()
        if self.switches.order == "cyclic" and self.count < before:
            self.order[: self.count].sort()
        self.change = float(np.linalg.norm(self.w - w))
        self.low, self.high = min(low, 0.0), max(high, 0.0)
        self.least = low if low < 0.0 else -np.inf
        self.most = high if high > 0.0 else np.inf

    def _sweep(self) -> tuple[float, float]:
        """A sweep in pieces, with a check of the clock in between; returns the range of the
        projected gradient. Variables that leave are moved behind those that stay."""
        matrix, order = self.problem.matrix, self.order[: self.count]
        low, high, left, gone = np.inf, -np.inf, [], []
        cost = 0.0 if isinstance(matrix, ChunkedMatrix) else 2.0 * matrix.row_cost.product
        for piece in in_pieces(order, cost):
            self.check()
            own = order[piece]
            self.b, count, least, most = matrix.sweep(
                self.problem.loss,
                matrix.squared_norms,
                self.beta,
                self.w,
                self.b,
                self.kappa,
                own,
                own.size,
                self.least,
                self.most,
                self.switches.shrinking,
            )
            low, high = min(low, least), max(high, most)
            left.append(own[:count].copy())
            gone.append(own[count:].copy())
        remaining = sum(part.size for part in left)
        if len(left) > 1:
            order[:] = np.concatenate([*left, *gone])
        self.count = remaining
        return low, high

    @property
    def range(self) -> float:
        return self.high - self.low

    @property
    def whole(self) -> bool:
        result: bool = self.count == self.problem.matrix.n
        return result

    def measure(self) -> tuple[float, float]:
        """Objective and gap of w and b with a feasible β near the current one."""
        matrix, loss, intercept, _ = self.problem
        beta = feasible(loss, intercept, self.beta)
        difference = matrix.combine(beta - self.beta)
        value, slack = response.measure(loss, matrix.margins(self.w) + self.b, beta)
        primal = 0.5 * float(self.w @ self.w) + value
        gap = 0.5 * float(difference @ difference) + slack
        if intercept.fitted and intercept.penalty > 0.0:
            total = float(beta.sum())
            primal += 0.5 * intercept.penalty * square(self.b)
            gap += 0.5 * square(intercept.penalty * self.b - total) / intercept.penalty
        return primal, gap


def constant_feature(problem: LinearProblem) -> float:
    """κ, the square of the constant feature that stands for the intercept."""
    intercept = problem.intercept
    if not intercept.fitted:
        return 0.0
    norm = float(problem.matrix.squared_norms.mean())
    typical = norm if norm > 0.0 else 1.0
    return 1.0 / intercept.penalty if intercept.penalty > 0.0 else 0.1 * typical


def run_coordinate(
    problem: LinearProblem,
    start: Point | None,
    tol: float,
    budget: Budget,
    switches: Switches,
    trace: TraceRows | None,
) -> tuple[CoordinateDescent, str]:
    """Run epochs until the stopping rule or a budget ends them; returns state and status."""
    descent = CoordinateDescent(problem, start, switches, budget.check)
    widest = np.inf
    look = trace is not None or switches.stop == "gap" or budget.callback is not None
    while True:
        status = budget.ended()
        if status:
            return descent, status
        try:
            descent.epoch(look or switches.stop == "step")
        except OutOfTime:
            return descent, budget.ended()
        budget.steps += 1
        widest = descent.range if np.isinf(widest) else widest
        try:
            primal, gap = descent.measure() if look else (np.nan, np.nan)
        except OutOfTime:
            return descent, budget.ended()
        if trace is not None:
            trace.add(
                descent.change, descent.range, descent.count, primal - gap, primal, budget.seconds
            )
            trace.members.append(np.sort(descent.order[: descent.count]))
        if look and budget.asked_to_stop(
            primal, gap, int(np.count_nonzero(descent.beta)), descent.count
        ):
            return descent, "stopped"
        reached = {
            "step": descent.change < tol,
            "range": descent.range < tol,
            "gap": gap <= tol * abs(primal),
        }
        if reached[switches.stop]:
            if descent.whole or switches.stop == "gap":
                return descent, "converged"
            descent.reactivate_all()
        elif switches.stop == "gap" and descent.range < RULES.returned * widest:
            descent.reactivate_all()
            widest = descent.range


def warm_up(problem: LinearProblem, tol: float, budget: Budget) -> tuple[CoordinateDescent, str]:
    """A few epochs from zero; returns the state, and its status if it has converged.

    On wide data: the work of two epochs, and of two more while they are predicted to converge
    sooner than Newton's method; epochs over shrunk sets count as fractions. Otherwise two epochs,
    or one if the loss is smooth and Newton's method needs few steps anyway.
    """
    matrix = problem.matrix
    wide = matrix.n < COSTS.wide * matrix.d
    descent = CoordinateDescent(problem, None, Switches(order="blocks"), budget.check)
    work = matrix.n if problem.loss.smooth and not wide else COSTS.epochs * matrix.n
    outlook = Outlook(tol)
    if problem.loss.quadratic and not wide:
        return descent, ""  # a single Newton step solves it
    while True:
        # A check costs as much as an epoch, so the longer the run, the rarer it is.
        done, begun = 0, budget.steps
        while done < max(work, RULES.look * outlook.work):
            if budget.steps - begun >= max(COSTS.most_epochs, RULES.look * begun) or budget.ended():
                break
            done += descent.count
            try:
                descent.epoch()
            except OutOfTime:
                return descent, ""
            budget.steps += 1
        if not wide or budget.ended():
            return descent, ""
        try:
            primal, gap = descent.measure()
        except OutOfTime:
            return descent, ""
        if gap <= tol * abs(primal):
            return descent, "converged"
        support = int(np.count_nonzero(descent.beta))
        if budget.asked_to_stop(primal, gap, support, descent.count):
            return descent, "stopped"
        rows = outlook.rows(done, descent.range, gap / max(abs(primal), gap))
        row, newton = 2.0 * matrix.row_cost.product, newton_cost(problem, descent.beta)
        if row * rows > newton and row * outlook.work > COSTS.tried * newton:
            return descent, ""
        if outlook.stuck:
            descent.reactivate_all()
        descent.switches = Switches(order="permutation")


class Outlook:
    """Predicts the remaining work of coordinate descent from the decrease of range and gap in the
    second half of its work."""

    def __init__(self, tol: float) -> None:
        self.digits = -np.log(max(tol, np.finfo(np.float64).eps))
        self.work, self.stuck = 0.0, False
        self.seen: list[tuple[float, float, float]] = []

    def rows(self, work: float, spread: float, gap: float) -> float:
        """Rows to visit, at the current rate, from a gap as large as the objective to the
        tolerance."""
        self.work += work
        self.stuck = bool(self.seen) and gap > RULES.stuck * self.seen[-1][2]
        self.seen.append((self.work, spread, gap))
        then, spread_then, gap_then = next(s for s in self.seen if s[0] >= 0.4 * self.work)
        if then == self.work:
            return 0.0
        shrunk = spread / spread_then if spread_then > 0.0 else 1.0
        if gap_then < RULES.telling_gap:
            shrunk = max(shrunk, gap / gap_then)
        if shrunk == 0.0:
            return 0.0
        return self.digits * (self.work - then) / -np.log(shrunk) if shrunk < 1.0 else np.inf


def newton_cost(problem: LinearProblem, beta: np.ndarray) -> float:
    """Estimated nanoseconds of Newton's method for the same problem."""
    loss = problem.loss
    face = (beta != 0.0) & (beta > loss.lower) & (beta < loss.upper)
    return cost_of_run(problem.matrix, int(np.count_nonzero(face)), loss.smooth)


def check_switches(order: Any, stop: Any) -> None:
    if order not in ORDERS:
        raise ValueError(f"order must be one of {ORDERS}, got {order!r}")
    if stop not in STOPS:
        raise ValueError(f"stop must be one of {STOPS}, got {stop!r}")
