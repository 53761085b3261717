"""Everything one run has found, as one record, as JSON and as a plot."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .cold import Beginning
from .contenders import INTELEX, SKLEARN
from .growth import Curve
from .measure import Comparison, Row
from .targets import target, verdicts


@dataclass
class Results:
    """The record.

    Attributes
    ----------
    machine, settings : dict
    gemm_rates : dict
        Operations a second of a matrix product, by float.
    absent : dict
        Why contenders did not take part.
    comparisons : list of Comparison
    prediction : Comparison or None
    curves : list of Curve
    beginning : Beginning or None
    """

    machine: dict[str, Any]
    settings: dict[str, Any]
    gemm_rates: dict[str, float]
    absent: dict[str, str] = field(default_factory=dict)
    comparisons: list[Comparison] = field(default_factory=list)
    prediction: Comparison | None = None
    curves: list[Curve] = field(default_factory=list)
    beginning: Beginning | None = None

    @property
    def compared(self) -> list[Comparison]:
        return self.comparisons + ([] if self.prediction is None else [self.prediction])


def write_json(results: Results, path: Path) -> None:
    content = {
        "machine": results.machine,
        "settings": results.settings,
        "gemm_rates": results.gemm_rates,
        "absent": results.absent,
        "problems": [_comparison(comparison) for comparison in results.compared],
        "growth": [asdict(curve) for curve in results.curves],
        "cold": None if results.beginning is None else asdict(results.beginning),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        **asdict(comparison.problem),
        "skipped": comparison.skipped,
        "rows": [_row(row) for row in comparison.rows],
        "verdicts": [
            {
                "contender": verdict.row.contender.name,
                "met": verdict.met,
                "checks": [asdict(check) for check in verdict.checks],
            }
            for verdict in verdicts(comparison)
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        **asdict(row),
        "contender": row.contender.name,
        "fit": row.fit,
        "predict": row.predict,
        "memory": None if row.memory is None else row.memory._asdict(),
    }


def write_plot(results: Results, path: Path) -> str | None:
    """Each peer's fit time as a multiple of ours, by problem; a word where nothing was drawn."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "no plot: matplotlib is not installed"
    measured = [c for c in results.comparisons if (ours := c.fastest()) and ours.fit]
    if not measured:
        return "no plot: no fit of ours"
    figure = Figure(figsize=(9, 1.6 + 0.3 * len(measured)), layout="constrained")
    axes = figure.subplots()
    for library, colour, shift in ((SKLEARN, "C0", -0.15), (INTELEX, "C1", 0.15)):
        axes.plot([], [], color=colour, marker="o", label=library)
        for place, comparison in enumerate(measured):
            _draw(axes, comparison, library, colour, place + shift)
    axes.axvline(1.0, color="0.3", linewidth=1)
    axes.set(
        xscale="log",
        xlabel="seconds to fit ÷ those of maxmargin  (triangle: at least; grey: target)",
        yticks=range(len(measured)),
        yticklabels=[comparison.problem.name for comparison in measured],
        ylim=(len(measured) - 0.5, -0.5),
    )
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper right", ncols=2, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return None


def _draw(axes: Any, comparison: Comparison, library: str, colour: str, place: float) -> None:
    peer, ours, aim = comparison.fastest(library), comparison.fastest(), target(comparison.problem)
    if peer is not None:
        ratio = peer.at_least / ours.fit
        axes.plot([1, ratio], [place, place], color=colour, linewidth=2)
        axes.plot(ratio, place, color=colour, marker="o" if peer.fit else ">")
    if aim is not None:
        least = aim.sklearn if library == SKLEARN else aim.intelex
        axes.plot(least, place, color="0.5", marker="|", markersize=9)
