"""Chapter 5, convergence of SMO: Figure 5.1, the rate of free steps, the degeneracy test."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from maxmargin.kernels import Gaussian, Linear
from maxmargin.tuning.machines.optimum import optimum

from .chapter04 import draw_box
from .claims import claim
from .data import load
from .items import Json, Page, Table, computes, extra, shows
from .runs import Run

# ---- Figure 5.1: a box around a set of optimal points --------------------------------------------

# Ends of the optimal segment: in the middle of an edge of the bottom face, and at a vertex.
SEGMENT = np.array([[0.0, 0.5, 0.0], [1.0, 1.0, 0.0]])


def touches(pattern: tuple[str, ...]) -> bool:
    """Whether the closure of a class meets the segment: each coordinate at 0, at 1 or free."""
    at = {"L": 0.0, "U": 1.0}
    points = SEGMENT[0] + np.linspace(0.0, 1.0, 2001)[:, None] * (SEGMENT[1] - SEGMENT[0])
    on = [points[:, k] == at[p] for k, p in enumerate(pattern) if p in at]
    return bool(np.all(on, axis=0).any()) if on else True


@computes("figure-5.1")
def box_around_optima(run: Run) -> Json:
    """Which vertices, edges and faces of the box touch the optimal segment, and a check of f."""
    del run
    classes = [
        {"at": "".join(p), "dimension": p.count("F"), "touches": touches(p)}
        for p in product("LFU", repeat=3)
    ]
    # f = −½ αᵀ K̃ α around the segment: zero along it, negative elsewhere in the box.
    along = (SEGMENT[1] - SEGMENT[0]) / np.linalg.norm(SEGMENT[1] - SEGMENT[0])
    K = np.eye(3) - np.outer(along, along)
    mesh = np.array(list(product(np.linspace(0.0, 1.0, 21), repeat=3))) - SEGMENT[0]
    f = -0.5 * np.einsum("ni,ij,nj->n", mesh, K, mesh)
    distance = np.linalg.norm(mesh - np.outer(mesh @ along, along), axis=1)
    return {
        "classes": classes,
        "largest f off the segment": float(f[distance > 1e-9].max()),
        "kernel of K": int(np.sum(np.linalg.eigvalsh(K) < 1e-12)),
    }


@shows("figure-5.1")
def show_box_around_optima(results: Json, printed: Json) -> Page:
    counts = {
        name: sum(c["touches"] for c in results["classes"] if c["dimension"] == d)
        for d, name in enumerate(("vertices", "edges", "faces"))
    }
    holds = counts == printed["touching"] and results["largest f off the segment"] < 0

    def draw(figure: Any) -> None:
        axes = figure.add_subplot(projection="3d")
        corners = list(product("LU", repeat=3))
        styles = {}
        touching = {c["at"]: c["touches"] for c in results["classes"]}
        for i, first in enumerate(corners):
            for j, second in enumerate(corners[:i]):
                edge = "".join(a if a == b else "F" for a, b in zip(first, second))
                styles[frozenset((i, j))] = "-" if touching[edge] else "--"
        draw_box(axes, styles)
        axes.plot(*SEGMENT.T, ":", color="black", linewidth=3)
        # Two classes of the quotient: half-planes that end in the segment.
        for end in (np.array([0.0, 0.0, 1.0]), np.array([0.25, -0.5, 0.55])):
            corners_of = np.array([*SEGMENT, SEGMENT[1] + end, SEGMENT[0] + end])
            inside = np.clip(corners_of, 0.0, 1.0)
            axes.plot_trisurf(*inside.T, color="0.6", alpha=0.5, triangles=[[0, 1, 2], [0, 2, 3]])
        axes.set_axis_off()

    return Page(
        *claim(
            holds,
            f"{counts['faces']} of 6 faces touch the optimal segment (all but the top and one "
            f"side), {counts['edges']} of 12 edges (solid) and {counts['vertices']} vertex, as in "
            "the figure; f is zero on the segment and negative everywhere else in the box.",
        ),
        notes=[
            "Dashed edges belong to ℛ₁. The grey planes are two of the classes in the quotient "
            "that the proof of Lemma 5.7 uses: half-planes that end in the optimal segment."
        ],
        draw=draw,
        size=(4.5, 4.5),
    )


# ---- rate of free steps and degeneracy -----------------------------------------------------------

RATE = "convergence-5"
extra(
    RATE,
    source="thesis",
    title="Chapter 5 by numbers: σ-selections, the rate of free steps, degeneracy",
    section="5.3",
    kind="result",
)
# Optimality gaps below this part of f* are rounding.
RESOLUTION = 1e-9
# Gradients closer than this part of their range are equal for the degeneracy test.
EQUAL = 1e-7
STEPS = 20_000


class Problem(NamedTuple):
    """maximise y·α − ½ αᵀKα, lower ≤ α ≤ upper, Σα = 0."""

    K: Any
    y: Any
    lower: Any
    upper: Any


def machine(X: Any, y: Any, kernel: Any, C: float) -> Problem:
    bound = C * y
    return Problem(kernel(X), y * 1.0, np.minimum(bound, 0.0), np.maximum(bound, 0.0))


def problems() -> dict[str, Problem]:
    """Machines of 100 samples; the last two have a singular kernel matrix."""
    X, y = load("heart")
    X, y = X[:100], y[:100]
    return {
        "heart, γ = 0.05, C = 1": machine(X, y, Gaussian(0.05), 1.0),
        "heart, γ = 0.005, C = 100": machine(X, y, Gaussian(0.005), 100.0),
        "every sample twice": machine(
            np.repeat(X[:50], 2, axis=0), np.repeat(y[:50], 2), Gaussian(0.05), 1.0
        ),
        "heart, two features, linear kernel, C = 1": machine(X[:, [7, 9]], y, Linear(), 1.0),
    }


def trace(problem: Problem, selection: str) -> dict[str, Any]:
    """SMO step by step in plain NumPy: gaps, Newton gains, violations, which steps are free."""
    K, y, lower, upper = problem
    best = optimum(K, y, lower, upper)
    f_best = float(y @ best.alpha - 0.5 * best.alpha @ K @ best.alpha)
    alpha, G = np.zeros(y.size), y.copy()
    diagonal = np.diagonal(K)
    gaps, gains, violations, free = [], [], [], []
    for _ in range(STEPS):
        gap = f_best - float(y @ alpha - 0.5 * alpha @ K @ alpha)
        up, down = alpha < upper, alpha > lower
        i = int(np.flatnonzero(up)[np.argmax(G[up])])
        violation = float(G[i] - G[down].min())
        if gap < RESOLUTION * f_best or violation < 1e-12:
            break
        if selection == "mvp":
            j = int(np.flatnonzero(down)[np.argmin(G[down])])
        else:
            curvature = np.maximum(diagonal[i] + diagonal - 2.0 * K[i], 1e-12)
            gain = np.where(down & (G[i] > G), (G[i] - G) ** 2 / curvature, -1.0)
            j = int(np.argmax(gain))
        curvature = float(K[i, i] + K[j, j] - 2.0 * K[i, j])
        slope = float(G[i] - G[j])
        newton = slope / curvature if curvature > 1e-12 else np.inf
        limit = min(upper[i] - alpha[i], alpha[j] - lower[j])
        step = min(newton, limit)
        gaps.append(gap)
        violations.append(violation)
        gains.append(0.5 * slope * newton)
        free.append(newton < limit)
        alpha[i] = upper[i] if step == upper[i] - alpha[i] else alpha[i] + step
        alpha[j] = lower[j] if step == alpha[j] - lower[j] else alpha[j] - step
        G -= step * (K[:, i] - K[:, j])
    return {"gaps": gaps, "gains": gains, "violations": violations, "free": free, "f": f_best}


def sigma(problem: Problem, selection: str) -> float:
    """The constant of Lemma 5.2."""
    K = problem.K
    diagonal = np.diagonal(K)
    values = (diagonal[:, None] + diagonal - 2.0 * K)[np.triu_indices(len(K), 1)]
    largest = float(values.max())
    smallest = float(values[values > 1e-12].min())
    return 1.0 / (2.0 * largest) if selection == "mvp" else smallest / (2.0 * largest**2)


class Degeneracy(NamedTuple):
    """Variables at a bound with the gradient of free ones, and the dimension of the optima.

    A problem is non-degenerate (Definition 5.3) where both are zero: along a set of optima some
    variable with that gradient comes to a bound.
    """

    at_bounds: int
    dimension: int


def degeneracy(problem: Problem) -> Degeneracy:
    K, y, lower, upper = problem
    alpha = optimum(K, y, lower, upper).alpha
    G = y - K @ alpha
    up, down = alpha < upper, alpha > lower
    slack = EQUAL * max(float(np.ptp(G)), 1.0)
    low, high = G[up].max(initial=-np.inf), G[down].min(initial=np.inf)
    tied = (min(low, high) - slack <= G) & (max(low, high) + slack >= G) & (lower < upper)
    at_bounds = int(np.sum(tied & ((alpha == lower) | (alpha == upper))))
    # Directions of tied variables that change neither their sum nor any gradient.
    moved = np.vstack([K[:, tied], np.ones(int(tied.sum()))])
    rank = int(np.linalg.matrix_rank(moved, tol=1e-9 * float(np.abs(K).max()) * len(K)))
    return Degeneracy(at_bounds, int(tied.sum()) - rank)


@computes(RATE)
def rates(run: Run) -> Json:
    """Traces of both selections on all problems, thinned, and what the chapter says of them."""

    def one(problem: Problem, selection: str) -> Json:
        found = trace(problem, selection)
        gaps, free = np.array(found["gaps"]), np.array(found["free"])
        after = np.append(gaps[1:], 0.0)
        factor = (after / gaps)[:-1][free[:-1]]
        quotient = np.array(found["gains"]) / gaps
        bound = sigma(problem, selection) * np.array(found["violations"]) ** 2
        late = slice(len(gaps) // 2, None)
        slope = np.polyfit(np.arange(len(gaps))[late], np.log(gaps[late]), 1)[0]
        shown = np.unique(np.linspace(0, len(gaps) - 1, 200).astype(int))
        return {
            "steps": len(gaps),
            "free": int(free.sum()),
            "free among the last half": float(free[late].mean()),
            "largest factor of a free step": float(factor.max()),
            "R": float(quotient.min()),
            "rate of the last half": float(np.exp(slope)),
            "sigma": sigma(problem, selection),
            "smallest gain over bound": float(np.min(np.array(found["gains"]) / bound)),
            "curve": [[int(k), float(gaps[k] / found["f"])] for k in shown],
        }

    named = problems()
    found = run.parts(
        {
            f"{name} | {selection}": partial(one, named[name], selection)
            for name in named
            for selection in ("mvp", "second order")
        }
    )
    degenerate = {name: list(degeneracy(problem)) for name, problem in named.items()}
    return {"runs": found, "degenerate": degenerate}


@shows(RATE)
def show_rates(results: Json, printed: Json) -> Page:
    del printed
    runs = results["runs"]
    worst = max(one["largest factor of a free step"] for one in runs.values())
    bounded = min(one["smallest gain over bound"] for one in runs.values())
    holds = worst < 1.0 and bounded >= 1.0 - 1e-9
    degenerate = [name for name, counts in results["degenerate"].items() if any(counts)]

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for name, one in runs.items():
            style = ":" if name.endswith("mvp") else "-"
            axes.semilogy(*np.array(one["curve"]).T, style, label=name)
        axes.set(xlabel="step", ylabel="(f* − f) / f*")
        axes.legend(fontsize=7)

    rows = [
        [
            *name.split(" | "),
            one["steps"],
            one["free"],
            one["largest factor of a free step"],
            1.0 - one["R"],
            one["rate of the last half"],
            one["sigma"],
            one["smallest gain over bound"],
            *results["degenerate"][name.split(" | ")[0]],
        ]
        for name, one in runs.items()
    ]
    header = (
        "problem",
        "selection",
        "steps",
        "free steps",
        "largest factor of a free step",
        "c = 1 − R on this path",
        "factor a step, last half",
        "σ of Lemma 5.2",
        "smallest g̃ / (σψ²)",
        "tied at bounds",
        "dimension of the optima",
    )
    return Page(
        *claim(
            holds,
            f"Every free step shrinks f* − f by a factor below 1 (largest {worst:.6f}; Theorem "
            f"5.8), and every Newton gain is at least σψ² (smallest quotient {bounded:.3g}; "
            "Lemma 5.2).",
        ),
        [Table(header, rows)],
        [
            "R is the smallest quotient of Newton gain and remaining gap on the path (Lemma 5.7 "
            "bounds it over the whole polytope).",
            "The degeneracy test of Definition 5.3: a problem is degenerate where a variable at a "
            "bound has the gradient of the free ones (to 1e-7 of the range of the gradients), or "
            "where the optimum is not unique, since some tied variable then comes to a bound in "
            f"another optimum. Degenerate here: {', '.join(degenerate) or 'none'}. The rate of "
            "free steps holds for these, too, as the chapter proves.",
        ],
        draw,
    )
