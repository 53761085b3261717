"""Trivial baselines: the most frequent class, the nearest mean, the mean of the targets."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestCentroid


def compared_with_baselines(
    X: Any, y: NDArray[Any], new: Any, target: NDArray[Any], regresses: bool
) -> str:
    """A line with the scores of the baselines."""
    if regresses:
        away = np.asarray(target, float) - float(np.mean(y))
        guess = float(np.abs(away).mean())
        return f"for comparison: always the mean has a mean absolute error of {guess:.4g}"
    classes, counts = np.unique(y, return_counts=True)
    frequent = classes[np.argmax(counts)]
    text = f"for comparison: always {str(frequent)!r} {100 * np.mean(target == frequent):.1f} %"
    if classes.size > 1 and varies(X):
        # A feature that is the same within all classes does not change the distances.
        with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
            warnings.filterwarnings("ignore", "self.within_class_std_dev_", UserWarning)
            warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
            nearest = NearestCentroid().fit(X, y)
        text += f", nearest class mean {100 * np.mean(nearest.predict(new) == target):.1f} %"
    return text


def varies(X: Any) -> bool:
    """Whether any feature has different values; scikit-learn refuses others."""
    smallest, largest = X.min(axis=0), X.max(axis=0)
    return bool((smallest != largest).sum() > 0)
