"""Chapter 4, the quadratic problem and SMO: Figures 4.1 and 4.2."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .claims import claim
from .items import Json, Page, Table, computes, shows
from .runs import Run

# ---- Figure 4.1: sub-polytopes -------------------------------------------------------------------

DIMENSIONS = ("vertices", "edges", "faces", "cell")


@computes("figure-4.1")
def sub_polytopes(run: Run) -> Json:
    """Classes of equal working sets in a box: three bounded variables, one that takes up the sum.

    A class is told by which variables are at their lower bound, at their upper bound or free.
    """
    del run
    classes = []
    for pattern in product("LFU", repeat=3):
        free = [place for place, at in enumerate(pattern) if at == "F"]
        up = [k for k, at in enumerate(pattern) if at != "U"] + [3]
        down = [k for k, at in enumerate(pattern) if at != "L"] + [3]
        pairs = sorted((i, j) for i in up for j in down if i != j)
        classes.append({"at": "".join(pattern), "dimension": len(free), "pairs": pairs})
    return {"classes": classes}


@shows("figure-4.1")
def show_sub_polytopes(results: Json, printed: Json) -> Page:
    classes = results["classes"]
    counts = [sum(one["dimension"] == d for one in classes) for d in range(4)]
    distinct = len({str(one["pairs"]) for one in classes})
    # An edge allows both directions of exactly one pair besides those that leave a bound.
    edges = [one for one in classes if one["dimension"] == 1]
    both = [sum([j, i] in one["pairs"] for i, j in one["pairs"]) // 2 for one in edges]
    holds = counts == printed["counts"] and distinct == len(classes) and set(both) == {1}

    def draw(figure: Any) -> None:
        axes = figure.add_subplot(projection="3d")
        draw_box(axes, {})
        corner = {"L": 0.0, "F": 0.5, "U": 1.0}
        for one in classes:
            place = [corner[at] for at in one["at"]]
            marker = ("o", "s", "^", "*")[one["dimension"]]
            axes.plot(*[[x] for x in place], marker, color="black", markersize=5)
        axes.set_axis_off()

    rows = [
        [name, printed["counts"][d], counts[d], sizes(classes, d)]
        for d, name in enumerate(DIMENSIONS)
    ]
    return Page(
        *claim(
            holds,
            f"{', '.join(f'{count} {name}' for count, name in zip(counts, DIMENSIONS))}; all "
            f"{distinct} classes have different sets of working sets, and on each edge exactly one "
            "pair moves both ways.",
        ),
        [Table(("class", "printed", "ours", "working sets (ordered pairs)"), rows)],
        [
            "Vertices are dots, edges squares, faces triangles, the cell a star, each drawn in the "
            "middle of its class. The box is that of three variables with bounds 0 and 1; a fourth "
            "one, far from its bounds, takes up the equality constraint."
        ],
        draw,
        (4.5, 4.5),
    )


def sizes(classes: list[Json], dimension: int) -> str:
    """The range of the numbers of working sets of classes of a dimension."""
    found = sorted({len(one["pairs"]) for one in classes if one["dimension"] == dimension})
    return str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"


def draw_box(axes: Any, styles: dict[frozenset[int], str]) -> None:
    """The edges of the unit box; a style by the numbers of an edge's two corners, else solid."""
    corners = list(product((0.0, 1.0), repeat=3))
    for i, first in enumerate(corners):
        for j, second in enumerate(corners[:i]):
            if sum(a != b for a, b in zip(first, second)) == 1:
                style = styles.get(frozenset((i, j)), "-")
                axes.plot(*zip(first, second), style, color="black", linewidth=1.2)


# ---- Figure 4.2: the sub-problem of two variables ------------------------------------------------

K = np.array([[1.0, 0.4], [0.4, 1.0]])
LOWER, UPPER = np.array([0.0, -1.0]), np.array([1.0, 0.0])
CASES = {"inside": (np.array([0.6, -0.1]), 0.2), "clipped": (np.array([0.9, -0.42]), 0.2)}


@computes("figure-4.2")
def two_variables(run: Run) -> Json:
    """The step of SMO, beside the best point of the feasible line found by trying."""
    del run
    found = {}
    for name, (y, total) in CASES.items():
        start = np.array([total, 0.0])
        v = np.array([1.0, -1.0])
        low = max(LOWER[0] - start[0], start[1] - UPPER[1])
        high = min(UPPER[0] - start[0], start[1] - LOWER[1])
        newton = float(v @ (y - K @ start) / (v @ K @ v))
        step = min(max(newton, low), high)
        tried = np.linspace(low, high, 100_001)
        line = start + tried[:, None] * v
        values = line @ y - 0.5 * np.einsum("ni,ij,nj->n", line, K, line)
        found[name] = {
            "start": start.tolist(),
            "newton": newton,
            "step": step,
            "bounds": [low, high],
            "tried": float(tried[np.argmax(values)]),
        }
    return found


@shows("figure-4.2")
def show_two_variables(results: Json, printed: Json) -> Page:
    del printed
    apart = max(abs(one["step"] - one["tried"]) for one in results.values())
    clipped = results["clipped"]["newton"] > results["clipped"]["bounds"][1]
    holds = apart < 1e-4 and clipped and results["inside"]["newton"] == results["inside"]["step"]

    def draw(figure: Any) -> None:
        grid = np.linspace(-0.3, 1.3, 80), np.linspace(-1.3, 0.3, 80)
        mesh = np.stack(np.meshgrid(*grid), -1)
        for axes, (name, one) in zip(figure.subplots(1, 2), results.items()):
            y = CASES[name][0]
            f = mesh @ y - 0.5 * np.einsum("abi,ij,abj->ab", mesh, K, mesh)
            axes.contour(*grid, f, 12, colors="0.75", linewidths=0.7)
            axes.add_patch(_box())
            start, v = np.array(one["start"]), np.array([1.0, -1.0])
            ends = np.array([start + mu * v for mu in (-0.5, 1.5)])
            inside = np.array([start + mu * v for mu in one["bounds"]])
            axes.plot(*ends.T, ":", color="black")
            axes.plot(*inside.T, color="black", linewidth=2, label="feasible")
            axes.plot(*(start + one["newton"] * v), "x", color="black", label="Newton step")
            axes.plot(*(start + one["step"] * v), "o", color="black", label="step of SMO")
            axes.set(title=name, xlabel="α_i", ylabel="α_j", aspect="equal")
            axes.set(xlim=(-0.3, 1.3), ylim=(-1.3, 0.3))
            axes.legend(fontsize=7)

    return Page(
        *claim(
            holds,
            f"Clipping the Newton step to the box gives the best point of the feasible line, to "
            f"{apart:.0e} (100,001 points tried).",
        ),
        notes=["Left, the Newton step is inside the box; right, it is moved back to its border."],
        draw=draw,
        size=(8.0, 4.0),
    )


def _box() -> Any:
    from matplotlib.patches import Rectangle

    (left, bottom), (width, height) = LOWER, UPPER - LOWER
    return Rectangle((left, bottom), width, height, fill=False, linewidth=1.0)
