"""The decision chart of the page "Which estimator?": questions downwards, answers to the right."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

QUESTIONS = (
    ("No labels:\nwhat is unusual?", "OneClassSVM"),
    ("A stream, or few\nlabels to ask for?", "OnlineSVC"),
    ("Strings, not\nvectors?", "SVC(kernel=Oligo())"),
    ("A number to\npredict?", "AutoSVR"),
    ("Many sparse\nfeatures (text)?", "LinearSVC"),
    ("C and gamma\nalready known?", "SVC"),
)
OTHERWISE = "AutoSVC"
INK, QUESTION, ANSWER = "#1c1c1c", "#EAF3F9", "#FFF1DF"


def draw() -> Figure:
    rows = len(QUESTIONS)
    figure = Figure(figsize=(5.2, 0.98 * rows + 1.0))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 5.2), ylim=(0, 0.98 * rows + 1.0))
    ax.axis("off")
    for row, (question, answer) in enumerate(QUESTIONS):
        y = 0.98 * (rows - row) + 0.42
        _box(ax, 0.15, y, 2.25, question, QUESTION)
        _box(ax, 3.05, y, 2.0, answer, ANSWER, mono=True)
        _arrow(ax, (2.4, y), (3.05, y), "yes", (2.7, y + 0.1))
        _arrow(ax, (1.27, y - 0.31), (1.27, y - 0.67), "no", (1.42, y - 0.5))
    _box(ax, 0.15, 0.42, 2.25, OTHERWISE, ANSWER, mono=True)
    return figure


def _box(ax, x, y, width, text, colour, mono=False):
    shape = FancyBboxPatch(
        (x + 0.06, y - 0.25), width - 0.12, 0.5, "round,pad=0.06", fc=colour, ec=INK, lw=0.9
    )
    ax.add_patch(shape)
    style = {"family": "monospace", "size": 10} if mono else {"size": 10.5}
    ax.text(x + width / 2, y, text, ha="center", va="center", color=INK, **style)


def _arrow(ax, start, end, label, place):
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.1})
    ax.text(*place, label, ha="center", va="center", size=9.5, color=INK)


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "maxmargin"}):
        draw().savefig(folder / "which.svg", metadata={"Date": None})
