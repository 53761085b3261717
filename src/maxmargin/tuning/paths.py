"""Machines along a path of C, and cross-validation that shares one Gram matrix.

The Gram matrix depends on the kernel alone: it is computed once for all folds and all C. Along the
path each machine starts from the one before, stretched as far as pays: for C' > C

    α' = s·α,   s = min(C'/C, y·α / αᵀKα)

is feasible and of all multiples of α the best. Where no variable is at its bound, every larger C
has the same machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dual import DualProblem
from ..kernels import Kernel, Precomputed
from ..kernels.base import Gram, Inputs, count
from ..runtime.parallel import single_threaded_blas
from ..solvers import solve
from ..solvers.rows.lru import gather_block
from .base import Evaluation, Float, Objective, Point
from .machine import LARGEST, ROUGH, Int, hinge_fit
from .objectives.samples import as_inputs, signs
from .objectives.splits import Split, folds

# Samples beyond which the shared Gram matrix is kept in float32.
DOUBLE = 4096
# Pair steps for each sample before Newton steps are to help.
PATIENCE = 20


class PathStep(NamedTuple):
    """The machine at one C: f(x) = Σ alpha_i k(x_i, x) + bias."""

    C: float
    alpha: Float
    bias: float


class CurveOfC(NamedTuple):
    """Cross-validation errors along a path of C.

    Attributes
    ----------
    C : array
    errors : array of shape (folds, len(C))
        Share of the held-out samples of each fold that are misclassified.
    sizes : int array
        Number of held-out samples of each fold.
    """

    C: Float
    errors: Float
    sizes: Int

    @property
    def mean(self) -> Float:
        """Share of misclassified samples, of all folds together."""
        return np.asarray(self.sizes @ self.errors / self.sizes.sum())

    @property
    def best_C(self) -> float:
        """The middle, on the scale of log C, of the longest run of the smallest error."""
        mean = self.mean
        lowest = mean <= mean.min() + 1e-12
        edges = np.flatnonzero(np.diff(np.concatenate([[0], lowest.astype(int), [0]])))
        starts, stops = edges[::2], edges[1::2]
        longest = int(np.argmax(stops - starts))
        return float(self.C[(starts[longest] + stops[longest] - 1) // 2])


def C_path(kernel: Kernel, X: Inputs, y: ArrayLike, C: ArrayLike) -> list[PathStep]:
    """Hinge machines for many C on one Gram matrix, each starting from the one before.

    Parameters
    ----------
    kernel : Kernel
    X : inputs
    y : array of −1 and +1
    C : positive numbers
        In any order; they are taken in ascending order.

    Returns
    -------
    list of PathStep
        In ascending order of C.

    Examples
    --------
    >>> from maxmargin.data import two_blobs
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.tuning import C_path
    >>> path = C_path(Linear(), *two_blobs(50, random_state=0), C=[0.01, 0.1, 1.0])
    >>> [int((step.alpha != 0).sum()) for step in path]
    [38, 13, 5]
    """
    Cs = checked_C(C)
    machine = shared(kernel, X)
    part = machine.part(np.arange(machine.n), signs(y, machine.n))
    return [PathStep(step.C, step.alpha, step.bias) for step in path(part, Cs)]


@single_threaded_blas()
def cross_validate_C(
    kernel: Kernel,
    X: Inputs,
    y: ArrayLike,
    C: ArrayLike,
    *,
    splits: int | Sequence[Split] = 5,
    random_state: int = 0,
    n_jobs: int = 1,
    stop: Callable[[], bool] | None = None,
    known: dict[int, list[float]] | None = None,
) -> CurveOfC:
    """Errors of k-fold cross-validation along a path of C, with one Gram matrix for all of it.

    Parameters
    ----------
    kernel : Kernel
    X : inputs
    y : labels
        Of two or more classes; of more than two, pairs of classes vote.
    C : positive numbers
    splits : int or sequence of Split
        Number of folds, or the splits themselves.
    random_state : int
        Of the folds.
    n_jobs : int
        Folds at a time, in threads.
    stop : callable, optional
        Asked before each machine; a true answer ends the path with the C reached by all folds.
    known : dict, optional
        The errors of folds, by their place: such folds are not computed again, and each that was
        computed to its end is added.

    Returns
    -------
    CurveOfC

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import cross_validate_C
    >>> X, y = chess_board(200, noise=0.1, random_state=0)
    >>> curve = cross_validate_C(Gaussian(2.0), X, y, C=np.logspace(-2, 3, 6))
    >>> curve.mean.round(3)
    array([0.425, 0.425, 0.14 , 0.105, 0.145, 0.18 ])
    """
    Cs = checked_C(C)
    known = {} if known is None else known
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if codes.shape != (count(X),):
        raise ValueError(f"y must have a label for each of the {count(X)} inputs")
    if classes.size < 2:
        raise ValueError("y must hold at least two classes, got one")
    if isinstance(splits, int):
        splits = folds(codes.astype(np.float64), splits, random_state)

    machine = None if len(known) == len(splits) else shared(kernel, X)

    def errors(fold: int) -> list[float]:
        if machine is None or fold in known:
            return known[fold]
        row = list(fold_errors(machine, codes, classes.size, splits[fold], Cs, stop))
        if len(row) == Cs.size:
            known[fold] = row
        return row

    if n_jobs > 1:
        with ThreadPoolExecutor(n_jobs) as pool:
            rows = list(pool.map(errors, range(len(splits))))
    else:
        rows = [errors(fold) for fold in range(len(splits))]
    reached = min(len(row) for row in rows)
    sizes = np.array([split.test.size for split in splits])
    return CurveOfC(Cs[:reached], np.array([row[:reached] for row in rows]), sizes)


class VotingError(Objective[Point]):
    """Share of errors in k-fold cross-validation of machines for pairs of classes, which vote.

    Parameters
    ----------
    X : inputs
    y : labels
        Of two or more classes.
    k : int
        Number of folds.
    random_state : int
    """

    differentiable = False

    def __init__(self, X: Inputs, y: ArrayLike, k: int = 5, random_state: int = 0) -> None:
        self.X, self.y = as_inputs(X), np.asarray(y)
        codes = np.unique(self.y, return_inverse=True)[1]
        self.splits = folds(codes.astype(np.float64), k, random_state)

    def evaluate(self, point: Point) -> Evaluation:
        curve = cross_validate_C(point.kernel, self.X, self.y, [point.C], splits=self.splits)
        return Evaluation(float(curve.mean[0]))


def checked_C(C: ArrayLike) -> Float:
    Cs = np.sort(np.atleast_1d(np.asarray(C, dtype=np.float64)))
    if not Cs.size or not (Cs > 0).all() or np.isinf(Cs).any():
        raise ValueError(f"C must be a list of positive finite numbers, got {C!r}")
    return Cs


def fold_errors(
    machine: SharedGram,
    codes: Int,
    classes: int,
    split: Split,
    Cs: Float,
    stop: Callable[[], bool] | None,
) -> Iterator[float]:
    """The share of errors on one held-out part, C by C."""
    held_out = codes[split.test]
    paths = [
        (first, second, pair_outputs(machine, codes, (first, second), split, Cs))
        for first, second in combinations(range(classes), 2)
    ]
    for _ in Cs:
        if stop is not None and stop():
            return
        votes = np.zeros((split.test.size, classes), dtype=np.int64)
        for first, second, outputs in paths:
            output = next(outputs)
            votes[:, second] += output > 0
            votes[:, first] += output <= 0
        yield float(np.mean(np.argmax(votes, axis=1) != held_out))


def pair_outputs(
    machine: SharedGram, codes: Int, pair: tuple[int, int], split: Split, Cs: Float
) -> Iterator[Float]:
    """Outputs on the held-out part of the machine that tells the second of two classes from the
    first, C by C."""
    train = split.train[np.isin(codes[split.train], pair)]
    labels = np.where(codes[train] == pair[1], 1.0, -1.0)
    if not labels.size or (labels == labels[0]).all():
        answer = labels[0] if labels.size else -1.0
        for _ in Cs:
            yield np.full(split.test.size, answer)
        return
    part = machine.part(train, labels)
    for step in path(part, Cs):
        yield part.outputs(step, split.test)


def shared(kernel: Kernel, X: Inputs) -> SharedGram:
    """The Gram matrix of X in the precision that its size calls for."""
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

    def part(self, train: Int, labels: Float) -> Part:
        """Machines on some of the samples."""
        if train.size <= LARGEST:
            return SmallPart(self.K, train, labels)
        if self._gram is None:
            self._gram = Precomputed().bind(self.K)
        return LargePart(self._gram, train, labels)


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
        −Kα of all samples, where it is known; right outside of the part.
    """

    C: float
    alpha: Float
    gradient: Float
    bias: float
    others: Float | None = None


class Part(ABC):
    """Machines on some of the samples, for any C."""

    labels: Float

    @abstractmethod
    def trained(self, C: float, start: Float | None) -> Trained:
        """The machine at C, found from a start."""

    @abstractmethod
    def outputs(self, step: Trained, test: Int) -> Float:
        """f at other samples."""


def path(part: Part, Cs: Float) -> Iterator[Trained]:
    """Machines by ascending C."""
    before: Trained | None = None
    for C in Cs:
        if before is not None and np.abs(before.alpha).max() < (1.0 - 1e-9) * before.C:
            before = before._replace(C=float(C))
        else:
            start = None if before is None else stretched(before, part.labels, float(C))
            before = part.trained(float(C), start)
        yield before


def stretched(before: Trained, labels: Float, C: float) -> Float:
    """The best feasible multiple of α at a larger C; αᵀKα = α·(y − G)."""
    linear = float(labels @ before.alpha)
    quadratic = linear - float(before.alpha @ before.gradient)
    best = linear / quadratic if quadratic > 0 else np.inf
    return before.alpha * min(C / before.C, max(best, 1.0))


class SmallPart(Part):
    """Machines on a copy of their part of the Gram matrix."""

    def __init__(self, K: NDArray[Any], train: Int, labels: Float) -> None:
        self.whole, self.train, self.labels = K, train, labels
        everything = train.size == len(K) and np.array_equal(train, np.arange(train.size))
        block = K if everything else gather_block(K, train, train)
        self.K = np.ascontiguousarray(block, dtype=np.float64)

    def trained(self, C: float, start: Float | None) -> Trained:
        fit = hinge_fit(self.K, self.labels, C, start, exact=False)
        return Trained(C, fit.alpha, fit.gradient, fit.bias)

    def outputs(self, step: Trained, test: Int) -> Float:
        support = np.flatnonzero(step.alpha)
        block = gather_block(self.whole, test, self.train[support])
        return np.asarray(block @ step.alpha[support] + step.bias)


class LargePart(Part):
    """Machines on the whole Gram matrix, with the variables of all other samples held at zero.

    The solver's gradient then holds the outputs of these others, too.
    """

    def __init__(self, gram: Gram, train: Int, labels: Float) -> None:
        self.gram, self.train, self.labels = gram, train, labels
        self.linear = np.zeros(gram.n)
        self.linear[train] = labels

    def trained(self, C: float, start: Float | None) -> Trained:
        bound = C * self.linear
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
        # Newton steps bring the last digits, which errors do not need: only where pairs crawl.
        few = PATIENCE * bound.size
        solution = solve(
            problem,
            self.gram,
            tol=ROUGH,
            alpha=alpha,
            cache_bytes=np.inf,
            face=False,
            max_steps=few,
        )
        if not solution.converged:
            alpha = solution.alpha
            solution = solve(problem, self.gram, tol=ROUGH, alpha=alpha, cache_bytes=np.inf)
        alpha, gradient = solution.alpha[self.train], solution.gradient[self.train]
        return Trained(C, alpha, gradient, float(solution.bias[0]), solution.gradient)

    def outputs(self, step: Trained, test: Int) -> Float:
        assert step.others is not None
        return np.asarray(step.bias - step.others[test])
