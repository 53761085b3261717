"""The driver `full` where few rows of the matrix may do: it begins with some, and more join.

    optimise over the samples that have a row, as far as the violation of the others is worth it
    apply the change of α to everyone's gradient
    the most violating of the others get their rows

Where so many violate that most rows would be needed, the whole matrix is computed at once, each
entry of which serves two rows.
"""

from __future__ import annotations

import numpy as np

from ..compiled import compiled
from ..kernels.held import HeldRows
from . import records as r
from .ending import OVER, POLISHED
from .pairs import PairRun
from .rows import FullRows, GrowingRows
from .run import Ended
from .smo import forget_pairs

# Multiplications that a Gram matrix takes, from which on it is worth while to see whether a part of
# it will do; besides them, an entry of it costs as much as so many, and one of no vectors as these.
WORTH_GROWING, AN_ENTRY, NO_VECTOR = 6e7, 32, 256
# Rows that come at a time: so many, or this part of those there are.
FEWEST_ROWS, MORE_ROWS = 128, 0.5
# If after the first rows this part of the samples wants to move, or if this part of all rows is
# there, most will be needed.
MOST_WAITING, MOST_ROWS = 0.7, 0.5
# Samples with a row are optimised to this part of the violation of all, unless those that wait for
# one are but this part of them.
INNER_SHARE, FEW_MORE = 0.1, 0.05
# Rounds without a new row before what is left is taken for rounding.
PATIENCE = 5


def worth_growing(samples, features):
    """Whether the whole matrix of so many samples is dear enough to try with a part of it."""
    return samples**2 * (AN_ENTRY + (features or NO_VECTOR)) >= WORTH_GROWING


@compiled
def ask(v, slot, goal, wishes):
    """By how much samples without a row want to rise above the level where the others meet, and to
    fall below it, two rows of wishes a group; returns (ψ(α) of all, how many want to by more than
    half the goal)."""
    samples, violation = slot.size, 0.0
    for g in range(len(v.rise)):
        gradient, rise, fall = v.gradient, v.rise[g], v.fall[g]
        top, bottom, most, least = -np.inf, np.inf, -np.inf, np.inf
        for a in range(gradient.size):
            if slot[a % samples] < 0:
                most, least = max(most, gradient[a] + rise[a]), min(least, gradient[a] + fall[a])
            else:
                top, bottom = max(top, gradient[a] + rise[a]), min(bottom, gradient[a] + fall[a])
        violation = max(violation, max(top, most) - min(bottom, least))
        level = 0.5 * (most + least)
        if most == -np.inf or least == np.inf:
            level = least if most == -np.inf else most
        level = min(max(level, min(top, bottom)), max(top, bottom))
        up, down = wishes[2 * g], wishes[2 * g + 1]
        for s in range(samples):
            up[s] = down[s] = 0.0
        for a in range(gradient.size):
            s = a % samples
            if slot[s] < 0:
                up[s] = max(up[s], gradient[a] + rise[a] - level)
                down[s] = max(down[s], level - gradient[a] - fall[a])
    waiting = 0
    for s in range(samples):
        wish = 0.0
        for k in range(len(wishes)):
            wish = max(wish, wishes[k, s])
        waiting += wish > 0.5 * goal
    return violation, waiting


class GrowingRun(PairRun):
    """Optimises over the samples whose rows are in memory."""

    growing = True  # as long as the whole matrix is not there
    outer = np.inf  # the violation of all, when they were last asked

    def _all_rows(self):
        rows = GrowingRows(self.gram)
        rows.add(np.flatnonzero(self.problem.per_sample(self.alpha)), self.pause)
        return rows

    def loop(self):
        everyone = self.active
        try:
            status = self._grow(everyone)
        except Ended as ended:
            status = str(ended)
        if status is None:
            self.growing = False
            return super().loop()
        rows, self.active = everyone.rows, everyone
        everyone.write(self.alpha, self.gradient)
        self.gram.keep_rows(HeldRows(rows.matrix, rows.store.slot))
        return status

    def _grow(self, everyone):
        """Rounds until a reason to end, or None where the whole matrix is there."""
        rows, tol, ending = everyone.rows, self.control.tol, self.control.ending
        wishes = np.empty((2 * len(everyone.v.rise), rows.n))
        last, idle = False, 0  # whether all was done for those with a row, and how often in vain
        while True:
            goal = max(POLISHED * tol if self.polish_until > 0.0 else tol, self.noise())
            self.outer, waiting = ask(everyone.v, rows.store.slot, goal, wishes)
            if waiting and self._most_are_needed(rows, waiting):
                everyone.rows = FullRows.of(self.gram, self.pause)
                everyone.rows.evaluations += rows.evaluations
                self.control = self.control._replace(tol=tol)
                self._set_active(everyone)
                return None
            if waiting:
                more = max(FEWEST_ROWS, int(MORE_ROWS * rows.count))
                rows.add(likeliest(wishes, more), self.pause)
                idle = 0
            elif last or not rows.count:
                idle += 1
                if self.outer <= goal or idle > PATIENCE:
                    return "converged" if self.outer <= self.settings.tol else "precision"
            last = not waiting or self.outer <= tol
            rough = waiting > FEW_MORE * rows.count
            self.control = self.control._replace(
                tol=max(tol, INNER_SHARE * self.outer) if rough else tol,
                ending=ending if last else r.RETURN,
            )
            ended = self._optimise(everyone)
            if ended:
                return ended

    def _most_are_needed(self, rows, waiting):
        first = 0 < rows.count <= FEWEST_ROWS
        return (first and waiting > MOST_WAITING * rows.n) or rows.count > MOST_ROWS * rows.n

    def _optimise(self, everyone):
        """Pair and face steps on the samples with a row; a reason to end before they converge."""
        rows = everyone.rows
        self.active = everyone.part(rows.owners, FullRows(rows.square(), rows.evaluations))
        forget_pairs(self.memory.integers)
        self.best_violation, self.idle = np.inf, 0
        event, ended = None, None
        while event != r.CONVERGED and not ended:
            event = self.slab()
            ended = self._budgets(event)
            if event == r.FACE_DUE and not ended:
                self.face()
                ended = "unbounded" if self.unbounded else None
        everyone.place(everyone.variables_of(rows.owners), self.active.v.alpha)
        return ended

    def _out_of(self, status):
        if self.growing:
            return status
        return super()._out_of(status)

    def _stalled(self):
        if not self.growing:
            return super()._stalled()
        self.stagnant, self.idle = False, 0
        if self.polish_until <= 0.0:
            return "precision"
        self.memory.reals[r.POLISH_UNTIL] = OVER
        return None

    def progress(self):
        told = super().progress()
        return told._replace(violation=max(told.violation, self.outer)) if self.growing else told


def likeliest(wishes, count):
    """About so many samples with the strongest wishes, as many of every kind."""
    share, chosen = max(1, count // len(wishes)), []
    for wish in wishes:
        eager = np.flatnonzero(wish > 0.0)
        if eager.size > share:
            eager = eager[np.argpartition(-wish[eager], share)[:share]]
        chosen.append(eager)
    return np.unique(np.concatenate(chosen))
