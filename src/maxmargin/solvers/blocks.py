"""The driver `blocks`: many samples, optimised a block of the most violating ones at a time.

    choose the samples that violate most, and those chosen last
    fetch their Gram rows in one matrix product
    optimise the small problem they form by pair and face steps
    apply the change of α to everyone's gradient

`Samples` stands for everyone. The run talks to it through four questions only: the violation, the
most violating samples, the block of some of them, and the application of a change. The long rows
stay on its side.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse

from ..compiled import compiled
from ..memory import room
from ..threads import in_parts
from . import records as r
from .active import Active
from .longrows import LongRows
from .pairs import LARGEST_POLISHED
from .rows import FullRows
from .run import Ended, Run

# Samples of a block: more where there are many, and more again where they have many features, as
# products of many rows are faster.
SMALL_BLOCK, BLOCK, LARGE_BLOCK = 512, 1024, 2048
MANY_SAMPLES, MANY_FEATURES = 20_000, 256
# A block is optimised to this part of the violation found outside it, with at most so many steps
# for each of its variables.
INNER_SHARE, INNER_STEPS = 0.2, 10
# Samples come in stages, the first not smaller than this, each so many times as large as the one
# before, and left at so many times tol.
SMALLEST_STAGE, STAGE_RATIO, STAGE_GOAL = 6000, 3, 100
# Few of the samples that violate most are new: then what is left is a matter of the free ones,
# which are taken together up to so many.
FEW, WIDEST_FACE = 0.02, 5000
# Rounds of a face step, which change few variables each while the block still changes a lot.
MOST_ROUNDS = 30
# Rows completed together, so that what is read across them stays in the cache.
TILE = 16
# Columns are dropped when at least this part of them has settled.
LEAST_SETTLED = 0.2
# The end is polished down to this part of tol, in at most so many rounds.
POLISHED, POLISH_ROUNDS = 1e-6, 20


@compiled
def assemble(block, last, known, values, slots, columns, start, stop):
    """Rows of the block of samples: entries between two known to the last block are taken from it,
    the others from the long row of this sample, if that is the new one."""
    size = known.size
    for i in range(start, stop):
        row = values[slots[i]]
        if known[i] < 0:
            for j in range(size):
                block[i, j] = row[columns[j]]
        else:
            old = last[known[i]]
            for j in range(size):
                if known[j] >= 0:
                    block[i, j] = old[known[j]]


@compiled
def complete(block, known, start, stop):
    """In some rows, the entries of known samples with new ones, from the rows of the new ones."""
    for left in range(start, stop, TILE):
        for i in range(left, min(left + TILE, stop)):
            if known[i] >= 0:
                for j in range(known.size):
                    if known[j] < 0:
                        block[i, j] = block[j, i]


class Samples:
    """All samples: their α and gradient, and rows of their Gram matrix.

    Samples that have settled at a bound are left out of rows and gradients until `return_all`;
    the others are *live*. Samples are named by their index in the problem.
    """

    def __init__(self, problem, gram, alpha, budget, block, pause, stages):
        self.problem, self.alpha, self.block_size = problem, alpha, block
        self.diagonal = gram.diagonal()
        self.rows = LongRows(gram, budget, block, pause)
        # A part of the samples comes first, if nothing is known yet, then more and more of them.
        self.stages = [] if alpha.any() else list(stages)
        self.returned_with = None  # the coefficients at the last return
        self.last = np.zeros(0, dtype=np.int64)  # the last block, and its matrix
        self.last_matrix = np.zeros((0, 0), dtype=gram.dtype)
        self.grow()

    # ---- the four questions ----------------------------------------------------------------

    def violation(self):
        tops, bottoms = self.live.extremes()
        return float(max(0.0, (tops - bottoms).max()))

    def most_violating(self, count):
        """About `count` samples: those that most want to rise, and to fall, in each group."""
        v = self.live.v
        tops, bottoms = self.live.extremes()
        share = max(1, count // (2 * tops.size))
        chosen = []
        for g in range(tops.size):
            wishes = ((v.gradient + v.rise[g], bottoms[g]), (-(v.gradient + v.fall[g]), -tops[g]))
            for wish, limit in wishes:
                eager = np.flatnonzero(wish > limit)
                if eager.size > share:
                    eager = eager[np.argpartition(-wish[eager], share)[:share]]
                chosen.append(eager % self.live.size)
        return self.live.samples[np.unique(np.concatenate(chosen))]

    def block(self, samples):
        """These samples as an `Active` set of their own."""
        places = self._places(samples)
        self.rows.ensure(places, self.live.has_free())
        known = np.full(samples.size, -1)
        _, old, before = np.intersect1d(samples, self.last, return_indices=True)
        known[old] = before
        matrix = room((samples.size, samples.size), self.rows.values.dtype)
        rows, slots = self.rows.values, self.rows.slot[places]

        def some_rows(start, stop):
            assemble(matrix, self.last_matrix, known, rows, slots, places, start, stop)

        in_parts(some_rows, samples.size, self.rows.threads)
        in_parts(partial(complete, matrix, known), samples.size, self.rows.threads)
        self.last, self.last_matrix = samples, matrix
        return self.live.part(places, FullRows(matrix))

    def apply(self, part):
        """Take over the α of a block, and let the change act on every live gradient."""
        self.live.place(self.live.variables_of(self._places(part.samples)), part.v.alpha)
        self.complete = self.live.size == self.problem.samples

    # ---- growing ---------------------------------------------------------------------------

    @property
    def growing(self):
        """Whether some samples have not been looked at yet."""
        return not self.grown

    def grow(self):
        """The samples of the next stage are live, with their gradient; at last all of them."""
        if hasattr(self, "live"):
            self.live.write(self.alpha, self.gradient)
        columns = self.stages.pop(0) if self.stages else None
        self.rows.reset(columns)
        samples = np.arange(self.problem.samples) if columns is None else columns
        support, coefficients = self._expansion()
        pull = np.zeros(self.problem.samples)
        for first in range(0, support.size, self.block_size):
            part = slice(first, first + self.block_size)
            places = np.searchsorted(samples, support[part])
            self.rows.ensure(places)
            pull[samples] += self.rows.combine(places, coefficients[part])
        self.gradient = self.problem.gradient(self.alpha, pull)
        self.live = Active.of(
            self.problem, self.rows, self.diagonal, self.alpha, self.gradient, columns
        )
        self.last = self.last[:0]
        self.complete = self.grown = columns is None

    # ---- settling --------------------------------------------------------------------------

    def settle(self):
        """Leave out the samples that have settled, if rows fill the memory and enough have."""
        if self.returned_with is not None or not self.grown or not self.rows.full:
            return
        keep = self.live.staying()
        if 2 <= keep.size < (1.0 - LEAST_SETTLED) * self.live.size:
            self.live.write(self.alpha, self.gradient)
            self.rows.restrict(keep)
            self.live = self.live.part(keep, self.rows)
            self.complete = False

    def return_all(self):
        """Know every gradient again; samples that turn out not to be settled are live again."""
        problem = self.problem
        self.live.write(self.alpha, self.gradient)
        away = np.setdiff1d(np.arange(problem.samples), self.live.samples, assume_unique=True)
        variables = (np.arange(problem.copies)[:, None] * problem.samples + away).ravel()
        coefficients = problem.per_sample(self.alpha)
        change = coefficients
        if self.returned_with is None:
            held = problem.ridge[variables] * self.alpha[variables]
            self.gradient[variables] = problem.linear[variables] - held
        else:
            change = coefficients - self.returned_with
        moved = np.flatnonzero(change)
        pull = self.rows.expansion(moved, change[moved], away)
        self.gradient[variables] -= np.tile(pull, problem.copies)
        self.returned_with = coefficients
        self._revive()

    def refresh(self):
        """All gradients anew, free of accumulated rounding."""
        self.live.write(self.alpha, self.gradient)
        support, coefficients = self._expansion()
        pull = self.rows.expansion(support, coefficients, None)
        self.gradient = self.problem.gradient(self.alpha, pull)
        self.returned_with = self.problem.per_sample(self.alpha)
        self._revive()

    def _revive(self):
        self.live = Active.of(self.problem, self.rows, self.diagonal, self.alpha, self.gradient)
        keep = self.live.staying()
        self.rows.reset(None)
        if 2 <= keep.size < (1.0 - LEAST_SETTLED) * self.live.size:
            self.rows.reset(keep)
            self.live = self.live.part(keep, self.rows)
        self.last = self.last[:0]
        self.complete = True

    def free(self):
        """The samples with a free variable."""
        return self.live.samples[self.live.has_free()]

    def _places(self, samples):
        """Where samples stand in the live set."""
        return np.searchsorted(self.live.samples, samples)

    def _expansion(self):
        coefficients = self.problem.per_sample(self.alpha)
        support = np.flatnonzero(coefficients)
        return support, coefficients[support]


class BlockRun(Run):
    """Rounds of blocks until no sample violates."""

    def prepare(self):
        block = BLOCK if self.problem.samples >= MANY_SAMPLES else SMALL_BLOCK
        if features(self.gram.X) >= MANY_FEATURES:
            block = LARGE_BLOCK
        # A block must at least hold the most violating pair of every group.
        self.size = min(max(block, 4 * self.problem.totals.size), self.problem.samples)
        budget = self.settings.cache_bytes
        self.everyone = Samples(
            self.problem,
            self.gram,
            self.alpha,
            budget,
            self.size,
            self.pause,
            self._stages(),
        )
        self.active = self.everyone.live
        self.memory.reals[r.DUAL] = self.problem.value(self.alpha, self.everyone.gradient)
        self.goal = self.settings.tol
        self.recent = np.zeros(0, dtype=np.int64)
        self.stagnant, self.refreshes = False, 0
        self.polish_rounds = None  # rounds left for polishing, once it began

    def _stages(self):
        """Random parts of the samples, each contained in the next and several times as large."""
        n = self.problem.samples
        order = np.random.default_rng(0).permutation(n)
        sizes = []
        while n / STAGE_RATIO >= SMALLEST_STAGE:
            n = int(n / STAGE_RATIO)
            sizes.insert(0, n)
        return [np.sort(order[:size]) for size in sizes]

    def loop(self):
        everyone = self.everyone
        try:
            status = self._rounds()
        except Ended as ended:
            status = str(ended)
        if not everyone.complete:
            # Without everyone's gradient there is no bias: this last product is owed.
            everyone.rows.pause = lambda: None
            everyone.return_all()
        everyone.live.write(everyone.alpha, everyone.gradient)
        self.gradient, self.active = everyone.gradient, everyone.live
        everyone.rows.give_back()
        return status

    def _rounds(self):
        everyone = self.everyone
        while True:
            self.violation, self.active = everyone.violation(), everyone.live
            if everyone.growing and self.violation <= STAGE_GOAL * self.settings.tol:
                everyone.grow()
                continue
            if self.violation <= max(self.goal, self.noise()):
                if not everyone.complete:
                    everyone.return_all()
                elif not self._polish():
                    return "converged" if self.violation <= self.settings.tol else "precision"
                continue
            ended = self._budgets()
            if ended:
                return ended
            part = everyone.block(self._chosen())
            dual = self.memory.reals[r.DUAL]
            event = self._optimise(part)
            everyone.apply(part)
            if self.unbounded or event == r.UNBOUNDED or self.hopeless():
                return "unbounded"
            if event == r.TARGET_REACHED:
                return "target"
            self.violation = everyone.violation()
            self.stagnant = self.stagnates(self.memory.reals[r.DUAL] - dual)
            if self.settings.shrinking and self.polish_rounds is None:
                everyone.settle()

    def _chosen(self):
        """The most violating samples, then the free ones when polishing, then the recent ones."""
        everyone, size = self.everyone, self.size
        eager = everyone.most_violating(max(2, size // 2))
        others = self.recent
        free = everyone.free()
        self.wide = self._few_are_new(eager, free)
        if self.wide:
            size = max(size, eager.size + free.size)
        if self.wide or self.polish_rounds is not None:
            others = np.concatenate([free, others])
        others = others[np.isin(others, everyone.live.samples)]
        order = np.concatenate([eager, others])
        _, first = np.unique(order, return_index=True)
        self.recent = order[np.sort(first)][:size]
        return np.sort(self.recent)

    def _few_are_new(self, eager, free):
        """Whether what is left is a matter of the free variables, which then form one block."""
        rows = self.everyone.rows
        places = self.everyone._places(eager)
        new = np.count_nonzero(rows.slot[places] < 0)
        fits = eager.size + free.size <= rows.owner.size
        return new <= FEW * eager.size and free.size <= WIDEST_FACE and fits and self.settings.face

    def _optimise(self, part):
        """Pair and face steps on a block, as far as the violation outside makes worth while."""
        self.active = part
        self.forget_pairs()
        self.control = self.control._replace(tol=max(INNER_SHARE * self.violation, 0.5 * self.goal))
        if self.wide:
            self.wide_face()
        elif self.polish_rounds is not None and self.settings.face:
            self.face()
        last = self.memory.integers[r.CLOCK] + INNER_STEPS * part.v.alpha.size
        while self.memory.integers[r.CLOCK] < last and not self.unbounded:
            event = self.slab()
            if event != r.STEPS_DONE or self.steps_left() <= 0:
                return event
            if self.face_is_due():
                self.face(MOST_ROUNDS)
        return r.STEPS_DONE

    def _budgets(self):
        """A reason to end now, or None."""
        if self.interrupt.pressed:
            return "interrupted"
        if self.told_to_stop():
            return "stopped"
        good = self.everyone.complete and self.violation <= self.settings.tol
        if self.steps_left() <= 0:
            return "converged" if good else "step_limit"
        if self.out_of_time():
            return "converged" if good else "time_limit"
        if self.polish_rounds is not None:
            self.polish_rounds -= 1
            if self.polish_rounds <= 0:
                self.goal = self.settings.tol
        if self.stagnant:
            return self._stalled()
        return None

    def _stalled(self):
        """No gain above rounding: gradients anew, then no more polishing, then admit it."""
        self.stagnant, self.idle = False, 0
        self.refreshes += 1
        if self.refreshes == 1:
            self.everyone.refresh()
        elif self.goal < self.settings.tol:
            self.goal = self.settings.tol
        else:
            return "precision"
        return None

    def _polish(self):
        """Whether to go on towards the exact optimum: if a block can hold all free variables."""
        if self.polish_rounds is not None or not self.can_polish():
            return False
        live = self.everyone.live
        free = live.free().size
        size = min(max(self.size, 2 * free), live.size)
        if free > LARGEST_POLISHED or size > self.everyone.rows.owner.size:
            return False
        self.size = size
        self.polish_rounds = POLISH_ROUNDS
        self.goal = POLISHED * self.settings.tol
        return True

    def evaluations(self):
        return int(self.everyone.rows.evaluations)


def features(X):
    """Numbers in an input: how dear a row of its Gram matrix is."""
    if sparse.issparse(X):
        return X.nnz / max(1, X.shape[0])
    return X.shape[1] if np.ndim(X) == 2 else 0
