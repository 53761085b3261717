"""Which samples are held out for the test: a share of each class, no copies of training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import train_test_split

from ...data.tables.names import listed


def split_for_test(
    X: Any, y: NDArray[Any], holdout: float, seed: int, classifies: bool
) -> tuple[tuple[NDArray[Any], NDArray[Any]], list[str]]:
    """Rows to train and to test with, and notes about them."""
    notes: list[str] = []
    rows, single = np.arange(y.size), np.arange(0)
    strata = None
    if classifies:
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        alone = counts[codes] == 1
        tested = max(1, round(holdout * y.size))
        if alone.any() and (~alone).sum() > tested:
            rows, single = np.flatnonzero(~alone), np.flatnonzero(alone)
            names = listed([str(name) for name in classes[counts == 1]], most=4)
            notes.append(f"only one sample of class {names}: used for training, not for the test")
        plural = np.count_nonzero(counts > 1)
        if min(tested, rows.size - tested) >= plural and counts[codes[rows]].min() >= 2:
            strata = codes[rows]
    train, test = train_test_split(rows, test_size=holdout, random_state=seed, stratify=strata)
    train = np.concatenate([train, single])
    copies = repeated(X, y, train, test)
    if copies.any():
        share = copies.mean()
        # If there are many, values are coarse and copies are coincidence.
        if share <= 0.2 and not copies.all():
            notes.append(
                f"{int(copies.sum()):,} rows that repeat training rows are not used for the test"
            )
            train, test = np.concatenate([train, test[copies]]), test[~copies]
        else:
            notes.append(
                f"{share:.0%} of the test rows also occur in the training part: if they repeat "
                "the same measurements, the test result is too optimistic"
            )
    return (np.sort(train), np.sort(test)), notes


def repeated(X: Any, y: NDArray[Any], train: NDArray[Any], test: NDArray[Any]) -> NDArray[Any]:
    """Which of the test rows equal a training row, features and target."""
    if sparse.issparse(X):
        keys = np.array([_key(X, row) for row in range(X.shape[0])], dtype=object)
    else:
        rows = np.ascontiguousarray(X)
        keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    codes = np.unique(keys, return_inverse=True)[1]
    targets = np.unique(y, return_inverse=True)[1]
    pairs = codes.astype(np.int64) * (int(targets.max()) + 1) + targets
    return np.isin(pairs[test], pairs[train])


def _key(X: Any, row: int) -> bytes:
    part = slice(X.indptr[row], X.indptr[row + 1])
    return bytes(X.indices[part].tobytes() + X.data[part].tobytes())
