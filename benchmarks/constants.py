"""Numeric constants of the package's modules: `python -m benchmarks.constants`.

A constant is a name that a module assigns a number, or a formula of numbers alone; a tuple of names
counts as many. Numbers with a meaning for one formula stand in it or are defaults of its function,
numbers that follow from others are computed, and a number with one meaning in several files has one
home. `--list` prints every constant.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "maxmargin"


class Constant(NamedTuple):
    """A name and its number, as the source of a module has them."""

    module: str
    name: str
    number: str

    @property
    def folder(self) -> str:
        return str(Path(self.module).parent)


def is_number(node: ast.expr) -> bool:
    """Whether an expression consists of numbers alone."""
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def assigned(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment with their values, one by one where both are tuples."""
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield statement.target, statement.value
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                yield from zip(target.elts, statement.value.elts)
            else:
                yield target, statement.value


def constants_of(source: str, module: str) -> list[Constant]:
    return [
        Constant(module, ast.unparse(target), ast.unparse(value))
        for statement in ast.parse(source).body
        for target, value in assigned(statement)
        if is_number(value)
    ]


def constants(package: Path = PACKAGE) -> list[Constant]:
    """All of a package, by module."""
    found = []
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package).as_posix()
        found += constants_of(path.read_text(encoding="utf-8"), module)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="every constant, by module")
    listed = parser.parse_args().list
    found = constants()
    if listed:
        for constant in found:
            print(f"{constant.module}: {constant.name} = {constant.number}")
    for folder, count in Counter(constant.folder for constant in found).most_common():
        print(f"{count:5}  {folder}")
    print(f"{len(found):5}  in all")


if __name__ == "__main__":
    main()
