"""More than two classes: one machine per pair, or one per class against the rest.

Pairs (i, j), i < j, come in the order (0, 1), (0, 2), …, (1, 2), …; class i is the positive one.
In `dual_coef_` of pairs, the column of a support vector of class c holds its coefficients in the
pairs with the other classes, in their order: that with class o is in row o if o < c, else o − 1.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

from ...dual import Machine
from .training.tasks import by_class


def pairs(classes: int) -> list[tuple[int, int]]:
    return list(combinations(range(classes), 2))


def labels_of(machine: Machine) -> np.ndarray:
    """±1, by the side of 0 that the box of each variable is on."""
    return np.where(machine.problem.upper > 0, 1.0, -1.0)


def packed(
    coef: list[np.ndarray], codes: np.ndarray, classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`dual_coef_`, `support_` and `n_support_` from the coefficients of all samples in each pair.

    Parameters
    ----------
    coef : list of float arrays
        One for each pair, one entry for each sample.
    codes : int array
        The class of every sample with a coefficient.
    classes : int
    """
    support = by_class(coef, codes)
    n_support = np.bincount(codes[support], minlength=classes).astype(np.int32)
    of_class = stretches(n_support)
    members = [support[stretch] for stretch in of_class]
    dual_coef = np.zeros((classes - 1, support.size))
    for (i, j), values in zip(pairs(classes), coef):
        dual_coef[j - 1, of_class[i]] = values[members[i]]
        dual_coef[i, of_class[j]] = values[members[j]]
    return dual_coef, support, n_support


def unpacked(dual_coef: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """The coefficients of all support vectors in each pair, shape (pairs, support vectors)."""
    classes, of_class = n_support.size, stretches(n_support)
    coef = np.zeros((classes * (classes - 1) // 2, dual_coef.shape[1]))
    for row, (i, j) in zip(coef, pairs(classes)):
        row[of_class[i]] = dual_coef[j - 1, of_class[i]]
        row[of_class[j]] = dual_coef[i, of_class[j]]
    return coef


def stretches(n_support: np.ndarray) -> list[slice]:
    """The slices of the support vectors of each class, which are grouped by class."""
    ends = np.cumsum(n_support).tolist()
    return [slice(start, stop) for start, stop in pairwise([0, *ends])]


def votes(decisions: np.ndarray, classes: int) -> np.ndarray:
    """How many pairs each class wins, shape (samples, classes); a draw goes to the second."""
    won = np.zeros((len(decisions), classes))
    for decision, (i, j) in zip(decisions.T, pairs(classes)):
        won[:, i] += decision > 0
        won[:, j] += decision <= 0
    return won


def scores(decisions: np.ndarray, classes: int) -> np.ndarray:
    """Votes, and inside equal votes the sum of the decisions for a class, squeezed below ⅓."""
    won, total = np.zeros((2, len(decisions), classes))
    for decision, (i, j) in zip(decisions.T, pairs(classes)):
        won[:, i] += decision >= 0
        won[:, j] += decision < 0
        total[:, i] += decision
        total[:, j] -= decision
    return won + total / (3.0 * (np.abs(total) + 1.0))
