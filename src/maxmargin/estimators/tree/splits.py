"""All candidate splits of every node with their costs, to study why a split was chosen.

The costs are computed from the samples of each side, one candidate at a time, independently of the
sums that grow the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .growth.criteria import Limits
from .tree import LEAF, Tree

# More candidates than this are not recorded.
MOST = 2_000_000


@dataclass(frozen=True, eq=False)
class Candidates:
    """All ways to split one node: midway between consecutive values of each feature.

    Attributes
    ----------
    node : int
        The node, as numbered in the tree before pruning.
    depth : int
    samples : ndarray of int64
        The rows of the training inputs in it, without those of weight 0.
    cost : float
        c_T.
    feature : ndarray of int64, shape (n_candidates,)
    threshold : ndarray of float64, shape (n_candidates,)
        Infinity where missing values are split from all others.
    missing_left : ndarray of bool, shape (n_candidates,)
        Whether missing values go to the left.
    cost_left, cost_right : ndarray of float64, shape (n_candidates,)
        c_L and c_R.
    allowed : ndarray of bool, shape (n_candidates,)
        Whether both sides are large enough.
    chosen : int
        Index of the candidate that the tree uses.
    """

    node: int
    depth: int
    samples: np.ndarray
    cost: float
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    cost_left: np.ndarray
    cost_right: np.ndarray
    allowed: np.ndarray
    chosen: int

    @property
    def difference(self) -> np.ndarray:
        """c_L + c_R − c_T; the smallest is chosen."""
        sides: np.ndarray = self.cost_left + self.cost_right
        return sides - self.cost

    def table(self, feature_names: Any = None, rows: int = 10) -> str:
        """The candidates as text, best first; a star marks the one that the tree uses.

        Parameters
        ----------
        feature_names : sequence of str, optional
        rows : int
            How many to show.

        Returns
        -------
        str
        """
        order = np.argsort(np.where(self.allowed, self.difference, np.inf), kind="stable")
        lines = [f"node {self.node}: {self.samples.size} samples, c_T = {self.cost:.6g}"]
        lines.append(f"   {'split':<28}{'c_L':>12}{'c_R':>12}{'c_L+c_R-c_T':>14}")
        for place in order[:rows]:
            f = self.feature[place]
            name = f"feature_{f}" if feature_names is None else str(feature_names[f])
            split = f"{name} <= {self.threshold[place]:.6g}"
            split += " or missing" if self.missing_left[place] else ""
            mark = "*" if place == self.chosen else " " if self.allowed[place] else "-"
            costs = f"{self.cost_left[place]:12.6g}{self.cost_right[place]:12.6g}"
            lines.append(f" {mark} {split:<28}{costs}{self.difference[place]:14.6g}")
        left_out = order.size - min(rows, order.size)
        return "\n".join([*lines, *([f"   and {left_out} more"] if left_out else [])])


def cost_of(criterion: str, target: np.ndarray, weight: np.ndarray) -> float:
    """The cost of a node with these targets (values, or labels 0, 1, …) and weights.

    Examples
    --------
    >>> import numpy as np
    >>> cost_of("gini", np.array([0, 0, 1, 1]), np.ones(4))
    2.0
    >>> cost_of("squared_error", np.array([1.0, 3.0]), np.ones(2))
    2.0
    """
    W = weight.sum()
    if not W:
        return 0.0
    if criterion == "squared_error":
        mean = (weight * target).sum() / W
        return float((weight * (target - mean) ** 2).sum())
    p = np.bincount(target, weight) / W
    if criterion == "gini":
        return float(W * (p * (1.0 - p)).sum())
    p = p[p > 0]
    return float(-W * (p * np.log(p)).sum()) + 0.0


def candidates_of(
    X: Any, samples: Any, criterion: str, limits: Limits, tree: Tree
) -> list[Candidates]:
    """The candidates of every node that was split, in the order of the nodes."""
    X = X.toarray() if sparse.issparse(X) else X
    path = tree.decision_path(np.ascontiguousarray(X)).tocsc()
    depth, found, total = tree.depth, [], 0
    for node in np.flatnonzero(tree.children_left != LEAF):
        rows = path.indices[path.indptr[node] : path.indptr[node + 1]].astype(np.int64)
        rows.sort()
        record = _of_node(X, samples, criterion, limits, tree, int(node), int(depth[node]), rows)
        total += record.feature.size
        if total > MOST:
            raise ValueError(
                f"trace=True records every candidate of every split, and there are more than "
                f"{MOST:,} of them: take fewer samples, or limit the tree by max_depth"
            )
        found.append(record)
    return found


def _of_node(
    X: np.ndarray,
    samples: Any,
    criterion: str,
    limits: Limits,
    tree: Tree,
    node: int,
    depth: int,
    rows: np.ndarray,
) -> Candidates:
    found: dict[str, list[Any]] = {
        name: []
        for name in ("feature", "threshold", "missing_left", "cost_left", "cost_right", "allowed")
    }
    target, weight, copies = samples.target[rows], samples.weight[rows], samples.copies[rows]
    for f in range(X.shape[1]):
        x = X[rows, f]
        for threshold, missing_left in _thresholds(x):
            left = (x <= threshold) | (np.isnan(x) & missing_left)
            enough = [
                copies[part].sum() >= limits.min_samples_leaf
                and weight[part].sum() >= limits.min_weight_leaf
                for part in (left, ~left)
            ]
            found["feature"].append(f)
            found["threshold"].append(threshold)
            found["missing_left"].append(missing_left)
            found["cost_left"].append(cost_of(criterion, target[left], weight[left]))
            found["cost_right"].append(cost_of(criterion, target[~left], weight[~left]))
            found["allowed"].append(all(enough))
    arrays = {name: np.array(values) for name, values in found.items()}
    f, threshold = tree.feature[node], tree.threshold[node]
    same = (arrays["feature"] == f) & (arrays["threshold"] == threshold)
    if np.isnan(X[rows, f]).any():
        same &= arrays["missing_left"] == tree.missing_go_to_left[node]
    cost = cost_of(criterion, target, weight)
    chosen = int(np.flatnonzero(same)[0])
    return Candidates(node, depth, rows, cost, **arrays, chosen=chosen)


def _thresholds(x: np.ndarray) -> list[tuple[float, bool]]:
    """Thresholds between values, with missing values to the right and to the left."""
    values = np.unique(x[~np.isnan(x)]).astype(np.float64)
    between = values[:-1] / 2.0 + values[1:] / 2.0
    outside = (between < values[:-1]) | (between >= values[1:])
    between = np.where(outside, values[:-1], between)
    found = [(float(threshold), False) for threshold in between]
    if np.isnan(x).any() and values.size:
        found += [(float(threshold), True) for threshold in between]
        found.append((np.inf, False))
    return found
