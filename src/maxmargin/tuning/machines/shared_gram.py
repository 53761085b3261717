"""Machines on parts of the samples of one Gram matrix, along paths of C with warm starts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dual import DualProblem
from ...kernels import Kernel, Precomputed
from ...kernels.base import Inputs
from ...kernels.precomputed import PrecomputedGram
from ...solvers import solve
from ...solvers.rows.lru import gather_block
from .. import costs
from ..base import Float
from .blocks import moved_to_box, optimised
from .optimum import COARSE_TOL, Int, bias_of, hinge_fit
from .small_path import small_path


def shared(kernel: Kernel, X: Inputs, exact: bool = False) -> SharedGram:
    """The Gram matrix of X, in float32 if it is large.

    An exact one is in float64 at any size: at a large C the rounding of float32 entries adds up to
    more than the duality gap of a fit.
    """
    gram = kernel.bind(X, np.float64) if exact else kernel.bind(X)
    if gram.n > costs.LARGEST_MATRIX and not exact:
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

    def part(
        self, train: Int, labels: Float, penalty: Float | None = None, gap: float = np.inf
    ) -> Part:
        """Machines on some of the samples, with a factor on the C of each; the duality gap of each
        machine is at most this fraction of its primal value."""
        penalty = np.ones(train.size) if penalty is None else penalty
        if train.size <= costs.LARGEST_MACHINE:
            return SmallPart(self.K, train, labels, penalty, gap)
        return LargePart(self.K, train, labels, penalty, gap)


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
    def trained(self, C: float, before: Trained | None) -> Trained:
        """The machine at C, found from that at a smaller C."""

    def begin(self, Cs: Float) -> list[Trained]:
        """The first machines of a path, where some are found at once."""
        del Cs
        return []

    @abstractmethod
    def outputs(self, step: Trained, test: Int) -> Float:
        """f at other samples."""


def path(part: Part, Cs: Float) -> Iterator[Trained]:
    """Machines by ascending C."""
    begun = part.begin(Cs)
    yield from begun
    before = begun[-1] if begun else None
    for C in Cs[len(begun) :]:
        if before is not None and inside_the_box(before, part.penalty):
            before = before._replace(C=float(C))
        else:
            before = part.trained(float(C), before)
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

    def __init__(
        self, K: NDArray[Any], train: Int, labels: Float, penalty: Float, gap: float
    ) -> None:
        self.whole, self.train, self.labels, self.penalty = K, train, labels, penalty
        self.exact = gap < np.inf
        everything = train.size == len(K) and np.array_equal(train, np.arange(train.size))
        block = K if everything else gather_block(K, train, train)
        self.K = np.ascontiguousarray(block, dtype=np.float64)
        # Machines found at once, by C.
        self.begun: dict[float, int] = {}
        self.alphas, self.biases = np.empty((0, train.size)), np.empty(0)
        # The samples that outputs were last asked for, their rows, and what these machines say.
        self.judged: Int | None = None
        self.beside = self.told = self.K[:0]

    def trained(self, C: float, before: Trained | None) -> Trained:
        start = None if before is None else stretched(before, self.labels, C)
        fit = hinge_fit(self.K, self.labels, C * self.penalty, start, exact=self.exact)
        return Trained(C, fit.alpha, fit.gradient, fit.bias)

    def begin(self, Cs: Float) -> list[Trained]:
        n = self.train.size
        if n > costs.SMALL_PATH or self.exact:
            return []
        alphas, gradients, biases = (
            np.empty((Cs.size, n)),
            np.empty((Cs.size, n)),
            np.empty(Cs.size),
        )
        penalty = np.ascontiguousarray(self.penalty, dtype=np.float64)
        done = small_path(self.K, self.labels, penalty, Cs, COARSE_TOL, alphas, gradients, biases)
        self.begun = {float(C): place for place, C in enumerate(Cs[:done])}
        self.alphas, self.biases = alphas[:done], biases[:done]
        found = zip(self.begun, alphas, gradients, biases)
        return [Trained(C, a, g, float(bias)) for C, a, g, bias in found]

    def outputs(self, step: Trained, test: Int) -> Float:
        if self.train.size <= costs.SMALL_PATH:
            if self.judged is not test:
                self.judged, self.beside = test, gather_block(self.whole, test, self.train)
                self.told = self.alphas @ self.beside.T + self.biases[:, None]
            if step.C in self.begun:
                return np.asarray(self.told[self.begun[step.C]])
            return np.asarray(self.beside @ step.alpha + step.bias)
        support = np.flatnonzero(step.alpha)
        block = gather_block(self.whole, test, self.train[support])
        return np.asarray(block @ step.alpha[support] + step.bias)


class LargePart(Part):
    """Machines on the whole Gram matrix, with the variables of all other samples fixed at zero.

    The gradient then holds the outputs of these others, too. From one C to the next α is scaled,
    so that bounded variables stay bounded, and Kα with it.
    """

    def __init__(
        self, K: NDArray[Any], train: Int, labels: Float, penalty: Float, gap: float
    ) -> None:
        self.K, self.train, self.labels, self.penalty = K, train, labels, penalty
        self.gap = gap
        self.linear, self.box = np.zeros((2, len(K)))
        self.linear[train], self.box[train] = labels, labels * penalty

    def trained(self, C: float, before: Trained | None) -> Trained:
        bound = C * self.box
        lower, upper = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        alpha, gradient = np.zeros(bound.size), self.linear.copy()
        if before is not None:
            assert before.others is not None
            stretch = C / before.C
            alpha[self.train] = stretch * before.alpha
            # Up to rounding.
            at_bound = np.abs(alpha) > (1.0 - 1e-12) * np.abs(bound)
            alpha[at_bound] = bound[at_bound]
            gradient += stretch * (before.others - self.linear)
        moved_to_box(self.K, alpha, gradient, lower, upper)
        for tol in COARSE_TOL * 0.2 ** np.arange(6):
            if not optimised(self.K, alpha, gradient, lower, upper, tol):
                alpha, gradient = self.solved(lower, upper, alpha, tol)
            bias = bias_of(alpha, gradient, lower, upper)
            # Half of the gap is left to rounding.
            if self.relative_gap(alpha, gradient, bound, bias) <= 0.5 * self.gap:
                break
        return Trained(C, alpha[self.train], gradient[self.train], bias, gradient)

    def relative_gap(self, alpha: Float, gradient: Float, bound: Float, bias: float) -> float:
        """(P − D)/P with P = ½αᵀKα + Σ_i C_i ξ_i, C_i ξ_i = max(0, y_i C_i (G_i − b))"""
        excess = gradient - bias
        losses = float(np.maximum(bound * excess, 0.0).sum())
        primal = 0.5 * float(alpha @ (self.linear - gradient)) + losses
        return (losses - float(alpha @ excess)) / primal if primal > 0.0 else 0.0

    def solved(self, lower: Float, upper: Float, alpha: Float, tol: float) -> tuple[Float, Float]:
        """α and its gradient by the general solver, for what does not converge in blocks."""
        problem = DualProblem(
            linear=self.linear,
            lower=lower,
            upper=upper,
            ridge=np.zeros(lower.size),
            group=np.zeros(lower.size, dtype=np.int64),
            totals=np.zeros(1),
            samples=lower.size,
        )
        gram = PrecomputedGram(Precomputed(), self.K)
        solution = solve(problem, gram, tol=tol, alpha=alpha, cache_bytes=np.inf)
        return solution.alpha, np.array(solution.gradient)

    def outputs(self, step: Trained, test: Int) -> Float:
        assert step.others is not None
        return np.asarray(step.bias - step.others[test])
