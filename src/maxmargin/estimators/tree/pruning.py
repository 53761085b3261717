"""Minimal cost-complexity pruning: the subtree with the smallest cost plus alpha times leaves.

With R the cost of a tree's leaves, divided by the weight of all samples, pruning minimises

    R + alpha · (number of leaves)

over all subtrees with the same root. As alpha grows, the weakest split is removed: the one with the
smallest (R_t − R_below) / (leaves_below − 1), R_t the cost of its node as a leaf (Breiman et al.,
1984, chapter 3).
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .tree import LEAF, Tree, by_level, parents, preorder, renumbered


class PruningPath(NamedTuple):
    """The subtrees of a tree, from the whole tree to its root.

    Attributes
    ----------
    ccp_alphas : ndarray
        From each of these alphas on, the next subtree is the best.
    impurities : ndarray
        The cost R of the leaves of that subtree.
    """

    ccp_alphas: np.ndarray
    impurities: np.ndarray


def weakest_links(tree: Tree) -> list[tuple[float, int, float]]:
    """Splits in the order in which they are pruned: alpha, node, and R afterwards."""
    left, right = tree.children_left, tree.children_right
    parent = parents(left, right)
    total = tree.weighted_n_node_samples[0]
    risk = tree.impurity * (tree.weighted_n_node_samples / total)
    below, leaves = risk.copy(), np.ones(tree.node_count, dtype=np.int64)
    for nodes in reversed(by_level(left, right)):
        splits = nodes[left[nodes] != LEAF]
        below[splits] = below[left[splits]] + below[right[splits]]
        leaves[splits] = leaves[left[splits]] + leaves[right[splits]]

    def link(node: int) -> tuple[float, int]:
        return float((risk[node] - below[node]) / (leaves[node] - 1)), node

    splits = np.flatnonzero(left != LEAF).tolist()
    current = {node: link(node) for node in splits}
    heap = list(current.values())
    heapq.heapify(heap)
    found = []
    while heap:
        alpha, node = heapq.heappop(heap)
        if current.get(node) != (alpha, node):
            continue
        gone = [node]
        while gone:
            child = gone.pop()
            if current.pop(child, None) is not None:
                gone += [int(left[child]), int(right[child])]
        saved, fewer = risk[node] - below[node], leaves[node] - 1
        below[node], leaves[node] = risk[node], 1
        above = int(parent[node])
        while above >= 0:
            below[above] += saved
            leaves[above] -= fewer
            current[above] = link(above)
            heapq.heappush(heap, current[above])
            above = int(parent[above])
        found.append((alpha, node, float(below[0])))
    return found


def pruning_path(tree: Tree) -> PruningPath:
    """The alphas at which the best subtree changes."""
    total = tree.weighted_n_node_samples[0]
    leaves = tree.children_left == LEAF
    risk = tree.impurity * (tree.weighted_n_node_samples / total)
    links = weakest_links(tree)
    alphas = [0.0, *(max(alpha, 0.0) for alpha, _, _ in links)]
    impurities = [float(risk[leaves].sum()), *(left for _, _, left in links)]
    return PruningPath(np.maximum.accumulate(alphas), np.array(impurities))


def pruned(tree: Tree, alpha: float) -> Tree:
    """The best subtree for an alpha: all splits whose own alpha is at most this are removed."""
    left, right = tree.children_left.copy(), tree.children_right.copy()
    for weakest, node, _ in weakest_links(tree):
        if weakest > alpha:
            break
        left[node] = right[node] = LEAF
    return subtree(tree, left, right)


def subtree(tree: Tree, left: np.ndarray, right: np.ndarray) -> Tree:
    """The tree of the nodes that are below the root by these children, in preorder."""
    order = preorder(left, right)
    kept = {
        name: getattr(tree, name)[order]
        for name in (
            "feature",
            "threshold",
            "missing_go_to_left",
            "impurity",
            "cost",
            "n_node_samples",
            "weighted_n_node_samples",
            "value",
        )
    }
    leaf = left[order] == LEAF
    kept["feature"][leaf] = -2
    kept["threshold"][leaf] = -2.0
    kept["missing_go_to_left"][leaf] = False
    return replace(
        tree,
        children_left=renumbered(order, left),
        children_right=renumbered(order, right),
        **kept,
    )
