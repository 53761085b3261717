"""The pictures of the README: `python -m benchmarks.readme` writes them to `docs/_static`.

The boundary is drawn from a fit. The speed chart shows the tables of docs/guide/performance.md,
which `make bench` prints: change those, and draw again.
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guide" / "performance.md"
TARGET = ROOT / "docs" / "_static"
# Small to large, two and many classes, regression, sparse inputs.
SHOWN = ("heart", "german", "image", "banana", "cadata", "a9a", "mnist-60000")
BLUE, ORANGE, GREY = "#0072B2", "#E69F00", "#8C8C8C"


def rows_of(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading of the page."""
    text = PAGE.read_text("utf-8").split(f"## {heading}\n", 1)[1]
    table = re.search(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    if table is None:
        raise ValueError(f"there is no table below {heading!r} in {PAGE.name}")
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:]
    ]


def speed_chart() -> Figure:
    """How many times longer scikit-learn takes, warm; and what the first contact costs."""
    rows = {row[0]: row for row in rows_of("Figures")}
    first = rows_of("First contact")
    figure = Figure(figsize=(9.2, 3.1), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    ratios = [float(rows[name][3]) for name in SHOWN]
    labels = [f"{name}  {rows[name][1]}" for name in SHOWN]
    left.barh(labels, ratios, color=BLUE)
    for place, (ratio, name) in enumerate(zip(ratios, SHOWN)):
        seconds = float(rows[name][2])
        left.text(ratio * 1.08, place, f"{ratio:g}×  ({seconds:.2g} s)", va="center", fontsize=9)
    left.axvline(1.0, color=GREY, linewidth=1.0)
    left.set(xscale="log", xlim=(0.8, 5 * max(ratios)), xlabel="times faster (our seconds)")
    left.set_title("warm: fit, against scikit-learn", fontsize=11)
    left.invert_yaxis()
    seconds = [float(row[1]) for row in first]
    right.barh(["first on this\nmachine", "first in a\nnew process"], seconds, color=ORANGE)
    for place, value in enumerate(seconds):
        right.text(value * 1.15, place, f"{value:g} s", va="center", fontsize=9)
    right.set(xscale="log", xlim=(0.05, 12 * max(seconds)), xlabel="seconds")
    right.set_title("first contact: 500 samples", fontsize=11)
    right.invert_yaxis()
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=9)
    return figure


def boundary() -> Figure:
    """A decision boundary, and how primal and dual value closed in on its optimum."""
    from sklearn.datasets import make_moons

    from maxmargin import SVC
    from maxmargin.report import CertificateDisplay, DecisionBoundaryDisplay

    X, y = make_moons(200, noise=0.2, random_state=0)
    figure = Figure(figsize=(9.2, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    model = SVC(C=10.0, gamma=2.0)
    DecisionBoundaryDisplay.from_estimator(model.fit(X, y), X, y, ax=left)
    left.set_title("decision boundary, margins, support vectors", fontsize=11)
    spare = Figure().subplots()
    CertificateDisplay.from_estimator(model, X, y, ax=[right, spare])
    certificate = model.certificate_
    gap = f"certificate: gap {certificate.relative_gap:.0e} of the objective"
    right.set_title(gap, fontsize=11)
    return figure


def main() -> None:
    for name, draw in (("readme_boundary", boundary), ("readme_speed", speed_chart)):
        path = TARGET / f"{name}.png"
        draw().savefig(path, dpi=110, facecolor="white")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
