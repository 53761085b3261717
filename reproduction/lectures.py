"""The lectures' figures that a formula defines, each with a check of what it shows.

000 and 003 are the lectures of the University of Hildesheim, 004 is that of Charles University. The
data behind their pictures are not published; ours are small samples of our own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from maxmargin import SVC, DecisionTreeClassifier
from maxmargin.data import chess_board, two_blobs
from maxmargin.report.plots.tree import regions_of

from .claims import claim
from .items import Json, Page, Table, computes, extra, shows
from .runs import Run

FIGURES = {
    "lecture-losses": ("004, binary classification loss functions", "Losses by t·y"),
    "lecture-lagrange": ("003, Lagrange multipliers", "Contours and dual of the Lagrange example"),
    "lecture-box": ("003, box constraints", "The box of two variables of SMO"),
    "lecture-margins": ("003 and 004, soft margins", "Margins, slack and support vectors"),
    "lecture-kernel": ("004, non-linear kernels", "A Gaussian machine in the plane"),
    "lecture-coordinates": ("004, coordinate descent", "Coordinate descent on a quadratic"),
    "lecture-tree": ("004, decision trees", "A partition of the plane and its tree"),
}
OWN_SAMPLE = "The lecture's data are not published; the sample is our own."
for _key, (_place, _title) in FIGURES.items():
    extra(_key, source="lectures", title=_title, section=_place, kind="figure")


# ---- losses --------------------------------------------------------------------------------------


def losses(z: Any) -> dict[str, Any]:
    """As functions of z = t·y; the logistic one divided by log 2."""
    return {
        "squared, (ty − 1)²": (z - 1.0) ** 2,
        "logistic, −log₂ σ(ty)": np.logaddexp(0.0, -z) / np.log(2.0),
        "hinge, max(0, 1 − ty)": np.maximum(0.0, 1.0 - z),
        "squared hinge, max(0, 1 − ty)²": np.maximum(0.0, 1.0 - z) ** 2,
        "errors, [ty ≤ 0]": (z <= 0.0).astype(float),
    }


@computes("lecture-losses")
def loss_functions(run: Run) -> Json:
    """The losses on a grid, and how far the formulas for both labels are from one of t·y."""
    del run
    z = np.linspace(-2.0, 2.5, 181)
    y = np.linspace(-3.0, 3.0, 101)
    sigma = 1.0 / (1.0 + np.exp(-y))
    pairs = [
        *(((t - y) ** 2, (t * y - 1.0) ** 2) for t in (-1.0, 1.0)),
        (-np.log(sigma), np.logaddexp(0.0, -y)),
        (-np.log(1.0 - sigma), np.logaddexp(0.0, y)),
    ]
    apart = max(float(np.abs(ours - theirs).max()) for ours, theirs in pairs)
    return {
        "z": z.tolist(),
        "values": {name: np.round(v, 6).tolist() for name, v in losses(z).items()},
        "apart": apart,
    }


@shows("lecture-losses")
def show_loss_functions(results: Json, printed: Json) -> Page:
    del printed
    errors = np.array(results["values"]["errors, [ty ≤ 0]"])
    above = all((np.array(values) >= errors - 1e-6).all() for values in results["values"].values())

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for name, values in results["values"].items():
            axes.plot(results["z"], values, label=name)
        axes.set(xlabel="t·y", ylabel="loss", ylim=(-0.1, 4.0))
        axes.legend()

    return Page(
        *claim(
            above and results["apart"] < 1e-12,
            "Each loss bounds the number of errors from above, and each is a function of t·y "
            f"alone, to {results['apart']:.0e}.",
        ),
        notes=[
            "The lecture's line for logistic regression lacks the logarithm: the loss is −log "
            "σ(ty), here to base 2 so that it passes through 1 at 0."
        ],
        draw=draw,
    )


# ---- Lagrange's example --------------------------------------------------------------------------


@computes("lecture-lagrange")
def lagrange(run: Run) -> Json:
    """Minimise x₁² + x₂² where 2x₁ − x₂ + 3 = 0, by a general solver; the dual function."""
    del run
    found = minimize(
        lambda x: x @ x,
        np.zeros(2),
        constraints={"type": "eq", "fun": lambda x: 2 * x[0] - x[1] + 3},
        tol=1e-14,
    )
    multipliers = np.linspace(-1.0, 3.5, 91)
    return {
        "x": found.x.tolist(),
        "value": float(found.fun),
        "lambda": multipliers.tolist(),
        "dual": (-1.25 * multipliers**2 + 3.0 * multipliers).tolist(),
    }


@shows("lecture-lagrange")
def show_lagrange(results: Json, printed: Json) -> Page:
    apart = float(np.abs(np.array(results["x"]) - printed["x"]).max())
    best = printed["lambda"]
    dual = -1.25 * best**2 + 3.0 * best
    gap = abs(results["value"] - dual)

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        axis = np.linspace(-2.5, 2.5, 101)
        left.contour(axis, axis, axis**2 + axis[:, None] ** 2, 12, colors="C0", linewidths=0.8)
        left.plot(axis, 2 * axis + 3, color="C3", label="2x₁ − x₂ + 3 = 0")
        left.plot(*printed["x"], "o", color="black")
        left.set(xlabel="x₁", ylabel="x₂", xlim=(-2.5, 2.5), ylim=(-2.5, 2.5), aspect="equal")
        left.legend()
        right.plot(results["lambda"], results["dual"], color="C0")
        right.axhline(results["value"], color="grey", linestyle=":")
        right.plot(best, dual, "o", color="black")
        right.set(xlabel="λ", ylabel="L(λ)")

    rows = [
        ["x₁", printed["x"][0], results["x"][0]],
        ["x₂", printed["x"][1], results["x"][1]],
        ["f, and L at λ = 6/5", dual, results["value"]],
    ]
    return Page(
        *claim(
            apart < 1e-6 and gap < 1e-9,
            f"SciPy's solver finds the printed point to {apart:.0e}, and the dual function has its "
            f"maximum there: L(6/5) = {dual:.4g} = f.",
        ),
        [Table(("", "printed", "ours"), rows)],
        ["With L = f + λg the gradients satisfy ∇f = −λ∇g; the lecture's slide has no sign."],
        draw,
        (9.0, 4.2),
    )


# ---- the box of SMO ------------------------------------------------------------------------------

C_BOX = 1.0
BOX = {"y₁ ≠ y₂": (-1.0, 0.3, 0.6), "y₁ = y₂": (1.0, 0.3, 0.6)}


@computes("lecture-box")
def box(run: Run) -> Json:
    """[L, H] by the printed formulas, and by trying points of the line."""
    del run
    found = {}
    for name, (s, a1, a2) in BOX.items():
        if s < 0:
            low, high = max(0.0, a2 - a1), min(C_BOX, C_BOX + a2 - a1)
        else:
            low, high = max(0.0, a2 + a1 - C_BOX), min(C_BOX, a2 + a1)
        tried = np.linspace(-0.5, 1.5, 200_001)
        first = a1 + s * (a2 - tried)
        inside = tried[(tried >= 0) & (tried <= C_BOX) & (first >= 0) & (first <= C_BOX)]
        found[name] = {
            "formula": [low, high],
            "tried": [float(inside.min()), float(inside.max())],
        }
    return found


@shows("lecture-box")
def show_box(results: Json, printed: Json) -> Page:
    del printed
    apart = max(
        abs(a - b) for one in results.values() for a, b in zip(one["formula"], one["tried"])
    )

    def draw(figure: Any) -> None:
        from matplotlib.patches import Rectangle

        for axes, (name, one) in zip(figure.subplots(1, 2), results.items()):
            s, a1, a2 = BOX[name]
            ends = np.array(one["formula"])
            axes.add_patch(Rectangle((0, 0), C_BOX, C_BOX, fill=False))
            axes.plot(a1 + s * (a2 - ends), ends, color="C3", linewidth=2)
            axes.plot(a1, a2, "o", color="black")
            for text, value in zip(("L", "H"), ends):
                axes.axhline(value, color="grey", linestyle=":")
                axes.text(1.08, value, text)
            axes.set(title=name, xlabel="α₁", ylabel="α₂", aspect="equal")
            axes.set(xlim=(-0.2, 1.3), ylim=(-0.2, 1.3))

    rows = [[name, *one["formula"], *one["tried"]] for name, one in results.items()]
    return Page(
        *claim(
            apart < 2e-5,
            f"L and H by the printed formulas are the ends of the feasible line, to {apart:.0e} "
            "(200,001 points tried).",
        ),
        [Table(("case", "L", "H", "L, tried", "H, tried"), rows)],
        draw=draw,
        size=(8.0, 4.0),
    )


# ---- margins -------------------------------------------------------------------------------------


@computes("lecture-margins")
def margins(run: Run) -> Json:
    """A hard-margin machine on separable points and a soft one on others: KKT conditions."""
    found = {}
    for name, distance, C in (("separable", 6.0, 1e6), ("not separable", 2.0, 1.0)):
        X, y = two_blobs(40, distance=distance, random_state=run.first_seed)
        model = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
        values = model.decision_function(X)
        slack = np.maximum(0.0, 1.0 - y * values)
        alpha = np.zeros(len(y))
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        free = (alpha > 1e-6 * C) & (alpha < (1 - 1e-6) * C)
        found[name] = {
            "X": np.round(X, 4).tolist(),
            "y": y.tolist(),
            "w": model.coef_[0].tolist(),
            "b": float(model.intercept_[0]),
            "support": model.support_.tolist(),
            "errors": int(np.sum(y * values < 0)),
            "slack": np.round(slack, 6).tolist(),
            "margin of free": float(np.abs(slack[free]).max(initial=0.0)),
            "slack below C": float(slack[alpha < (1 - 1e-6) * C].max(initial=0.0)),
            "inside without alpha": int(np.sum((alpha <= 1e-6 * C) & (slack > 1e-6))),
        }
    return found


@shows("lecture-margins")
def show_margins(results: Json, printed: Json) -> Page:
    del printed
    free = max(one["margin of free"] for one in results.values())
    below = max(one["slack below C"] for one in results.values())
    holds = (
        free < 1e-5
        and below < 1e-5
        and not any(one["inside without alpha"] for one in results.values())
        and results["separable"]["errors"] == 0
    )

    def draw(figure: Any) -> None:
        for axes, (name, one) in zip(figure.subplots(1, 2), results.items()):
            X, y, w = np.array(one["X"]), np.array(one["y"]), np.array(one["w"])
            x = np.linspace(X[:, 0].min(), X[:, 0].max(), 2)
            for level, style in ((-1, ":"), (0, "-"), (1, ":")):
                axes.plot(x, (level - one["b"] - w[0] * x) / w[1], style, color="black")
            for label, marker in ((1, "o"), (-1, "s")):
                axes.plot(*X[y == label].T, marker)
            axes.plot(*X[one["support"]].T, "o", markersize=11, fillstyle="none", color="black")
            axes.set(title=name, ylim=(X[:, 1].min() - 0.5, X[:, 1].max() + 0.5))

    rows = [
        [name, len(one["support"]), sum(s > 0 for s in one["slack"]), one["errors"]]
        for name, one in results.items()
    ]
    return Page(
        *claim(
            holds,
            "Support vectors (circled) lie on the margin, inside it or on the wrong side, and "
            f"nothing else does: free ones are on the margin to {free:.0e}, and slack above "
            f"{below:.0e} occurs at the bound C only.",
        ),
        [Table(("points", "support vectors", "with slack", "errors"), rows)],
        [OWN_SAMPLE],
        draw=draw,
        size=(9.0, 4.2),
    )


@computes("lecture-kernel")
def gaussian_machine(run: Run) -> Json:
    """A Gaussian machine on a small chess board, its values on a grid."""
    X, y = chess_board(80, fields=2, random_state=run.first_seed)
    model = SVC(C=10.0, gamma=2.0).fit(X, y)
    axis = np.linspace(0.0, 2.0, 41)
    mesh = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    values = model.decision_function(mesh)
    K = np.exp(-2.0 * ((mesh[:, None] - X[model.support_]) ** 2).sum(-1))
    by_hand = K @ model.dual_coef_[0] + model.intercept_[0]
    return {
        "X": np.round(X, 4).tolist(),
        "y": y.tolist(),
        "axis": axis.tolist(),
        "values": np.round(values, 4).tolist(),
        "support": model.support_.tolist(),
        "apart": float(np.abs(values - by_hand).max()),
    }


@shows("lecture-kernel")
def show_gaussian_machine(results: Json, printed: Json) -> Page:
    del printed

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        values = np.reshape(results["values"], (41, 41))
        axes.contourf(results["axis"], results["axis"], values, 20, cmap="RdBu", alpha=0.6)
        axes.contour(results["axis"], results["axis"], values, [-1, 0, 1], colors="black")
        X, y = np.array(results["X"]), np.array(results["y"])
        for label, marker in ((1, "o"), (-1, "s")):
            axes.plot(*X[y == label].T, marker, color="black", markersize=4)
        axes.plot(*X[results["support"]].T, "o", markersize=9, fillstyle="none", color="black")
        axes.set(xlabel="x₁", ylabel="x₂", aspect="equal")

    return Page(
        *claim(
            results["apart"] < 1e-5,
            f"The decision function is Σ aᵢtᵢK(x, xᵢ) + b over {len(results['support'])} support "
            f"vectors (circled), to {results['apart']:.0e}; lines are at −1, 0 and 1.",
        ),
        notes=[OWN_SAMPLE],
        draw=draw,
        size=(5.0, 5.0),
    )


# ---- coordinate descent --------------------------------------------------------------------------

A = np.array([[2.0, 1.2], [1.2, 1.5]])
MINIMUM = np.array([0.5, -0.3])


@computes("lecture-coordinates")
def coordinate_descent(run: Run) -> Json:
    """Exact minimisation along one axis after the other."""
    del run
    w = np.array([-1.6, 1.7])
    path, values = [w.tolist()], [0.5 * float((w - MINIMUM) @ A @ (w - MINIMUM))]
    for step in range(24):
        i = step % 2
        w = w.copy()
        w[i] -= float(A[i] @ (w - MINIMUM)) / A[i, i]
        path.append(w.tolist())
        values.append(0.5 * float((w - MINIMUM) @ A @ (w - MINIMUM)))
    return {"path": path, "values": values}


@shows("lecture-coordinates")
def show_coordinate_descent(results: Json, printed: Json) -> Page:
    del printed
    values = np.array(results["values"])
    rate = float(A[0, 1] ** 2 / (A[0, 0] * A[1, 1]))
    # From the second step on each one shrinks the gap by the squared correlation.
    measured = float(np.median(values[2:12] / values[1:11]))

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axis = np.linspace(-2.0, 2.0, 101)
        mesh = np.stack(np.meshgrid(axis, axis), -1) - MINIMUM
        f = 0.5 * np.einsum("abi,ij,abj->ab", mesh, A, mesh)
        axes.contour(axis, axis, f, 15, colors="0.7", linewidths=0.8)
        axes.plot(*np.array(results["path"]).T, "o-", color="black", markersize=3)
        axes.set(xlabel="w₁", ylabel="w₂", aspect="equal")

    return Page(
        *claim(
            abs(measured - rate) < 1e-9 and bool((np.diff(values) <= 0).all()),
            f"Every step lowers the objective, after the first one by the factor {measured:.6f}: "
            f"the squared correlation of the two coordinates, {rate:.6f}.",
        ),
        draw=draw,
        size=(5.0, 5.0),
    )


# ---- trees ---------------------------------------------------------------------------------------


@computes("lecture-tree")
def tree_partition(run: Run) -> Json:
    """A tree of five leaves in the plane: its rectangles, its text, its splits."""
    X, y = two_blobs(120, distance=2.5, random_state=run.first_seed)
    tree = DecisionTreeClassifier(max_leaf_nodes=5).fit(X, y)
    low, high = X.min(axis=0) - 0.1, X.max(axis=0) + 0.1
    regions = regions_of(tree.tree_, (0, 1), low, low, high)
    mesh = np.random.default_rng(run.first_seed).uniform(low, high, (4_000, 2))
    leaf = tree.apply(mesh)
    boxes = [[r.left, r.bottom, r.right, r.top] for r in regions]
    inside = [
        (mesh[:, 0] > a) & (mesh[:, 0] <= c) & (mesh[:, 1] > b) & (mesh[:, 1] <= d)
        for a, b, c, d in boxes
    ]
    agrees = all(bool((leaf[own] == region.leaf).all()) for own, region in zip(inside, regions))
    middle = [[(a + c) / 2, (b + d) / 2] for a, b, c, d in boxes]
    return {
        "X": np.round(X, 4).tolist(),
        "y": y.tolist(),
        "boxes": boxes,
        "labels": [int(label) for label in tree.predict(np.array(middle))],
        "limits": [low.tolist(), high.tolist()],
        "area": float(sum((c - a) * (d - b) for a, b, c, d in boxes) / np.prod(high - low)),
        "agrees": agrees,
        "text": tree.export_text(),
        "accuracy": float(tree.score(X, y)),
    }


@shows("lecture-tree")
def show_tree_partition(results: Json, printed: Json) -> Page:
    del printed
    holds = results["agrees"] and abs(results["area"] - 1.0) < 1e-9

    def draw(figure: Any) -> None:
        from matplotlib.patches import Rectangle

        left, right = figure.subplots(1, 2)
        for (a, b, c, d), label in zip(results["boxes"], results["labels"]):
            colour = "C0" if label > 0 else "C1"
            left.add_patch(
                Rectangle((a, b), c - a, d - b, facecolor=colour, edgecolor="black", alpha=0.3)
            )
        X, y = np.array(results["X"]), np.array(results["y"])
        for label, marker in ((1, "o"), (-1, "s")):
            left.plot(*X[y == label].T, marker, color="black", markersize=3)
        low, high = results["limits"]
        left.set(xlabel="x₁", ylabel="x₂", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        right.text(0.0, 0.5, results["text"], family="monospace", va="center", fontsize=7)
        right.set_axis_off()

    return Page(
        *claim(
            holds,
            f"{len(results['boxes'])} cuboids cover the plane without overlap, and every one is a "
            f"leaf of the tree (4,000 points); training accuracy {results['accuracy']:.3f}.",
        ),
        notes=[OWN_SAMPLE],
        draw=draw,
        size=(9.0, 4.2),
    )
