"""The dual problems of a fit, their results, and the coefficients that these give to samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ....dual import Certificate, Expansion, Machine
from ....dual.problem import Float
from ....runtime.jit import compiled_strict
from ....solvers import Solution
from ...conditioning import exactly_balanced
from ...distinct import Samples


class Settings(NamedTuple):
    """The parameters of an estimator that go to `solve`."""

    tol: float
    gap: float
    driver: str
    selection: str
    planning: int
    shrinking: bool
    cache_bytes: float
    max_steps: float | None
    precision: str
    random_state: int


class Task(NamedTuple):
    """One dual problem of a fit.

    Attributes
    ----------
    name : str
        Name in messages.
    machine : Machine
    samples : tuple of int arrays
        Its distinct samples: of one class, then of the other; empty for all samples.
    classes : tuple of int
        The two classes, if Gram blocks inside classes are shared.
    start : float array or None
        Starting point of the solver.
    remake : callable or None
        Makes the machine of some of the samples, from their labels, weights and class weights.
    restate : callable or None
        Makes of a certificate, α and Kα the certificate of the problem posed, where this one was
        solved in its place.
    """

    name: str
    machine: Machine
    samples: tuple[np.ndarray, ...] = ()
    classes: tuple[int, int] | None = None
    start: np.ndarray | None = None
    remake: Callable[..., Machine] | None = None
    restate: Callable[[Certificate, Float, Float], Certificate] | None = None

    @property
    def indices(self) -> np.ndarray | None:
        return np.concatenate(self.samples) if self.samples else None

    def as_posed(self, shown: Certificate, alpha: Float, sums: Float) -> Certificate:
        """The certificate of the problem posed, from that of `machine`; `sums` is Kα."""
        return shown if self.restate is None else self.restate(shown, alpha, sums)


class Outcome(NamedTuple):
    """A solved task.

    Attributes
    ----------
    solution : Solution
    expansion : Expansion
    certificate : Certificate
    sums : float array or None
        Kα in float64, if the certificate needed all of it.
    """

    solution: Solution
    expansion: Expansion
    certificate: Certificate
    sums: Float | None = None

    @property
    def finished(self) -> bool:
        return self.solution.converged

    def ended(self, status: str) -> Outcome:
        """This outcome with another status."""
        return self._replace(solution=replace(self.solution, status=status))


def coefficients(task: Task, outcome: Outcome, samples: Samples) -> np.ndarray:
    """The coefficients of a solved task, one per given sample."""
    alpha, problem = outcome.solution.alpha, task.machine.problem
    coef = handed_out(task, alpha, outcome.expansion.coef, samples)
    if not samples.centred:
        return coef
    free = np.zeros(samples.size, dtype=bool)
    some = task.indices if task.samples else slice(None)
    free[some] = problem.free(alpha).reshape(problem.copies, problem.samples).any(axis=0)
    return exactly_balanced(coef, (samples.member >= 0) & free[samples.member])


def by_class(coef: list[np.ndarray], codes: np.ndarray) -> np.ndarray:
    """The samples with a coefficient, grouped by class, in their order inside each."""
    used = coef[0] != 0
    for values in coef[1:]:
        used |= values != 0
    samples = np.flatnonzero(used)
    return samples[np.argsort(codes[samples], kind="stable")]


def delivered(samples: Samples, task: Task, alpha: np.ndarray) -> np.ndarray:
    """The α that the coefficients of copies add up to; the given array if they agree up to
    rounding."""
    if not samples.has_copies:
        return alpha
    problem = task.machine.problem
    coef = problem.per_sample(alpha)
    merged = samples.gathered(handed_out(task, alpha, coef, samples))
    merged = merged[task.indices] if task.samples else merged
    # A sum over copies may be rounded.
    if (np.abs(merged - coef) <= 1e-13 * np.abs(coef)).all():
        return alpha
    ratio = np.divide(merged, coef, out=np.ones_like(coef), where=coef != 0)
    return alpha * problem.of_samples(ratio)


def handed_out(task: Task, alpha: np.ndarray, own: np.ndarray, samples: Samples) -> np.ndarray:
    """Coefficients of the samples of a task, one per given sample."""
    problem = task.machine.problem
    coef, level = own, None
    indices: Any = slice(None)
    if task.samples:
        indices = task.indices
        coef = np.zeros(samples.size)
        coef[indices] = own
    if samples.has_copies and not problem.ridge.any():
        own, level = np.empty(problem.samples), np.zeros(samples.size)
        find_levels(alpha, problem.lower, problem.upper, own)
        level[indices] = own
    return samples.spread(coef, level)


@compiled_strict
def find_levels(alpha: Any, lower: Any, upper: Any, level: Any) -> None:
    """The coefficient of each sample as a fraction of its largest value."""
    samples = level.size
    for s in range(samples):
        total = limit = 0.0
        for a in range(s, alpha.size, samples):
            total += alpha[a]
            limit = max(limit, abs(lower[a]), abs(upper[a]))
        level[s] = abs(total) / limit if limit > 0.0 else 0.0
