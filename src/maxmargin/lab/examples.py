"""Points to begin with, each with parameters that show something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data import chess_board, two_blobs
from .rooms.fields import Float, Request


class Example(NamedTuple):
    """A set of points and the fields of a request that go with it."""

    title: str
    points: Callable[[int], tuple[Float, Any]]
    fields: Request
    size: int


def _moons(n: int) -> tuple[Float, Any]:
    from sklearn.datasets import make_moons

    return make_moons(n, noise=0.2, random_state=1)  # type: ignore[no-any-return]


def _banana(n: int) -> tuple[Float, Any]:
    """Two bent clouds that hold each other, as in Rätsch's benchmark set."""
    random = np.random.default_rng(4)
    label = random.integers(0, 2, n)
    angle = random.uniform(-0.75 * np.pi, 0.25 * np.pi, n) + np.pi * label
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X += np.where(label[:, None] == 1, [0.55, 0.25], [-0.35, -0.35]) * [1.0, 1.0]
    return 1.2 * X + random.normal(scale=0.33, size=(n, 2)), label


def _xor(n: int) -> tuple[Float, Any]:
    random = np.random.default_rng(3)
    corner = random.integers(0, 2, (n, 2))
    return 2.0 * corner - 1.0 + random.normal(scale=0.4, size=(n, 2)), corner.sum(axis=1) % 2


def _chess(n: int) -> tuple[Float, Any]:
    X, y = chess_board(n, random_state=0)
    return X - 2.0, (y + 1) // 2


def _blobs(n: int) -> tuple[Float, Any]:
    X, y = two_blobs(n, random_state=0)
    return X, (y + 1) // 2


def _three(n: int) -> tuple[Float, Any]:
    random = np.random.default_rng(5)
    label = np.arange(n) % 3
    angle = 2.0 * np.pi * label / 3.0 + 0.5
    centre = 1.4 * np.column_stack([np.cos(angle), np.sin(angle)])
    return centre + random.normal(scale=0.6, size=(n, 2)), label


def _separable(n: int) -> tuple[Float, Any]:
    random = np.random.default_rng(2)
    label = np.arange(n) % 2
    X = random.normal(scale=0.5, size=(n, 2)) + np.where(label[:, None] == 1, 1.3, -1.3)
    return X, label


def _wave(n: int) -> tuple[Float, Any]:
    random = np.random.default_rng(6)
    x = np.sort(random.uniform(-3, 3, n))
    return np.column_stack([x, np.sin(2 * x) + 0.2 * x + random.normal(scale=0.2, size=n)]), 0 * x


def _four_points(n: int) -> tuple[Float, Any]:
    """K = xxᵀ + I of these is the matrix of section 6.1.4."""
    del n
    x = np.array([1.0, np.sqrt(3.0), -1.0, -np.sqrt(3.0)])
    return np.column_stack([x, np.zeros(4)]), np.array([0, 0, 1, 1])


CLASSIFIER: Request = {"machine": "hinge", "kernel": "gaussian"}
EXAMPLES: dict[str, Example] = {
    "moons": Example("two moons", _moons, {**CLASSIFIER, "C": 10.0, "gamma": 1.0}, 60),
    "chess": Example("chess board", _chess, {**CLASSIFIER, "C": 100.0, "gamma": 2.0}, 200),
    "banana": Example("banana", _banana, {**CLASSIFIER, "C": 10.0, "gamma": 0.5}, 120),
    "xor": Example("XOR", _xor, {**CLASSIFIER, "C": 10.0, "gamma": 0.5}, 60),
    "blobs": Example(
        "blobs (report 001)", _blobs, {"machine": "hinge", "kernel": "linear", "C": 1.0}, 100
    ),
    "separable": Example(
        "separable", _separable, {"machine": "hard_margin", "kernel": "linear"}, 30
    ),
    "three": Example("three classes", _three, {**CLASSIFIER, "C": 5.0, "gamma": 0.5}, 60),
    "wave": Example(
        "wave (regression)",
        _wave,
        {"machine": "epsilon_svr", "kernel": "gaussian", "C": 5.0, "gamma": 1.0, "epsilon": 0.2},
        50,
    ),
    "four": Example(
        "four points (6.1.4)",
        _four_points,
        {
            "machine": "hinge",
            "kernel": "linear_plus_identity",
            "C": 0.1,
            "selection": "max_gain",
            "face": False,
        },
        4,
    ),
}


def example(name: str, size: int | None = None) -> Request:
    """The fields of a request: points and what goes with them."""
    chosen = EXAMPLES[name]
    X, label = chosen.points(chosen.size if size is None else size)
    # Four points are exact, so that the matrix is that of the text.
    points = rows_of(X, label, digits=15) if name == "four" else rows_of(X, label)
    return {**chosen.fields, "example": name, "points": points}


def rows_of(X: Float, label: Any, digits: int = 3) -> list[list[float]]:
    """Points with few digits: addresses stay short, and code shows what was solved."""
    rows: list[list[float]] = np.column_stack([np.round(X, digits), label]).tolist()
    return rows
