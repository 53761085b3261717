"""Newton's method from sums over shards, with a certificate.

    minimise  ½‖w‖² + ½ penalty b² + Σ ℓ_i(x_i·w + b)

Order of calls in `fit_sums`::

    repeat
      evaluate   the sums at w and b: one pass
      certify    when the gap seems small enough: one pass
      sharpen    when a smoothed problem is solved: its β become the centres, the pull is weakened
      step       a Newton step; if its slope at the end is too steep, a search along it: two passes

Smooth losses have no pull, and no state on the shards. A loss with kinks is smoothed by a proximal
pull of β towards centres that stay on the shards (see `primal.newton`). The dual point of the
certificate is β(z), scaled on one side such that Σβ = 0 where the intercept has no penalty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....dual.certificate import Certificate
from ....linalg.jitter import factor, factored_solve
from ....runtime.parallel import single_threaded_blas
from ...interrupt import deferred_interrupts
from ..losses import Float
from ..records import Budget, Intercept, LinearSolution, OutOfTime
from .session import SumsSession
from .shard import Proof, Sums

# Step lengths that a search tries in one pass.
LENGTHS = 2.0 ** -np.arange(1.0, 15.0)


@dataclass(frozen=True)
class SumsSettings:
    """Budgets, tolerance and start of a run; `first_pull` is the first 1/σ, 0 for smooth losses."""

    tol: float = 1e-6
    first_pull: float = 0.0
    max_steps: float = np.inf
    max_seconds: float = np.inf
    callback: Callable[[Any], Any] | None = None
    start: tuple[Float, float] | None = None


def fit_sums(
    make_session: Callable[[Callable[[], None]], SumsSession],
    d: int,
    intercept: Intercept,
    settings: SumsSettings,
) -> tuple[LinearSolution, SumsSession]:
    """Minimise over all shards; the session is made with the function that looks at the clock."""
    with deferred_interrupts() as interrupt, single_threaded_blas(), np.errstate(all="ignore"):
        budget = Budget(settings.max_steps, settings.max_seconds, settings.callback, interrupt)
        session = make_session(budget.check)
        run = SumsRun(session, d, intercept, settings, budget)
        try:
            status = run.loop()
        except OutOfTime:
            status = budget.ended()
        certificate = run.proof or run.unproven()
    b = float(run.best[1])
    solution = LinearSolution(
        w=run.best[0],
        b=b,
        beta=np.empty(0),
        certificate=certificate,
        status=status,
        steps=budget.steps,
        seconds=budget.seconds,
    )
    return solution, session


class SumsRun:
    """One run of `fit_sums`."""

    def __init__(
        self,
        session: SumsSession,
        d: int,
        intercept: Intercept,
        settings: SumsSettings,
        budget: Budget,
    ) -> None:
        self.session, self.intercept, self.settings, self.budget = (
            session,
            intercept,
            settings,
            budget,
        )
        self.w, self.b = settings.start or (np.zeros(d), 0.0)
        self.inv_sigma = settings.first_pull
        self.best = self.w, self.b
        self.proof: Certificate | None = None
        self.sums: Sums | None = None
        self.inner = 0

    def loop(self) -> str:
        """Steps until the certificate holds or a budget ends; returns the status."""
        # The gap to aim at, relative to the tolerance: the certificate adds what the scaling of β
        # costs.
        aim, lowest, since = 0.8, np.inf, 0
        self.look()
        while True:
            gap = self.gap()
            since = 0 if gap < 0.9 * lowest else since + 1
            lowest = min(lowest, gap)
            if gap <= aim * self.settings.tol * self.objective:
                self.proof = self.certify()
                if self.proof.relative_gap <= self.settings.tol:
                    return "converged"
                aim *= 0.3
            s = self.sums
            assert s is not None
            if self.budget.asked_to_stop(self.objective, gap, s.support, s.free):
                return "stopped"
            if status := self.budget.ended():
                return status
            if since > 40 or not np.isfinite(gap):
                return "precision"
            self.proof = None
            if self.inv_sigma > 0.0 and self.solved():
                self.sharpen()
            elif self.inv_sigma > 0.0 and (self.inner > 15 or s.corner == 0.0):
                self.soften()
            else:
                self.step()
            self.budget.steps += 1

    def look(self) -> None:
        """The sums, gradient and objective at w and b."""
        s = self.session.evaluate(self.w, self.b, self.inv_sigma)
        self.sums, penalty = s, self.intercept.penalty
        self.g_w = self.w - s.combined
        self.g_b = penalty * self.b - (s.rising + s.falling) if self.intercept.fitted else 0.0
        self.objective = 0.5 * float(self.w @ self.w) + 0.5 * penalty * self.b**2 + s.value
        self.best = self.w.copy(), self.b

    def own_gap(self) -> float:
        """That of the smoothed problem; an intercept without penalty counts by its stiffness."""
        s = self.sums
        assert s is not None
        gap = 0.5 * float(self.g_w @ self.g_w)
        if self.intercept.fitted:
            gap += 0.5 * self.g_b**2 / max(self.intercept.penalty or s.corner, 1e-300)
        return gap

    def gap(self) -> float:
        """An estimate of the duality gap: exact but for the scaling of β."""
        assert self.sums is not None
        return self.own_gap() + self.sums.slack

    def solved(self) -> bool:
        """Whether the gap of the smoothed problem is below half of the rest, and of the pull."""
        assert self.sums is not None
        own, s = self.own_gap(), self.sums
        return own <= 0.5 * s.slack and own <= self.inv_sigma * s.moved

    def sharpen(self) -> None:
        """Weaken the pull, by more after few steps."""
        self.session.recentre()
        self.inv_sigma /= 10.0 if self.inner <= 1 else 4.0 if self.inner <= 3 else 2.0
        self.inner = 0
        self.look()

    def soften(self) -> None:
        """Strengthen the pull: the face is empty, or steps have become too short."""
        self.inv_sigma *= 4.0
        self.inner = 0
        self.look()

    def step(self) -> None:
        dw, db = self.newton_step()
        w, b = self.w, self.b
        before = float(self.g_w @ dw) + self.g_b * db
        self.w, self.b = w + dw, b + db
        self.inner += 1
        self.look()
        after = float(self.g_w @ dw) + self.g_b * db
        if after > -0.5 * before:
            t = self.search(w, b, dw, db, before, after)
            self.w, self.b = w + t * dw, b + t * db
            self.look()

    def newton_step(self) -> tuple[Float, float]:
        s, d = self.sums, self.w.size
        assert s is not None
        size = d + 1 if self.intercept.fitted else d
        A = np.empty((size, size), order="F")
        A[:d, :d] = s.gram
        A[np.arange(d), np.arange(d)] += 1.0
        if not self.intercept.fitted:
            return -factored_solve(factor(A), self.g_w), 0.0
        corner = s.corner + self.intercept.penalty
        if corner == 0.0:
            return -self.g_w, 0.0
        A[d, :d] = s.border
        A[d, d] = corner * (1.0 + 1e-12)
        both = -factored_solve(factor(A), np.append(self.g_w, self.g_b))
        return both[:d], float(both[d])

    def search(
        self, w: Float, b: float, dw: Float, db: float, before: float, after: float
    ) -> float:
        """The step length where the slope is 0, by interpolation between the lengths tried."""
        penalty = self.intercept.penalty
        straight = float(w @ dw) + penalty * b * db
        bent = float(dw @ dw) + penalty * db * db
        found = straight + LENGTHS * bent
        found += self.session.slopes(w, b, self.inv_sigma, dw, db, LENGTHS)
        t = np.concatenate([[1.0], LENGTHS, [0.0]])
        slope = np.concatenate([[after], found, [before]])
        low = int(np.argmax(slope <= 0.0))
        left, right = slope[low], slope[low - 1]
        share = -left / (right - left) if right > left else 0.5
        return float(t[low] + share * (t[low - 1] - t[low]))

    def certify(self) -> Certificate:
        """The certificate of w and b, from a pass of its own."""
        s = self.sums
        assert s is not None
        scales = 1.0, 1.0
        if self.intercept.fitted and self.intercept.penalty == 0.0:
            rising, falling = s.rising, -s.falling
            least = min(rising, falling)
            scales = (
                least / rising if rising > 0 else 0.0,
                least / falling if falling > 0 else 0.0,
            )
        proof = self.session.prove(self.w, self.b, self.inv_sigma, scales)
        return self.certificate(proof)

    def certificate(self, proof: Proof) -> Certificate:
        w, b, penalty = self.w, self.b, self.intercept.penalty
        off = w - proof.combined
        gap = 0.5 * float(off @ off) + proof.slack
        primal = 0.5 * float(w @ w) + 0.5 * penalty * b * b + proof.value
        if self.intercept.fitted and penalty > 0.0:
            gap += 0.5 * (penalty * b - proof.total) ** 2 / penalty
        elif self.intercept.fitted:
            gap += abs(b * proof.total)
        return Certificate(primal, primal - gap, gap, proof.violation, 0.0)

    def unproven(self) -> Certificate:
        """Of a run that was ended: one more pass, which nobody interrupts."""
        self.session.pause = _nothing  # type: ignore[attr-defined]
        self.w, self.b = self.best
        if self.sums is None:
            self.look()
        return self.certify()


def _nothing() -> None:
    pass
