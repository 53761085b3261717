"""`DecisionTreeRegressor`: a value for each cuboid."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d

from ..inputs import checked_weights
from .base import DecisionTree
from .fitting import Samples, copies_of


class DecisionTreeRegressor(RegressorMixin, DecisionTree):  # type: ignore[misc]
    """A binary tree that splits inputs by one feature at a time (CART), with a value in each leaf.

    A leaf predicts the mean t̂ of its training samples. A node T is split by the feature and value
    with the smallest c_L + c_R − c_T, where

        c = Σ_i w_i (t_i − t̂)²

    Thresholds lie midway between sample values, and x ≤ threshold goes to the left. Ties go to the
    lowest feature, then to the lowest threshold.

    Parameters
    ----------
    criterion : {"squared_error"}, default="squared_error"
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features, \
random_state, max_leaf_nodes, min_impurity_decrease, ccp_alpha, trace
        As for `DecisionTreeClassifier`.

    Attributes
    ----------
    tree_, splits_, feature_importances_, max_features_, n_outputs_, n_features_in_, \
feature_names_in_
        As for `DecisionTreeClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.estimators.tree import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[1], [2], [3], [4]], [1.0, 1.0, 5.0, 7.0])
    >>> model.predict([[2.4], [2.6]])
    array([1., 6.])
    >>> model.tree_.cost
    array([27.,  0.,  2.])
    """

    _criteria = ("squared_error",)

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        trace: bool = False,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.trace = trace

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing value.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = self._inputs(X, y, numeric=True)
        weight = checked_weights(sample_weight, X.shape[0])
        y = column_or_1d(y, warn=True).astype(np.float64)
        self.n_outputs_ = 1
        kept = np.flatnonzero(weight > 0)
        if kept.size < weight.size:
            X, y, weight = X[kept], y[kept], weight[kept]
        self._grow(X, Samples(y, 0, weight, copies_of(weight)))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The mean of the training samples in the leaf of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._checked(X)
        return self.tree_.predict(X)[:, 0]
