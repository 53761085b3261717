"""The command: `python -m tests.fuzz --help`."""

from __future__ import annotations

import argparse
import sys
import time

from . import files
from .problems import ESTIMATORS
from .search import explained, search


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Search for failures."
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to search")
    parser.add_argument("--seed", type=int, help="default: from the clock")
    parser.add_argument("--case", type=int, help="only the case of that number")
    parser.add_argument("--first", type=int, default=0, help="the case to begin with")
    parser.add_argument("--only", default="", help=f"some of {','.join(ESTIMATORS)}")
    parser.add_argument("--files", action="store_true", help="forged files instead of problems")
    parser.add_argument("--shrink", type=float, default=0.0, help="seconds for smaller snippets")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    if options.files:
        return int(bool(files.told(seed, options.seconds)))
    only = tuple(name for name in options.only.split(",") if name)
    unknown = set(only) - set(ESTIMATORS)
    if unknown:
        parser.error(f"--only must be some of {','.join(ESTIMATORS)}, got {','.join(unknown)}")
    first, most = (options.first, None) if options.case is None else (options.case, 1)
    print(f"seed {seed}", flush=True)
    report = search(
        seed, options.seconds, only, first, most, tell=lambda line: print(line, flush=True)
    )
    print(explained(report, options.shrink))
    return int(bool(report.found))


if __name__ == "__main__":
    sys.exit(main())
