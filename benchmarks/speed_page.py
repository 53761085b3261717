"""The tables of docs/guide/performance.md, from runs of `benchmarks.speed`.

    make bench                                # and with BENCH=--others, BENCH=--machines
    python -m benchmarks.speed_page benchmarks/results/speed.json
    python -m benchmarks.speed_page --first benchmarks/results/first.json

The group of a run (the tuned problems, others, machines) is known by its problems. Problems of the
page that the run does not have keep their line.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .contenders import INTELEX, OURS, SKLEARN
from .history import from_results
from .problems import EVERY, GROUPS
from .tuning_page import replaced

PAGE = Path(__file__).resolve().parents[1] / "docs" / "guide" / "performance.md"
HEADER = (
    "| problem | n × d | ours, s | scikit-learn | intelex | our gap | their gaps |",
    "|---|---|---|---|---|---|---|",
)


def lines(results: Mapping[str, Any]) -> dict[str, str]:
    """A line of the table for each problem."""
    timings = from_results(results, "", "").problems
    rows = {problem["name"]: problem["rows"] for problem in results["problems"]}
    found = {}
    for name, timing in timings.items():
        problem = EVERY.get(name)
        if problem is None:
            continue
        ratios = [
            f"{'> ' * (peer in timing.at_least)}{_two_digits(timing.ratios[peer])}"
            if peer in timing.ratios
            else "none"
            for peer in (SKLEARN, INTELEX)
        ]
        gaps = [_gap(rows[name], library) for library in (OURS, SKLEARN, INTELEX)]
        size = f"{problem.samples:,} × {problem.features:,}"
        cells = (name, size, f"{timing.seconds:.2g}", *ratios, gaps[0], ", ".join(gaps[1:]))
        found[name] = f"| {' | '.join(cells)} |"
    return found


def _two_digits(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.2g}"


def _gap(rows: Sequence[Mapping[str, Any]], library: str) -> str:
    """The relative gap of a library in its faster float."""
    own = [row for row in rows if row["contender"].startswith(library) and row["figures"]]
    own = [row for row in own if row["fit"] is not None]
    if not own:
        return "–"
    gap: float = min(own, key=lambda row: row["fit"])["figures"]["relative_gap"]
    return re.sub(r"e([+-])0?", r"e\1", f"{gap:.0e}").replace("e+", "e")


def with_lines(text: str, group: str, new: Mapping[str, str]) -> str:
    """The page with these lines in the table of a group."""
    begin, end = f"<!-- measured: {group} -->", f"<!-- end: {group} -->"
    table = text.partition(begin)[2].partition(end)[0]
    old = {
        line.split(" | ")[0].strip("| "): line for line in table.splitlines() if line[:2] == "| "
    }
    kept = {**old, **new}
    order = [problem.name for problem in GROUPS[group] if problem.name in kept]
    order.sort(key=lambda name: EVERY[name].samples)
    return replaced(text, group, "\n".join((*HEADER, *(kept[name] for name in order))))


def first_table(found: Sequence[Mapping[str, Any]]) -> str:
    """First contact: seconds and memory of every contender."""
    names = list(dict.fromkeys(row["contender"] for row in found))
    table = [
        f"| data | {' | '.join(name.replace('-float', ', float') for name in names)} |",
        f"|{'---|' * (len(names) + 1)}",
    ]
    for data in dict.fromkeys(row["problem"] for row in found):
        cells = {
            row["contender"]: f"{row['total']:.2f} ({row['megabytes']:,.0f} MB)"
            for row in found
            if row["problem"] == data
        }
        table.append(f"| {data} | {' | '.join(cells.get(name, '–') for name in names)} |")
    return "\n".join(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, help="speed.json of runs")
    parser.add_argument("--first", type=Path, help="first.json of a run with --first")
    given = parser.parse_args()
    text = PAGE.read_text("utf-8")
    for path in given.files:
        new = lines(json.loads(path.read_text("utf-8")))
        for group, problems in GROUPS.items():
            own = {one.name: new[one.name] for one in problems if one.name in new}
            text = with_lines(text, group, own) if own else text
    if given.first:
        rows = json.loads(given.first.read_text("utf-8"))["first"]
        text = replaced(text, "new processes", first_table(rows))
    PAGE.write_text(text, "utf-8")
    print(PAGE.name)


if __name__ == "__main__":
    main()
