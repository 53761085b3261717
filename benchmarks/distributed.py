"""Fits on shards against the targets: Dask workers on this machine, and files larger than memory.

    python -m benchmarks.distributed                     # all targets, full size; hours
    python -m benchmarks.distributed mnist kills --scale 0.1

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

FILE = Path(__file__).parent / "results" / "distributed.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], help="by default all")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full sizes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", type=int, default=4, help="for each worker")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--folder", help="for the samples; by default that of the system")
    parser.add_argument("--out", type=Path, default=FILE)
    given = parser.parse_args()
    options = Options(given.scale, given.workers, given.parts, given.kills, given.folder)
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
