"""Pages of the API reference: one a public name, written from `__all__` of the modules."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

from docstrings import plain

# The modules whose names are public, with the title of their page. A name is documented where it
# comes first.
MODULES = {
    "maxmargin": "Estimators and `solve`",
    "maxmargin.kernels": "Kernels",
    "maxmargin.tuning": "Tuning",
    "maxmargin.report": "Plots and reports",
    "maxmargin.data": "Data",
    "maxmargin.models": "Model files",
    "maxmargin.dual": "Dual problems and certificates",
    "maxmargin.solvers": "Solvers",
    "maxmargin.solvers.textbook": "Textbook solvers",
    "maxmargin.solvers.linear": "Linear solvers",
    "maxmargin.estimators": "Records of estimators",
    "maxmargin.distributed": "Cluster",
}


def names_of(modules=MODULES) -> dict[str, list[str]]:
    """The public names to document, by module."""
    seen: set[int] = set()
    found: dict[str, list[str]] = {}
    for module in modules:
        place = importlib.import_module(module)
        fresh = []
        for name in sorted(place.__all__, key=str.lower):
            value = getattr(place, name)
            if inspect.ismodule(value) or id(value) in seen:
                continue
            seen.add(id(value))
            fresh.append(name)
        found[module] = fresh
    return found


def own_methods(value) -> list[str]:
    """Public methods and properties of a class that this library wrote."""
    own = []
    for name, member in inspect.getmembers_static(value):
        if name.startswith("_"):
            continue
        inside = member
        if isinstance(member, (classmethod, staticmethod)):
            inside = member.__func__
        elif isinstance(member, property):
            inside = member.fget
        elif hasattr(member, "func"):  # cached_property
            inside = member.func
        elif hasattr(member, "fn"):  # scikit-learn's available_if
            inside = member.fn
        if not inspect.isfunction(inside):
            continue
        if inside.__module__.startswith("maxmargin") and inspect.getdoc(getattr(value, name)):
            own.append(name)
    return own


def summary(value) -> str:
    """The first paragraph of a docstring, on one line."""
    text = inspect.getdoc(value) or ""
    first = " ".join(text.split("\n\n")[0].split())
    return first[:-2] + "." if first.endswith("::") else first


def page_of(module: str, name: str) -> str:
    value = getattr(importlib.import_module(module), name)
    lines = [name, "=" * len(name), "", f".. currentmodule:: {module}", ""]
    if inspect.isclass(value):
        lines += [f".. autoclass:: {name}", ""]
        for method in own_methods(value):
            member = inspect.getattr_static(value, method)
            kind = "autoproperty" if isinstance(member, property) else "automethod"
            if hasattr(member, "func"):
                kind = "autoproperty"
            lines += [f"   .. {kind}:: {method}", ""]
        return "\n".join(lines)
    if callable(value):
        return "\n".join([*lines, f".. autofunction:: {name}", ""])
    if not isinstance(value, dict):
        value = dict.fromkeys(value)
    rows = [f"``{key!r}``\n   {text}" for key, text in value.items() if isinstance(text, str)]
    plain = [f"``{key!r}``" for key, text in value.items() if not isinstance(text, str)]
    body = "\n\n".join(rows) if rows else "Keys: " + ", ".join(plain) + "."
    return "\n".join([*lines, f".. py:data:: {name}", "", *(f"   {x}" for x in body.split("\n"))])


def overview(module: str, title: str, names: list[str]) -> str:
    place = importlib.import_module(module)
    title = title.replace("`", "")
    lines = [title, "=" * len(title), "", f".. py:module:: {module}", "", f"``{module}``: "]
    lines[-1] += summary(place)
    lines += ["", ".. list-table::", "   :widths: 30 70", ""]
    for name in names:
        value = getattr(place, name)
        text = (
            plain(summary(value))
            if callable(value)
            else "Names that can be chosen, and what they mean."
        )
        lines += [f"   * - :doc:`{name} <generated/{module}.{name}>`", f"     - {text}"]
    lines += ["", ".. toctree::", "   :hidden:", ""]
    lines += [f"   generated/{module}.{name}" for name in names]
    return "\n".join([*lines, ""])


def write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def write(app):
    folder = Path(app.srcdir) / "reference"
    (folder / "generated").mkdir(parents=True, exist_ok=True)
    for module, names in names_of().items():
        write_if_changed(folder / f"{module}.rst", overview(module, MODULES[module], names))
        for name in names:
            path = folder / "generated" / f"{module}.{name}.rst"
            write_if_changed(path, page_of(module, name))


def setup(app):
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True}
