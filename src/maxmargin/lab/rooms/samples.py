"""The points of a request: clicked, or one of the examples."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...data import chess_board, two_blobs
from . import fields
from .fields import Float, Request, RequestError

EXAMPLES = ("blobs", "xor", "moons", "chess")
# What a request says about points.
FIELDS = ("points", "example", "size", "seed")


class Samples(NamedTuple):
    """Points of the plane and their classes, −1 or +1."""

    X: Float
    y: Float

    def rows(self) -> list[list[float]]:
        return [[*x, label] for x, label in zip(self.X.tolist(), self.y.tolist())]


def only(request: Request, names: tuple[str, ...]) -> None:
    """Refuse fields of other names: a misspelt one would silently have its default."""
    for name in request:
        if name not in names:
            raise RequestError(f"unknown field {str(name)[:40]!r}: use {', '.join(names)}")


def samples_of(request: Request, *, fewest: int, most: int, usual: int) -> Samples:
    """The `points` of a request, rows [x₁, x₂, class], or else those of an `example`.

    Classes are −1 and 1, or 0 and 1 as the main room has them.
    `size` says how many points the example has, `seed` which ones.
    """
    if request.get("points") is not None:
        table = fields.table(request, "points", 3, most, fewest, largest=1e3)
        labels = table[:, 2].copy()
        if np.isin(labels, (0.0, 1.0)).all():
            labels[labels == 0.0] = -1.0
        if not np.isin(labels, (-1.0, 1.0)).all():
            raise RequestError("the third number of each row of points must be its class, -1 or 1")
        return Samples(np.ascontiguousarray(table[:, :2]), labels)
    name = fields.choice(request, "example", "blobs", EXAMPLES)
    size = fields.whole(request, "size", usual, max(fewest, 4), most)
    return example(name, size, fields.whole(request, "seed", 0, 0, 10**6))


def both_classes(samples: Samples) -> Samples:
    if np.unique(samples.y).size < 2:
        raise RequestError("points must belong to both classes, got one: add a point of the other")
    return samples


def example(name: str, size: int, seed: int) -> Samples:
    """One of the data sets by name, rounded to three decimals so that a link can hold it."""
    random = np.random.default_rng(seed)
    y = np.where(np.arange(size) % 2 == 0, 1, -1)
    if name == "chess":
        X, y = chess_board(size, fields=4, random_state=seed)
        X = X - 2.0
    elif name == "blobs":
        X, y = two_blobs(size, distance=2.5, random_state=seed)
    elif name == "xor":
        side = random.choice([-1.0, 1.0], size)
        X = 1.1 * np.column_stack([side, side * y]) + 0.5 * random.standard_normal((size, 2))
    else:
        angle = math.pi * random.random(size)
        upper = np.column_stack([np.cos(angle), np.sin(angle)])
        X = np.where(y[:, None] > 0, upper, [1.0, 0.5] - upper) - [0.5, 0.25]
        X = 1.5 * X + 0.2 * random.standard_normal((size, 2))
    return Samples(np.round(X, 3), np.asarray(y, dtype=np.float64))


def code_of(samples: Samples) -> str:
    """Python lines that make X and y."""
    rows = ",\n    ".join(str(row) for row in samples.rows())
    return f"points = np.array([\n    {rows},\n])\nX, y = points[:, :2], points[:, 2]\n"
