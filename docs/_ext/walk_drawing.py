"""Drawings of the architecture, made by walking a call: folders in lanes, files in order."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from benchmarks.walk import walk_warm
from maxmargin import SVC
from maxmargin.data import chess_board

LANES = ("estimators", "tuning", "dual", "solvers", "kernels", "linalg", "runtime")
COLOURS = ("#0072B2", "#CC79A7", "#009E73", "#D55E00", "#E69F00", "#56B4E9", "#8C8C8C")


def steps(samples: int) -> list[tuple[str, str, str]]:
    """Folder, file and function of every call of a fit, in order."""
    X, y = chess_board(samples, random_state=0)
    walked = walk_warm(lambda: SVC(C=10.0).fit(X, y))
    found = []
    for line in walked.tree:
        file, function = line.strip().split(":", 1)
        found.append((file.split("/")[0], file, function))
    return found


def draw(walked, title: str) -> Figure:
    """One point a call, in the lane of its folder; the line is the way of the data."""
    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    ax = figure.subplots()
    lanes = [lane for lane in LANES if any(folder == lane for folder, *_ in walked)]
    places = [(i, lanes.index(folder)) for i, (folder, *_) in enumerate(walked) if folder in lanes]
    ax.plot(*zip(*places), color="#BBBBBB", linewidth=1.0, zorder=1)
    for place, lane in enumerate(lanes):
        own = [x for x, y in places if y == place]
        ax.scatter(own, [place] * len(own), s=34, color=COLOURS[LANES.index(lane)], zorder=2)
    for i, (folder, file, _) in enumerate(walked):
        if folder in lanes and _first(walked, i):
            name = file.split("/")[-1]
            style = {"fontsize": 7, "rotation": 55, "ha": "left", "va": "bottom"}
            ax.text(i + 0.2, lanes.index(folder) - 0.12, name, **style)
    ax.set_yticks(range(len(lanes)), lanes)
    ax.set(xlabel="calls, in order", title=title, ylim=(len(lanes) - 0.5, -1.0))
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="y", color="#E6E6E6")
    ax.set_axisbelow(True)
    return figure


def _first(walked, i: int) -> bool:
    return all(file != walked[i][1] for _, file, _ in walked[:i])


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "maxmargin"}):
        walked = steps(300)
        figure = draw(walked, f"SVC.fit with 300 samples: {len(walked)} calls")
        figure.savefig(folder / "walk.svg", metadata={"Date": None})
