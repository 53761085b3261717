"""Training samples as objectives see them: inputs in float64, labels −1 and +1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...kernels.base import Inputs, count
from ..base import Float


def as_inputs(X: Inputs) -> Inputs:
    """Numeric inputs in float64, so that derivatives are not lost in rounding."""
    dtype = getattr(X, "dtype", None)
    if dtype is not None and dtype.kind in "biuf" and dtype != np.float64:
        return X.astype(np.float64)
    return X


def signs(y: ArrayLike, samples: int) -> Float:
    """Labels −1 and +1 as numbers."""
    labels = np.asarray(y, dtype=np.float64)
    if labels.shape != (samples,):
        raise ValueError(
            f"y must have a label for each of the {samples} inputs, got {labels.shape}"
        )
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise ValueError(f"y must hold labels -1 and +1 only, got {np.unique(labels)[:5]}")
    if np.unique(labels).size < 2:
        raise ValueError(f"y must hold both classes, got only {labels[0]:+g}")
    return labels


class Samples:
    """Inputs and labels of a two-class problem.

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1
    """

    def __init__(self, X: Inputs, y: ArrayLike) -> None:
        self.X: Any = as_inputs(X)
        self.n = count(X)
        self.y = signs(y, self.n)


def checked_start(start: Any, size: int) -> Float | None:
    """A solver's start: a finite vector of that size, or None; else ValueError."""
    if start is None:
        return None
    if not (isinstance(start, np.ndarray) and start.shape == (size,) and start.dtype == np.float64):
        raise ValueError(f"the start of a solver must be float64[{size}]")
    if not np.isfinite(start).all():
        raise ValueError("the start of a solver contains NaN or infinity")
    return start.copy()
