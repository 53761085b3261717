"""The driver of shards: rounds of chunking until no sample of any shard violates, then a proof.

Order of calls in `solve_sharded`::

    begin       a random sample becomes the first members, or those of a checkpoint
    repeat
      optimise  solve the problem restricted to the members, by `solve`
      spread    send the changes of α; every shard updates its gradient and proposes violators
      prove     when violation and gap seem small enough: rebuild states in float64, certificate
      admit     violators become members; members at 0 that do not violate are dropped

All α that is not 0 belongs to members, so the restricted problem needs nothing from the shards: it
is the original problem on fewer samples. The certificate comes from states rebuilt from the samples
and α in float64, and thus holds for the model as delivered.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...dual.certificate import Certificate
from ...dual.problem import Float, Int
from ...runtime.buffers import release_memory
from ...runtime.parallel import single_threaded_blas
from .. import plan
from ..interrupt import deferred_interrupts, interrupted_when
from ..result import Solution
from ..solver import solve
from .backend import Backend, Session
from .pool import Pool
from .records import Ended, ShardedProgress, ShardedSettings, ShardedSolution, Standing, Taken
from .rules import GAIN, RULES
from .shard import Proposal, ShardTask


def solve_sharded(
    backend: Backend,
    task: ShardTask,
    totals: Float,
    samples: int,
    settings: ShardedSettings,
    start: tuple[list[Int], list[Float]] | None = None,
    stop: Callable[[], bool] | None = None,
) -> ShardedSolution:
    """Solve one dual problem over all shards of a backend.

    Parameters
    ----------
    backend : Backend
    task : ShardTask
    totals : float array
        The sum of α demanded of each group.
    samples : int
        Of all shards.
    settings : ShardedSettings
    start : rows and α of the members of each shard, optional
        From a checkpoint.
    stop : callable, optional
        Whether the run must end for an external reason.
    """
    with single_threaded_blas(), deferred_interrupts() as interrupt:
        run = ShardedRun(backend, task, totals, samples, settings, interrupt, stop)
        try:
            return run.finish(start)
        finally:
            run.session.close()


class ShardedRun:
    """One run of `solve_sharded`."""

    def __init__(
        self,
        backend: Backend,
        task: ShardTask,
        totals: Float,
        samples: int,
        settings: ShardedSettings,
        interrupt: Any,
        stop: Callable[[], bool] | None,
    ) -> None:
        self.task, self.totals, self.samples, self.settings = task, totals, samples, settings
        self.interrupt, self.stop = interrupt, stop
        self.began = time.perf_counter()
        self.session: Session = backend.session(task, self.pause)
        self.standing = Standing(np.inf, np.inf, -np.inf, np.zeros(totals.size))
        self.rounds = self.steps = self.face_steps = self.evaluations = 0
        self.told_to_stop = self.begun = self.ended = False
        self.since_root, self.leash, self.drift = 0, RULES.leash, 0.0

    def finish(self, start: tuple[list[Int], list[Float]] | None) -> ShardedSolution:
        certificate = None
        self.begin(start)
        self.best, self.begun = (self.pool.at, self.pool.X), True
        try:
            status, certificate = self.loop()
        except Ended as ended:
            status, self.ended = str(ended), True
            self.pool.at, self.pool.X = self.best
        return self.result(status, certificate)

    def begin(self, start: tuple[list[Int], list[Float]] | None) -> None:
        if start is None:
            taken = self.first_sample()
        else:
            taken = self.session.fetch(start[0])
        self.shards = len(taken)
        self.pool = Pool(self.shards, taken[0].linear.shape[0])
        X = self.pool.add(taken)
        if X is None:
            raise ValueError("there are no samples with a positive weight")
        self.idle, self.urgency = np.zeros(len(self.pool), np.int64), np.zeros(len(self.pool))
        self.dtype = plan.working_dtype(
            self.settings.precision, self.task.kernel, self.pool.X, self.task.C, self.settings.tol
        )
        every = np.ones(len(self.pool), dtype=bool)
        problem = self.pool.restricted(every, self.totals, self.task.kernel)
        start_alpha = None if start is None else np.concatenate(start[1], axis=-1).ravel()
        self.pool.write(every, problem.feasible(start_alpha))
        self.fresh = start is None

    def first_sample(self) -> list[Taken]:
        """Samples of all shards; more if their boxes are too small for the demanded sums."""
        most = min(RULES.most_first, max(RULES.first, RULES.first_share * self.samples))
        share = min(1.0, most / self.samples)
        while True:
            taken = self.session.sample(share, 2, self.settings.random_state)
            upper = np.zeros(self.totals.size)
            for some in taken:
                np.add.at(upper, some.group, some.upper)
            if share >= 1.0 or not (upper < 1.01 * self.totals).any():
                return taken
            missing = np.max(self.totals / np.maximum(upper, 1e-300))
            share = min(1.0, share * min(1.05 * float(missing), 100.0))

    def loop(self) -> tuple[str, Certificate]:
        proofs, stale, best, allowance, dual = 0, 0, np.inf, 1.0, -np.inf
        while True:
            self.optimise(allowance)
            proposals = self.spread()
            self.rounds += 1
            self.best = self.pool.at, self.pool.X
            self.save()
            promised = self.promised(self.standing, RULES.aim * allowance)
            now, worth = self.standing, GAIN[self.dtype.itemsize] * abs(self.standing.dual)
            better = now.violation < 0.95 * best or now.dual > dual + worth
            stale = 0 if better else stale + 1
            best, dual = min(best, now.violation), max(dual, now.dual)
            patience = 0 if self.promised(now, RULES.stray) else RULES.patience
            if promised or stale > patience or self.lost_in_rounding():
                certificate, proposals = self.prove()
                proofs += 1
                if self.promised(self.standing, 1.0):
                    return "converged", certificate
                if (not promised and self.dtype == np.float64) or proofs > RULES.most_proofs:
                    return "precision", certificate
                stale, best, dual = 0, np.inf, -np.inf
                if not promised or self.promised(self.standing, RULES.stray):
                    self.dtype = np.dtype(np.float64)
                    allowance *= 0.5 if promised else 1.0
                else:  # samples that were set aside violate by more than rounding explains
                    self.leash *= RULES.longer
            self.budgets()
            self.admit(proposals)

    def promised(self, standing: Standing, part: float) -> bool:
        """Whether violation and gap are within this fraction of the tolerances."""
        s = self.settings
        near = standing.violation <= part * s.tol and standing.relative_gap <= part * s.gap
        # An optimum of 0 has no relative gap.
        return near or (standing.violation == 0.0 and standing.gap == 0.0)

    def lost_in_rounding(self) -> bool:
        """Whether members cause the violation that the solver has just removed: its kernel values
        in float32 are not those of the shards, and another round would not change that."""
        if self.dtype == np.float64 or len(self.pool) > self.most_members():
            return False
        own = self.pool.violation(self.gradient, self.totals.size)
        return own > RULES.rounding * max(self.standing.violation, 2.0 * self.solved)

    def optimise(self, allowance: float) -> None:
        """Solve the problem of the members, to a tolerance relative to all samples."""
        s, chosen = self.settings, self.chosen()
        problem = self.pool.restricted(chosen, self.totals, self.task.kernel)
        if np.isinf(self.standing.violation):
            scale = float(np.abs(problem.linear).max(initial=0.0)) or 1.0
            tol = RULES.first_share_of_linear * scale
        else:
            tol = RULES.inner_share * self.standing.violation
        tol = max(tol, 0.5 * allowance * self.floor())
        gram = self.task.kernel.bind(self.pool.inputs(chosen), self.dtype)
        with interrupted_when(self.must_stop):
            found = solve(
                problem,
                gram,
                tol=tol,
                # Boxes and stages only pay off without a starting point.
                alpha=None if self.fresh else self.pool.at.alpha[:, chosen].ravel(),
                cache_bytes=plan.row_budget(
                    plan.memory_budget(s.cache_size, problem.samples), 0, 1
                ),
                max_seconds=None if np.isinf(s.max_seconds) else self.seconds_left(),
                callback=self.tell if s.callback is not None else None,
            )
        self.fresh = False
        self.steps += found.steps
        self.face_steps += found.face_steps
        self.evaluations += found.kernel_evaluations
        if found.status in ("interrupted", "time_limit", "stopped"):
            self.budgets()
            raise Ended(found.status)
        self.pool.write(chosen, found.alpha)
        self.bias, self.solved = found.bias, found.violation
        if self.session.in_process:  # memory is for the parts of the file now
            del gram
            release_memory()

    def floor(self) -> float:
        """The violation to reach: below tol if the gap requires it."""
        s, now = self.settings, self.standing
        if now.violation > s.tol or not np.isfinite(now.relative_gap) or now.relative_gap <= 0:
            return s.tol
        return min(s.tol, 0.5 * now.violation * min(1.0, s.gap / now.relative_gap))

    def chosen(self) -> Any:
        """The members to optimise: all, or the most violating and the free ones."""
        chosen, most = np.ones(len(self.pool), dtype=bool), self.most_members()
        if len(self.pool) <= most:
            return chosen
        at = self.pool.at
        free = ((at.alpha > at.lower) & (at.alpha < at.upper)).any(axis=0)
        urgency = self.urgency + np.where(free, 0.5 * self.standing.violation, 0.0)
        chosen[np.argsort(-urgency, kind="stable")[most:]] = False
        return chosen

    def most_members(self) -> int:
        """With more members than this, only some are optimised at a time."""
        if self.settings.most_members is not None:
            return self.settings.most_members
        return RULES.most_members.of_size(self.pool.sample_bytes)

    def spread(self) -> list[Proposal]:
        """Send the changes of α to the shards; returns their proposals."""
        s = self.session
        if self.rounds == 0:
            self.keep(self.pool.at.alpha.any(axis=0))
        if self.rounds == 0 or (s.reroot_every and self.since_root >= s.reroot_every):
            s.restart(self.pool.one_block())
            self.since_root = 0
        self.since_root += 1
        return self.ask(self.dtype, self.leash * max(self.standing.violation, self.drift))

    def ask(self, dtype: Any, leash: float, keep: bool = True) -> list[Proposal]:
        asked = max(16, int(RULES.asked * self.candidates() / self.shards))
        deltas = self.pool.deltas()
        changed = sum(int(np.count_nonzero(delta)) for delta in deltas)
        members = self.pool.members()
        proposals = self.session.advance(members, deltas, dtype, self.bias, asked, leash, keep)
        drift = max(proposal.drift for proposal in proposals)
        self.drift = RULES.drift * drift if drift else self.drift
        self.evaluations += changed * self.samples
        self.pool.told()
        gap = sum(proposal.gap for proposal in proposals)
        self.read(
            proposals, gap + float(self.bias @ (self.totals - self.pool.sums(self.totals.size)))
        )
        return proposals

    def prove(self) -> tuple[Certificate, list[Proposal]]:
        """The certificate of α, from states rebuilt in float64."""
        self.session.restart(self.pool.one_block())
        self.since_root = 1
        proposals = self.ask(np.float64, np.inf, keep=False)
        self.bias = self.meeting(proposals)
        parts = self.session.gaps(self.pool.members(), self.bias)
        gap = sum(parts) + float(self.bias @ (self.totals - self.pool.sums(self.totals.size)))
        self.read(proposals, gap)
        return self.certificate(), proposals

    def read(self, proposals: list[Proposal], gap: float) -> None:
        highest = np.max([proposal.highest for proposal in proposals], axis=0)
        lowest = np.min([proposal.lowest for proposal in proposals], axis=0)
        violation = max(0.0, float(np.max(highest - lowest)))
        self.gradient = self.pool.in_order([proposal.gradient for proposal in proposals])
        at = self.pool.at
        dual = 0.5 * float(np.sum(at.alpha * (at.linear + self.gradient)))
        self.standing = Standing(violation, max(gap, 0.0), dual, self.bias)
        pull = self.gradient - self.bias[at.group]
        above = np.where(at.alpha < at.upper, pull, 0.0)
        below = np.where(at.alpha > at.lower, -pull, 0.0)
        self.urgency = np.maximum(above, below).max(axis=0)

    def meeting(self, proposals: list[Proposal]) -> Float:
        """The bias, as of `DualProblem.bias`."""
        at, bias = self.pool.at, self.bias.copy()
        highest = np.max([proposal.highest for proposal in proposals], axis=0)
        lowest = np.min([proposal.lowest for proposal in proposals], axis=0)
        free = (at.alpha > at.lower) & (at.alpha < at.upper)
        for g in range(bias.size):
            own = self.gradient[free & (at.group == g)]
            if own.size:
                bias[g] = own[0] + float(np.mean(own - own[0]))
            elif np.isfinite(highest[g]) and np.isfinite(lowest[g]):
                bias[g] = 0.5 * (highest[g] + lowest[g])
        return bias

    def admit(self, proposals: list[Proposal]) -> None:
        """Drop members that have been at 0 for some rounds, and add the worst violators."""
        at_zero = ~self.pool.at.alpha.any(axis=0)
        self.idle = np.where(at_zero & (self.urgency <= self.standing.violation), self.idle + 1, 0)
        self.keep(self.idle < RULES.settled)
        wanted, found = self.candidates(), np.concatenate([p.violation for p in proposals])
        least = np.partition(found, found.size - wanted)[-wanted] if found.size > wanted else 0.0
        # Violators within the tolerance of the members are ignored.
        unsettled = self.standing.violation > self.settings.tol
        least = max(float(least), 0.25 * self.floor() if unsettled else 0.0)
        taken = [p.taken.at(p.violation >= least) for p in proposals]
        X = self.pool.add(taken)
        if X is not None:
            self.session.send(X)
            new = len(self.pool) - self.idle.size
            self.idle = np.append(self.idle, np.zeros(new, dtype=np.int64))
            self.urgency = np.append(self.urgency, np.full(new, np.inf))
        if self.session.in_process:  # no second copy of the inputs, and none of those dropped
            self.session.reuse(self.pool.merged())

    def keep(self, kept: Any) -> None:
        """Drop all other members, if some are left."""
        if kept.any():
            self.pool.keep(kept)
            self.idle, self.urgency = self.idle[kept], self.urgency[kept]

    def candidates(self) -> int:
        """Number of violators that become members in a round."""
        wanted = int(RULES.candidate_share * len(self.pool))
        most = RULES.most_candidates.of_size(self.pool.sample_bytes)
        return min(most, max(RULES.fewest_candidates, wanted))

    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def seconds_left(self) -> float:
        return max(0.0, self.settings.max_seconds - self.seconds())

    def must_stop(self) -> bool:
        return self.interrupt.pressed or (self.stop is not None and self.stop())

    def pause(self) -> None:
        """Called while shards compute."""
        if self.ended:
            return
        if not self.begun:
            # Without members there is no result to return.
            if self.interrupt.pressed:
                raise KeyboardInterrupt
            return
        if self.interrupt.pressed:
            raise Ended("interrupted")
        if self.told_to_stop or (self.stop is not None and self.stop()):
            raise Ended("stopped")
        if self.seconds() > self.settings.max_seconds:
            raise Ended("time_limit")

    def budgets(self) -> None:
        self.tell(None)
        self.pause()
        if self.rounds >= self.settings.max_rounds:
            raise Ended("step_limit")

    def tell(self, progress: Any) -> bool:
        """Report the state of all samples; returns whether to stop."""
        del progress
        if self.settings.callback is not None:
            now = self.standing
            told = ShardedProgress(
                self.rounds,
                now.violation,
                now.dual,
                now.gap,
                self.seconds(),
                self.pool.support,
                len(self.pool),
                self.session.moved,
                self.session.workers,
                self.session.sent,
            )
            self.told_to_stop |= bool(self.settings.callback(told))
        return self.told_to_stop

    def save(self) -> None:
        """Write the members to the checkpoint."""
        if self.settings.checkpoint is not None:
            at, support = self.pool.at, self.pool.at.alpha.any(axis=0)
            own = [support & (at.shard == k) for k in range(self.shards)]
            rows = [at.row[members] for members in own]
            self.settings.checkpoint(rows, [at.alpha[:, members] for members in own])

    def certificate(self) -> Certificate:
        now = self.standing
        return Certificate(
            primal=now.dual + now.gap,
            dual=now.dual,
            gap=now.gap,
            violation=now.violation,
            infeasibility=self.pool.infeasibility(self.totals),
        )

    def result(self, status: str, certificate: Certificate | None) -> ShardedSolution:
        proven = certificate is not None
        if certificate is None and np.isfinite(self.standing.dual):
            certificate = self.certificate()
        certificate = certificate or Certificate(np.inf, -np.inf, np.inf, np.inf, 0.0)
        at, support = self.pool.at, np.atleast_1d(self.pool.at.alpha.any(axis=0))
        if not support.any():
            support[0] = True
        gradient = getattr(self, "gradient", at.linear)
        if gradient.shape != at.alpha.shape:
            gradient = np.full(at.alpha.shape, np.nan)
        solution = Solution(
            alpha=at.alpha[:, support].ravel(),
            gradient=gradient[:, support].ravel(),
            bias=self.standing.bias,
            dual=certificate.dual,
            violation=certificate.violation,
            status=status,
            steps=self.steps,
            face_steps=self.face_steps,
            planned_steps=0,
            kernel_evaluations=self.evaluations,
            row_hits=0,
            row_misses=0,
            seconds=self.seconds(),
        )
        return ShardedSolution(
            X=self.pool.inputs(support),
            y=at.y[support],
            shard=at.shard[support],
            row=at.row[support],
            problem=self.pool.restricted(support, self.totals, self.task.kernel),
            solution=solution,
            certificate=certificate,
            proven=proven,
            rounds=self.rounds,
            moved=self.session.moved,
        )
