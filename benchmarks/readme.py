"""The pictures of the README: `python -m benchmarks.readme` writes them to `docs/_static`.

The boundary is drawn from a fit. The speed chart shows the figures of docs/guide/performance.md,
which `make bench` prints, and the first contact in `results/cold.json`:

    python -m benchmarks.readme --measure    # measure the first contact (two minutes, wants quiet)
    python -m benchmarks.readme              # write its table and its sentence, draw the pictures
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure

from .cold import SIZES, beginning
from .machine import description
from .tuning_page import replaced

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guide" / "performance.md"
README = ROOT / "README.md"
TARGET = ROOT / "docs" / "_static"
COLD = ROOT / "benchmarks" / "results" / "cold.json"
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
    first = first_contact()
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
    seconds = list(first.values())
    right.barh(["first on this\nmachine", "first in a\nnew process"], seconds, color=ORANGE)
    for place, value in enumerate(seconds):
        right.text(value * 1.15, place, f"{value:.2g} s", va="center", fontsize=9)
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


def measured() -> dict[str, Any]:
    """Seconds of the first fits of 500 samples, ever and in new processes, medians of three."""
    found = beginning(sizes={"small": SIZES["small"]})
    return {"machine": description(), "cold": asdict(found)}


def first_contact() -> dict[str, float]:
    """Seconds of the first fit, by when it is."""
    ever, new = json.loads(COLD.read_text("utf-8"))["cold"]["starts"]
    names = ("the first on this machine, which compiles", "the first in a new process")
    return dict(zip(names, (ever["first"], new["first"])))


def contact_table(found: dict[str, float]) -> str:
    rows = (f"| {name} | {seconds:.2g} |" for name, seconds in found.items())
    return "\n".join(("| fit of 500 samples | s |", "|---|---|", *rows))


def contact_words(found: dict[str, float]) -> str:
    """The README's sentence."""
    return (
        f"The first fit compiles for about {max(found.values()):.0f} s, once per machine, and says "
        "so; `maxmargin warmup`\ncompiles everything in advance."
    )


def write_pages(found: dict[str, float]) -> None:
    for path, content in ((PAGE, contact_table(found)), (README, contact_words(found))):
        path.write_text(replaced(path.read_text("utf-8"), "first contact", content), "utf-8")
        print(path.relative_to(ROOT))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readme", description=__doc__)
    parser.add_argument("--measure", action="store_true", help="measure the first contact")
    if parser.parse_args().measure:
        text = json.dumps(measured(), indent=1, ensure_ascii=False)
        COLD.write_text(text + "\n", "utf-8")
        print(COLD.relative_to(ROOT))
        return
    write_pages(first_contact())
    for name, draw in (("readme_boundary", boundary), ("readme_speed", speed_chart)):
        path = TARGET / f"{name}.png"
        draw().savefig(path, dpi=110, facecolor="white")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
