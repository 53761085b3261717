"""Proximal semismooth Newton: the solver behind all losses with the penalty ½‖w‖².

    minimise  ½‖w‖² + ½ penalty b² + Σ ℓ_i(x_i·w + b)

A smooth loss is minimised by Newton's method with an exact line search. A loss with kinks is
first smoothed by a proximal pull of its dual variables β towards a centre; when the smoothed
problem is solved well enough the centre moves to β and the pull is weakened (the method of
multipliers). With w_β = Σ β_i x_i and the intercept balanced so that Σβ = penalty·b, β is
feasible and

    gap = ½‖w − w_β‖² + Σ ℓ_i(z_i) + ℓ_i*(−β_i) + z_i β_i

holds at every step, so that the stopping rule needs no estimates.

Most samples soon settle at a bound. They are set aside, with their share of w_β kept as a vector,
and checked again when the active samples have moved far or have converged.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..certificate import square
from ..costs import COSTS
from ..data.matrix import Matrix
from ..losses import LOGISTIC, Float, Loss
from ..records import LinearProblem
from . import response
from .stiff import is_stiff, stiff_step
from .systems import Check, NewtonSystem, never


class Rules(NamedTuple):
    """How the proximal Newton method decides: fractions and factors of the quantities named."""

    # A smoothed problem is solved when its own gap is below this fraction of the rest of the gap
    # and below (β − centre)²/σ, or for a dual point that is not the response to z of all of the
    # gap.
    solved: float = 0.5
    solved_inexactly: float = 0.2
    # A line search ends where the slope has fallen to this fraction.
    line_accuracy: float = 0.1
    # Largest number of halvings of a step with a moving intercept.
    searches: int = 40
    # An inexact Newton step may miss this fraction of its gain.
    step_accuracy: float = 0.1
    # Samples set aside are checked again when outputs have moved by this multiple of the distance
    # from the face at which samples are set aside.
    leash: float = 2.0
    # Factor by which the pull is strengthened if samples were wrongly set aside.
    softened: float = 100.0
    # A smoothed problem that is not solved in this many steps (or exact steps with a kinked loss)
    # is too hard: the pull is strengthened by this factor. With smooth losses a step shorter than
    # this fraction of Newton's shows it sooner, but at most this often, so that the pull cannot
    # oscillate for ever.
    hard: int = 15
    hard_exactly: int = 30
    softer: float = 4.0
    short: float = 0.3
    most_softenings: int = 10
    # The first pull towards the centre: σ in units of 1/‖x‖² and of C / |target|, whichever is
    # less; with kinks the former grows with the samples, if they are many (`COSTS.tall`).
    first_pull: float = 3.0
    first_band: float = 2.0
    # Smooth losses are smoothed further if they are stiffer than the first pull by this factor and
    # there are few samples (`COSTS.smoothed_below`).
    smoothed_above: float = 4.0
    # Stands for 0 in denominators.
    tiny: float = 1e-300
    # Σ β x is recomputed when Σ|β| has fallen to this fraction: rounding of larger terms would
    # remain.
    fallen: float = 1e-2


RULES = Rules()


class Samples:
    """Active samples: data, losses, outputs z, proximal centres, responses β with stiffness h,
    the coefficients c of w = Σ c_i x_i, those that the whole of the last step aimed at, and the
    outputs when the others were set aside."""

    def __init__(self, matrix: Matrix, loss: Loss, z: Float, beta: Float) -> None:
        self.matrix, self.loss, self.z = matrix, loss, z
        self.center, self.beta, self.coef = beta.copy(), beta.copy(), beta.copy()
        self.aim = self.coef
        self.h = np.zeros(z.size)
        self.origin = z

    def take(self, rows: Any) -> Samples:
        taken = Samples(self.matrix.take(rows), self.loss.at(rows), self.z[rows], self.beta[rows])
        taken.center, taken.coef, taken.h = self.center[rows], self.coef[rows], self.h[rows]
        taken.aim = self.aim[rows]
        taken.origin = taken.z.copy()
        return taken


class Resting:
    """Contribution of the samples set aside: Σ βx, Σ β, and their loss at w = 0, b = 0."""

    def __init__(self, d: int) -> None:
        self.w, self.total, self.value = np.zeros(d), 0.0, 0.0

    def add(self, samples: Samples, beta: Float) -> None:
        self.w += samples.matrix.combine(beta)
        self.total += float(beta.sum())
        self.value += response.dual_value(samples.loss, beta)

    def loss(self, w: Float, b: float) -> float:
        return self.value - float(self.w @ w) - self.total * b


class ProximalNewton:
    """The method and its state: w, b, the active samples, and the contribution of the others."""

    def __init__(
        self,
        problem: LinearProblem,
        w: Float,
        b: float,
        beta: Float,
        consistent: bool = True,
        check: Check = never,
    ) -> None:
        matrix, loss = problem.matrix, problem.loss
        self.intercept, self.smooth = problem.intercept, loss.smooth
        self.w, self.b = w.copy(), float(b)
        self.all_samples = Samples(matrix, loss, matrix.margins(self.w) + self.b, beta)
        self.awake = self.all_samples
        self.index: Any = None
        self.resting = Resting(matrix.d)
        self.inv_sigma = self.first_pull = first_pull(problem)
        self.system = NewtonSystem(matrix, self.intercept, check)
        self.inner, self.stride, self.softenings = 0, 1.0, 0
        self.moved, self.wandered, self.leash = 0.0, 0.0, np.inf
        self.awake_factor = COSTS.awake_factor
        self.consistent = consistent  # whether w = Σ c x
        self.w_beta = w.copy() if consistent else matrix.combine(beta)
        self.summed = float(np.abs(beta).sum())
        self.respond()

    def converged(self, tol: float) -> bool:
        return self.gap <= tol * abs(self.objective)

    def advance(self) -> None:
        """One Newton step, preceded by the updates that are due."""
        if self.wandered > RULES.leash * self.leash:
            self.wake()
            self.respond()
            self.set_aside()
        if self.inv_sigma > 0.0 and self.solved():
            self.sharpen()
            self.set_aside()
        elif self.too_hard():
            self.soften()
        elif self.smooth or self.index is not None:
            self.set_aside()
        self.newton_step()
        self.respond()
        if self.system.inexact and self.consistent:
            self.consider_coefficients()

    def verify(self, tol: float) -> bool:
        """Whether the gap is within `tol` with all samples active and all products recomputed."""
        self.awake.beta = self.dual
        self.wake()
        self.all_samples.z = self.all_samples.matrix.margins(self.w) + self.b
        self.w_beta = self.all_samples.matrix.combine(self.all_samples.beta)
        self.measure(float(self.all_samples.beta.sum()))
        if self.converged(tol):
            return True
        self.awake_factor *= 2.0
        # Samples wrongly set aside have far to move: a weak pull would let them overshoot.
        self.inv_sigma = min(RULES.softened * self.inv_sigma, self.first_pull)
        self.all_samples.center = self.all_samples.beta.copy()
        self.inner = 0
        self.respond()
        self.set_aside()
        return False

    def dual_point(self) -> Float:
        """The dual variables of all samples."""
        beta = self.all_samples.beta.copy()
        if self.index is None:
            # If the time limit ended a step, `dual` is that of fewer samples.
            return self.dual.copy() if self.dual.size == beta.size else beta
        beta[self.index] = self.dual
        return beta

    def respond(self) -> None:
        """Balance the intercept and update β, h, w_β and the gap."""
        s = self.awake
        if self.intercept.fitted:
            shift = self.balance(s.z)
            s.z += shift
            self.b += shift
        beta = np.empty(s.z.size)
        total, _ = response.respond(s.loss, s.z, s.center, self.inv_sigma, beta, s.h)
        size = float(np.abs(beta).sum())
        self.summed = max(self.summed, size)
        change = beta - s.beta
        fresh = np.count_nonzero(change) >= np.count_nonzero(beta)
        if fresh or size < RULES.fallen * self.summed:
            self.w_beta, self.summed = self.resting.w + s.matrix.combine(beta), size
        else:
            self.w_beta += s.matrix.combine(change)
        s.beta = beta
        self.measure(total + self.resting.total)

    def balance(self, z: Float) -> float:
        """The change of the intercept for outputs z."""
        s, resting = self.awake, self.resting.total
        precision = 1e-14 * (np.abs(s.beta).sum() + abs(resting))
        penalty = self.intercept.penalty
        return response.balance(
            s.loss, z, s.center, self.inv_sigma, resting, penalty, self.b, precision
        )

    def measure(self, total: float) -> None:
        """Compute objective, gradient and gap at the current w, b and β."""
        s, penalty = self.awake, self.intercept.penalty
        value, self.slack = response.measure(s.loss, s.z, s.beta)
        self.g_w = self.w - self.w_beta
        self.g_b = penalty * self.b - total
        self.defect = 0.5 * float(self.g_w @ self.g_w)
        self.objective = 0.5 * float(self.w @ self.w) + value + self.resting.loss(self.w, self.b)
        if penalty > 0.0:
            self.objective += 0.5 * penalty * self.b * self.b
            self.defect += 0.5 * self.g_b * self.g_b / penalty
        self.gap = self.defect + self.slack
        self.inner_gap, self.dual = self.defect, s.beta

    def consider_coefficients(self) -> None:
        """Use c, made feasible, as the dual point if its smoothed gap is smaller.

        An inexact step preserves w = Σ c x but magnifies its error h-fold in β.
        """
        s, penalty = self.awake, self.intercept.penalty
        c = np.clip(s.coef, s.loss.lower, s.loss.upper)
        total = float(c.sum()) + self.resting.total
        if self.intercept.fitted and penalty == 0.0:
            free = np.flatnonzero((s.h > 0) & (c > s.loss.lower) & (c < s.loss.upper))
            if not free.size:
                return
            c[free] -= total / free.size
            if ((c[free] < s.loss.lower[free]) | (c[free] > s.loss.upper[free])).any():
                return
        difference = s.matrix.combine(c - s.coef)
        defect = 0.5 * float(difference @ difference)
        if penalty > 0.0:
            defect += 0.5 * square(penalty * self.b - total) / penalty
        inner_gap = defect + response.proximal_slack(
            s.loss, s.z, s.center, self.inv_sigma, s.beta, c
        )
        if inner_gap < self.inner_gap:
            _, slack = response.measure(s.loss, s.z, c)
            self.gap, self.inner_gap, self.dual = defect + slack, inner_gap, c

    def solved(self) -> bool:
        """Whether the smoothed problem is solved; then `dual` is the new centre."""
        s = self.awake
        if self.defect <= RULES.solved * self.slack:
            moved = s.beta - s.center
            if self.defect <= self.inv_sigma * float(moved @ moved):
                self.dual = s.beta
                return True
        return self.dual is not s.beta and self.inner_gap <= RULES.solved_inexactly * self.gap

    def too_hard(self) -> bool:
        """Whether the smoothed problem is too hard, and a stronger pull would make it easier. Exact
        steps for losses with kinks mostly converge anyway."""
        most = RULES.hard if self.smooth or self.system.inexact else RULES.hard_exactly
        return self.inner >= most and 0.0 < self.inv_sigma < self.first_pull

    def sharpen(self) -> None:
        """Move the centre to β and weaken the pull, the more the easier the problem was."""
        s = self.awake
        if self.smooth and self.stride < RULES.short:
            growth = 1.0 / RULES.softer if self.softenings < RULES.most_softenings else 1.0
            self.softenings += 1
        elif self.smooth:
            growth = 10.0 if self.inner <= 1 else (4.0 if self.inner <= 3 else 2.0)
        elif self.dual is not s.beta:
            growth = 1.0
        else:
            growth = 4.0 if self.inner <= 1 else (2.0 if self.inner <= 4 else 1.5)
        s.center = self.dual.copy()
        self.inv_sigma = min(self.inv_sigma / growth, self.first_pull)
        if self.smooth and self.inv_sigma < 0.1 * float(s.loss.ridge.min()):
            self.inv_sigma = 0.0
        self.inner = 0
        self.respond()

    def soften(self) -> None:
        """Move the centre to β and strengthen the pull: steps have become too short."""
        self.awake.center = self.dual.copy()
        self.inv_sigma = min(RULES.softer * self.inv_sigma, self.first_pull)
        self.inner = 0
        self.respond()

    def newton_step(self) -> None:
        s, penalty = self.awake, self.intercept.penalty
        unit = 1.0 / self.inv_sigma if self.inv_sigma > 0.0 and not self.smooth else 1.0
        guess = s.beta - s.aim if self.consistent else np.zeros_like(s.beta)
        step = None
        if self.index is None and is_stiff(s.matrix, s.h, s.matrix.squared_norms):
            step = stiff_step(s.matrix, self.intercept, s.h, s.beta, self.w, self.b)
        self.system.inexact &= step is None
        dw, db, u = step or self.system.step(
            s.matrix, s.h / unit, unit, self.g_w, self.g_b, guess, RULES.step_accuracy
        )
        dz = s.matrix.margins(dw)
        dz += db
        dc = s.beta - s.coef
        dc -= s.h * dz if u is None else u
        linear = float((self.w - self.resting.w) @ dw)
        linear += (penalty * self.b - self.resting.total) * db
        quadratic = float(dw @ dw) + penalty * db * db
        if self.intercept.fitted and penalty == 0.0 and not s.h.any():
            t = self.search_with_intercept(dz, linear, quadratic)
        else:
            t = response.line_search(
                s.loss, s.z, dz, s.center, self.inv_sigma, linear, quadratic, RULES.line_accuracy
            )
        farthest = float(np.abs(dz).max()) if dz.size else 0.0
        t = min(t, ((1.0 + RULES.leash) * self.leash - self.wandered) / max(farthest, RULES.tiny))
        self.stride = t
        self.w += t * dw
        self.b += t * db
        s.aim = np.clip(s.coef + dc, s.loss.lower, s.loss.upper)
        s.coef += t * dc
        self.consistent |= t == 1.0 and self.index is None
        dz *= t
        s.z += dz
        self.moved = t * farthest
        self.wandered = float(np.abs(s.z - s.origin).max()) if self.index is not None else 0.0
        self.inner += 1

    def search_with_intercept(self, dz: Float, linear: float, quadratic: float) -> float:
        """The step length along dz with the intercept rebalanced along the way.

        On an empty face the intercept is anywhere between two kinks. With b fixed, the first sample
        that reaches its kink would end the step.
        """
        s, reach, low, high = self.awake, 1.0, 0.0, 1.0
        beta, h = np.empty(s.z.size), np.empty(s.z.size)
        for _ in range(RULES.searches):
            z = s.z + reach * dz
            z += self.balance(z)
            response.respond(s.loss, z, s.center, self.inv_sigma, beta, h)
            slope = linear + reach * quadratic - float(beta @ dz)
            if slope > 0.0:
                high = reach
            else:
                low = reach
            if high - low <= RULES.line_accuracy * high:
                break
            reach = 0.5 * (low + high)
        return high

    def set_aside(self) -> None:
        """Set samples aside that are far from the face, if there are many."""
        s = self.awake
        # The factor grows without limit.
        wanted = np.fmin(self.awake_factor * np.count_nonzero(s.h), s.z.size)
        keep = int(wanted) + COSTS.awake_least
        if keep > (1.0 - COSTS.rest_worth) * s.z.size or s.loss.kind == LOGISTIC:
            return
        distance = np.empty(s.z.size)
        response.distance_to_face(s.loss, s.z, s.center, self.inv_sigma, distance)
        reach = max(float(np.partition(distance, keep)[keep]), self.moved)
        stays = distance <= reach
        rows = np.flatnonzero(stays)
        if rows.size > (1.0 - COSTS.rest_worth) * s.z.size:
            return
        self.store()
        self.resting.add(s, np.where(stays, 0.0, s.beta))
        self.index = rows if self.index is None else self.index[rows]
        self.awake = s.take(rows)
        self.dual = self.awake.beta
        self.system.restrict(s.matrix, rows)
        self.wandered, self.leash = 0.0, reach

    def store(self) -> None:
        """Write the state of the active samples back to that of all samples."""
        if self.index is not None:
            all_samples, s = self.all_samples, self.awake
            all_samples.beta[self.index] = s.beta
            all_samples.center[self.index] = s.center
            all_samples.coef[self.index] = s.coef

    def wake(self) -> None:
        """Activate all samples, with outputs recomputed."""
        if self.index is None:
            return
        self.store()
        all_samples = self.all_samples
        resting = np.ones(all_samples.z.size, dtype=bool)
        resting[self.index] = False
        all_samples.center[resting] = all_samples.coef[resting] = all_samples.beta[resting]
        self.system.extend(self.index, all_samples.z.size)
        all_samples.aim = all_samples.coef.copy()
        self.awake, self.index = all_samples, None
        self.resting = Resting(self.w.size)
        all_samples.z = all_samples.matrix.margins(self.w) + self.b
        self.wandered, self.leash = 0.0, np.inf


def first_pull(problem: LinearProblem) -> float:
    """The initial 1/σ; 0 if the loss needs no smoothing."""
    matrix, loss, intercept, _ = problem
    norm = float(matrix.squared_norms.mean())
    # speed only: the pull is adapted in every round
    if intercept.fitted and intercept.penalty > 0.0:
        norm += 1.0 / intercept.penalty
    sigma = max(RULES.tiny, RULES.first_pull / (norm if norm > 0.0 else 1.0))
    if loss.smooth:
        stiff = (
            loss.kind != LOGISTIC
            and float((1.0 / loss.ridge).mean()) > RULES.smoothed_above * sigma
        )
        return 1.0 / sigma if stiff and matrix.n < COSTS.smoothed_below * matrix.d else 0.0
    residual = max(float(np.abs(loss.target).mean()), RULES.tiny)
    sigma *= max(1.0, matrix.n / (COSTS.tall * matrix.d))
    result: float = 1.0 / max(
        RULES.tiny, min(sigma, RULES.first_band * float(loss.height.mean()) / residual)
    )
    return result
