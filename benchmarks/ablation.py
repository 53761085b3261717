"""What each fast path is worth: `python -m benchmarks.ablation`.

Fits the problems of `benchmarks.speed` with everything in place and with one path switched off, in
turn, each in a process of its own with its own compiled code. Prints how many times as long a fit
takes without the path. What is worth less than 5 % on every problem should go.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from .against import ROOT, Measured, Tree, compare

PACKAGE = "maxmargin"
# What counts as worth something.
WORTH = 1.05


class Switch(NamedTuple):
    """A path that can be switched off, by constants of modules."""

    what: str
    constants: dict[str, Any]


SWITCHES = {
    "on-demand-rows": Switch(
        "rows made by the compiled loop when they are first needed",
        {
            "solvers.costs.ON_DEMAND_SAMPLES": math.inf,
            "solvers.costs.ON_DEMAND_SAMPLES_IF_CHEAP": math.inf,
            "solvers.costs.LARGEST_TENTATIVE": 0,
        },
    ),
    "tentative-rows": Switch(
        "rows on demand before blocks", {"solvers.costs.LARGEST_TENTATIVE": 0}
    ),
    "batch": Switch(
        "small problems in one compiled call",
        {"solvers.costs.LARGEST_IN_BATCH": 0, "solvers.costs.LARGEST_ALONE_IN_BATCH": 0},
    ),
    "stages": Switch(
        "blocks from some of the samples first", {"solvers.costs.SMALLEST_STAGE": math.inf}
    ),
    "boxes": Switch(
        "small boxes first, for kernels of low rank",
        {"solvers.costs.SAMPLES_PER_DIMENSION": math.inf},
    ),
    "float32-rows": Switch(
        "float32 rows where they are precise enough",
        {
            "solvers.costs.SINGLE_OF_SINGLE": math.inf,
            "solvers.costs.SINGLE_OF_DOUBLE": math.inf,
            "solvers.costs.SINGLE_ENTRIES": math.inf,
        },
    ),
    "float32-certificate": Switch(
        "float32 values first in certificates", {"solvers.costs.SINGLE_IN_CERTIFICATE": math.inf}
    ),
    "recomputed-blocks": Switch(
        "kernel values of blocks computed again", {"solvers.costs.CHEAP_FEATURES": 0}
    ),
    "kept-memory": Switch(
        "memory kept between fits and from array to array",
        {"runtime.buffers.KEPT": 0, "runtime.buffers.SMALLEST": math.inf},
    ),
    "rare-features": Switch(
        "sparse products of features in which most samples agree",
        {
            "runtime.costs.RARE32": 0.0,
            "runtime.costs.RARE64": 0.0,
        },
    ),
    "tiles": Switch("Gaussian blocks in compiled tiles", {"runtime.costs.TILED_FEATURES": 0}),
    "compiled-rows": Switch(
        "Gaussian rows of few features without BLAS",
        {"runtime.costs.DIRECT_FEATURES": 0},
    ),
    "wide-faces": Switch("one block of all free samples", {"solvers.costs.WIDEST_FACE": 0}),
    "compiled-newton": Switch(
        "Newton steps inside the compiled loop",
        {"solvers.costs.LARGEST_SMALL": 0},
    ),
    "threaded-cholesky": Switch(
        "Cholesky factors in several threads", {"runtime.costs.FEWEST_ROWS": 1 << 60}
    ),
}


def switch_off(name: str) -> None:
    """Set the constants of a path, in this process and before anything is compiled. Modules that
    imported a constant by name get it too."""
    import sys

    importlib.import_module(f"{PACKAGE}.estimators")
    for place, value in SWITCHES[name].constants.items():
        module, _, constant = place.rpartition(".")
        home = importlib.import_module(f"{PACKAGE}.{module}")
        before = getattr(home, constant)
        setattr(home, constant, value)
        for other in list(sys.modules.values()):
            known = getattr(other, "__name__", "").startswith(PACKAGE)
            if known and vars(other).get(constant) is before:
                setattr(other, constant, value)


def table(found: dict[str, list[Measured]]) -> str:
    """A line for each path: its worth on the problems where it is worth most, and in the mean."""
    lines = [f"{'without':>20}   mean   most  on"]
    for name, rows in found.items():
        ratios = [1.0 / row.ratio for row in rows]
        best = max(range(len(rows)), key=ratios.__getitem__)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        verdict = "" if ratios[best] >= WORTH else "   worth nothing here"
        lines.append(f"{name:>20}  {mean:5.2f}  {ratios[best]:5.2f}  {rows[best].problem}{verdict}")
    return "\n".join(lines)


def main() -> None:
    from .problems import missing, selected

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--paths", metavar="a,b,c", help=", ".join(SWITCHES))
    parser.add_argument("--problems", metavar="a,b,c", help="names or patterns such as 'mnist*'")
    parser.add_argument("--quick", action="store_true", help="fewer than 5,000 samples only")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the median counts")
    parser.add_argument("--output", type=Path, help="a file for the figures, as JSON")
    arguments = parser.parse_args()
    names = arguments.problems.split(",") if arguments.problems else None
    paths = arguments.paths.split(",") if arguments.paths else list(SWITCHES)
    unknown = [path for path in paths if path not in SWITCHES]
    if unknown:
        parser.error(f"--paths: there is no {unknown[0]!r}; there are {', '.join(SWITCHES)}")
    problems = [p for p in selected(names, quick=arguments.quick) if missing(p) is None]
    found: dict[str, list[Measured]] = {}
    with tempfile.TemporaryDirectory() as caches:
        whole = Tree(ROOT, Path(caches) / "whole")
        try:
            for path in paths:
                without = Tree(ROOT, Path(caches) / path, off=path)
                try:
                    print(f"\nwithout {path}: {SWITCHES[path].what}", flush=True)
                    found[path] = []
                    for problem in problems:
                        row = compare(problem, without, whole, arguments.repeats)
                        found[path].append(row)
                        print(f"{problem.name:>24}  {1.0 / row.ratio:6.2f} times", flush=True)
                finally:
                    without.close()
        finally:
            whole.close()
    print("\n" + table(found))
    if arguments.output:
        rows = {path: [row._asdict() for row in rows] for path, rows in found.items()}
        arguments.output.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
