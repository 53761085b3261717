"""The classes of a stream, which are fixed when it begins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets


class WeightedClasses(NamedTuple):
    """The classes that have weight among samples in memory.

    Attributes
    ----------
    classes : array
    factors : float array
        Factor on C of each class.
    codes : float array
        Index of the class of each sample; -1 for a class without weight.
    weight : float array
        Of each sample; 0 for a class without weight.
    """

    classes: np.ndarray
    factors: np.ndarray
    codes: np.ndarray
    weight: np.ndarray


def weighted_classes(y: np.ndarray, weight: np.ndarray, class_weight: Any) -> WeightedClasses:
    """The classes of weighted samples, at least two of which need a positive weight."""
    classes, codes = np.unique(y, return_inverse=True)
    factors = factors_of(class_weight, classes)
    weight = np.where(factors[codes] > 0, weight, 0.0)
    totals = np.bincount(codes, weight, minlength=classes.size)
    present = np.flatnonzero(totals)
    if present.size < 2:
        raise ValueError(
            "The number of classes has to be greater than one; got "
            f"{present.size} class with positive weight"
        )
    factors = factors[present]
    if class_weight == "balanced":
        factors = totals.sum() / (present.size * totals[present])
    places = np.full(classes.size, -1)
    places[present] = np.arange(present.size)
    return WeightedClasses(classes[present], factors, places[codes].astype(np.float64), weight)


def factors_of(class_weight: Any, classes: np.ndarray) -> np.ndarray:
    """The factor on C of each class: as given by a dict, else 1."""
    by_label = class_weight if isinstance(class_weight, dict) else {}
    unknown = [label for label in by_label if label not in set(classes.tolist())]
    if unknown:
        raise ValueError(
            f"class_weight has weights for {unknown}, which are not among the classes "
            f"{classes.tolist()}"
        )
    return np.array([float(by_label.get(label, 1.0)) for label in classes.tolist()])


def first_classes(y: np.ndarray, classes: Any) -> np.ndarray:
    """The classes that a stream begins with: those named, else those of the first examples."""
    known: np.ndarray = np.unique(y if classes is None else np.asarray(classes))
    if known.size < 2:
        raise ValueError(
            f"The number of classes has to be greater than one; got {known.tolist()}: give "
            "all labels that will come as classes= in the first call of partial_fit"
        )
    refuse_new_classes(y, known)
    return known


def refuse_other_classes(classes: Any, known: np.ndarray) -> None:
    """Raise ValueError if a later call names other classes than the first one."""
    if classes is not None and not np.array_equal(np.unique(classes), known):
        raise ValueError(
            f"classes={np.unique(classes).tolist()} is not the same as in the first call, "
            f"{known.tolist()}: leave it out, or begin a new model"
        )


def refuse_new_classes(y: np.ndarray, known: np.ndarray) -> None:
    """Raise ValueError if labels are not among the classes of the stream."""
    new = np.setdiff1d(y, known)
    if new.size:
        raise ValueError(
            f"y has the new classes {new.tolist()}, but the classes are {known.tolist()}: "
            "name all classes in the first call of partial_fit, or begin a new model"
        )


def labels_of_stream(y: Any, known: bool = False) -> np.ndarray:
    """Labels in one dimension; their type is not checked if the classes are known."""
    y = column_or_1d(y, warn=True)
    if not known:
        check_classification_targets(y)
    result: np.ndarray = y
    return result
