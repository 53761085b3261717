"""Probabilities as ONNX graphs: sigmoids, coupled over pairs, largest where most votes are.

The coupled p of pairs r_ij solves (`estimators.kernel.training.probability`)

    Qp + λ1 = 0,   1·p = 1,   Q_ii = Σ_{j≠i} r_ji²,   Q_ij = −r_ji r_ij

ONNX solves no linear systems. Since 1·p = 1,

    (Q + 11ᵀ) p = (1 − λ) 1

with a positive definite matrix: p is found by Gauss–Jordan elimination without pivoting, one column
after the other, up to a factor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...estimators import LogisticRegression, SoftmaxRegression
from ...estimators.kernel.multiclass import pairs
from .graph import Graph


def probabilities(graph: Graph, values: str, scores: str, winners: str, machine: Any) -> str | None:
    """Of each class, or None if the machine has none."""
    if isinstance(machine, LogisticRegression):
        return shares(graph, graph.apply("Sigmoid", scores))
    if isinstance(machine, SoftmaxRegression):
        if machine.classes_.size == 2:
            return graph.apply("Sigmoid", scores)
        return graph.apply("Softmax", values, axis=1)
    slope = getattr(machine, "probA_", np.empty(0))
    if not slope.size:
        return None
    count = machine.classes_.size
    if count == 2:
        # `scores` are −f and f, and the first class has the decision value −f.
        signs = np.array([[1.0, -1.0]])
        argument = graph.apply("Mul", scores, -float(slope[0]))
        offset = float(machine.probB_[0]) * -signs
        likely = graph.apply("Sigmoid", graph.apply("Add", argument, offset))
    else:
        argument = graph.apply("Mul", values, -slope.reshape(1, -1))
        first = graph.apply("Sigmoid", graph.apply("Sub", argument, machine.probB_.reshape(1, -1)))
        likely = coupled(graph, first, count) if machine._in_pairs() else shares(graph, first)
    return favouring(graph, likely, winners, count)


def shares(graph: Graph, values: str) -> str:
    """Each value divided by the sum of its row."""
    return graph.apply("Div", values, graph.row_sums(values))


def coupled(graph: Graph, first: str, count: int, least: float = 1e-7) -> str:
    """Class probabilities from those of the first class in each pair, which stay `least` away from
    0 and 1 as in the function of this name in `probability`."""
    first = graph.apply("Clip", first, least, 1.0 - least)
    both = graph.apply("Concat", first, graph.apply("Sub", 1.0, first), axis=1)
    entries = graph.apply("Pad", both, np.array([0, 0, 0, 1]), 0.0)
    number = len(pairs(count))
    places = np.full((count, count), 2 * number)
    for pair, (i, j) in enumerate(pairs(count)):
        places[i, j], places[j, i] = pair, number + pair
    flat = graph.apply("Gather", entries, places.ravel(), axis=1)
    r = graph.apply("Reshape", flat, np.array([-1, count, count]))
    squares = graph.apply("ReduceSum", graph.apply("Mul", r, r), np.array([1]), keepdims=1)
    diagonal = graph.apply("Mul", squares, np.eye(count)[None])
    products = graph.apply("Mul", r, graph.apply("Transpose", r, perm=[0, 2, 1]))
    Q = graph.apply("Sub", diagonal, products)
    system = graph.apply("Pad", graph.apply("Add", Q, 1.0), np.array([0, 0, 0, 0, 0, 1]), 1.0)
    for column in range(count):
        system = eliminated(graph, system, column, count)
    solution = graph.apply("Squeeze", part(graph, system, 2, count), np.array([2]))
    return shares(graph, graph.apply("Max", solution, 0.0))


def eliminated(graph: Graph, system: str, place: int, count: int) -> str:
    """The system with a unit vector as this column, by a multiple of its row from each other."""
    row = part(graph, system, 1, place)
    row = graph.apply("Div", row, part(graph, row, 2, place))
    unit = np.eye(count)[place].reshape(1, count, 1)
    factors = graph.apply("Sub", part(graph, system, 2, place), unit)
    return graph.apply("Sub", system, graph.apply("Mul", factors, row))


def part(graph: Graph, value: str, axis: int, place: int) -> str:
    """One place along an axis, which is kept."""
    return graph.apply("Slice", value, np.array([place]), np.array([place + 1]), np.array([axis]))


def favouring(graph: Graph, likely: str, winners: str, count: int) -> str:
    """As the function of this name in `probability`: the nearest distribution whose mode is the
    winner, where it is another one."""
    column = graph.apply("Unsqueeze", winners, np.array([1]))
    own_place = graph.apply("Equal", column, np.arange(count)[None])
    own = graph.row_sums(graph.apply("Where", own_place, likely, 0.0))
    others = graph.apply("Where", own_place, -np.inf, likely)
    others = graph.apply("TopK", others, np.array([count - 1]), axis=1, largest=1, sorted=1)
    ranks = np.arange(2.0, count + 1.0)[None]
    sums = graph.apply("Add", own, graph.apply("CumSum", others, np.array(1)))
    means = graph.apply("Div", sums, ranks)
    rest = graph.apply("Slice", others, np.array([1]), np.array([count]), np.array([1]))
    following = graph.apply("Pad", rest, np.array([0, 0, 0, 1]), -np.inf)
    enough = graph.as_index(graph.apply("GreaterOrEqual", means, following))
    level = graph.apply(
        "GatherElements", means, graph.apply("ArgMax", enough, axis=1, keepdims=1), axis=1
    )
    # A factor of 1 + 1e-14 would count as 1 for onnxruntime, and be left out.
    raised = graph.apply("Add", level, graph.apply("Mul", level, 1e-14))
    moved = graph.apply("Where", own_place, raised, graph.apply("Min", likely, level))
    mode = graph.apply("ArgMax", likely, axis=1, keepdims=1)
    return graph.apply("Where", graph.apply("Equal", mode, column), likely, moved)
