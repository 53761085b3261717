"""The driver `blocks`: decomposition into blocks of the most violating samples.

    choose the most violating samples, and recently chosen ones
    compute their Gram rows in one matrix product
    optimise the subproblem on them by pair and face steps
    apply the change of α to the gradients of all samples

`Samples` holds α, gradients and rows of all samples.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ...dual.problem import Float, Int
from ...linalg.bordered import Factor
from .. import costs
from ..newton.projected_step import no_longer_free, wide_face_step
from ..smo import state as r
from ..smo.loop import forget
from ..smo.schedule import POLISHED
from .base import PATIENCE, Ended, Run
from .shards import Samples
from .working_set import Active, marked


class Rules(NamedTuple):
    """How far blocks and polishing go."""

    # A block is optimised to this fraction of the violation outside it (the second one if it holds
    # all free samples), with at most so many steps per variable.
    inner_share: float = 0.1
    wide_share: float = 0.03
    inner_steps: int = 10
    # All free samples form one block if at most this fraction of the most violating samples has not
    # been in a block before.
    new_share: float = 0.02
    # Largest number of rounds of an exact active-set Newton step on a block.
    face_rounds: int = 30
    # Rounds without a smaller violation that count as stagnation, and after which the gain of steps
    # is compared with that of the dual value.
    longest_plateau: int = 500
    plateau: int = 50
    # Largest number of polishing rounds.
    polish_rounds: int = 20


RULES = Rules()


class BlockRun(Run):
    """Rounds of blocks until no sample violates."""

    polish_rounds: int | None
    factor: Factor | None
    before: tuple[Float, Float] | None

    def prepare(self) -> None:
        self.size, self.largest = self.plan.block, self.plan.largest_block
        self.all_samples = Samples(self.problem, self.gram, self.alpha, self.plan, self.pause)
        self.active = self.all_samples.live
        self.state.dual = self.problem.value(self.alpha, self.all_samples.gradient)
        self.goal = self.aim
        self.recent = np.zeros(0, dtype=np.int64)
        self.stagnant, self.refreshes = False, 0
        self.before = None  # α and gradient on the plateau, see `_gains_by_rounding`
        self.polish_rounds = None  # polishing rounds left, once polishing has begun
        self.wide, self.factor = False, None  # the factor of the last block of all free samples

    def loop(self) -> str:
        all_samples = self.all_samples
        try:
            status = self._rounds()
        except Ended as ended:
            status = str(ended)
        if not all_samples.complete:
            # The bias needs the gradients of all samples: compute them even if time is up.
            all_samples.rows.pause = lambda: None
            all_samples.return_all()
        all_samples.live.write(all_samples.alpha, all_samples.gradient)
        self.gradient, self.active = all_samples.gradient, all_samples.live
        all_samples.rows.give_back()
        return status

    def _rounds(self) -> str:
        all_samples, gain = self.all_samples, None
        while True:
            self.violation, self.active = all_samples.violation(), all_samples.live
            if gain is not None:
                self.stagnant, gain = self._leads_nowhere(gain), None
            if self.violation <= max(self.goal, self.noise()):
                if not all_samples.complete:
                    all_samples.return_all()
                elif not self._polish() and not self._narrow():
                    return "converged" if self.violation <= self.settings.tol else "precision"
                continue
            ended = self._budgets()
            if ended:
                return ended
            part = all_samples.block(self._chosen())
            dual = self.state.dual
            event = self._optimise(part)
            all_samples.apply(part)
            infinite = event == r.UNBOUNDED and self.may_be_unbounded()
            if self.unbounded or infinite or self.hopeless():
                return "unbounded"
            if event == r.TARGET_REACHED:
                return "target"
            gain = self.state.dual - dual
            if self.settings.shrinking and self.polish_rounds is None:
                all_samples.settle()

    def _leads_nowhere(self, gain: float) -> bool:
        """Whether rounds with such gains have gained nothing above rounding for too long, or not
        reduced the violation for very long."""
        found = self.stagnation
        found.note(gain, self.state.dual, self.violation)
        if found.unimproved > RULES.longest_plateau:
            found.unimproved = 0
            return True
        if found.idle >= PATIENCE:
            return True
        return found.unimproved % RULES.plateau == 0 and self._gains_by_rounding()

    def _gains_by_rounding(self) -> bool:
        """Whether the dual value has stood still on a plateau, whatever steps seemed to gain."""
        v, before = self.all_samples.live.v, self.before
        self.before = now = (v.alpha.copy(), v.gradient.copy())
        if self.stagnation.unimproved == 0 or before is None or before[0].size != v.alpha.size:
            return False
        # Exact for a quadratic function, and so for the variables that are left.
        gain = 0.5 * float((now[0] - before[0]) @ (now[1] + before[1]))
        return gain <= 1e-12 * abs(self.state.dual)

    def _chosen(self) -> Int:
        """The most violating samples, the free ones in wide rounds, and the recent ones."""
        all_samples, free = self.all_samples, self.all_samples.free()
        # If there are many free variables, a block must hold a large share of them.
        size = max(self.size, min(free.size, costs.LARGE_BLOCK, self.largest))
        violators = all_samples.most_violating(max(2, size // 2))
        self.wide = self._mostly_seen(violators, free)
        wanted = [violators, self.recent]
        if self.wide or self.polish_rounds is not None:
            wanted.insert(1, free)
        if self.wide:
            left = no_longer_free(self.factor, marked(free, self.problem.samples))
            wanted.insert(2, left)
            size = max(size, violators.size + free.size + left.size)
        open_to = all_samples.is_live()
        chosen = []
        for samples in wanted:
            chosen.append(samples[open_to[samples]])
            open_to[samples] = False
        self.recent = np.concatenate(chosen)[:size]
        return np.sort(self.recent)

    def _mostly_seen(self, violators: Int, free: Int) -> bool:
        """Whether most violators were in a block before, and one can hold all free samples."""
        most = min(costs.WIDEST_FACE, self.largest) - violators.size
        mostly_seen = self.all_samples.new_among(violators) <= RULES.new_share * violators.size
        return self.settings.face and mostly_seen and free.size <= max(most, self.size)

    def _optimise(self, part: Active) -> int:
        """Pair and face steps on a block, to a tolerance relative to the violation outside it."""
        self.active = part
        forget(self.memory)
        self.state.free_share = 0.0
        share = RULES.wide_share if self.wide else RULES.inner_share
        self.control = self.control._replace(tol=max(share * self.violation, 0.5 * self.goal))
        if self.wide:
            self.wide_face()
        elif self.polish_rounds is not None and self.settings.face:
            self.face()
        last = self.counters.steps + RULES.inner_steps * part.v.alpha.size
        while self.counters.steps < last and not self.unbounded:
            event = self.slab()
            if event not in (r.STEPS_DONE, r.FACE_DUE) or self.steps_left() <= 0:
                return event
            if event == r.FACE_DUE:
                if part.free().size > costs.FEW_FREE:
                    self.wide_face()
                else:
                    self.face(RULES.face_rounds)
        return r.STEPS_DONE

    def wide_face(self) -> None:
        free = self.active.free().size
        known = self.factor if self.wide else None
        result = wide_face_step(self.active, self.must_end, known)
        if self.wide:
            self.factor = result.factor
        self.faced(self.violation, free, result)

    def _budgets(self) -> str | None:
        """A reason to end now, or None."""
        if self.interrupt.pressed:
            return "interrupted"
        if self.settings.callback is not None and self.told_to_stop():
            return "stopped"
        good = self.all_samples.complete and self.violation <= self.settings.tol
        if self.steps_left() <= 0:
            return "converged" if good else "step_limit"
        if time.perf_counter() > self.deadline:
            return "converged" if good else "time_limit"
        if self.polish_rounds is not None:
            self.polish_rounds -= 1
            if self.polish_rounds == 0:
                self.goal = self.settings.tol
        if self.stagnant:
            return self._stalled()
        return None

    def _stalled(self) -> str | None:
        """No gain above rounding: recompute gradients; next, stop polishing; then end the run."""
        self.stagnant, self.stagnation.idle = False, 0
        self.refreshes += 1
        if self.refreshes == 1:
            self.all_samples.refresh()
        elif self.goal < self.settings.tol:
            self.goal = self.settings.tol
        else:
            return "precision"
        return None

    def _narrow(self) -> bool:
        """Whether to continue because the duality gap is still too large."""
        aim = None if self.refreshes else self.lower_aim(self.goal)
        if aim is None:
            return False
        self.goal = aim
        return True

    def _polish(self) -> bool:
        """Whether to continue towards the exact optimum: if a block can hold all free variables."""
        if self.polish_rounds is not None or not self.can_polish():
            return False
        live = self.all_samples.live
        free = live.free().size
        size = min(max(self.size, 2 * free), live.size)
        if free > costs.LARGEST_POLISHED or size > self.largest:
            return False
        self.size = size
        self.polish_rounds = RULES.polish_rounds
        self.goal = POLISHED * self.settings.tol
        return True

    def evaluations(self) -> int:
        return int(self.all_samples.rows.evaluations)
