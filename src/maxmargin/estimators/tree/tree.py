"""A grown tree: arrays with an entry for each node, and paths of samples through it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...runtime.jit import compiled_strict
from ...runtime.parallel import in_parts
from .growth.columns import Array

LEAF = -1


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes as arrays, with scikit-learn's names. Node 0 is the root.

    A sample goes to the left child if its value of `feature` is at most `threshold`. A threshold
    of infinity separates missing values (NaN) from all others.

    Attributes
    ----------
    children_left, children_right : ndarray of int64, shape (node_count,)
        -1 for leaves.
    feature : ndarray of int64, shape (node_count,)
        -2 for leaves.
    threshold : ndarray of float64, shape (node_count,)
        -2 for leaves.
    missing_go_to_left : ndarray of bool, shape (node_count,)
        Where missing values go; if there were none in training, to the side with more samples.
    impurity : ndarray of float64, shape (node_count,)
        The criterion divided by the weight of the node, entropy in bits.
    cost : ndarray of float64, shape (node_count,)
        The criterion as a sum over the node, entropy in nats; see `maxmargin.estimators.tree`.
    n_node_samples : ndarray of int64, shape (node_count,)
    weighted_n_node_samples : ndarray of float64, shape (node_count,)
    value : ndarray of float64, shape (node_count, 1, n_classes or 1)
        Class proportions, or means of the targets.
    n_features : int
    """

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_go_to_left: np.ndarray
    impurity: np.ndarray
    cost: np.ndarray
    n_node_samples: np.ndarray
    weighted_n_node_samples: np.ndarray
    value: np.ndarray
    n_features: int

    @property
    def node_count(self) -> int:
        return int(self.feature.size)

    @property
    def n_leaves(self) -> int:
        return int((self.children_left == LEAF).sum())

    @property
    def max_depth(self) -> int:
        return int(self.depth.max())

    @property
    def depth(self) -> np.ndarray:
        """The depth of each node, 0 of the root."""
        return depths(self.children_left, self.children_right)

    @property
    def parent(self) -> np.ndarray:
        """The parent of each node, -1 of the root."""
        return parents(self.children_left, self.children_right)

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of each sample: of a C-ordered float32 or float64 array, or a CSR matrix."""
        leaves = np.empty(X.shape[0], dtype=np.int64)
        way = (
            self.children_left,
            self.children_right,
            self.feature,
            self.threshold,
            self.missing_go_to_left,
        )

        def some_rows(first: int, last: int) -> None:
            if sparse.issparse(X):
                ends = X.indptr[first : last + 1]
                _apply_sparse(X.data, X.indices, ends, X.shape[1], *way, leaves[first:last])
            else:
                _apply_dense(X[first:last], *way, leaves[first:last])

        in_parts(some_rows, X.shape[0], X.shape[0] * 16)
        return leaves

    def predict(self, X: Any) -> np.ndarray:
        """The value of the leaf of each sample, shape (n_samples, n_classes or 1)."""
        values: np.ndarray = self.value[self.apply(X), 0]
        return values

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Which nodes each sample goes through, as an indicator matrix (n_samples, node_count)."""
        nodes = self.apply(X)
        parent = self.parent
        rows = np.arange(nodes.size)
        all_rows, all_nodes = [], []
        while nodes.size:
            all_rows.append(rows)
            all_nodes.append(nodes)
            nodes = parent[nodes]
            rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
        row, column = np.concatenate(all_rows), np.concatenate(all_nodes)
        ones = np.ones(row.size, dtype=np.int64)
        shape = (X.shape[0], self.node_count)
        path = sparse.csr_matrix((ones, (row, column)), shape=shape)
        path.sort_indices()
        return path

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """The decrease of the cost by the splits on each feature, normalised to sum to 1."""
        splits = np.flatnonzero(self.children_left != LEAF)
        left, right = self.children_left[splits], self.children_right[splits]
        gains = self.cost[splits] - self.cost[left] - self.cost[right]
        sums = np.zeros(self.n_features)
        np.add.at(sums, self.feature[splits], np.maximum(gains, 0.0))
        if not normalize:
            sums /= self.weighted_n_node_samples[0]
        elif sums.sum() > 0.0:
            sums /= sums.sum()
        return sums


def parents(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The parent of each node, -1 of the root."""
    parent = np.full(left.size, -1, dtype=np.int64)
    splits = np.flatnonzero(left != LEAF)
    parent[left[splits]] = splits
    parent[right[splits]] = splits
    return parent


def by_level(left: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    """The nodes of depth 0, 1, …, from left to right."""
    levels, nodes = [], np.zeros(1, dtype=np.int64)
    while nodes.size:
        levels.append(nodes)
        splits = nodes[left[nodes] != LEAF]
        nodes = np.stack([left[splits], right[splits]], axis=1).ravel()
    return levels


def depths(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    depth = np.zeros(left.size, dtype=np.int64)
    for level, nodes in enumerate(by_level(left, right)):
        depth[nodes] = level
    return depth


def preorder(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """All nodes below the root in the order: a node, all below its left child, all below its right.

    Nodes that are not below node 0 are left out.
    """
    levels = by_level(left, right)
    size = np.zeros(left.size, dtype=np.int64)
    place = np.zeros(left.size, dtype=np.int64)
    for nodes in reversed(levels):
        splits = nodes[left[nodes] != LEAF]
        size[nodes] = 1
        size[splits] += size[left[splits]] + size[right[splits]]
    for nodes in levels:
        splits = nodes[left[nodes] != LEAF]
        place[left[splits]] = place[splits] + 1
        place[right[splits]] = place[splits] + 1 + size[left[splits]]
    order = np.empty(size[0], dtype=np.int64)
    reached = np.concatenate(levels)
    order[place[reached]] = reached
    return order


def renumbered(order: np.ndarray, children: np.ndarray) -> np.ndarray:
    """Children of the nodes in `order`, as places in it."""
    place = np.full(children.size, LEAF, dtype=np.int64)
    place[order] = np.arange(order.size)
    children = children[order]
    return np.where(children == LEAF, LEAF, place[children])


@compiled_strict
def _apply_dense(
    X: Array,
    left: Array,
    right: Array,
    feature: Array,
    threshold: Array,
    missing_left: Array,
    leaves: Array,
) -> None:
    for i in range(leaves.size):
        row = X[i]
        node = np.uint64(0)
        while left[node] >= 0:
            x = row[np.uint64(feature[node])]
            if x <= threshold[node] or (missing_left[node] and np.isnan(x)):
                node = np.uint64(left[node])
            else:
                node = np.uint64(right[node])
        leaves[i] = node


@compiled_strict
def _apply_sparse(
    data: Array,
    indices: Array,
    ends: Array,
    features: int,
    left: Array,
    right: Array,
    feature: Array,
    threshold: Array,
    missing_left: Array,
    leaves: Array,
) -> None:
    row = np.zeros(features)
    for i in range(leaves.size):
        for p in range(ends[i], ends[i + 1]):
            row[indices[p]] += data[p]
        node = np.uint64(0)
        while left[node] >= 0:
            x = row[np.uint64(feature[node])]
            if x <= threshold[node] or (missing_left[node] and np.isnan(x)):
                node = np.uint64(left[node])
            else:
                node = np.uint64(right[node])
        leaves[i] = node
        for p in range(ends[i], ends[i + 1]):
            row[indices[p]] = 0.0
