"""Trivial baselines: the most frequent class, the nearest mean, the mean of the targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestCentroid

from ...tuning.auto.classifier import MOST_CLASSES


def compared_with_baselines(X: Any, y: NDArray[Any], new: Any, target: NDArray[Any]) -> str:
    """A line with the scores of the baselines."""
    if is_number(y):
        away = np.asarray(target, float) - float(np.mean(y))
        guess = float(np.abs(away).mean())
        return f"for comparison: always the mean has a mean absolute error of {guess:.4g}"
    classes, counts = np.unique(y, return_counts=True)
    frequent = classes[np.argmax(counts)]
    text = f"for comparison: always {str(frequent)!r} {100 * np.mean(target == frequent):.1f} %"
    if np.unique(np.asarray(y)).size > 1:
        nearest = NearestCentroid().fit(X, y)
        text += f", nearest class mean {100 * np.mean(nearest.predict(new) == target):.1f} %"
    return text


def is_number(y: NDArray[Any]) -> bool:
    return y.dtype.kind in "iuf" and np.unique(y).size > MOST_CLASSES
