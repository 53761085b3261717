"""The tables that people read."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .cold import Beginning
from .contenders import CACHE_SIZE, INTELEX, OURS, SKLEARN
from .growth import Curve
from .measure import Comparison, Row
from .results import Results
from .targets import verdicts

NONE = "–"
MET = {True: "met", False: "MISSED", None: "open"}
# What a fit may take beside `cache_size` and three times its inputs.
BYTES_A_SAMPLE = 1000
LEFT = {"problem", "contender", "what", "data", "note", SKLEARN, INTELEX, "besides", "verdict"}


class Table(NamedTuple):
    """Cells as text, with a title above and a name over each column."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def rendered(table: Table) -> str:
    """A table drawn by rich, or plainly where that is not installed; of no rows the title alone."""
    if not table.rows:
        return f"{table.title}\n"
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
    except ImportError:
        return plain(table)
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in table.header:
        drawn.add_column(name, justify="left" if name in LEFT else "right", no_wrap=True)
    for row in table.rows:
        drawn.add_row(*row)
    out = io.StringIO()
    Console(file=out, width=1000, markup=False, highlight=False).print(drawn)
    return _trimmed([table.title, *out.getvalue().splitlines()])


def plain(table: Table) -> str:
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows)]
    rows = (
        "  ".join(
            cell.ljust(width) if name in LEFT else cell.rjust(width)
            for name, cell, width in zip(table.header, cells, widths)
        )
        for cells in (table.header, ["-" * width for width in widths], *table.rows)
    )
    return _trimmed([table.title, *rows])


def _trimmed(lines: Sequence[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def summaries(results: Results) -> Iterator[Table]:
    """The tables over all problems."""
    if any(row.memory for comparison in results.compared for row in comparison.rows):
        yield memory_table(results.compared)
    if results.curves:
        yield growth_table(results.curves)
    if results.beginning is not None:
        yield cold_table(results.beginning)
    if results.compared:
        yield target_table(results.compared)


def comparison_table(comparison: Comparison) -> Table:
    problem, ours = comparison.problem, comparison.fastest(OURS)
    given = ", ".join(f"{name} {value:g}" for name, value in problem.parameters.items())
    title = (
        f"{problem.name}: {problem.estimator}, {problem.samples:,} × {problem.features}"
        f"{' sparse' if problem.csr else ''}, {given}"
    )
    header = (
        *("contender", "fit s", "÷ ours", "GEMM s", "÷ GEMM", "predict s"),
        *("SV", "bounded", "primal", "dual", "gap", "runs", "note"),
    )
    if comparison.skipped:
        return Table(f"{title}: skipped, {comparison.skipped}", header, [])
    return Table(title, header, [_cells(row, ours) for row in comparison.rows])


def _cells(row: Row, ours: Row | None) -> list[str]:
    f = row.figures
    fit = f"> {row.over_budget:g}" if row.fit is None and row.over_budget else _seconds(row.fit)
    ratio = NONE
    if row.at_least is not None and ours is not None and ours.fit is not None:
        ratio = ("> " if row.fit is None else "") + _ratio(row.at_least / ours.fit)
    bound = row.bound if row.fit is not None else None
    note = [row.note]
    if row.finished is False:
        note.append("not converged, as it says itself")
    if f is not None and f.infeasibility > 1e-6:
        note.append(f"infeasible by {f.infeasibility:.0e}")
    return [
        row.contender.name,
        fit,
        ratio,
        _seconds(bound),
        NONE if not bound else _ratio(row.fit / bound),
        _seconds(row.predict),
        *((NONE,) * 5 if f is None else (f"{f.support:,}", f"{f.bounded:,}")),
        *(() if f is None else (f"{f.primal:.9g}", f"{f.dual:.9g}", f"{f.relative_gap:.1e}")),
        str(len(row.fits)),
        "; ".join(filter(None, note)),
    ]


def target_table(compared: Sequence[Comparison]) -> Table:
    """One line for each verdict; the title counts them."""
    rows, outcomes = [], []
    for comparison in compared:
        for verdict in verdicts(comparison):
            said = {check.subject: check.words for check in verdict.checks}
            besides = [f"{s} {words}" for s, words in said.items() if s in ("gap", "bound")]
            peers = [said.get(library, NONE) for library in (SKLEARN, INTELEX)]
            outcomes.append(verdict.met)
            rows.append(
                [
                    comparison.problem.name,
                    verdict.row.contender.name,
                    *peers,
                    "; ".join(besides),
                    MET[verdict.met],
                ]
            )
    count = ", ".join(f"{outcomes.count(met)} {word}" for met, word in MET.items())
    header = ("problem", "contender", SKLEARN, INTELEX, "besides", "verdict")
    return Table(f"Targets (a peer's seconds ÷ ours): {count}", header, rows)


def memory_table(compared: Sequence[Comparison]) -> Table:
    """What a fit takes at its peak beside its inputs, and what ours may take."""
    rows = []
    for comparison in compared:
        for row in comparison.rows:
            if row.memory is None:
                continue
            limit = 1e6 * CACHE_SIZE + 3 * row.memory.inputs
            limit += BYTES_A_SAMPLE * comparison.problem.samples
            ours = row.contender.library == OURS
            rows.append(
                [
                    comparison.problem.name,
                    row.contender.name,
                    f"{row.memory.inputs / 1e6:.1f}",
                    f"{row.memory.peak / 1e6:.1f}",
                    f"{limit / 1e6:.0f}" if ours else NONE,
                    MET[row.memory.peak <= limit] if ours else "",
                ]
            )
    header = ("problem", "contender", "X MB", "peak MB", "limit MB", "verdict")
    return Table("Memory that a fit takes in addition", header, rows)


def growth_table(curves: Sequence[Curve]) -> Table:
    rows = [
        [
            curve.data,
            curve.contender,
            NONE if curve.exponent is None else f"{curve.exponent:.2f}",
            "  ".join(f"{n:,}: {s:.3g} s" for n, s in zip(curve.samples, curve.seconds)),
        ]
        for curve in curves
    ]
    return Table(
        "Growth: seconds ∝ samples^exponent", ("data", "contender", "exponent", "note"), rows
    )


def cold_table(beginning: Beginning) -> Table:
    rows = [[f"import {module}", _seconds(s), NONE] for module, s in beginning.imports.items()]
    rows += [
        [start.case, _seconds(start.first), _seconds(start.again)] for start in beginning.starts
    ]
    return Table("Cold start", ("what", "seconds", "again"), rows)


def _seconds(value: float | None) -> str:
    """Four digits, none of them behind a point from 1,000 s on."""
    if value is None:
        return NONE
    return f"{value:.6f}" if value < 0.01 else f"{value:.4g}" if value < 1000 else f"{value:,.0f}"


def _ratio(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
