"""The drivers `full` and `rows`: pair steps on all variables, with shrinking and polishing."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import cast

import numpy as np

from ...dual.problem import DualProblem, Float
from ...kernels.base import Gram
from .. import costs
from ..interrupt import Interrupt
from ..plan import Plan
from ..rows.base import LoopRows, Rows
from ..rows.lru import CachedRows, FullRows
from ..rows.on_demand import OnDemandRows
from ..settings import Settings
from ..smo import state as r
from ..smo.loop import forget
from ..smo.schedule import FEWEST_ROUNDS, OVER, POLISHED
from .base import LONGEST_SLAB, PATIENCE, Ended, Run
from .working_set import Active

# Status of a tentative run that needs too many rows.
TOO_MANY_ROWS = "too_many_rows"


class PairRun(Run):
    """Optimises over all variables, or over those that shrinking has left active.

    A `tentative` run with rows on demand ends as soon as it needs too many of them, instead of
    computing the rest of the matrix.
    """

    first_violation: float
    whole_rows: LoopRows | None

    def __init__(
        self,
        problem: DualProblem,
        gram: Gram,
        settings: Settings,
        plan: Plan,
        alpha: Float | None,
        interrupt: Interrupt,
    ) -> None:
        super().__init__(problem, gram, settings, plan, alpha, interrupt)
        self.tentative = plan.tentative
        self.whole_matrix = plan.driver == "full" or plan.tentative
        self.abandoned = False
        self.renewed = 0  # number of gradient updates at the last recomputation from scratch
        self.until_shrink = self._shrink_interval()
        self.stalls = 0  # how often the run has stagnated

    def prepare(self) -> None:
        rows = self._all_rows()
        self.gradient = self._true_gradient(rows)
        self.state.dual = self.problem.value(self.alpha, self.gradient)
        self._set_active(Active.of(self.problem, rows, self.diagonal, self.alpha, self.gradient))
        if isinstance(rows, OnDemandRows):
            self.first_violation = self.active.total_violation()

    def loop(self) -> str:
        status = self._slabs()
        if not self.whole:
            self._restore_all()
        self.active.write(self.alpha, self.gradient)
        if isinstance(self.active.rows, OnDemandRows) and not self.abandoned:
            self.gram.keep_rows(self.active.rows.stored())
        return status

    def _slabs(self) -> str:
        """Run slabs until there is a reason to end; return it."""
        while True:
            event = self.slab()
            ended = self._budgets(event)
            if ended:
                return ended
            if event == r.CONVERGED:
                if not self.whole:
                    self._restore_all()
                elif self._drift() > POLISHED * self.settings.tol and not self._is_exhausted():
                    self._refresh()
                elif not self._narrow():
                    return "converged" if self.violation <= self.settings.tol else "precision"
                continue
            if event == r.FACE_DUE or self._is_slow():
                self.face()
                if self.unbounded:
                    return "unbounded"
            if self.settings.shrinking and not self.stalls and not self.polish_until:
                self._shrink()

    def _is_exhausted(self) -> bool:
        """Whether the steps gain nothing above rounding, as they are seen to or as recomputed
        gradients show."""
        return max(self.stagnation.idle, self.stagnation.fruitless) >= PATIENCE

    def _narrow(self) -> bool:
        """Whether to continue because the duality gap is still too large."""
        aim = None if self.stalls else self.lower_aim(self.control.tol)
        if aim is None:
            return False
        self.control = self.control._replace(tol=aim)
        return True

    @property
    def whole(self) -> bool:
        return self.active.size == self.problem.samples

    @property
    def polish_until(self) -> float:
        return self.state.polish_until

    def account(self, took: int, gain: float) -> None:
        self.until_shrink -= took
        self.stagnation.note(gain, self.state.dual, self.violation)

    def face(self, most: int | None = None) -> None:
        """A face step whose rounds cost no more than the pair steps before it, or than the rest of
        the polishing budget."""
        state, polishing = self.state, self.polish_until > 0.0
        affordable = self.polish_until - state.spent if polishing else state.since_face
        rounds = int(affordable / (costs.ROUND_COST * self.active.free().size ** 2))
        super().face(max(FEWEST_ROUNDS, rounds) if most is None else most)

    def _budgets(self, event: int) -> str | None:
        """A reason to end now, or None."""
        if self.abandoned:
            return TOO_MANY_ROWS
        if self.interrupt.pressed:
            return "interrupted"
        if event == r.STUCK:
            if self.whole:
                return "stuck"
            self._restore_all()
            return None
        if (event == r.UNBOUNDED and self.may_be_unbounded()) or self.hopeless():
            return "unbounded"
        if event == r.TARGET_REACHED:
            return "target"
        if self.told_to_stop():
            return "stopped"
        if event == r.CONVERGED:
            return None
        # If a budget runs out while polishing, the point may still have converged.
        if self.steps_left() <= 0:
            return self._out_of("step_limit")
        if time.perf_counter() > self.deadline:
            return self._out_of("time_limit")
        if self.stagnation.idle >= PATIENCE:
            return self._stalled()
        if self._is_astray(event):
            return self._out_of("precision")
        return None

    def _is_slow(self) -> bool:
        """Whether pair steps have not reduced the violation for long, at far more than the cost of
        a face step, which may reduce it even if most of them end at bounds."""
        if not self.settings.face or self.stagnation.unimproved % PATIENCE != PATIENCE - 1:
            return False
        free = self.active.free().size
        cost = costs.FACE_COST + costs.FLOP_COST * free**3 / 3.0
        return free > 1 and self.state.since_face > costs.MANY_PATIENCE * cost

    def _is_astray(self, event: int) -> bool:
        """Whether the violation has not been reduced for long and the steps lead nowhere: rounding
        hides the curvature of the next one, or recomputed gradients show no gain."""
        if self.stagnation.unimproved < PATIENCE:
            return False
        if event == r.UNBOUNDED:
            return True
        if self.whole and self._updates() - self.renewed > self.problem.samples:
            self._refresh()
        return self.stagnation.fruitless >= PATIENCE

    def _out_of(self, status: str) -> str:
        if self.whole and self.violation <= self.settings.tol:
            return "converged"
        return status

    def _stalled(self) -> str | None:
        """No gain above rounding: recompute gradients; next, stop polishing; then end the run."""
        self.stagnation.idle = 0
        self.stalls += 1
        if self.stalls == 1:
            if self.whole:
                self._refresh()
            else:
                self._restore_all()
        elif self.polish_until > 0.0:
            self.state.polish_until = OVER
        else:
            return self._out_of("precision")
        return None

    def _all_rows(self) -> LoopRows:
        if not self.whole_matrix:
            return CachedRows(self.gram, self._cache_bytes())
        if (self.plan.on_demand or self.tentative) and not self.alpha.any():
            return OnDemandRows.of(self.gram, self.plan.row_bytes, not self.tentative)
        return FullRows.of(self.gram, self.pause)

    def _cache_bytes(self) -> float:
        """Memory of one row cache; shrinking copies rows from one cache to another."""
        return self.settings.cache_bytes / (2 if self.settings.shrinking else 1)

    def fetch(self, sample: int) -> None:
        if not self.whole_matrix:
            super().fetch(sample)
            return
        now = self.active.total_violation()
        if cast(OnDemandRows, self.active.rows).go_on(1.0 - now / self.first_violation):
            return
        if self.tentative:
            self.abandoned = True
            return
        with suppress(Ended):
            self._complete()

    def must_end(self) -> bool:
        return self.abandoned or super().must_end()

    def _complete(self) -> None:
        """Compute the whole matrix: more than a few rows are needed."""
        evaluations = self.active.rows.evaluations
        rows = FullRows.of(self.gram, self.pause)
        rows.evaluations += evaluations
        self.active.rows = rows

    def _true_gradient(self, rows: Rows) -> Float:
        if not self.alpha.any():
            return self.problem.linear.copy()
        coefficients = self.problem.per_sample(self.alpha)
        support = np.flatnonzero(coefficients)
        expansion = rows.combine(support, coefficients[support])
        return self.problem.gradient(self.alpha, expansion)

    def _set_active(self, active: Active) -> None:
        self.active = active
        polishes = self.whole and self.can_polish() and self.settings.selection != "max_gain"
        ending = r.POLISH if polishes else r.RETURN
        if ending != self.control.ending:
            self.control = self.control._replace(ending=ending)
        forget(self.memory)

    def _refresh(self) -> None:
        """Recompute the gradient, free of accumulated rounding."""
        self.active.write(self.alpha, self.gradient)
        self.gradient = self._true_gradient(self.active.rows)
        self.active.take_gradient(self.gradient)
        self.state.dual = self.problem.value(self.alpha, self.gradient)
        self.stagnation.note_recomputed(self.state.dual)
        self.renewed = self._updates()

    def _updates(self) -> int:
        """Number of gradient updates so far."""
        return int(self.counters.steps + self.counters.face_rounds)

    def _drift(self) -> float:
        """Bound on the rounding in the gradient since it was last computed from scratch."""
        return (self._updates() - self.renewed) * self.noise()

    def _restore_all(self) -> None:
        """End shrinking: reactivate all variables and reconstruct their gradient."""
        self.active.write(self.alpha, self.gradient)
        last, rows = self.active.rows, self.whole_rows
        if rows is None:
            rows = CachedRows(self.gram, self._cache_bytes(), None, last.evaluations, last.misses)
        self.gradient = self._true_gradient(rows)
        self._set_active(Active.of(self.problem, rows, self.diagonal, self.alpha, self.gradient))
        self.state.dual = self.problem.value(self.alpha, self.gradient)
        self.violation = self.problem.violation(self.alpha, self.gradient)
        self.renewed = self._updates()
        self.until_shrink = self._shrink_interval()

    def _fits_beside(self, size: int) -> bool:
        """Whether a matrix of `size` samples fits into memory beside the whole one."""
        matrix = 0 if self.gram.whole is not None else self.gram.n**2
        affordable = self.settings.cache_bytes / self.gram.dtype.itemsize
        # A copy of 1,000 samples (8 MB) fits always.
        return bool(matrix + size**2 <= max(affordable, 1000**2))

    def _shrink_interval(self) -> int:
        return min(self.problem.size, LONGEST_SLAB)

    def _shrink(self) -> None:
        if self.until_shrink > 0:
            return
        self.until_shrink = self._shrink_interval()
        keep = self.active.staying()
        # A copy pays off if at least a tenth leaves.
        if keep.size > 0.9 * self.active.size or keep.size < 2:
            return
        if self.whole_matrix and not self._fits_beside(keep.size):
            return
        rows = cast(LoopRows, self.active.rows)
        if self.whole:
            self.whole_rows = rows if self.whole_matrix else None
        self.active.write(self.alpha, self.gradient)
        self._set_active(self.active.part(keep, rows.restricted(keep)))
