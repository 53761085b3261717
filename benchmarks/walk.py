"""The way of one call through the package: `python -m benchmarks.walk`.

Counts, for a warm call (nothing left to compile or to import), the Python files of the package
that are entered, the Python calls inside it, the crossings between its folders, and the types of
records (dataclasses and named tuples) that are made on the way. `--files` lists the files in the
order in which they are first entered, `--calls` the calls as an indented tree.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from threadpoolctl import threadpool_limits

import maxmargin

PACKAGE = Path(maxmargin.__file__).parent


@dataclass
class Walk:
    """What one call entered."""

    files: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    crossings: int = 0
    records: dict[str, int] = field(default_factory=dict)
    tree: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        return (
            f"{name:>24}  {len(self.files):5} files  {self.calls:7,} calls  "
            f"{self.crossings:6,} crossings  {len(self.records):4} record types"
        )


def walk(call: Callable[[], object]) -> Walk:
    """Call in one thread, and count."""
    found = Walk()
    names: dict[str, str | None] = {}
    stack: list[str | None] = []

    def place(frame: FrameType) -> str | None:
        path = frame.f_code.co_filename
        if path not in names:
            inside = Path(path).is_relative_to(PACKAGE) if path[:1] != "<" else False
            names[path] = Path(path).relative_to(PACKAGE).as_posix() if inside else None
        return names[path]

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "return":
            if stack:
                stack.pop()
            return
        if event != "call":
            return
        here = place(frame)
        if here is None:
            _note_record(found, frame)
            stack.append(stack[-1] if stack else None)
            return
        came_from = stack[-1] if stack else None
        found.files[here] = found.files.get(here, 0) + 1
        found.calls += 1
        if came_from is not None and Path(came_from).parent != Path(here).parent:
            found.crossings += 1
        found.tree.append(f"{'  ' * len(stack)}{here[:-3]}:{frame.f_code.co_qualname}")
        stack.append(here)

    # Helpers would take over some of the calls, more of them the more cores there are.
    with threadpool_limits(1, user_api="blas"):
        sys.setprofile(note)
        try:
            call()
        finally:
            sys.setprofile(None)
    return found


def _note_record(found: Walk, frame: FrameType) -> None:
    """Methods that the standard library writes for dataclasses and named tuples are in no file."""
    name = frame.f_code.co_name
    if name not in ("__init__", "__new__") or frame.f_code.co_filename[:1] != "<":
        return
    first = frame.f_code.co_varnames[0]
    made = frame.f_locals.get(first)
    kind = made if isinstance(made, type) else type(made)
    if kind.__module__.startswith("maxmargin"):
        found.records[kind.__qualname__] = found.records.get(kind.__qualname__, 0) + 1


def calls() -> dict[str, Callable[[], object]]:
    """The walks of the documentation, by name."""
    from maxmargin import SVC, LinearSVC, OnlineSVC
    from maxmargin.data import chess_board

    small, large = (chess_board(n, random_state=0) for n in (300, 12_000))
    fitted = SVC(C=10.0).fit(*small)
    return {
        "SVC.fit, 300": lambda: SVC(C=10.0).fit(*small),
        "SVC.fit, 12,000": lambda: SVC(C=10.0).fit(*large),
        "SVC.predict, 300": lambda: fitted.predict(small[0]),
        "LinearSVC.fit, 300": lambda: LinearSVC().fit(*small),
        "OnlineSVC.fit, 300": lambda: OnlineSVC().fit(*small),
    }


def walk_warm(call: Callable[[], object]) -> Walk:
    """The second of two calls: the first may compile and import."""
    call()
    return walk(call)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a part of the name of a call")
    parser.add_argument("--files", action="store_true", help="list the files entered")
    parser.add_argument("--calls", action="store_true", help="list the calls as a tree")
    arguments = parser.parse_args()
    for name, call in calls().items():
        if arguments.only not in name:
            continue
        found = walk_warm(call)
        print(found.line(name), flush=True)
        if arguments.files:
            for file, times in found.files.items():
                print(f"    {times:6,}  {file}")
            print("    records: " + ", ".join(found.records))
        if arguments.calls:
            print("\n".join(found.tree))


if __name__ == "__main__":
    main()
