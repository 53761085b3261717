"""Machines along a path of C, and cross-validation that shares one Gram matrix.

The Gram matrix depends on the kernel alone: it is computed once for all folds and all C. Along the
path each machine starts from the previous one, scaled up as far as that pays: for C' > C

    α' = s·α,   s = min(C'/C, y·α / αᵀKα)

is feasible, and the best of all multiples of α. If no variable is at its bound, every larger C has
the same machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from ..kernels import Kernel
from ..kernels.base import Inputs, count
from ..runtime.parallel import single_threaded_blas
from .base import Evaluation, Float, Objective, Point
from .jobs import elsewhere, in_jobs
from .machines.certificates import Delivered, certified
from .machines.optimum import Int
from .machines.shared_gram import SharedGram, path, shared
from .objectives.samples import as_inputs, signs
from .objectives.splits import Split, folds


class PathStep(NamedTuple):
    """The machine at one C: f(x) = Σ alpha_i k(x_i, x) + bias.

    Attributes
    ----------
    C : float
    alpha : float array
        One coefficient for each sample.
    bias : float

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.tuning import C_path
    >>> step = C_path(Linear(), np.array([[-1.0], [1.0]]), [-1, 1], C=[0.25])[0]
    >>> step.C, step.alpha
    (0.25, array([-0.25,  0.25]))
    """

    C: float
    alpha: Float
    bias: float


class CurveOfC(NamedTuple):
    """Cross-validation errors along a path of C.

    Attributes
    ----------
    C : array
    errors : array of shape (folds, len(C))
        Fraction of the held-out samples of each fold that are misclassified.
    sizes : int array
        Number of held-out samples of each fold.
    gaps : array of shape (folds, len(C)), optional
        Duality gap of the machines of each fold (the largest, of more than two classes), as a
        fraction of their primal value.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import CurveOfC
    >>> errors = np.array([[0.5, 0.25, 0.25], [0.5, 0.0, 0.0]])
    >>> curve = CurveOfC(np.array([0.1, 1.0, 10.0]), errors, sizes=np.array([4, 4]))
    >>> curve.mean, curve.best_C
    (array([0.5  , 0.125, 0.125]), 1.0)
    """

    C: Float
    errors: Float
    sizes: Int
    gaps: Float | None = None

    @property
    def mean(self) -> Float:
        """Fraction of misclassified samples over all folds."""
        return np.asarray(self.sizes @ self.errors / self.sizes.sum())

    @property
    def best_C(self) -> float:
        """The smallest C with the smallest error."""
        mean = self.mean
        return float(self.C[np.argmax(mean <= mean.min() + 1e-12)])


def C_path(kernel: Kernel, X: Inputs, y: ArrayLike, C: ArrayLike) -> list[PathStep]:
    """Hinge machines for many C on one Gram matrix, each started from the previous one.

    Parameters
    ----------
    kernel : Kernel
    X : inputs
    y : array of −1 and +1
    C : positive numbers
        In any order.

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
    penalty: Float | None = None,
    importance: Float | None = None,
    scoring: str = "accuracy",
    certify: bool = False,
) -> CurveOfC:
    """Errors of k-fold cross-validation along a path of C, all with one Gram matrix.

    Parameters
    ----------
    kernel : Kernel
    X : inputs
    y : labels
        Of two or more classes; with more than two, pairs of classes vote.
    C : positive numbers
    splits : int or sequence of Split
        Number of folds, or the splits themselves.
    random_state : int
        Of the folds.
    n_jobs : int
        Folds at a time, in threads; or on the workers of a cluster within
        ``joblib.parallel_config(backend="dask")``.
    stop : callable, optional
        Called before each machine; returning true ends the path at the C reached by all folds.
    known : dict, optional
        Errors by fold number. Folds found here are not computed again, and every fold completed is
        added.
    penalty : float array, optional
        Factor on the C of each sample; 1 by default.
    importance : float array, optional
        Weight of each sample in the error; 1 by default.
    scoring : {"accuracy", "roc_auc"}
        What is called error: the weighted share of misclassified samples, or 1 − AUC.
    certify : bool
        Whether to compute the duality gap of every machine, with one product for all of them. The
        machines are then trained until it is at most 1e-4 of the primal value, as in fits.

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

    asked = FoldErrors(kernel, X, codes, classes.size, Cs, penalty, importance, scoring)
    missing = [fold for fold in range(len(splits)) if fold not in known]
    on_cluster = n_jobs > 1 and not certify and elsewhere()
    machine = None if not missing or on_cluster else shared(kernel, X, exact=certify)
    delivered: dict[int, list[list[Delivered]]] = {}

    def here(fold: int) -> list[float]:
        if certify:
            delivered[fold] = []
        row = asked.of_fold(splits[fold], machine, stop, delivered.get(fold))
        if len(row) == Cs.size:
            known[fold] = row
        return row

    if machine is None:
        # Each worker has a Gram matrix of its own, and nobody asks `stop` there.
        found = in_jobs(asked.of_fold, [splits[fold] for fold in missing], n_jobs)
        known.update(zip(missing, found))
    else:
        found = in_jobs(here, missing, n_jobs)
    new = dict(zip(missing, found))
    rows = [new[fold] if fold in new else known[fold] for fold in range(len(splits))]
    reached = min(len(row) for row in rows)
    sizes = np.array([split.test.size for split in splits])
    gaps = fold_gaps(kernel, X, delivered, (len(splits), reached)) if certify else None
    return CurveOfC(Cs[:reached], np.array([row[:reached] for row in rows]), sizes, gaps)


def fold_gaps(
    kernel: Kernel,
    X: Inputs,
    delivered: dict[int, list[list[Delivered]]],
    shape: tuple[int, int],
) -> Float:
    """The largest relative gap of the machines of each fold at each C; NaN where a fold was known
    before, 0 where it had one class only."""
    places = [
        (fold, step, machine)
        for fold, paths in delivered.items()
        for path in paths
        for step, machine in enumerate(path[: shape[1]])
    ]
    gaps = np.full(shape, np.nan)
    gaps[list(delivered)] = 0.0
    certificates = certified(kernel, X, [machine for *_, machine in places])
    for (fold, step, _), certificate in zip(places, certificates):
        gaps[fold, step] = max(gaps[fold, step], certificate.relative_gap)
    return gaps


class FoldErrors(NamedTuple):
    """The errors of one fold after the other, all of the same samples."""

    kernel: Kernel
    X: Inputs
    codes: Int
    classes: int
    Cs: Float
    penalty: Float | None
    importance: Float | None
    scoring: str

    def of_fold(
        self,
        split: Split,
        machine: SharedGram | None = None,
        stop: Callable[[], bool] | None = None,
        delivered: list[list[Delivered]] | None = None,
    ) -> list[float]:
        """The error at each C, up to the one before which `stop` asked to end; the machines are
        added to `delivered`, a list for each pair of classes."""
        machine = shared(self.kernel, self.X) if machine is None else machine
        paths = fold_paths(
            machine, self.codes, self.classes, split, self.Cs, self.penalty, delivered
        )
        judge = judgement(self.codes, self.classes, split.test, self.importance, self.scoring)
        row: list[float] = []
        for _ in self.Cs:
            if stop is not None and stop():
                break
            row.append(judge([next(outputs) for outputs in paths]))
        return row


class VotingError(Objective[Point]):
    """Error rate in k-fold cross-validation of machines for pairs of classes, which vote.

    Parameters
    ----------
    X : inputs
    y : labels
        Of two or more classes.
    k : int
        Number of folds.
    random_state : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import Point, VotingError
    >>> X, y = load_iris(return_X_y=True)
    >>> round(VotingError(X, y, 5, random_state=0).value(Point(Gaussian(0.1), C=1.0)), 2)
    0.05
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


def fold_paths(
    machine: SharedGram,
    codes: Int,
    classes: int,
    split: Split,
    Cs: Float,
    penalty: Float | None = None,
    delivered: list[list[Delivered]] | None = None,
) -> list[Iterator[Float]]:
    """For each pair of classes its outputs on one held-out part, C by C; the machines are added to
    `delivered`, a list for each pair."""
    pairs = list(combinations(range(classes), 2))
    notes: list[list[Delivered] | None] = [None if delivered is None else [] for _ in pairs]
    if delivered is not None:
        delivered += [note for note in notes if note is not None]
    return [
        pair_outputs(machine, codes, pair, split, Cs, penalty, note)
        for pair, note in zip(pairs, notes)
    ]


def judgement(
    codes: Int, classes: int, test: Int, importance: Float | None, scoring: str
) -> Callable[[list[Float]], float]:
    """The error of the outputs of all pairs on one held-out part."""
    held_out = codes[test]
    weight = np.ones(test.size) if importance is None else importance[test]

    def by_votes(outputs: list[Float]) -> float:
        votes = np.zeros((test.size, classes), dtype=np.int64)
        for (first, second), output in zip(combinations(range(classes), 2), outputs):
            votes[:, second] += output > 0
            votes[:, first] += output <= 0
        wrong = weight[np.argmax(votes, axis=1) != held_out]
        return float(wrong.sum() / weight.sum())

    def by_rank(outputs: list[Float]) -> float:
        ranks, positive = rankdata(outputs[0]), held_out == 1
        above = int(positive.sum())
        below = positive.size - above
        if not above or not below:
            return 0.5
        wins = float(ranks[positive].sum()) - 0.5 * above * (above + 1)
        return float(1.0 - wins / (above * below))

    return by_rank if scoring == "roc_auc" else by_votes


def pair_outputs(
    machine: SharedGram,
    codes: Int,
    pair: tuple[int, int],
    split: Split,
    Cs: Float,
    penalty: Float | None = None,
    delivered: list[Delivered] | None = None,
) -> Iterator[Float]:
    """Outputs on the held-out part of the machine that tells the second of two classes from the
    first, C by C; the machines are added to `delivered`."""
    of_fold = codes[split.train]
    train = split.train[(of_fold == pair[0]) | (of_fold == pair[1])]
    labels = np.where(codes[train] == pair[1], 1.0, -1.0)
    if not labels.size or (labels == labels[0]).all():
        answer = labels[0] if labels.size else -1.0
        for _ in Cs:
            yield np.full(split.test.size, answer)
        return
    gap = np.inf if delivered is None else 1e-4
    part = machine.part(train, labels, None if penalty is None else penalty[train], gap)
    for step in path(part, Cs):
        if delivered is not None:
            bound = step.C * part.penalty
            delivered.append(Delivered(train, labels, bound, step.alpha, step.bias))
        yield part.outputs(step, split.test)
