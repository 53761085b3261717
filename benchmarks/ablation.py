"""What each fast path is worth: `python -m benchmarks.ablation`.

Fits the problems of `benchmarks.speed` with everything in place and with each path switched off, in
turn, each in a process of its own with its own compiled code: warm, and with `--fresh` as the first
fit of a new process. Prints how many times as long a fit takes without the path. What is worth less
than 5 % on every problem should go.

    python -m benchmarks.ablation           # everything, warm; an hour on a quiet machine
    python -m benchmarks.ablation --fresh   # the same in new processes, some minutes
    python -m benchmarks.ablation --page    # write the table of docs/guide/performance.md, only

Figures are kept in `benchmarks/results/ablation.json`; what was not measured this time stays there.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

from .against import ROOT, Tree, fitted
from .tuning_page import replaced

PACKAGE = "maxmargin"
# What counts as worth something.
WORTH = 1.05
FILE = ROOT / "benchmarks" / "results" / "ablation.json"
PAGE = ROOT / "docs" / "guide" / "performance.md"
# Ratios of a path by problem, and of all paths by how they were measured.
Ratios = dict[str, float]
Found = dict[str, dict[str, Ratios]]


class Switch(NamedTuple):
    """A path that can be switched off, by constants and functions of modules."""

    what: str
    constants: dict[str, Any]


def library_exp(x: Any) -> Any:
    """exp(min(x, 0)) by the mathematical library."""
    return math.exp(min(x, 0.0 * x))


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
    "compiled-rows": Switch(
        "Gaussian rows of few features without BLAS",
        {"runtime.costs.DIRECT_FEATURES": 0},
    ),
    "own-exp": Switch(
        "exp by a polynomial in the loop, which vectorises",
        {"kernels.vector.exp.exp32": library_exp, "kernels.vector.exp.exp64": library_exp},
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


def warm(
    paths: Sequence[str], problems: Sequence[Any], repeats: int
) -> Iterator[tuple[str, Ratios]]:
    """For each problem, how many times as long a fit takes without each path."""
    with ExitStack() as stack:
        caches = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        trees = [
            stack.enter_context(closing(Tree(ROOT, caches / (path or "whole"), off=path)))
            for path in ("", *paths)
        ]
        for problem in problems:
            whole, *without = fitted(problem, trees, repeats)
            yield problem.name, {p: one.seconds / whole.seconds for p, one in zip(paths, without)}


def fresh(paths: Sequence[str], repeats: int) -> Iterator[tuple[str, Ratios]]:
    """The same for the first fit and prediction of a new process, with compiled code on disk."""
    from .first import data_sets, saved

    with tempfile.TemporaryDirectory() as folder:
        for name, arrays in data_sets():
            file, seconds = saved(arrays, "float64", folder), dict[str, list[float]]()
            for turn in range(repeats + 1):
                for path in ("", *paths):
                    took = _first_fit(path, file, Path(folder) / (path or "whole"))
                    if turn:  # the first one compiles
                        seconds.setdefault(path, []).append(took)
            whole = median(seconds[""])
            yield name, {path: median(seconds[path]) / whole for path in paths}


def _first_fit(path: str, file: str, cache: Path) -> float:
    """Seconds of the first fit and the first prediction of a new process."""
    command = [sys.executable, "-m", "benchmarks.ablation", "--serve", path, file]
    settings = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        command, cwd=ROOT, env=settings, check=True, stdout=subprocess.PIPE, text=True
    )
    return float(done.stdout.splitlines()[-1])


def serve(path: str, file: str) -> None:
    """Print the seconds of a fit and a prediction in this process."""
    from .first import measured

    if path:
        switch_off(path)
    _, fit, predict, *_ = measured(PACKAGE, file)
    print(fit + predict)


def table(found: Found) -> str:
    """Markdown: a line for each path, with its worth where it is worth most, and in the mean."""
    lines = [
        "| without | mean, warm | most | on | most in a new process | on |",
        "|---|---|---|---|---|---|",
    ]
    for path, switch in SWITCHES.items():
        cells = [f"{switch.what} (`{path}`)"]
        rows = {
            how: {p: r[path] for p, r in rows.items() if path in r} for how, rows in found.items()
        }
        if ratios := rows.get("warm"):
            cells += [f"{geometric_mean(ratios.values()):.2f}", *_largest(ratios)]
        else:
            cells += ["–", "–", "–"]
        cells += _largest(rows["fresh"]) if rows.get("fresh") else ["–", "–"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _largest(ratios: Ratios) -> list[str]:
    problem = max(ratios, key=ratios.__getitem__)
    verdict = "" if ratios[problem] >= WORTH else " (worth nothing)"
    return [f"{ratios[problem]:.2f}{verdict}", problem]


def main() -> None:
    from .problems import missing, selected

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--paths", metavar="a,b,c", help=", ".join(SWITCHES))
    parser.add_argument("--problems", metavar="a,b,c", help="names or patterns such as 'mnist*'")
    parser.add_argument("--quick", action="store_true", help="fewer than 5,000 samples only")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the median counts")
    parser.add_argument("--fresh", action="store_true", help="in new processes instead")
    parser.add_argument("--output", type=Path, default=FILE, help="a file for the figures")
    parser.add_argument("--page", action="store_true", help="write the table of the guide, only")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(*arguments.serve)
        return
    file: Path = arguments.output
    found: Found = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if arguments.page:
        PAGE.write_text(replaced(PAGE.read_text("utf-8"), "ablation", table(found)), "utf-8")
        return
    paths = arguments.paths.split(",") if arguments.paths else list(SWITCHES)
    unknown = [path for path in paths if path not in SWITCHES]
    if unknown:
        parser.error(f"--paths: there is no {unknown[0]!r}; there are {', '.join(SWITCHES)}")
    names = arguments.problems.split(",") if arguments.problems else None
    problems = [p for p in selected(names, arguments.quick, group=None) if missing(p) is None]
    rows = found.setdefault("fresh" if arguments.fresh else "warm", {})
    runs = (
        fresh(paths, arguments.repeats)
        if arguments.fresh
        else warm(paths, problems, arguments.repeats)
    )
    for problem, ratios in runs:
        rows[problem] = rows.get(problem, {}) | ratios
        words = ", ".join(f"{path} {ratio:.2f}" for path, ratio in ratios.items())
        print(f"{problem}: {words}", flush=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("\n" + table(found))


if __name__ == "__main__":
    main()
