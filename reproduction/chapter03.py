"""Chapter 3, benchmark distributions: Figures 3.1 and 3.2, and their Bayes errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.data import chess_board, sparse_coordinate, sparse_coordinate_bayes_error

from .items import Json, Page, Table, Verdict, computes, shows
from .runs import Run


@computes("figure-3.1")
def labelling_rule(run: Run) -> Json:
    """The label of each field, read off samples, and some samples to draw."""
    X, y = chess_board(20_000, random_state=run.first_seed)
    fields = X.astype(int)
    labels = [
        sorted({int(label) for label in y[(fields == (column, row)).all(axis=1)]})
        for row in range(4)
        for column in range(4)
    ]
    noisy = chess_board(100_000, noise=0.2, random_state=run.first_seed)
    clean = np.where(noisy[0].astype(int).sum(axis=1) % 2, -1, 1)
    return {
        "labels": labels,
        "X": X[:400].round(3).tolist(),
        "y": y[:400].tolist(),
        "noise": 0.2,
        "wrong": float(np.mean(noisy[1] != clean)),
    }


@shows("figure-3.1")
def show_labelling_rule(results: Json, printed: Json) -> Page:
    rows = printed["rows"]
    # Printed from the top, the axis goes up.
    rule = [label for row in reversed(rows) for label in row]
    same = all(found == [label] for found, label in zip(results["labels"], rule))

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.imshow(rows[::-1], origin="lower", extent=(0, 4, 0, 4), cmap="Greys_r", alpha=0.3)
        X, y = np.array(results["X"]), np.array(results["y"])
        for label, marker in ((1, "o"), (-1, "x")):
            axes.plot(*X[y == label].T, marker, color="black", markersize=3, label=f"{label:+d}")
        axes.set(xlabel="x₁", ylabel="x₂", aspect="equal")
        axes.legend(loc="upper right")

    return Page(
        Verdict.REPRODUCED if same else Verdict.DIFFERS,
        "All 16 fields have the printed label."
        if same
        else "Some fields have another label than printed.",
        notes=[
            "Labels are read off 20,000 samples of `maxmargin.data.chess_board`; 400 of them are "
            f"drawn. With a share of {results['noise']} of labels drawn at random, "
            f"{results['wrong']:.4f} of 100,000 labels are not those of the rule (Bayes error 0.1)."
        ],
        draw=draw,
        size=(4.5, 4.5),
    )


@computes("figure-3.2")
def sparse_examples(run: Run) -> Json:
    """An example of each class as in the figure's caption, and the Bayes errors of the text."""
    n, m, k = 5, 10, 5
    X, y = sparse_coordinate(
        5_000, informative=n, uninformative=m, ones=k, random_state=run.first_seed
    )
    first, second = X[:, :n].sum(axis=1), X[:, n : 2 * n].sum(axis=1)
    like_left = (first == 2) & (second == 1)
    like_right = (first == 0) & (second >= 1)
    errors = {
        str(ones): sparse_coordinate_bayes_error(informative=3, uninformative=14, ones=ones)
        for ones in (3, 5)
    }
    return {
        "left": X[np.argmax(like_left)].astype(int).tolist(),
        "right": X[np.argmax(like_right)].astype(int).tolist(),
        "positive like left": float(np.mean(y[like_left] > 0)),
        "positive like right": float(np.mean(y[like_right] > 0)),
        "ones": sorted({int(count) for count in X.sum(axis=1)}),
        "bayes": {ones: [e.numerator, e.denominator] for ones, e in errors.items()},
    }


@shows("figure-3.2")
def show_sparse_examples(results: Json, printed: Json) -> Page:
    ours = {ones: a / b for ones, (a, b) in results["bayes"].items()}
    theirs = {ones: a / b for ones, (a, b) in printed["bayes"].items()}
    same = all(abs(ours[ones] - theirs[ones]) < 1e-12 for ones in theirs)
    left, right = results["positive like left"], results["positive like right"]
    holds = same and results["ones"] == [5] and left > 0.5 and right == 0.0

    def draw(figure: Any) -> None:
        for axes, side in zip(figure.subplots(2, 1), ("left", "right")):
            axes.imshow([results[side]], cmap="Greys", aspect="equal", vmin=0, vmax=1.4)
            for border in (4.5, 9.5):
                axes.axvline(border, color="black")
            axes.set(xticks=[2, 7, 14.5], yticks=[])
            axes.set_xticklabels(["speak for +1", "speak for −1", "no information"])

    rows = [
        [
            f"(3, 14, {ones})",
            "{}/{}".format(*printed["bayes"][ones]),
            "{}/{}".format(*results["bayes"][ones]),
            theirs[ones],
            ours[ones],
        ]
        for ones in printed["bayes"]
    ]
    return Page(
        Verdict.REPRODUCED if holds else Verdict.DIFFERS,
        f"Of samples like the left example {left:.0%} are positive (exactly 2/3 by the rule), of "
        f"those like the right one {right:.0%}; the Bayes errors "
        + ("are those printed." if same else "differ from those printed."),
        [Table(("(n, m, k)", "Bayes error printed", "ours", "printed", "ours, decimal"), rows)],
        draw=draw,
        size=(7.0, 2.4),
    )
