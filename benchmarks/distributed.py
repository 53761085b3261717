"""Fits on shards against the targets: Dask workers on this machine, and files larger than memory.

    python -m benchmarks.distributed                     # all targets, full size; hours
    python -m benchmarks.distributed mnist kills --scale 0.1
    python -m benchmarks.distributed --page              # the table of docs/guide/cluster.md, only

Prints every round, and at the end each target, what was measured, and whether it was met. What was
found is written to `benchmarks/results/distributed.json`; targets that were not run stay there as
they were. Samples are files in a temporary folder, which is removed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .cluster_targets import TARGETS, Options, Verdict
from .machine import busy, description, load
from .tuning_page import replaced

FILE = Path(__file__).parent / "results" / "distributed.json"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "guide" / "cluster.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], help="by default all")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full sizes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", type=int, default=4, help="for each worker")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--folder", help="for the samples; by default that of the system")
    parser.add_argument(
        "--most-alone", type=float, help="seconds after which a fit in one process is stopped"
    )
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--page", action="store_true", help="write the table of the guide, only")
    given = parser.parse_args()
    if given.page:
        results = json.loads(given.out.read_text(encoding="utf-8"))
        page = replaced(PAGE.read_text("utf-8"), "targets", markdown(results))
        PAGE.write_text(page, "utf-8")
        return
    options = Options(
        given.scale, given.workers, given.parts, given.kills, given.folder, given.most_alone
    )
    found: list[Verdict] = []
    for name in given.targets or list(TARGETS):
        before = load()
        print(f"{name}, {options.scale:g} of the full size", flush=True)
        if warning := busy(before):
            print(f"    {warning}", flush=True)
        began = time.perf_counter()
        verdicts = TARGETS[name](options)
        print_table(verdicts)
        print(f"    {time.perf_counter() - began:.0f} s in all", flush=True)
        found += verdicts
        save(given.out, name, options, before, verdicts)
    if len(given.targets) != 1:
        print_table(found)


def print_table(verdicts: list[Verdict]) -> None:
    for verdict in verdicts:
        word = "met   " if verdict.met else "MISSED"
        print(f"{word}  {verdict.name}: {verdict.measured}  (target: {verdict.target})", flush=True)


def markdown(results: dict[str, Any]) -> str:
    """What the file has about each target, as a table."""
    lines = ["| fit | size | target | measured | met | load |", "|---|---|---|---|---|---|"]
    for found in results.values():
        size = f"{found['options']['scale']:g}"
        for verdict in found["verdicts"]:
            met = "yes" if verdict["met"] else "no"
            cells = (verdict["name"], size, verdict["target"], verdict["measured"], met)
            lines.append(f"| {' | '.join(cells)} | {found['load_before']:.1f} |")
    return "\n".join(lines)


def save(path: Path, name: str, options: Options, before: Any, verdicts: list[Verdict]) -> None:
    """Replace what the file has about these targets."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept[f"{name} {options.scale:g}"] = {
        "commit": commit(),
        "machine": description(),
        "load_before": before,
        "options": asdict(options) | {"folder": None},
        "verdicts": [asdict(verdict) for verdict in verdicts],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def commit() -> str:
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    found = subprocess.run(git, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
