"""The classes of a stream: fixed when it begins, whatever comes later."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets


class ClassesOfStream(BaseEstimator):  # type: ignore[misc]
    """What an online classifier knows of its classes."""

    classes_: np.ndarray
    class_weight_: np.ndarray

    def _begin_classes(self, y: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Set the classes that have weight; codes of all samples, and their weights."""
        classes, codes = np.unique(y, return_inverse=True)
        factors = self._factors(classes)
        weight = np.where(factors[codes] > 0, weight, 0.0)
        totals = np.bincount(codes, weight, minlength=classes.size)
        present = np.flatnonzero(totals)
        if present.size < 2:
            raise ValueError(
                "The number of classes has to be greater than one; got "
                f"{present.size} class with positive weight"
            )
        self.classes_, self.class_weight_ = classes[present], factors[present]
        if self.class_weight == "balanced":
            self.class_weight_ = totals.sum() / (present.size * totals[present])
        places = np.full(classes.size, -1)
        places[present] = np.arange(present.size)
        return places[codes].astype(np.float64), weight

    def _factors(self, classes: np.ndarray) -> np.ndarray:
        given = self.class_weight if isinstance(self.class_weight, dict) else {}
        unknown = [label for label in given if label not in set(classes.tolist())]
        if unknown:
            raise ValueError(
                f"class_weight has weights for {unknown}, which are not among the classes "
                f"{classes.tolist()}"
            )
        return np.array([float(given.get(label, 1.0)) for label in classes.tolist()])

    def _accept_classes(self, y: np.ndarray, classes: Any, first: bool) -> None:
        """Set the classes in the first call of partial_fit, refuse others later."""
        if first:
            known = np.unique(y if classes is None else np.asarray(classes))
            if known.size < 2:
                raise ValueError(
                    f"The number of classes has to be greater than one; got {known.tolist()}: give "
                    "all labels that will come as classes= in the first call of partial_fit"
                )
        else:
            known = self.classes_
            if classes is not None and not np.array_equal(np.unique(classes), known):
                raise ValueError(
                    f"classes={np.unique(classes).tolist()} is not the same as in the first call, "
                    f"{known.tolist()}: leave it out, or begin a new model"
                )
        new = np.setdiff1d(y, known)
        if new.size:
            raise ValueError(
                f"y has the new classes {new.tolist()}, but the classes are {known.tolist()}: "
                "name all classes in the first call of partial_fit, or begin a new model"
            )
        if first:
            self.classes_, self.class_weight_ = known, self._factors(known)

    def _bound(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        result: np.ndarray = float(self.C) * self.class_weight_[codes] * weight
        return result


def labels_of_stream(y: Any, known: bool = False) -> np.ndarray:
    """Labels in one dimension; of which kind they are need not be asked where classes are known."""
    y = column_or_1d(y, warn=True)
    if not known:
        check_classification_targets(y)
    result: np.ndarray = y
    return result
