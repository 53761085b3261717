"""The shape of the source tree: who may import whom, and what every module must say of itself."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "maxmargin"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.read_text(encoding="utf-8").strip())

# A part imports only from the parts before it; `data` knows only arrays.
ORDER = (
    "runtime",
    "linalg",
    "archive",
    "kernels",
    "dual",
    "solvers",
    "estimators",
    "tuning",
    "data",
    "models",
    "distributed",
    "report",
    "lab",
    "cli",
    "__main__",
)
BARRED = {"data": {"estimators", "tuning"}}
LONGEST = 450


def dotted(path):
    parts = ("maxmargin", *path.relative_to(PACKAGE).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(path):
    """Dotted names inside the package that a module imports, wherever in it."""
    package = dotted(path) if path.name == "__init__.py" else dotted(path)[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = above + tuple(node.module.split(".") if node.module else ())
            yield from ((*base, alias.name) for alias in node.names)


def misplaced(path):
    part = dotted(path)[1] if len(dotted(path)) > 1 else None
    if part is None:
        return []
    earlier = {"__version__", *ORDER[: ORDER.index(part) + 1]} - BARRED.get(part, set())
    inside = (name for name in imported(path) if name[0] == "maxmargin")
    return [".".join(name) for name in inside if len(name) < 2 or name[1] not in earlier]


def name_of(path):
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_imports_only_from_earlier_parts(path):
    assert misplaced(path) == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_begins_with_one_line_that_says_its_subject(path):
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring, "a module docstring is missing"
    first, *rest = docstring.splitlines()
    assert first.endswith((".", ":"))
    assert not rest or not rest[0]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_has_one_subject_and_so_is_not_long(path):
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= LONGEST


def test_every_part_of_the_package_has_its_place_in_the_order():
    found = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert found - {"__init__", "__pycache__"} <= set(ORDER)
