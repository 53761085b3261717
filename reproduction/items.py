"""The registry: what the documents print, and who computes and shows it.

`printed/catalogue.toml` lists every table and figure. A chapter's module gives each of them two
functions: one that computes results and one that shows them::

    @computes("table-7.2", repetitions=5, full=100)
    def table_7_2(run: Run) -> Json: ...

    @shows("table-7.2")
    def page_7_2(results: Json, printed: Json) -> Page: ...

The first returns what JSON can hold; it is written to `results/table-7.2.json`. The second turns
that file and `printed/table-7.2.toml` into a `Page`: tables, a drawing, a verdict. An item may be
computed together with another one (``@computes("table-7.1", ...)`` and ``same_as="table-7.1"``).
What the documents' lists do not have (an ablation in the text, figures of lectures) is added by
`extra`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from .runs import Run

HERE = Path(__file__).resolve().parent
PRINTED = HERE / "printed"
# Modules whose names begin so hold the items' functions.
MODULES = ("chapter", "report", "lecture")
SOURCES = {"thesis": "Thesis", "report": "Report", "lectures": "Lectures"}

Json = Any


class Verdict(StrEnum):
    """What we conclude from printed values and ours."""

    REPRODUCED = "reproduced"
    PATTERN = "pattern reproduced"
    DIFFERS = "differs"
    NO_DATA = "data unavailable"


class Table(NamedTuple):
    """Cells as values: numbers are formatted by the page; None is a dash."""

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""


@dataclass(frozen=True)
class Page:
    """What a reader sees of an item.

    `draw` gets a figure of matplotlib and fills it; `size` is its width and height in inches.
    `notes` are paragraphs of markdown: how it was done, what differs from the print.
    """

    verdict: Verdict
    reason: str
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    draw: Callable[[Any], None] | None = None
    size: tuple[float, float] = (7.0, 4.0)


@dataclass(frozen=True)
class Item:
    """A table or figure of a document."""

    key: str
    source: str
    kind: str
    number: str
    title: str
    section: str
    page: int | None = None
    compute: Callable[[Run], Json] | None = None
    show: Callable[[Json, Json], Page] | None = None
    repetitions: int = 1
    full: int = 1
    same_as: str | None = field(default=None)

    @property
    def name(self) -> str:
        """As the documents call it: "Table 7.2"."""
        return f"{self.kind.capitalize()} {self.number}" if self.number else self.title

    @property
    def results_key(self) -> str:
        """The item whose results this one shows."""
        return self.same_as or self.key

    @property
    def place(self) -> str:
        at = f", section beginning on page {self.page}" if self.page else ""
        return f"{SOURCES[self.source]}, section {self.section}{at}"


_items: dict[str, Item] = {}


def items() -> dict[str, Item]:
    """All items by key, in the documents' order, extra ones behind."""
    for path in sorted(HERE.glob("*.py")):
        if path.stem.startswith(MODULES):
            import_module(f".{path.stem}", __package__)
    return {**_catalogue(), **_items}


def computes(
    key: str, *, repetitions: int = 1, full: int | None = None
) -> Callable[[Callable[[Run], Json]], Callable[[Run], Json]]:
    """Register what computes an item, with repetitions by default and with ``FULL=1``."""

    def register(function: Callable[[Run], Json]) -> Callable[[Run], Json]:
        _change(key, compute=function, repetitions=repetitions, full=full or repetitions)
        return function

    return register


def shows(
    key: str, *, same_as: str | None = None
) -> Callable[[Callable[[Json, Json], Page]], Callable[[Json, Json], Page]]:
    """Register what shows an item, from its own results or those of another one."""

    def register(function: Callable[[Json, Json], Page]) -> Callable[[Json, Json], Page]:
        _change(key, show=function, same_as=same_as)
        return function

    return register


def extra(key: str, *, source: str, title: str, section: str, kind: str = "result") -> None:
    """Add an item that the documents' lists of tables and figures do not have."""
    if key in _catalogue() or key in _items:
        raise ValueError(f"there is an item {key!r} already")
    _items[key] = Item(key, source, kind, "", title, section)


def printed(key: str) -> Json:
    """The values that a document prints for an item; empty where it prints none."""
    path = PRINTED / f"{key}.toml"
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def chosen(what: str) -> list[Item]:
    """Items named by numbers ("7.2": table and figure), chapters ("7"), keys or sources."""
    everything = items()
    if not what:
        return list(everything.values())
    found: dict[str, Item] = {}
    for word in (word.strip() for word in what.split(",") if word.strip()):
        own = [item for item in everything.values() if _named(item, word)]
        if not own:
            raise ValueError(
                f"WHAT={word} names no table or figure; use a number (7.2), a chapter (7), "
                f"a source ({', '.join(SOURCES)}) or a key such as {next(iter(everything))}"
            )
        found |= {item.key: item for item in own}
    return list(found.values())


def key_of(source: str, kind: str, number: str) -> str:
    return f"{kind}-{number}" if source == "thesis" else f"{source}-{kind}-{number}"


def _named(item: Item, word: str) -> bool:
    if word in (item.key, item.source):
        return True
    return item.source == "thesis" and (
        item.number == word or item.number.partition(".")[0] == word
    )


def _change(key: str, **values: Any) -> None:
    known = {**_catalogue(), **_items}
    if key not in known:
        raise ValueError(f"no item is called {key!r}; see printed/catalogue.toml or use extra()")
    _items[key] = replace(known[key], **values)


@cache
def _catalogue() -> dict[str, Item]:
    lists = tomllib.loads((PRINTED / "catalogue.toml").read_text("utf-8"))
    found = {}
    for source, entries in lists.items():
        for entry in entries:
            key = key_of(source, entry["kind"], entry["number"])
            found[key] = Item(key, source, **entry)
    return found
