"""Proximal Newton with working sets: the solver for the penalty ‖w‖₁ and smooth losses.

    minimise  ‖w‖₁ + penalty|b| + Σ ℓ_i(x_i·w + b)

At w the loss is replaced by its quadratic model on a working set of features, those in use and the
most violating others; coordinate descent minimises model and penalty on the d' × d' matrix
X'ᵀhX', and a backtracking line search decides how far to go. The dual point is β, the response
to the outputs, scaled until |Xᵀβ| ≤ 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ....linalg.jitter import solve
from ....runtime.jit import compiled
from ..costs import COSTS
from ..losses import Float
from ..records import ENDING, Budget, LinearProblem, OutOfTime, Point, TraceRows
from . import response
from .systems import in_pieces


class Rules(NamedTuple):
    """How the lasso's Newton method decides."""

    # The line search ends where the slope has fallen to this fraction.
    line_accuracy: float = 0.1
    # Damping of a step: linearly dependent features make the model flat.
    damping: float = 1e-13
    # Rounds of coordinate descent and Newton steps for a model; sweeps and largest number of Newton
    # steps per round, fewer if they are expensive.
    model_rounds: int = 60
    model_sweeps: int = 5
    face_steps: int = 50


RULES = Rules()


class ProximalLasso:
    """The method and its state: w, b, outputs z, responses β."""

    def __init__(
        self, problem: LinearProblem, start: Point | None, ended: Callable[[], Any]
    ) -> None:
        self.problem, self.ended = problem, ended
        matrix = problem.matrix
        self.w, self.b = np.zeros(matrix.d), 0.0
        if start is not None and start.w is not None:
            self.w, self.b = start.w.copy(), float(start.b)
        self.z = matrix.margins(self.w) + self.b
        self.nothing, self.beta = np.zeros(matrix.n), np.zeros(matrix.n)
        self.steps = 0
        self.respond()

    @property
    def free_intercept(self) -> bool:
        return self.problem.intercept.fitted and self.problem.intercept.penalty == 0.0

    def respond(self) -> None:
        """Balance a free intercept and update β, the gradient and the gap."""
        matrix, loss, intercept, _ = self.problem
        if self.free_intercept:
            size = float(np.abs(self.z).sum()) / max(1, self.z.size)
            shift = response.balance(
                loss, self.z, self.nothing, 0.0, 0.0, 0.0, self.b, 1e-15 * size
            )
            self.z += shift
            self.b += shift
        self.beta, self.h = np.empty(matrix.n), np.empty(matrix.n)
        self.total, _ = response.respond(loss, self.z, self.nothing, 0.0, self.beta, self.h)
        self.pull = matrix.combine(self.beta)
        largest = max(1.0, float(np.abs(self.pull).max(initial=0.0)))
        if intercept.fitted and intercept.penalty > 0.0:
            largest = max(largest, abs(self.total) / intercept.penalty)
        self.dual = self.beta / largest
        value, slack = response.measure(loss, self.z, self.dual)
        weight = intercept.penalty * abs(self.b) if intercept.fitted else 0.0
        self.objective = float(np.abs(self.w).sum()) + weight + value
        self.gap = slack + float((np.abs(self.w) - self.w * self.pull / largest).sum())
        if weight:
            self.gap += weight - self.b * self.total / largest

    def converged(self, tol: float) -> bool:
        return self.gap <= tol * abs(self.objective)

    def working_set(self) -> Any:
        """The features in use, then the most violating ones."""
        used = self.w != 0.0
        count = int(COSTS.working_factor * np.count_nonzero(used)) + COSTS.least_working
        count = min(count, COSTS.most_working, self.w.size)
        excess = np.abs(self.pull) - 1.0
        violation = np.where(used, np.abs(self.pull - np.sign(self.w)) + 10.0, excess)
        chosen = (
            np.argpartition(-violation, count - 1)[:count]
            if count < excess.size
            else (np.arange(excess.size))
        )
        return np.sort(chosen)

    def advance(self) -> None:
        """One proximal Newton step on a working set."""
        matrix, intercept = self.problem.matrix, self.problem.intercept
        chosen = self.working_set()
        part = matrix.columns(chosen)
        gram, border = np.zeros((chosen.size, chosen.size)), np.zeros(chosen.size)
        rows = np.flatnonzero(self.h)
        for piece in in_pieces(rows, part.row_cost.outer):
            if self.ended():
                raise OutOfTime
            part.add_outer(rows[piece], self.h[rows[piece]], gram, border)
        lower = np.tril(gram)
        gram = lower + np.tril(gram, -1).T
        slope = np.append(-self.pull[chosen], -self.total)
        size = chosen.size + 1
        H = np.zeros((size, size))
        H[:-1, :-1], H[-1, :-1], H[:-1, -1], H[-1, -1] = gram, border, border, self.h.sum()
        weights = np.append(np.ones(chosen.size), intercept.penalty)
        at = np.append(self.w[chosen], self.b)
        if not intercept.fitted:
            H[-1], H[:, -1], slope[-1] = 0.0, 0.0, 0.0
        self.steps += 1
        step = minimise_model(H, slope, at, weights, 2 + 2 * self.steps, self.ended)
        self._move(chosen, part, step, weights)

    def _move(self, chosen: Any, part: Any, step: Float, weights: Float) -> None:
        """Move along the step until the objective has nearly stopped falling."""
        loss = self.problem.loss
        dz = part.margins(np.ascontiguousarray(step[:-1])) + step[-1]
        at = np.append(self.w[chosen], self.b)

        def slope(t: float) -> float:
            side = np.sign(at + t * step)
            side = np.where(side == 0.0, -np.sign(step) if t > 0.0 else np.sign(step), side)
            smooth, _ = response.slope_along(loss, self.z, dz, t, self.nothing, 0.0)
            return float(smooth + (weights * side) @ step)

        low, high, t = 0.0, 1.0, 1.0
        enough = RULES.line_accuracy * abs(slope(0.0))
        for _ in range(50):
            here = slope(t)
            if here <= 0.0:
                low = t
            else:
                high = t
            if abs(here) <= enough or low == 1.0:
                break
            t = 0.5 * (low + high)
        self.w[chosen] = np.where(t * step[:-1] == -at[:-1], 0.0, at[:-1] + t * step[:-1])
        self.b += t * float(step[-1])
        self.z += t * dz
        self.respond()


@compiled
def descend(
    H: Float, gradient: Float, at: Float, weights: Float, step: Float, sweeps: int, accuracy: float
) -> bool:
    """Sweeps of coordinate descent for slope·d + ½dᵀHd + Σ weights|at + d|; `gradient` is
    slope + Hd and is updated with d. Returns whether the last sweep changed nothing."""
    size = at.size
    for _ in range(sweeps):
        largest = 0.0
        for j in range(size):
            curvature = H[j, j]
            if curvature <= 0.0:
                # No active sample has this feature: its weight is 0.
                new = -at[j] if abs(gradient[j]) < weights[j] else step[j]
            else:
                target = at[j] + step[j] - gradient[j] / curvature
                limit = weights[j] / curvature
                new = target - min(max(target, -limit), limit) - at[j]
            change = new - step[j]
            if change != 0.0:
                step[j] = new
                largest = max(largest, abs(change) * np.sqrt(curvature))
                row = H[j]
                for k in range(size):
                    gradient[k] += change * row[k]
        if largest <= accuracy:
            return True
    return False


def minimise_model(
    H: Float, slope: Float, at: Float, weights: Float, rounds: int, ended: Callable[[], Any]
) -> Float:
    """The minimiser d of slope·d + ½dᵀHd + Σ weights|at + d|.

    Coordinate descent finds the zero weights and the signs of the others; a Newton step on those,
    as far as the signs hold, replaces its slow final convergence.
    """
    step, gradient = np.zeros_like(at), slope.copy()
    scale = np.sqrt(np.maximum(np.diag(H), 0.0))
    slopes = np.abs(gradient) / np.where(scale > 0.0, scale, np.inf)
    accuracy = 1e-11 * float(slopes.max(initial=0.0))
    for number in range(min(rounds, RULES.model_rounds)):
        # Nearly dependent features stop coordinate descent far from the minimum.
        settled = descend(H, gradient, at, weights, step, RULES.model_sweeps, accuracy)
        if (settled and number > 0) or ended():
            break
        used = np.count_nonzero(at + step) + 1
        for _ in range(int(np.clip(COSTS.face_work / used**2, 1, RULES.face_steps))):
            if face_step(H, gradient, at, weights, step, scale > 0.0) or ended():
                break
            gradient = slope + H @ step
        gradient = slope + H @ step
    return step


def face_step(
    H: Float, gradient: Float, at: Float, weights: Float, step: Float, curved: Any
) -> bool:
    """A Newton step on the nonzero weights, up to the first that becomes zero; returns whether none
    did."""
    there = at + step
    face = np.flatnonzero(((there != 0.0) | (weights == 0.0)) & curved)
    there, signs = there[face], np.sign(there[face])
    part = H[np.ix_(face, face)]
    part[np.diag_indices_from(part)] *= 1.0 + RULES.damping
    direction = solve(part, -(gradient[face] + weights[face] * signs))
    crossing = (weights[face] > 0.0) & (signs * (there + direction) < 0.0)
    if not crossing.any():
        step[face] += direction
        return True
    lengths = np.where(crossing, -there / np.where(crossing, direction, 1.0), np.inf)
    first = int(lengths.argmin())
    step[face] += lengths[first] * direction
    step[face[first]] = -at[face[first]]
    return False


def run_lasso(
    problem: LinearProblem, start: Point | None, tol: float, budget: Budget, trace: TraceRows | None
) -> tuple[Float, float, Float, str]:
    """Steps until the gap is within `tol`: w, b, β and the status."""
    try:
        state = ProximalLasso(problem, start, budget.ended)
    except OutOfTime:
        n, d = problem.matrix.n, problem.matrix.d
        return np.zeros(d), 0.0, np.zeros(n), budget.ended()
    best, since, status = np.inf, 0, ""
    while not status:
        used = int(np.count_nonzero(state.w))
        if budget.asked_to_stop(state.objective, state.gap, used, problem.matrix.n):
            status = "stopped"
        elif state.converged(tol):
            status = "converged"
        else:
            since = 0 if state.gap < 0.9 * best else since + 1
            best = min(best, state.gap)
            status = "precision" if since > ENDING.patience else budget.ended()
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
                    problem.matrix.n,
                    state.objective - state.gap,
                    state.objective,
                    budget.seconds,
                )
    return state.w, state.b, state.beta, status
