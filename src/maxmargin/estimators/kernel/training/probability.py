"""Probabilities: cross-fitted sigmoids of decision values, coupled over pairs of classes.

The probability of the first class of a problem with decision value f is

    P = 1 / (1 + exp(A·f + B)),   A < 0

(thesis 9.2.1, 9.2.2). B = 0 by default: then P = ½ exactly on the boundary. A (and B) maximise the
likelihood, with Platt's smoothed targets, of decision values on samples that were left out of
training, in five folds. Copies of a sample are left out together, and which fold a sample belongs
to depends on its content and the random state alone.

Pairs are coupled by the p that minimises Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)² (Wu, Lin and Weng,
2004), r_ij the probability of i in the pair (i, j). Votes and the coupled p may disagree; then
p is moved to the nearest distribution in which the winner of the votes comes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ....dual import Expansion, Machine
from ....runtime.sizes import BLOCK_ENTRIES
from ....solvers import plan
from ....solvers.drivers.batch import solve_batch
from ...distinct import Samples
from ..multiclass import labels_of, pairs
from .problems import Trainer
from .tasks import Outcome, Task

FOLDS = 5


class Sigmoids(NamedTuple):
    """A and B of every problem."""

    slope: np.ndarray
    offset: np.ndarray


def fitted_sigmoids(
    tasks: list[Task],
    outcomes: list[Outcome],
    samples: Samples,
    trainer: Trainer,
    *,
    factor: np.ndarray,
    two_parameters: bool,
    seed: int,
) -> Sigmoids:
    """The sigmoids of all problems, from decision values that training did not see.

    Parameters
    ----------
    factor : float array
        Weights of the classes.
    """
    problems = [CrossFit(*pair, samples, factor, seed) for pair in zip(tasks, outcomes)]
    parts = [(problem, fold) for problem in problems for fold in range(problem.folds)]
    trainer.each(lambda those: solved_together(those, trainer), [parts])
    trainer.each(lambda part: part[0].leave_out(part[1], trainer), parts)
    if trainer.interrupted:
        return Sigmoids(np.empty(0), np.empty(0))
    fits = [problem.sigmoid(two_parameters) for problem in problems]
    return Sigmoids(*np.array(fits).T)


class CrossFit:
    """Decision values of a problem on each fold, from training on the others."""

    def __init__(
        self, task: Task, outcome: Outcome, samples: Samples, factor: np.ndarray, seed: int
    ) -> None:
        self.task, self.alpha = task, outcome.solution.alpha
        self.indices = np.arange(samples.size) if task.indices is None else task.indices
        self.labels = labels_of(task.machine)
        self.weight = samples.weight[self.indices]
        self.factor = factor[samples.targets[self.indices].astype(np.int64)]
        self.fold, self.folds = stratified_folds(samples.keys[self.indices], self.labels, seed)
        # Fallback if there is no time for cross-validation: in-sample values.
        self.decisions = np.nan_to_num(
            task.machine.problem.expansion(outcome.solution.alpha, outcome.solution.gradient)
        )
        self.decisions += outcome.solution.bias.mean()
        # The functions of the machines that are solved together, by fold.
        self.found: dict[int, Expansion] = {}

    def leave_out(self, fold: int, trainer: Trainer) -> None:
        if trainer.clock.left() == 0:
            return
        test, train = np.flatnonzero(self.fold == fold), np.flatnonzero(self.fold != fold)
        if self.is_of_one_class(train):
            self.decisions[test] = self.labels[train[0]] if train.size else 0.0
            return
        expansion = self.found.pop(fold, None) or trainer.plain_fit(
            self.machine(train), self.indices[train], self.alpha[train]
        )
        support = np.flatnonzero(expansion.coef)
        values = trainer.grams.combined(
            self.indices[test], self.indices[train][support], expansion.coef[support]
        )
        self.decisions[test] = values + expansion.intercept

    def is_of_one_class(self, train: np.ndarray) -> bool:
        labels = self.labels[train]
        return bool((labels == labels[:1]).all())

    def machine(self, train: np.ndarray) -> Machine:
        assert self.task.remake is not None
        return self.task.remake(self.labels[train], self.weight[train], self.factor[train])

    def sigmoid(self, two_parameters: bool) -> tuple[float, float]:
        return fitted_sigmoid(self.decisions, self.labels, self.weight, two_parameters)


def solved_together(parts: list[tuple[CrossFit, int]], trainer: Trainer) -> None:
    """Solve the small problems of pairs of classes in one call, which saves the setup of each."""
    shared = trainer.grams.shared
    if shared is None or not trainer.is_plain():
        return
    small, machines, places = [], [], []
    for problem, fold in parts:
        train = np.flatnonzero(problem.fold != fold)
        if problem.task.classes is None or problem.is_of_one_class(train):
            continue
        machine = problem.machine(train)
        if plan.is_small(machine.problem):
            small.append((problem, fold))
            machines.append(machine)
            places.append(shared.places(problem.task.classes)[train])
    if not small:
        return
    together = shared.parts([machine.problem for machine in machines], places)
    settings = trainer.settings
    solved = solve_batch(together, settings.tol, gap=settings.gap)
    for (problem, fold), machine, (solution, _, bias) in zip(small, machines, solved):
        if solution.converged:
            problem.found[fold] = machine.read(solution.alpha, bias)


def stratified_folds(keys: np.ndarray, labels: np.ndarray, seed: int) -> tuple[np.ndarray, int]:
    """The fold of every sample, determined by its key and not its place, and the number of
    folds."""
    random = np.random.RandomState(seed)
    smaller = min((labels > 0).sum(), (labels < 0).sum())
    folds = int(np.clip(smaller, 2, FOLDS))
    fold = np.empty(keys.size, dtype=np.int64)
    for label in (1.0, -1.0):
        members = np.flatnonzero(labels == label)
        members = members[np.argsort(keys[members], kind="stable")]
        fold[random.permutation(members)] = np.arange(members.size) % folds
    return fold, folds


def fitted_sigmoid(
    decisions: np.ndarray, labels: np.ndarray, weight: np.ndarray, two_parameters: bool
) -> tuple[float, float]:
    """A and B of the largest weighted likelihood, by Newton's method."""
    positive = labels > 0
    above, below = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (above + 1.0) / (above + 2.0), 1.0 / (below + 2.0))
    scale = np.abs(decisions).max(initial=0.0) or 1.0
    columns = [decisions / scale] + [np.ones(decisions.size)] * two_parameters
    theta = logistic_regression(np.column_stack(columns), target, weight)
    slope = max(theta[0], 1e-6) / scale  # sigmoids rise
    return -slope, -theta[1] if two_parameters else 0.0


def logistic_regression(D: np.ndarray, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """θ that minimises Σ weight·(log(1 + exp(z)) − target·z), z = Dθ."""

    def cost(z: np.ndarray) -> float:
        return float(weight @ (np.logaddexp(0.0, z) - target * z))

    theta = np.zeros(D.shape[1])
    current = cost(D @ theta)
    for _ in range(100):
        p = expit(D @ theta)
        gradient = D.T @ (weight * (p - target))
        hessian = (D * (weight * p * (1.0 - p))[:, None]).T @ D
        hessian[np.diag_indices_from(hessian)] += 1e-12 * weight.sum()
        step = -np.linalg.solve(hessian, gradient)
        length, value = 1.0, cost(D @ (theta + step))
        while value > current and length > 1e-10:
            length *= 0.5
            value = cost(D @ (theta + length * step))
        if not value < current:
            break
        theta, current = theta + length * step, value
        if np.abs(length * step).max() <= 1e-12 * (1.0 + np.abs(theta).max()):
            break
    return theta


def probabilities(
    decisions: np.ndarray, sigmoids: Sigmoids, in_pairs: bool, winners: np.ndarray
) -> np.ndarray:
    """The distribution over classes of each sample, its mode at `winners`.

    Parameters
    ----------
    decisions : float array of shape (samples, problems)
        Positive for the first class of each problem.
    sigmoids : Sigmoids
    in_pairs : bool
        Whether there is a problem for each pair of classes; else one for two classes, or one for
        each class.
    winners : int array
    """
    z = decisions * sigmoids.slope + sigmoids.offset
    if in_pairs:
        distribution = coupled(expit(-z))
    elif z.shape[1] == 1:
        distribution = np.column_stack([expit(-z[:, 0]), expit(z[:, 0])])
    else:
        distribution = expit(-z)
        distribution /= distribution.sum(axis=1, keepdims=True)
    return favouring(distribution, winners)


def coupled(first: np.ndarray, least: float = 1e-7) -> np.ndarray:
    """Class probabilities from those of the first class in each pair, which are kept `least` away
    from 0 and 1, where the coupling is degenerate.

    The minimiser solves Qp + λ1 = 0, 1·p = 1, with Q_ii = Σ_{j≠i} r_ji², Q_ij = −r_ji r_ij.
    """
    first = np.clip(first, least, 1.0 - least)
    classes = round(0.5 + np.sqrt(0.25 + 2 * first.shape[1]))
    result = np.empty((len(first), classes))
    step = max(1, BLOCK_ENTRIES // (classes + 1) ** 2)
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        r = np.zeros((len(first[part]), classes, classes))
        for p, (i, j) in zip(first[part].T, pairs(classes)):
            r[:, i, j], r[:, j, i] = p, 1.0 - p
        system = np.ones((len(r), classes + 1, classes + 1))
        system[:, :classes, :classes] = -r * r.transpose(0, 2, 1)
        diagonal = np.arange(classes)
        system[:, diagonal, diagonal] = (r * r).sum(axis=1)
        system[:, classes, classes] = 0.0
        right = np.zeros((len(r), classes + 1, 1))
        right[:, classes] = 1.0
        result[part] = np.linalg.solve(system, right)[:, :classes, 0]
    result = np.maximum(result, 0.0)
    found: np.ndarray = result / result.sum(axis=1, keepdims=True)
    return found


def favouring(distribution: np.ndarray, winners: np.ndarray) -> np.ndarray:
    """The nearest distributions whose largest entry is that of the winner.

    Nearest in Euclidean distance: the winner and all classes above it meet at their mean. The
    winner is then raised by a rounding error, so that it alone is the largest.
    """
    wrong = np.flatnonzero(np.argmax(distribution, axis=1) != winners)
    if not wrong.size:
        return distribution
    p, rows = distribution[wrong], np.arange(wrong.size)
    own = p[rows, winners[wrong]]
    others = p.copy()
    others[rows, winners[wrong]] = -np.inf
    others = -np.sort(-others, axis=1)[:, :-1]
    ranks = np.arange(1, others.shape[1] + 1)
    means = (own[:, None] + np.cumsum(others, axis=1)) / (ranks + 1)
    following = np.column_stack([others[:, 1:], np.full(wrong.size, -np.inf)])
    level = means[rows, np.argmax(means >= following, axis=1)]
    p = np.minimum(p, level[:, None])
    p[rows, winners[wrong]] = level * (1.0 + 1e-14)
    distribution[wrong] = p
    return distribution
