"""The base of both kinds of decision trees: limits, inputs, and paths through the tree."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import parameters as p
from .export import text_of
from .fitting import Samples, as_csc, grown
from .growth.criteria import Limits
from .pruning import PruningPath, pruned, pruning_path
from .splits import candidates_of
from .tree import Tree


class DecisionTree(BaseEstimator):  # type: ignore[misc]
    """A binary tree over cuboids."""

    tree_: Tree

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_parameters(self) -> None:
        p.check_option(self, "criterion", self._criteria)
        p.check_number(self, "max_depth", 1, closed="left", whole=True, optional=True)
        _check_count(self, "min_samples_split", 2, "(0, 1]")
        _check_count(self, "min_samples_leaf", 1, "(0, 1)")
        p.check_number(self, "min_weight_fraction_leaf", 0, 0.5, closed="both")
        _check_max_features(self)
        check_random_state(self.random_state)
        p.check_number(self, "max_leaf_nodes", 2, closed="left", whole=True, optional=True)
        p.check_number(self, "min_impurity_decrease", 0, closed="left")
        p.check_number(self, "ccp_alpha", 0, closed="left")
        p.check_boolean(self, "trace")

    def _inputs(self, X: Any, y: Any, numeric: bool) -> tuple[Any, Any]:
        """Checked inputs, dense or CSC, in float32 if that is exact; and targets."""
        own_dtype = getattr(X, "dtype", None)
        small = (
            isinstance(own_dtype, np.dtype) and own_dtype.kind in "biuf" and own_dtype.itemsize <= 2
        )
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csc",
            dtype=np.float32 if small else [np.float64, np.float32],
            ensure_all_finite="allow-nan",
            y_numeric=numeric,
            multi_output=False,
        )
        return (as_csc(X) if sparse.issparse(X) else X), y

    def _limits(self, samples: Samples) -> Limits:
        counted, weight = int(samples.copies.sum()), float(samples.weight.sum())
        leaf, split = self.min_samples_leaf, self.min_samples_split
        if not isinstance(leaf, p.WHOLE):
            leaf = math.ceil(leaf * counted)
        if not isinstance(split, p.WHOLE):
            split = max(2, math.ceil(split * counted))
        # In the units of costs, with an allowance for rounding.
        least = -np.inf
        if self.min_impurity_decrease > 0:
            unit = 1.0 if self.criterion in ("gini", "squared_error") else math.log(2.0)
            least = (float(self.min_impurity_decrease) - 2.0**-52) * unit * weight
        return Limits(
            sys.maxsize if self.max_depth is None else int(self.max_depth),
            int(split),
            int(leaf),
            max(float(self.min_weight_fraction_leaf) * weight, np.finfo(np.float64).tiny),
            0 if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            least,
            self.max_features_,
        )

    def _grow(self, X: Any, samples: Samples) -> None:
        """Set `tree_`, `max_features_` and, on request, `splits_`."""
        self.max_features_ = _drawn_features(self.max_features, X.shape[1])
        limits, seed = self._limits(samples), 0
        if self.max_features_ < X.shape[1]:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        tree = grown(X, samples, self.criterion, limits, seed)
        if self.trace:
            self.splits_ = candidates_of(X, samples, self.criterion, limits, tree)
        elif hasattr(self, "splits_"):
            del self.splits_
        self.tree_ = pruned(tree, float(self.ccp_alpha)) if self.ccp_alpha > 0 else tree

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        own_dtype = getattr(X, "dtype", None)
        small = (
            isinstance(own_dtype, np.dtype) and own_dtype.kind in "biuf" and own_dtype.itemsize <= 2
        )
        return validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=np.float32 if small else [np.float64, np.float32],
            order="C",
            ensure_all_finite="allow-nan",
            reset=False,
        )

    def apply(self, X: Any) -> np.ndarray:
        """The index of the leaf that each sample ends in.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int64, shape (n_samples,)
        """
        X = self._checked(X)
        return self.tree_.apply(X)

    def decision_path(self, X: Any) -> Any:
        """The nodes that each sample goes through.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        CSR matrix of shape (n_samples, n_nodes)
            1 where a sample goes through a node.
        """
        X = self._checked(X)
        return self.tree_.decision_path(X)

    def get_depth(self) -> int:
        """The depth of the deepest leaf; that of a single node is 0.

        Returns
        -------
        int
        """
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """The number of leaves.

        Returns
        -------
        int
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> np.ndarray:
        """The decrease of the cost by the splits on each feature, normalised to sum to 1."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def cost_complexity_pruning_path(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> PruningPath:
        """The values of `ccp_alpha` at which the pruned tree changes.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        PruningPath
            A named tuple of `ccp_alphas` and `impurities`, the cost of the leaves of each subtree
            divided by the weight of all samples.
        """
        whole = type(self)(**{**self.get_params(), "ccp_alpha": 0.0, "trace": False})
        return pruning_path(whole.fit(X, y, sample_weight).tree_)

    def export_text(
        self,
        *,
        feature_names: Any = None,
        class_names: Any = None,
        max_depth: int = 10,
        spacing: int = 3,
        decimals: int = 2,
        show_weights: bool = False,
    ) -> str:
        """The rules of the tree as text, one line for each node.

        Parameters
        ----------
        feature_names : sequence of str, optional
            By default the names seen in `fit`, or ``feature_0``, ``feature_1``, …
        class_names : sequence of str, optional
            In the order of `classes_`.
        max_depth : int
            Deeper branches are summarised.
        spacing : int
        decimals : int
        show_weights : bool
            Whether leaves show the weight of each class.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return text_of(
            self,
            feature_names=feature_names,
            class_names=class_names,
            max_depth=max_depth,
            spacing=spacing,
            decimals=decimals,
            show_weights=show_weights,
        )


def _check_count(owner: Any, name: str, least: int, shares: str) -> None:
    """A number of samples, also if given as a fraction."""
    value = getattr(owner, name)
    if p.is_number(value, p.WHOLE):
        if value >= least:
            return
    elif p.is_number(value) and (0 < value < 1 or (value == 1 and shares.endswith("]"))):
        return
    p.refuse(owner, name, f"a whole number of at least {least}, or a share in {shares}")


def _check_max_features(owner: Any) -> None:
    value = owner.max_features
    if value is None or (isinstance(value, str) and value in ("sqrt", "log2")):
        return
    if p.is_number(value, p.WHOLE):
        if value >= 1:
            return
    elif p.is_number(value) and 0 < value <= 1:
        return
    p.refuse(
        owner,
        "max_features",
        "a whole number of at least 1, a share in (0, 1], 'sqrt', 'log2' or None",
    )


def _drawn_features(max_features: Any, count: int) -> int:
    if max_features is None:
        return count
    if isinstance(max_features, str):
        root = math.sqrt(count) if max_features == "sqrt" else math.log2(count)
        return max(1, int(root))
    if p.is_number(max_features, p.WHOLE):
        return min(int(max_features), count)
    return max(1, int(max_features * count))
