"""Markdown pages made of the committed results: one an item, and an index with all verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from . import items as registry
from .items import SOURCES, Item, Page, Table, printed
from .runs import RESULTS

NOT_YET = "not computed yet"


class Shown:
    """An item with its results and what its page says, where there are any."""

    def __init__(self, item: Item, folder: Path = RESULTS):
        self.item = item
        path = folder / f"{item.results_key}.json"
        self.record = json.loads(path.read_text("utf-8")) if path.exists() else None
        self.page: Page | None = None
        if self.record is not None and item.show is not None:
            self.page = item.show(self.record["results"], printed(item.key))

    @property
    def stem(self) -> str:
        return self.item.key.replace(".", "-")

    @property
    def verdict(self) -> str:
        return self.page.verdict.value if self.page else NOT_YET

    @property
    def reason(self) -> str:
        return self.page.reason if self.page else ""


def write(folder: Path, results: Path = RESULTS) -> list[Path]:
    """All pages, their drawings and the index into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = [Shown(item, results) for item in registry.items().values()]
    written = []
    for one in shown:
        path = folder / f"{one.stem}.md"
        path.write_text(page_text(one), "utf-8")
        written.append(path)
        if one.page is not None and one.page.draw is not None:
            written.append(drawn(one.page, folder / f"{one.stem}.svg"))
    # Not a page of its own: docs/reproduction/index.md includes it.
    index = folder / "verdicts.txt"
    index.write_text(index_text(shown, folder.name), "utf-8")
    return [*written, index]


def index_text(shown: Sequence[Shown], folder: str) -> str:
    """Counts of verdicts, a table a source, and the tree of pages."""
    lines = [verdict_counts(shown), ""]
    for source, name in SOURCES.items():
        own = [one for one in shown if one.item.source == source]
        if own:
            rows = [
                [f"[{one.item.name}]({folder}/{one.stem}.md)", title(one.item), bold(one.verdict)]
                for one in own
            ]
            lines += [f"## {name}", "", markdown(Table(("item", "what", "verdict"), rows)), ""]
    pages = "\n".join(f"{folder}/{one.stem}" for one in shown)
    lines += ["```{toctree}", ":hidden:", "", pages, "```", ""]
    return "\n".join(lines)


def verdict_counts(shown: Sequence[Shown]) -> str:
    counts: dict[str, int] = {}
    for verdict in [*(v.value for v in registry.Verdict), NOT_YET]:
        counts[verdict] = sum(one.verdict == verdict for one in shown)
    return " · ".join(f"{verdict}: {count}" for verdict, count in counts.items() if count)


def title(item: Item) -> str:
    return item.title if item.number else item.place


def bold(verdict: str) -> str:
    return verdict if verdict == NOT_YET else f"**{verdict}**"


def page_text(one: Shown) -> str:
    """The page of an item."""
    item = one.item
    heading = f"{item.name}: {item.title}" if item.number else item.title
    if item.source != "thesis" and item.number:
        heading = f"{SOURCES[item.source]}, {heading[0].lower()}{heading[1:]}"
    lines = [f"# {heading}", "", f"{item.place}.", ""]
    if one.page is None or one.record is None:
        command = f"`make reproduce WHAT={item.results_key}`" if item.compute else "nothing yet"
        lines += [f"**Verdict: {NOT_YET}.** Computed by {command}.", ""]
        return "\n".join(lines)
    page, record = one.page, one.record
    lines += [f"**Verdict: {page.verdict.value}.** {page.reason}", ""]
    if page.draw is not None:
        lines += [f"```{{image}} {one.stem}.svg", f":alt: {heading}", "```", ""]
    for table in page.tables:
        lines += [*((table.caption, "") if table.caption else ()), markdown(table), ""]
    for note in page.notes:
        lines += [note, ""]
    lines += ["## Where it comes from", "", *provenance(item, record), ""]
    return "\n".join(lines)


def provenance(item: Item, record: dict[str, Any]) -> Iterable[str]:
    """Command, commit, machine, seeds and what was left out."""
    yield f"- `make reproduce WHAT={item.results_key}{' FULL=1' if record['full'] else ''}`"
    yield f"- results: `reproduction/results/{record['key']}.json`, commit {record['commit']}"
    machine = record["machine"]
    load = f", load {machine['load']:.1f}" if machine["load"] is not None else ""
    yield f"- machine: {machine['processor']}, {machine['cores']} cores{load}"
    seeds, full = record["seeds"], registry.items()[item.results_key].full
    yield (
        f"- repetitions: {record['repetitions']} ({full} where FULL), "
        f"seeds {seeds[0]} to {seeds[-1]}, {record['seconds']:,.0f} s in all"
    )
    for reason in record["reduced"]:
        yield f"- reduced: {reason}"


def markdown(table: Table) -> str:
    """A table with numbers to the right."""
    right = [
        any(isinstance(row[k], (int, float)) for row in table.rows)
        for k in range(len(table.header))
    ]
    rule = ["--:" if numbers else "---" for numbers in right]
    rows = [table.header, rule, *([cell(value) for value in row] for row in table.rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def cell(value: Any) -> str:
    """A value as people read it: about four digits, thousands apart, dual values with more."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return number(value)
    return str(value)


def number(value: float) -> str:
    size = abs(value)
    if value == 0:
        return "0"
    if size >= 1000:
        return f"{value:,.0f}" if size >= 1e6 or value.is_integer() else f"{value:,.3f}"
    if size < 1e-3:
        return f"{value:.1e}"
    return f"{value:.4g}"


def drawn(page: Page, path: Path) -> Path:
    """The drawing of a page as SVG, the same bytes for the same results."""
    import matplotlib
    from matplotlib.figure import Figure

    assert page.draw is not None
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "maxmargin"}):
        figure = Figure(figsize=page.size, layout="constrained")
        page.draw(figure)
        figure.savefig(path, metadata={"Date": None})
    return path
