"""The current function of an online machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ...kernels.base import take


class FunctionOfStream(BaseEstimator):  # type: ignore[misc]
    """Fitted attributes and predictions of the machines of an estimator."""

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision function of each machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number, positive for ``classes_[1]``.
        """
        check_is_fitted(self, "machines_")
        values = self.machines_.values(self._next_inputs(X))
        result: np.ndarray = values.ravel() if self.classes_.size == 2 else values
        return result

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "machines_")
        result: np.ndarray = self.classes_[winners(self.decision_function(X))]
        return result

    @property
    def support_vectors_(self) -> Any:
        function = self.machines_.function()
        return take(function.inputs, function.used())

    @property
    def support_(self) -> np.ndarray:
        function = self.machines_.function()
        result: np.ndarray = function.number[function.used()]
        return result

    @property
    def dual_coef_(self) -> np.ndarray:
        function = self.machines_.function()
        result: np.ndarray = function.coef[:, function.used()]
        return result

    @property
    def intercept_(self) -> np.ndarray:
        result: np.ndarray = self.machines_.function().intercept
        return result

    @property
    def dual_(self) -> np.ndarray:
        return np.array([machine.dual for machine in self.machines_.machines])

    @property
    def n_iter_(self) -> np.ndarray:
        return np.array([machine.steps for machine in self.machines_.machines])


def winners(values: np.ndarray) -> np.ndarray:
    """The code of the class that the decision values predict."""
    return (values >= 0).astype(np.intp) if values.ndim == 1 else np.argmax(values, axis=1)
