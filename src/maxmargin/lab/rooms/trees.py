"""Decision trees: every candidate split, the order of growth, and pruning from the weakest link.

A run is a list of frames. The first has the root alone; then one for each split, in the order in
which `DecisionTreeClassifier` makes them; then one for each split that pruning takes back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...estimators.tree import LEAF, DecisionTreeClassifier, Tree
from ...estimators.tree.pruning import weakest_links
from . import fields, samples
from .fields import Request, Room
from .samples import Samples

ROOM = Room(
    "trees",
    "Decision trees",
    "A tree splits the box whose best split lowers the criterion most; "
    "pruning takes back the splits that pay least.",
    {"example": "moons", "size": 60, "max_depth": 4},
)
FIELDS = (*samples.FIELDS, "criterion", "max_depth", "max_leaves", "min_leaf")


def answer(request: Request) -> dict[str, Any]:
    """Frames, nodes, and the candidates of every split."""
    samples.only(request, FIELDS)
    points = samples.samples_of(request, fewest=1, most=200, usual=40)
    leaves = None
    if request.get("max_leaves") is not None:
        leaves = fields.whole(request, "max_leaves", 2, 2, 64)
    model = DecisionTreeClassifier(
        criterion=fields.choice(request, "criterion", "gini", ("gini", "entropy")),
        max_depth=fields.whole(request, "max_depth", 4, 1, 8),
        max_leaf_nodes=leaves,
        min_samples_leaf=fields.whole(request, "min_leaf", 1, 1, 50),
        trace=True,
    )
    model.fit(points.X, points.y)
    tree = model.tree_
    best_first = model.max_leaf_nodes is not None
    result = {
        "points": points.rows(),
        "classes": model.classes_,
        "best_first": best_first,
        "nodes": nodes_of(tree, model.classes_),
        "splits": {split.node: table_of(split) for split in model.splits_},
        "frames": frames_of(tree, best_first),
        "code": code_of(points, model),
    }
    found: dict[str, Any] = fields.plain(result)
    return found


def growth_order(tree: Tree, best_first: bool) -> list[int]:
    """Nodes in the order in which they were split.

    Best-first growth numbers nodes as they are made. Depth-first growth takes the youngest node,
    which is the right child before the left one.
    """
    splits = np.flatnonzero(tree.children_left != LEAF)
    if best_first:
        return [int(node) for node in splits[np.argsort(tree.children_left[splits])]]
    order: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if tree.children_left[node] != LEAF:
            order.append(node)
            waiting += [int(tree.children_left[node]), int(tree.children_right[node])]
    return order


def nodes_of(tree: Tree, classes: Any) -> list[dict[str, Any]]:
    """What is known of each node, and its box: lower and upper bounds of both features."""
    boxes: list[list[float | None]] = [[None] * 4 for _ in range(tree.node_count)]
    records: list[dict[str, Any]] = []
    for node in range(tree.node_count):
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
        if left != LEAF:
            for child, side in ((left, 1), (right, 0)):
                boxes[child] = list(boxes[node])
                boxes[child][2 * feature + side] = threshold
        records.append(
            {
                "left": left,
                "right": right,
                "depth": tree.depth[node],
                "feature": feature,
                "threshold": threshold,
                "samples": tree.n_node_samples[node],
                "impurity": tree.impurity[node],
                "cost": tree.cost[node],
                "shares": tree.value[node, 0],
                "label": classes[tree.value[node, 0].argmax()],
                "box": boxes[node],
            }
        )
    return records


def table_of(split: Any) -> dict[str, Any]:
    """The candidates of one split, the largest gain first."""
    gain = -split.difference
    order = np.argsort(np.where(split.allowed, -gain, np.inf), kind="stable")
    place = int(np.flatnonzero(order == split.chosen)[0])
    return {
        "cost": split.cost,
        "samples": split.samples,
        "feature": split.feature[order],
        "threshold": split.threshold[order],
        "cost_left": split.cost_left[order],
        "cost_right": split.cost_right[order],
        "gain": gain[order],
        "allowed": split.allowed[order],
        "chosen": place,
    }


def frames_of(tree: Tree, best_first: bool) -> list[dict[str, Any]]:
    """Growth, then pruning: what was done, the leaves then, their risk R and training errors."""
    shares = tree.value[:, 0]
    risk = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    wrong = np.rint(tree.weighted_n_node_samples * (1.0 - shares.max(axis=1))).astype(np.int64)
    leaves: set[int] = {0}
    frames: list[dict[str, Any]] = []

    def add(kind: str, node: int, alpha: float | None = None) -> None:
        now = sorted(leaves)
        facts = {"kind": kind, "node": node, "alpha": alpha, "leaves": now}
        frames.append({**facts, "risk": float(risk[now].sum()), "errors": int(wrong[now].sum())})

    add("root", 0)
    for node in growth_order(tree, best_first):
        leaves.remove(node)
        leaves |= {int(tree.children_left[node]), int(tree.children_right[node])}
        add("split", node)
    for alpha, node, _ in weakest_links(tree):
        leaves -= set(below(tree, node))
        leaves.add(node)
        add("prune", node, max(alpha, 0.0))
    return frames


def below(tree: Tree, node: int) -> list[int]:
    found: list[int] = []
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if tree.children_left[node] != LEAF:
            children = [int(tree.children_left[node]), int(tree.children_right[node])]
            found += children
            waiting += children
    return found


def code_of(points: Samples, model: DecisionTreeClassifier) -> str:
    return f"""\
import numpy as np
from maxmargin.estimators.tree import DecisionTreeClassifier

{samples.code_of(points)}\
model = DecisionTreeClassifier(
    criterion={model.criterion!r},
    max_depth={model.max_depth},
    max_leaf_nodes={model.max_leaf_nodes},
    min_samples_leaf={model.min_samples_leaf},
    trace=True,
).fit(X, y)
print(model.export_text(feature_names=["x1", "x2"]))
if model.splits_:
    print(model.splits_[0].table(["x1", "x2"]))
print(model.cost_complexity_pruning_path(X, y).ccp_alphas)
"""
