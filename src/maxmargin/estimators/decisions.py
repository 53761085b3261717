"""How the values of functions decide the class: by a sign, or by the largest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class LargestDecides:
    """A classifier with one function for two classes, or one function per class.

    The machine computes them in ``_values(X)``, one column each.
    """

    classes_: np.ndarray
    _values: Callable[[Any], np.ndarray]

    def decision_function(self, X: Any) -> np.ndarray:
        """The function whose sign, or whose largest column, decides.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number, positive for ``classes_[1]``.
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample; of equally good ones the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        places = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        labels: np.ndarray = self.classes_[places]
        return labels
