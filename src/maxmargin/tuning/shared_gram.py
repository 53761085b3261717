"""Machines on parts of the samples of one Gram matrix, along paths of C with warm starts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dual import DualProblem
from ..kernels import Kernel, Precomputed
from ..kernels.base import Gram, Inputs
from ..solvers import solve
from ..solvers.rows.lru import gather_block
from .base import Float
from .machine import COARSE_TOL, LARGEST, Int, hinge_fit

# Samples beyond which the shared Gram matrix is kept in float32.
DOUBLE = 4096
# Pair steps per sample before Newton steps are tried.
PATIENCE = 20


def shared(kernel: Kernel, X: Inputs) -> SharedGram:
    """The Gram matrix of X, in float32 if it is large."""
    gram = kernel.bind(X)
    if gram.n > DOUBLE:
        gram = kernel.bind(X, np.float32)
    return SharedGram(gram.matrix())


class SharedGram:
    """One Gram matrix for machines on parts of the samples.

    Parameters
    ----------
    K : square array
    """

    def __init__(self, K: NDArray[Any]) -> None:
        self.K = K
        self.n = len(K)
        self._gram: Gram | None = None

    def part(self, train: Int, labels: Float, penalty: Float | None = None) -> Part:
        """Machines on some of the samples, with a factor on the C of each."""
        penalty = np.ones(train.size) if penalty is None else penalty
        if train.size <= LARGEST:
            return SmallPart(self.K, train, labels, penalty)
        if self._gram is None:
            self._gram = Precomputed().bind(self.K)
        return LargePart(self._gram, train, labels, penalty)


class Trained(NamedTuple):
    """A machine on a part of the samples.

    Attributes
    ----------
    C : float
    alpha : float array
        Of the samples of the part.
    gradient : float array
        y − Kα, of the samples of the part.
    bias : float
    others : float array, optional
        −Kα of all samples, if known; valid outside the part only.
    """

    C: float
    alpha: Float
    gradient: Float
    bias: float
    others: Float | None = None


class Part(ABC):
    """Machines on some of the samples, for any C."""

    labels: Float
    penalty: Float

    @abstractmethod
    def trained(self, C: float, start: Float | None) -> Trained:
        """The machine at C, trained from a start."""

    @abstractmethod
    def outputs(self, step: Trained, test: Int) -> Float:
        """f at other samples."""


def path(part: Part, Cs: Float) -> Iterator[Trained]:
    """Machines by ascending C."""
    before: Trained | None = None
    for C in Cs:
        if before is not None and inside_the_box(before, part.penalty):
            before = before._replace(C=float(C))
        else:
            start = None if before is None else stretched(before, part.labels, float(C))
            before = part.trained(float(C), start)
        yield before


def inside_the_box(step: Trained, penalty: Float) -> bool:
    """Whether no variable is at its bound, so that every larger C has the same machine."""
    return bool((np.abs(step.alpha) < (1.0 - 1e-9) * step.C * penalty).all())


def stretched(before: Trained, labels: Float, C: float) -> Float:
    """The best feasible multiple of α at a larger C; αᵀKα = α·(y − G)."""
    linear = float(labels @ before.alpha)
    quadratic = linear - float(before.alpha @ before.gradient)
    best = linear / quadratic if quadratic > 0 else np.inf
    return before.alpha * min(C / before.C, max(best, 1.0))


class SmallPart(Part):
    """Machines on a copy of their part of the Gram matrix."""

    def __init__(self, K: NDArray[Any], train: Int, labels: Float, penalty: Float) -> None:
        self.whole, self.train, self.labels, self.penalty = K, train, labels, penalty
        everything = train.size == len(K) and np.array_equal(train, np.arange(train.size))
        block = K if everything else gather_block(K, train, train)
        self.K = np.ascontiguousarray(block, dtype=np.float64)

    def trained(self, C: float, start: Float | None) -> Trained:
        fit = hinge_fit(self.K, self.labels, C * self.penalty, start, exact=False)
        return Trained(C, fit.alpha, fit.gradient, fit.bias)

    def outputs(self, step: Trained, test: Int) -> Float:
        support = np.flatnonzero(step.alpha)
        block = gather_block(self.whole, test, self.train[support])
        return np.asarray(block @ step.alpha[support] + step.bias)


class LargePart(Part):
    """Machines on the whole Gram matrix, with the variables of all other samples fixed at zero.

    The solver's gradient then also holds the outputs of these other samples.
    """

    def __init__(self, gram: Gram, train: Int, labels: Float, penalty: Float) -> None:
        self.gram, self.train, self.labels, self.penalty = gram, train, labels, penalty
        self.linear, self.box = np.zeros((2, gram.n))
        self.linear[train], self.box[train] = labels, labels * penalty

    def trained(self, C: float, start: Float | None) -> Trained:
        bound = C * self.box
        problem = DualProblem(
            linear=self.linear,
            lower=np.minimum(bound, 0.0),
            upper=np.maximum(bound, 0.0),
            ridge=np.zeros(bound.size),
            group=np.zeros(bound.size, dtype=np.int64),
            totals=np.zeros(1),
            samples=bound.size,
        )
        alpha = np.zeros(bound.size)
        if start is not None:
            alpha[self.train] = start
        # Errors do not need the last digits: use Newton steps only where pair steps are slow.
        few = PATIENCE * bound.size
        solution = solve(
            problem,
            self.gram,
            tol=COARSE_TOL,
            alpha=alpha,
            cache_bytes=np.inf,
            face=False,
            max_steps=few,
        )
        if not solution.converged:
            alpha = solution.alpha
            solution = solve(problem, self.gram, tol=COARSE_TOL, alpha=alpha, cache_bytes=np.inf)
        alpha, gradient = solution.alpha[self.train], solution.gradient[self.train]
        return Trained(C, alpha, gradient, float(solution.bias[0]), solution.gradient)

    def outputs(self, step: Trained, test: Int) -> Float:
        assert step.others is not None
        return np.asarray(step.bias - step.others[test])
