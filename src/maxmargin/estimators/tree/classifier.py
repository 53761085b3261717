"""`DecisionTreeClassifier`: a class for each cuboid."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from .. import parameters as p
from ..inputs import checked_weights
from .base import DecisionTree
from .fitting import Samples, copies_of


class DecisionTreeClassifier(ClassifierMixin, DecisionTree):  # type: ignore[misc]
    """A binary tree that splits inputs by one feature at a time (CART).

    Each leaf predicts the most frequent class of its training samples. A node T is split by the
    feature and value with the smallest

        c_L + c_R − c_T

    where c, the criterion, is a sum over the samples of a node, with p_k the proportion of class k
    and W the number (weight) of samples:

        gini      c = W Σ_k p_k (1 − p_k)
        entropy   c = −W Σ_k p_k log p_k

    Thresholds lie midway between sample values, and x ≤ threshold goes to the left. Ties go to the
    lowest feature, then to the lowest threshold. An impure node is split even if no split has a
    gain.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        ``"log_loss"`` is ``"entropy"``.
    max_depth : int, default=None
        Nodes of this depth are not split; the root has depth 0.
    min_samples_split : int or float, default=2
        Nodes with fewer samples are not split. A number below 1 is a fraction of all samples.
    min_samples_leaf : int or float, default=1
        Both sides of a split have at least this many samples.
    min_weight_fraction_leaf : float, default=0.0
        Both sides have at least this fraction of the weight.
    max_features : int, float, "sqrt" or "log2", default=None
        Number of features to draw at random for each split; None uses all of them.
    random_state : int or RandomState, default=None
        For `max_features`; otherwise nothing is random.
    max_leaf_nodes : int, default=None
        With a limit, the leaf whose split lowers the cost most is split next; without one, growth
        is depth-first.
    min_impurity_decrease : float, default=0.0
        Splits must lower the cost, divided by the weight of all samples, by at least this (entropy
        in bits).
    class_weight : dict or "balanced", default=None
    ccp_alpha : float, default=0.0
        Prune to the subtree with the smallest cost (divided by the weight of all samples) plus
        ccp_alpha times the number of leaves.
    trace : bool, default=False
        Whether to record all candidates of every split as `splits_`; for small data.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    tree_ : Tree
        Arrays over the nodes.
    splits_ : list of Candidates
        With ``trace=True``: all candidates of every split with their costs, before pruning.
    feature_importances_ : ndarray of shape (n_features,)
    max_features_, n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Notes
    -----
    Missing values (NaN) go to the side where they lower the cost more, or are split off by
    themselves. If all weights are integers, limits count them as copies; otherwise they count
    samples.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin.estimators.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> print(model.export_text(feature_names=["sepal l", "sepal w", "petal l", "petal w"]))
    |--- petal l <= 2.45
    |   |--- class: 0
    |--- petal l >  2.45
    |   |--- petal w <= 1.75
    |   |   |--- class: 1
    |   |--- petal w >  1.75
    |   |   |--- class: 2
    <BLANKLINE>
    >>> model.predict_proba([[5.0, 3.0, 5.0, 2.0]]).round(2)
    array([[0.  , 0.02, 0.98]])
    """

    _criteria = ("gini", "entropy", "log_loss")

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.trace = trace

    def _check_parameters(self) -> None:
        super()._check_parameters()
        p.check_class_weight(self)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the tree.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing value.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = self._inputs(X, y, numeric=False)
        weight = checked_weights(sample_weight, X.shape[0])
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        factors = self._class_factors(classes, codes, y, weight)
        present = np.flatnonzero(np.bincount(codes, weight * factors[codes], classes.size))
        if not present.size:
            raise ValueError(
                "class_weight leaves no sample with a positive weight: give a class that is in y "
                "a positive weight"
            )
        kept = np.flatnonzero(weight * factors[codes] > 0)
        labels = np.zeros(classes.size, dtype=np.int32)
        labels[present] = np.arange(present.size)
        self.classes_, self.n_classes_, self.n_outputs_ = classes[present], present.size, 1
        if kept.size < weight.size:
            X, codes, weight = X[kept], codes[kept], weight[kept]
        self._grow(
            X, Samples(labels[codes], present.size, weight * factors[codes], copies_of(weight))
        )
        return self

    def _class_factors(
        self, classes: np.ndarray, codes: np.ndarray, y: np.ndarray, weight: np.ndarray
    ) -> np.ndarray:
        """The weight factor of each class."""
        if self.class_weight is None:
            return np.ones(classes.size)
        if isinstance(self.class_weight, dict):
            weights = compute_class_weight(self.class_weight, classes=classes, y=y)
            return np.asarray(weights, dtype=np.float64)
        totals = np.bincount(codes, weight, minlength=classes.size)
        share = np.where(totals > 0, totals, 1.0) * np.count_nonzero(totals)
        factors: np.ndarray = totals.sum() / share
        return factors

    def predict(self, X: Any) -> np.ndarray:
        """The most frequent class in the leaf of each sample; ties go to the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._checked(X)
        answers = self.tree_.value[:, 0].argmax(axis=1)
        labels: np.ndarray = self.classes_[answers[self.tree_.apply(X)]]
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
        """The proportion of each class in the leaf of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        X = self._checked(X)
        return self.tree_.predict(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the proportion of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            logarithms: np.ndarray = np.log(self.predict_proba(X))
        return logarithms

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags
