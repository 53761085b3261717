"""Inputs as a matrix, dense or sparse as is cheaper."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Vectors:
    """Inputs as a matrix, with or without targets.

    Attributes
    ----------
    name : str
        Where they come from.
    X : ndarray or csr_array of shape (samples, features)
    y : ndarray or None
    feature_names : tuple of str
        Empty where there are none.
    notes : tuple of str
        What was guessed.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.data import Vectors
    >>> Vectors("by hand", np.eye(3), y=np.array([1, -1, 1])).samples
    3
    """

    name: str
    X: Any = field(repr=False)
    y: np.ndarray | None = field(repr=False)
    feature_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def samples(self) -> int:
        return int(self.X.shape[0])


def fitting_form(X: Any) -> tuple[Any, tuple[str, ...]]:
    """Sparse inputs in the form in which they are cheaper to compute with.

    They become dense if more than 30 % of the entries are not 0, and if that takes at most 1 GB.
    """
    entries = X.shape[0] * X.shape[1]
    if entries and X.nnz > 0.3 * entries and 8 * entries <= 1 << 30:
        return X.toarray(), (f"kept dense: {X.nnz / entries:.0%} of the entries are not 0",)
    return X, ()


def whole(values: np.ndarray) -> np.ndarray:
    """Numbers as integers, where all are whole."""
    if values.dtype.kind == "f" and (np.abs(values) < 2**53).all() and (values % 1 == 0).all():
        return values.astype(np.int64)
    return values
