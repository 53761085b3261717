"""The rules of a tree as text, and as a Mermaid diagram."""

from __future__ import annotations

from typing import Any

import numpy as np

from .tree import LEAF, Tree, by_level


def names_of(model: Any, feature_names: Any, class_names: Any) -> tuple[list[str], list[str]]:
    """Names of features and classes, checked for their number."""
    count = model.tree_.n_features
    if feature_names is None:
        seen = getattr(model, "feature_names_in_", None)
        feature_names = [f"feature_{f}" for f in range(count)] if seen is None else seen
    if len(feature_names) != count:
        raise ValueError(
            f"feature_names must contain {count} names, one for each feature, "
            f"got {len(feature_names)}"
        )
    classes = getattr(model, "classes_", np.empty(0))
    if class_names is None:
        class_names = classes
    if len(class_names) != len(classes):
        raise ValueError(
            f"class_names must contain {len(classes)} names, one for each class, "
            f"got {len(class_names)}"
        )
    return [str(name) for name in feature_names], [str(name) for name in class_names]


def text_of(
    model: Any,
    *,
    feature_names: Any,
    class_names: Any,
    max_depth: int,
    spacing: int,
    decimals: int,
    show_weights: bool,
) -> str:
    """The rules of a fitted tree, laid out as by `sklearn.tree.export_text`."""
    for name, value, least in (
        ("max_depth", max_depth, 0),
        ("spacing", spacing, 1),
        ("decimals", decimals, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    features, classes = names_of(model, feature_names, class_names)
    tree: Tree = model.tree_
    deepest = _deepest_below(tree)
    bar, dash = "|" + " " * spacing, "|" + "-" * spacing
    lines: list[str] = []
    waiting = [(0, 1)]
    # Lines of a split: its left rule, all below it, its right rule, all below that.
    rules: list[tuple[int, int, str]] = []
    while waiting or rules:
        if not waiting:
            node, depth, rule = rules.pop()
            lines.append(rule)
            waiting.append((node, depth))
            continue
        node, depth = waiting.pop()
        indent = bar * (depth - 1) + dash
        if depth > max_depth + 1:
            if tree.children_left[node] == LEAF:
                lines.append(indent + _leaf_text(tree, node, classes, decimals, show_weights))
            else:
                lines.append(f"{indent} truncated branch of depth {deepest[node] + 1}")
        elif tree.children_left[node] == LEAF:
            lines.append(indent + _leaf_text(tree, node, classes, decimals, show_weights))
        else:
            name, threshold = features[tree.feature[node]], tree.threshold[node]
            number = f"{threshold:.{decimals}f}"
            lines.append(f"{indent} {name} <= {number}")
            right = f"{indent} {name} >  {number}"
            rules.append((int(tree.children_right[node]), depth + 1, right))
            waiting.append((int(tree.children_left[node]), depth + 1))
    return "\n".join(lines) + "\n"


def _leaf_text(tree: Tree, node: int, classes: list[str], decimals: int, show_weights: bool) -> str:
    value = tree.value[node, 0]
    if not classes:
        return f" value: [{value[0]:.{decimals}f}]"
    weights = ""
    if show_weights:
        sums = value * tree.weighted_n_node_samples[node]
        weights = "[" + ", ".join(f"{s:.{decimals}f}" for s in sums) + "] "
    return f" {'weights: ' if show_weights else ''}{weights}class: {classes[int(np.argmax(value))]}"


def _deepest_below(tree: Tree) -> np.ndarray:
    """The levels below each node."""
    left, right = tree.children_left, tree.children_right
    below = np.zeros(tree.node_count, dtype=np.int64)
    for nodes in reversed(by_level(left, right)):
        splits = nodes[left[nodes] != LEAF]
        below[splits] = 1 + np.maximum(below[left[splits]], below[right[splits]])
    return below


def mermaid(
    model: Any, *, feature_names: Any = None, class_names: Any = None, max_depth: int | None = None
) -> str:
    """A fitted tree as a Mermaid flow chart, for README files and web pages.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
    feature_names : sequence of str, optional
        By default the names seen in `fit`, or ``feature_0``, ``feature_1``, …
    class_names : sequence of str, optional
    max_depth : int, optional
        Deeper branches are left out.

    Returns
    -------
    str

    Examples
    --------
    >>> from maxmargin.estimators.tree import DecisionTreeClassifier, mermaid
    >>> print(mermaid(DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])))
    flowchart TD
      n0{"feature_0 ≤ 0.5<br>2 samples, cost 1"}
      n1["no<br>1 sample, cost 0"]
      n2["yes<br>1 sample, cost 0"]
      n0 -- yes --> n1
      n0 -- no --> n2
    """
    features, classes = names_of(model, feature_names, class_names)
    tree: Tree = model.tree_
    levels = by_level(tree.children_left, tree.children_right)
    shown = levels if max_depth is None else levels[: max_depth + 1]
    boxes, arrows = [], []
    for depth, nodes in enumerate(shown):
        for node in nodes.tolist():
            label = "<br>".join(_escaped(line) for line in labels_of(tree, node, features, classes))
            if tree.children_left[node] == LEAF:
                boxes.append(f'  n{node}["{label}"]')
                continue
            boxes.append(f'  n{node}{{"{label}"}}')
            if depth + 1 < len(shown):
                arrows.append(f"  n{node} -- yes --> n{tree.children_left[node]}")
                arrows.append(f"  n{node} -- no --> n{tree.children_right[node]}")
    return "\n".join(["flowchart TD", *boxes, *arrows])


def labels_of(tree: Tree, node: int, features: list[str], classes: list[str]) -> list[str]:
    """The text of a node in a drawing: its rule or prediction, its samples and cost."""
    count = int(tree.n_node_samples[node])
    facts = f"{count} sample{'' if count == 1 else 's'}, cost {tree.cost[node]:.4g}"
    if tree.children_left[node] != LEAF:
        threshold = tree.threshold[node]
        name = features[tree.feature[node]]
        rule = f"{name} present" if np.isinf(threshold) else f"{name} ≤ {threshold:.4g}"
        return [rule, facts]
    value = tree.value[node, 0]
    answer = classes[int(np.argmax(value))] if classes else f"{value[0]:.4g}"
    return [answer, facts]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
