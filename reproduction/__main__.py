"""The command behind `make reproduce`: computes items and keeps their results."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from . import runs
from .items import Item, chosen


def reproduce(
    chosen_items: Sequence[Item],
    *,
    full: bool = False,
    repetitions: int | None = None,
    again: bool = False,
    first_seed: int = 0,
    results: Path = runs.RESULTS,
    unfinished: Path = runs.UNFINISHED,
    console: Console | None = None,
) -> list[Path]:
    """Compute the items, one after another; those with results of this kind are left alone."""
    console = console or Console(stderr=True)
    written = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    work = [item for item in chosen_items if item.compute is not None]
    with Progress(*columns, console=console) as progress:
        total = progress.add_task("all", total=len(work))
        for item in work:
            count = repetitions or (item.full if full else item.repetitions)
            settings = {"repetitions": count, "full": full, "first_seed": first_seed}
            if not again and done(item.key, settings, results):
                progress.advance(total)
                continue
            bar = progress.add_task(item.key, total=None)

            def tell(so_far: int, of: int, bar: int = bar) -> None:
                progress.update(bar, completed=so_far, total=of)  # type: ignore[arg-type]

            run = runs.Run(
                item.key,
                count,
                full=full,
                first_seed=first_seed,
                folder=unfinished,
                progress=tell,
            )
            assert item.compute is not None
            began = time.perf_counter()
            found = item.compute(run)
            # Items that have no parts.
            run.seconds = run.seconds or time.perf_counter() - began
            written.append(run.finished(found, results))
            console.print(f"{item.key}: {run.seconds:.0f} s")
            progress.advance(total)
    return written


def done(key: str, settings: Mapping[str, object], folder: Path) -> bool:
    path = folder / f"{key}.json"
    if not path.exists():
        return False
    record = json.loads(path.read_text("utf-8"))
    return all(record.get(name) == value for name, value in settings.items())


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument("what", nargs="?", default="", help="7.2,9.1 · 7 · report · figure-7.3")
    parser.add_argument("--full", action="store_true", help="the documents' own repetitions")
    parser.add_argument("--repetitions", type=int, help="another number of orders or trials")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--again", action="store_true", help="also what has results already")
    parser.add_argument("--list", action="store_true", help="only list what would be computed")
    given = parser.parse_args(arguments)
    try:
        work = chosen(given.what)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if given.list:
        for item in work:
            print(f"{item.key:24}{item.name:16}{item.title}")
        return 0
    reproduce(
        work,
        full=given.full,
        repetitions=given.repetitions,
        again=given.again,
        first_seed=given.seed,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
