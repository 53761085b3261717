"""The page "Benchmark history": a chart and two tables, from `benchmarks/history.json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from benchmarks import history
from benchmarks.contenders import INTELEX, SKLEARN

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8C8C8C"
OFFSET = {"textcoords": "offset points", "fontsize": 9}
# Problems whose seconds are drawn one by one: small, medium, multi-class, regression, large.
SHOWN = ("heart", "banana", "usps", "cadata", "mnist-60000")


def draw(runs: Sequence[history.Run]) -> Figure:
    """Mean ratios to both peers, and our seconds on some problems, run by run."""
    places = range(len(runs))
    labels = [f"{run.date[5:]}  {run.commit}" for run in runs]
    figure = Figure(figsize=(6.0, 6.4), layout="constrained")
    ratios, times = figure.subplots(2, 1, sharex=True)
    for peer, colour, marker in ((SKLEARN, BLUE, "o"), (INTELEX, ORANGE, "s")):
        names = history.common(runs, peer)
        means = [run.mean_ratio(peer, names) for run in runs]
        label = f"{peer}: {means[0]:.1f} to {means[-1]:.1f} on {len(names)} problems"
        ratios.plot(places, means, color=colour, marker=marker, label=label)
    ratios.axhline(1.0, color=GREY, linewidth=1.0)
    ratios.set(yscale="log", ylabel="peer's seconds ÷ ours,\ngeometric mean")
    ratios.set_yticks([1, 2, 5, 10], labels=["1", "2", "5", "10"])
    ratios.legend(frameon=False, fontsize=9)
    styles = zip(SHOWN, (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9"), "osD^v")
    for name, colour, marker in styles:
        known = [
            (p, run.problems[name].seconds) for p, run in enumerate(runs) if name in run.problems
        ]
        times.plot(*zip(*known), color=colour, marker=marker)
        times.annotate(name, known[-1], (6, -3), color=colour, **OFFSET)
    times.set(yscale="log", ylabel="our seconds for a fit", xlim=(-0.3, len(runs) + 1.2))
    times.set_xticks(places, labels=labels, rotation=60, ha="right", fontsize=8)
    for ax in (ratios, times):
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", alpha=0.3)
    return figure


def table_of_runs(runs: Sequence[history.Run]) -> str:
    """One line for each run."""
    lines = [
        "| date | commit | problems | scikit-learn, mean | smallest | intelex, mean | smallest |",
        "|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        cells = [run.date, f"`{run.commit}`", str(len(run.problems))]
        for peer in (SKLEARN, INTELEX):
            least, name = run.slowest(peer)
            cells += [
                f"{run.mean_ratio(peer, history.common(runs, peer)):.2f}",
                f"{least:g} ({name})",
            ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def table_of_problems(runs: Sequence[history.Run]) -> str:
    """Our seconds on each problem of the last run, and in the first run that has it."""
    lines = ["| problem | first run, s | last run, s | first ÷ last |", "|---|---|---|---|"]
    for name, timing in runs[-1].problems.items():
        first = next(run.problems[name] for run in runs if name in run.problems)
        speedup = first.seconds / timing.seconds
        lines.append(f"| {name} | {first.seconds:.2g} | {timing.seconds:.2g} | {speedup:.1f} |")
    return "\n".join(lines) + "\n"


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    runs = history.read()
    with matplotlib.rc_context({"svg.hashsalt": "maxmargin"}):
        draw(runs).savefig(folder / "history.svg", metadata={"Date": None})
    (folder / "history_runs.txt").write_text(table_of_runs(runs), "utf-8")
    (folder / "history_problems.txt").write_text(table_of_problems(runs), "utf-8")
