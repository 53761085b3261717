"""Splits of the samples into a training part and a held-out part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base import Float

Int = NDArray[np.int64]


class Split(NamedTuple):
    """Indices of the samples in the training part and in the held-out part.

    Attributes
    ----------
    train, test : int arrays
        Indices of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import Split
    >>> Split(train=np.array([0, 1, 3]), test=np.array([2])).test
    array([2])
    """

    train: Int
    test: Int


class Splits(ABC):
    """A source of splits for each evaluation.

    Examples
    --------
    >>> from maxmargin.tuning import FixedSplits, RandomSplits, Splits
    >>> issubclass(FixedSplits, Splits), FixedSplits.random, RandomSplits.random
    (True, False, True)
    """

    # Whether every evaluation gets different splits.
    random = False

    @abstractmethod
    def next(self) -> Sequence[Split]:
        """The splits of the next evaluation."""

    def state(self) -> dict[str, Any]:
        """The state on which the next splits depend."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue with the splits that follow this state."""
        del state


class FixedSplits(Splits):
    """The same splits for every evaluation.

    Parameters
    ----------
    splits : sequence of Split
        At least one.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import FixedSplits, folds
    >>> y = np.array([1, 1, 1, -1, -1, -1])
    >>> [split.test.size for split in FixedSplits(folds(y, 3, random_state=0)).next()]
    [2, 2, 2]
    """

    def __init__(self, splits: Sequence[Split]) -> None:
        if not splits:
            raise ValueError("splits must have at least one entry, got none")
        self.splits = list(splits)

    def next(self) -> Sequence[Split]:
        return self.splits


class RandomSplits(Splits):
    """A new split for every evaluation, uniform on the sets I ∈ J_m of m training samples that
    hold both classes (9.1.7).

    Parameters
    ----------
    y : labels
    fraction : float
        Share of the samples in the training part.
    random_state : int, optional
    stratified : bool
        Whether the training part has the same class proportions as all samples. Then a machine does
        not learn from a split which class happens to be larger.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import RandomSplits
    >>> y = np.array([1, 1, 1, 1, 1, -1, -1, -1, -1, -1])
    >>> splits = RandomSplits(y, fraction=0.8, random_state=0, stratified=True)
    >>> [(split.train.size, split.test.size) for split in splits.next()]
    [(8, 2)]
    """

    random = True

    def __init__(
        self,
        y: Float,
        fraction: float = 0.8,
        random_state: int | None = None,
        *,
        stratified: bool = False,
    ) -> None:
        self.y = np.asarray(y)
        self.size = training_size(self.y.size, fraction)
        self.stratified = stratified
        self._random = np.random.default_rng(random_state)

    def next(self) -> Sequence[Split]:
        draw = stratified_split if self.stratified else random_split
        return [draw(self.y, self.size, self._random)]

    def state(self) -> dict[str, Any]:
        return dict(self._random.bit_generator.state)

    def restore(self, state: dict[str, Any]) -> None:
        self._random.bit_generator.state = state


def training_size(samples: int, fraction: float) -> int:
    """⌊fraction·n⌋, but at least 2 and at most n − 1."""
    if not 0 < fraction < 1:
        raise ValueError(f"fraction must lie between 0 and 1, got {fraction}")
    if samples < 3:
        raise ValueError(f"a split needs at least 3 samples, got {samples}")
    return min(max(2, int(fraction * samples + 1e-9)), samples - 1)


def random_split(y: Float, size: int, random: np.random.Generator) -> Split:
    """A split with both classes in the training part, by force after 20 draws."""
    for _ in range(20):
        order = random.permutation(y.size)
        train = y[order[:size]]
        if (train != train[0]).any():
            return Split(order[:size], order[size:])
    # One class is rare: start with one sample of each.
    firsts = [random.choice(np.flatnonzero(y == label)) for label in np.unique(y)]
    order = np.concatenate([firsts, random.permutation(np.setdiff1d(np.arange(y.size), firsts))])
    return Split(order[:size], order[size:])


def stratified_split(y: Float, size: int, random: np.random.Generator) -> Split:
    """Leave out samples at even distances, in order of class."""
    shuffled = random.permutation(y.size)
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    passed = np.arange(y.size + 1) * ((y.size - size) / y.size) + random.uniform()
    out = np.diff(np.floor(passed)) > 0
    train = by_class[~out]
    if np.unique(y[train]).size < 2:
        return random_split(y, size, random)
    return Split(train, by_class[out])


def plain_folds(samples: int, k: int, random_state: int | None = None) -> list[Split]:
    """k disjoint held-out parts of nearly equal size.

    Parameters
    ----------
    samples : int
    k : int
        Number of parts, at least 2.
    random_state : int, optional
        Seed of the order.

    Returns
    -------
    list of Split

    Examples
    --------
    >>> from maxmargin.tuning import plain_folds
    >>> [split.test.size for split in plain_folds(10, 3, random_state=0)]
    [4, 3, 3]
    """
    return folds(np.zeros(samples), k, random_state)


def folds(y: Float, k: int, random_state: int | None = None) -> list[Split]:
    """k disjoint held-out parts of nearly equal size, stratified by class.

    Parameters
    ----------
    y : array of shape (samples,)
        Labels of any number of classes.
    k : int
        Number of parts, at least 2.
    random_state : int, optional
        Seed of the order within a class.

    Returns
    -------
    list of Split

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import folds
    >>> y = np.array([1, 1, 1, 1, -1, -1])
    >>> [y[split.test].tolist() for split in folds(y, 2, random_state=0)]
    [[1, 1, -1], [1, 1, -1]]
    """
    if not 2 <= k <= y.size:
        raise ValueError(f"folds must be between 2 and the number of samples {y.size}, got {k}")
    random = np.random.default_rng(random_state)
    shuffled = random.permutation(y.size)
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    places = np.arange(y.size)
    return [
        Split(np.sort(by_class[places % k != part]), np.sort(by_class[places % k == part]))
        for part in range(k)
    ]
