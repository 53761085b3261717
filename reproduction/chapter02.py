"""Chapter 2, kernels: Figure 2.1, two feature spaces of one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from .claims import claim
from .items import Json, Page, computes, shows
from .runs import Run


@computes("figure-2.1")
def two_feature_spaces(run: Run) -> Json:
    """The kernel ⟨x, z⟩² in the plane: features in ℝ³ and in ℝ⁴, and the map A between them."""
    X = np.random.default_rng(run.first_seed).standard_normal((40, 2))
    a, b = X.T
    first = np.stack([a * a, np.sqrt(2.0) * a * b, b * b], axis=1)
    second = np.stack([a * a, a * b, b * a, b * b], axis=1)
    K = (X @ X.T) ** 2
    A = np.linalg.lstsq(first, second, rcond=None)[0]
    return {
        "A": A.T.tolist(),
        "first": float(np.abs(first @ first.T - K).max()),
        "second": float(np.abs(second @ second.T - K).max()),
        "commutes": float(np.abs(first @ A - second).max()),
        "isometric": float(np.abs(A @ A.T - np.eye(3)).max()),
    }


@shows("figure-2.1")
def show_two_feature_spaces(results: Json, printed: Json) -> Page:
    del printed
    worst = max(results[name] for name in ("first", "second", "commutes", "isometric"))

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.set_axis_off()
        places = {"X": (0.1, 0.5), "ℋ": (0.8, 0.85), "ℋ̃": (0.8, 0.15)}
        for text, place in places.items():
            axes.text(*place, text, fontsize=20, ha="center", va="center")
        arrows = (("X", "ℋ", "Φ"), ("X", "ℋ̃", "Φ̃"), ("ℋ", "ℋ̃", "A"))
        for start, end, name in arrows:
            axes.annotate(
                "",
                places[end],
                places[start],
                arrowprops={"arrowstyle": "->", "shrinkA": 18, "shrinkB": 18},
            )
            middle = np.mean([places[start], places[end]], axis=0) + np.array([0.03, 0.05])
            axes.text(*middle, name, fontsize=14)

    return Page(
        *claim(
            worst < 1e-9,
            "For k(x, z) = ⟨x, z⟩² in the plane, Φ into ℝ³ and Φ̃ into ℝ⁴ have the same inner "
            f"products, Φ̃ = A Φ, and A keeps lengths, all to {worst:.0e}.",
        ),
        notes=[
            "The printed figure is the diagram of the three maps. Here A is computed from 40 "
            "random inputs by least squares."
        ],
        draw=draw,
        size=(4.0, 3.0),
    )
