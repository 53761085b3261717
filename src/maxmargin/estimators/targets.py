"""Class labels as numbers, and the weights of classes and samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets


class OneClassLeft(ValueError):
    """Only one class has samples of positive weight."""


class ClassTargets(NamedTuple):
    """The classes that are present: those with a positive weight.

    Attributes
    ----------
    classes : array
        Their labels, ascending.
    factors : float array
        The weight of each class.
    codes : int array
        For each sample the place of its label among `classes`, −1 where it is absent.
    weight : float array
        For each sample its weight without that of its class, 0 where the class has none.
    """

    classes: np.ndarray
    factors: np.ndarray
    codes: np.ndarray
    weight: np.ndarray


def class_targets(y: Any, weight: np.ndarray, class_weight: Any) -> ClassTargets:
    """The classes of labels; at least two must be present."""
    y = y if isinstance(y, np.ndarray) and y.ndim == 1 else column_or_1d(y, warn=True)
    if y.dtype.kind not in "biufUS":
        refuse_missing_labels(y)
        check_classification_targets(y)
    labels, codes = _labels_and_codes(y)
    if labels.dtype.kind == "f" and not (np.isfinite(labels) & (labels == np.trunc(labels))).all():
        check_classification_targets(y)  # raises with a reason
    if labels.size < 2:
        raise ValueError(
            f"The number of classes has to be greater than one; got {labels.size} class"
        )
    factors = np.ones(labels.size)
    if isinstance(class_weight, dict):
        factors = np.asarray(compute_class_weight(class_weight, classes=labels, y=y))
        weight = np.where(factors[codes] > 0, weight, 0.0)
    # Summed in sorted order, so that sums do not depend on the order of the samples.
    order = np.argsort(weight) if weight.min() < weight.max() else slice(None)
    totals = np.bincount(codes[order], weight[order], minlength=labels.size)
    present = np.flatnonzero(totals)
    if present.size < 2:
        left = f": {labels[present[0]]!r}" if present.size else ""
        raise OneClassLeft(
            "Invalid input - all samples with positive weights belong to the same class"
            f"{left}. Give samples of two classes a positive weight"
        )
    if isinstance(class_weight, str):
        factors = totals.sum() / (present.size * np.where(totals > 0, totals, 1.0))
    places = np.full(labels.size, -1)
    places[present] = np.arange(present.size)
    factors = np.asarray(factors, dtype=np.float64)[present]
    return ClassTargets(labels[present], factors, places[codes], weight)


def refuse_missing_labels(y: np.ndarray) -> None:
    """Raise ValueError where labels are None, which cannot be sorted with others."""
    if y.dtype.kind == "O":
        absent = np.flatnonzero([label is None for label in y])
        if absent.size:
            raise ValueError(
                f"y is missing (None) for {absent.size} of {y.size} samples, the first at position "
                f"{absent[0]}: remove these samples"
            )


def numeric_targets(y: np.ndarray) -> np.ndarray:
    """Targets of a regression in float64."""
    try:
        return y.astype(np.float64)
    except ValueError:
        raise ValueError(
            f"y must hold numbers, got strings such as {str(y[0])!r}: use a classifier for classes"
        ) from None


def _labels_and_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, ascending, and the place of each given label among them; two numbers and
    small integers need no sorting."""
    if y.size and y.dtype.kind in "biuf":
        low, high = y.min(), y.max()
        codes = y == high
        if low < high and np.count_nonzero(y == low) + np.count_nonzero(codes) == y.size:
            return np.array([low, high]), codes.astype(np.intp)
        if y.dtype.kind == "i" and int(high) - int(low) < y.size:
            above = y.astype(np.int64) - int(low)
            present = np.bincount(above) > 0
            labels = (np.flatnonzero(present) + int(low)).astype(y.dtype)
            return labels, (present.cumsum() - 1)[above]
    return np.unique(y, return_inverse=True)
