"""The measured tables of docs/guide/tuning.md, from `benchmarks/results/tuning.json`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "guide" / "tuning.md"
TASKS = {
    "small": "two classes",
    "medium": "two classes",
    "large": "two classes",
    "largest": "two classes",
    "classes-10": "10 classes",
    "classes-26": "26 classes",
    "regression-small": "regression",
    "regression-medium": "regression",
    "regression-large": "regression",
}


def with_spread(mean: float, spread: float | None) -> str:
    return f"{mean:.4f}" if spread is None else f"{mean:.4f} ± {spread:.4f}"


def grid_table(figures: dict[str, Any]) -> str:
    """Errors and time beside the grid, a row for each study."""
    lines = [
        "| task | samples | sets | splits | error | grid's error | time ÷ grid's | aim |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for title, task in TASKS.items():
        if title not in figures:
            continue
        study, found = figures[title]["study"], figures[title]["summary"]
        rows = figures[title]["rows"]
        theirs = "not measured"
        if "grid_error" in found:
            theirs = with_spread(found["grid_error"], found["grid_error_spread"])
        sampled = f" (from {study['cells']} of its fits)" if study["cells"] else ""
        lines.append(
            f"| {task} | {study['samples']:,} | {', '.join(rows)} | {study['trials']} "
            f"| {with_spread(found['error'], found['error_spread'])} | {theirs} "
            f"| {found['ratio']:.2g}{sampled} | {found['aim']:g} |"
        )
    return "\n".join(lines)


def path_words(figures: dict[str, Any]) -> str:
    """What the path took."""
    path = figures["path"]
    return (
        f"10 folds × 50 values of C on the first {path['samples']:,} samples of a9a (Gaussian, "
        f"γ = 1/123) take\n{path['seconds']:.0f} s on two cores ({path['cpu_seconds']:.0f} CPU "
        f"seconds), the certificates of all {path['machines']} machines included; their\nlargest "
        f"relative gap is {path['largest_gap']:.1e} (`python -m benchmarks.tuning_path`)."
    )


def replaced(text: str, name: str, content: str) -> str:
    """The text with this content between the marks of a name."""
    begin, end = f"<!-- measured: {name} -->", f"<!-- end: {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"the page has no marks for {name!r}")
    return pattern.sub(lambda _: f"{begin}\n\n{content}\n\n{end}", text)


def write_page(figures: dict[str, Any]) -> None:
    """Put the figures into the page."""
    text = PAGE.read_text("utf-8")
    text = replaced(text, "grid", grid_table(figures))
    text = replaced(text, "path", path_words(figures))
    PAGE.write_text(text, "utf-8")
    print(f"{PAGE.name} written")
