"""`KernelNeighborsClassifier` and `KernelNeighborsRegressor`: votes of the nearest samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .. import parameters as p
from .base import FeatureSpaceRule


class KernelNeighbors(FeatureSpaceRule):
    """Votes of the k nearest samples in the space of a kernel."""

    n_neighbors: int
    squares_: np.ndarray
    sample_weight_: np.ndarray

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
    ) -> None:
        super().__init__(kernel=kernel, degree=degree, gamma=gamma, coef0=coef0)
        self.n_neighbors = n_neighbors

    def _check_parameters(self) -> None:
        super()._check_parameters()
        p.check_number(self, "n_neighbors", 1, closed="left", whole=True)

    def _keep(self, X: Any, weight: np.ndarray) -> np.ndarray:
        """Keep the samples with positive weight; return which these are."""
        kept = np.flatnonzero(weight > 0)
        self._remember(X, weight, kept)
        self.sample_weight_ = weight[kept]
        self.squares_ = self._squares(X)
        return kept

    def _votes(self, X: Any) -> Any:
        """For a batch of rows: the nearest samples, and the votes of each.

        Samples vote with their weight, nearest first, until there are k votes; ties go to the
        first. The last sample may contribute only part of its votes.
        """
        X = self._new(X)
        k, weight = float(self.n_neighbors), self.sample_weight_
        lightest = weight.min()
        most = int(min(weight.size, np.ceil(k / lightest)))
        for rows, block in self._blocks(X):
            # Without k(x, x), which is the same for all of them.
            distance = self.squares_ - 2.0 * block
            order = _smallest(distance, most)
            own = weight[order]
            before = np.cumsum(own, axis=1) - own
            yield rows, order, np.clip(k - before, 0.0, own)

    def _answers(self, X: Any, values: np.ndarray) -> np.ndarray:
        """The mean of the values of the nearest samples, weighted by their votes."""
        answers = []
        for _, order, votes in self._votes(X):
            sums = np.einsum("ij,ijk->ik", votes, values[order])
            answers.append(sums / votes.sum(axis=1, keepdims=True))
        return np.concatenate(answers)


def _smallest(distance: np.ndarray, most: int) -> np.ndarray:
    """Indices of the smallest entries of each row in increasing order; ties go to the first."""
    if most >= distance.shape[1]:
        return np.argsort(distance, axis=1, kind="stable")
    bound = np.partition(distance, most - 1, axis=1)[:, most - 1 : most]
    found = np.empty((distance.shape[0], most), dtype=np.int64)
    for i, row in enumerate(distance):
        near = np.flatnonzero(row <= bound[i])
        found[i] = near[np.argsort(row[near], kind="stable")[:most]]
    return found


class KernelNeighborsClassifier(ClassifierMixin, KernelNeighbors):  # type: ignore[misc]
    """The majority vote of the k nearest training samples, near in the space of a kernel.

        d²(x, x_i) = k(x, x) − 2 k(x, x_i) + k(x_i, x_i)

    With the linear kernel these are the usual neighbours; a Gaussian kernel alone does not change
    their order, but others and sums of kernels do (thesis, section 1.2.4).

    Parameters
    ----------
    n_neighbors : int, default=5
        Votes; with fewer samples, all of them vote.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or Kernel, default="linear"
    degree, gamma, coef0
        As of `SVC`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    kernel_ : Kernel
    X_fit_ : array
        The training inputs, relative to `center_`.
    y_fit_ : ndarray of shape (n_samples,)
        For each of them the index of its label in `classes_`.
    sample_weight_, squares_ : ndarray of shape (n_samples,)
        Their weights, and k(x_i, x_i).
    center_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin.estimators.baselines import KernelNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelNeighborsClassifier(n_neighbors=3, kernel="poly").fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 2)
    0.96
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Remember the samples.

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
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        kept = self._keep(X, weight)
        self.classes_, codes = np.unique(y[kept], return_inverse=True)
        self.y_fit_ = codes.astype(np.int64)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The fraction of votes for each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self._answers(X, np.eye(self.classes_.size)[self.y_fit_])

    def predict(self, X: Any) -> np.ndarray:
        """The class with most votes; ties go to the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        places = self.predict_proba(X).argmax(axis=1)
        labels: np.ndarray = self.classes_[places]
        return labels


class KernelNeighborsRegressor(RegressorMixin, KernelNeighbors):  # type: ignore[misc]
    """The mean of the k nearest training samples, near in the space of a kernel.

    Parameters
    ----------
    n_neighbors, kernel, degree, gamma, coef0
        As for `KernelNeighborsClassifier`.

    Attributes
    ----------
    y_fit_ : ndarray of shape (n_samples,)
        The targets of the training inputs.
    kernel_, X_fit_, sample_weight_, squares_, center_, n_features_in_, feature_names_in_
        As for `KernelNeighborsClassifier`.

    Examples
    --------
    >>> from maxmargin.estimators.baselines import KernelNeighborsRegressor
    >>> model = KernelNeighborsRegressor(n_neighbors=2).fit([[0.0], [1.0], [9.0]], [1.0, 3.0, 8.0])
    >>> model.predict([[0.2]])
    array([2.])
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Remember the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the Gram matrix, of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        X, y, weight = self._checked(X, y, sample_weight)
        y = np.asarray(column_or_1d(y, warn=True), dtype=np.float64)
        kept = self._keep(X, weight)
        self.y_fit_ = y[kept]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The mean of the nearest samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._answers(X, self.y_fit_[:, None])[:, 0]
