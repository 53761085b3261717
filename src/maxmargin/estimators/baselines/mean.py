"""`MeanClassifier`: the class whose mean is nearest."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from ...kernels import Linear
from ..decisions import LargestDecides
from ..inputs import is_precomputed
from ..targets import class_targets
from .base import FeatureSpaceRule


class MeanClassifier(LargestDecides, ClassifierMixin, FeatureSpaceRule):  # type: ignore[misc]
    """Predicts the class with the nearest mean c_y = Σ w_i φ(x_i) / Σ w_i, in feature space.

        h(x) = argmin_y ‖φ(x) − c_y‖²

    For two classes, the decision function is −1 at the mean of the first and +1 at that of the
    second (thesis, section 1.2.1):

        f(x) = (c₊ − c₋)·(2φ(x) − c₊ − c₋) / ‖c₊ − c₋‖²

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or Kernel, default="linear"
    degree, gamma, coef0
        As of `SVC`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_features)
        For the linear kernel of dense inputs.
    kernel_ : Kernel
    X_fit_ : array
        The inputs of the expansions of the means, for the linear kernel the means themselves,
        relative to `center_`.
    dual_coef_ : ndarray of shape (n_classes, n_inputs)
        c_y = Σ_i dual_coef_yi φ(x_i).
    offsets_ : ndarray of shape (n_classes,)
        ‖c_y‖².
    between_ : float
        ‖c₊ − c₋‖² of two classes, else 0.
    center_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Examples
    --------
    >>> from maxmargin.estimators.baselines import MeanClassifier
    >>> model = MeanClassifier().fit([[0.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"])
    >>> model.predict([[4.0], [5.0]])
    array(['low', 'high'], dtype='<U4')
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Compute the means.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the Gram matrix, of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        X, y, weight = self._checked(X, y, sample_weight)
        targets = class_targets(y, weight, None)
        weight = targets.weight
        kept = np.flatnonzero((weight > 0) & (targets.codes >= 0))
        codes, weight_kept = targets.codes[kept], weight[kept]
        self.classes_ = targets.classes
        inputs = self._remember(X, weight, kept)
        coef = np.zeros((self.classes_.size, kept.size))
        coef[codes, np.arange(kept.size)] = weight_kept
        coef /= coef.sum(axis=1, keepdims=True)
        if isinstance(self.kernel_, Linear) and self.center_.size:
            self.X_fit_ = coef @ inputs
            coef = np.eye(self.classes_.size)
        self.dual_coef_ = coef
        products = self._products(X)
        self.offsets_ = np.diagonal(products).copy()
        self.between_ = 0.0
        if self.classes_.size == 2:
            self.between_ = max(float(self.offsets_.sum() - products[0, 1] - products[1, 0]), 0.0)
        return self

    def _products(self, X: Any) -> np.ndarray:
        """Inner products of the means, shape (n_classes, n_classes)."""
        rows = X[self.X_fit_] if is_precomputed(self.kernel) else None
        products = np.zeros((self.classes_.size, self.classes_.size))
        for part, block in self._blocks(self.X_fit_ if rows is None else rows):
            products += self.dual_coef_[:, part] @ (block @ self.dual_coef_.T)
        return products

    @property
    def means_(self) -> np.ndarray:
        if not self.center_.size:
            raise AttributeError(
                "means_ exists for the linear kernel of dense inputs only; other means are given "
                "by X_fit_ and dual_coef_"
            )
        means: np.ndarray = self.X_fit_ + self.center_
        return means

    def _nearness(self, X: Any) -> np.ndarray:
        """k(x, x) − ‖φ(x) − c_y‖² for each class."""
        X = self._new(X)
        values = np.empty((X.shape[0] if hasattr(X, "shape") else len(X), self.classes_.size))
        for rows, block in self._blocks(X):
            values[rows] = 2.0 * (block @ self.dual_coef_.T) - self.offsets_
        return values

    def decision_function(self, X: Any) -> np.ndarray:
        """For two classes f(x), −1 and +1 at their means; else the closeness to each mean.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The column of a class is k(x, x) minus the squared distance from its mean.
        """
        nearness = self._nearness(X)
        if self.classes_.size > 2:
            return nearness
        difference: np.ndarray = nearness[:, 1] - nearness[:, 0]
        return difference / self.between_ if self.between_ > 0.0 else difference
