"""Docstrings as reStructuredText: formulas as literal blocks, bars and underscores as they are."""

from __future__ import annotations

import re


def opened_summary(lines: list[str]) -> list[str]:
    """``Title::`` and a formula become a sentence and a literal block, as numpydoc needs it."""
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return lines
    end = first
    while end < len(lines) and lines[end].strip():
        end += 1
    if lines[end - 1].endswith("::"):
        return [*lines[: end - 1], lines[end - 1][:-2] + ".", "", "::", *lines[end:]]
    return lines


def plain(line: str) -> str:
    """A line of text in which | and a trailing underscore mean nothing."""
    parts = re.split(r"(``.*?``|`[^`]*`_{0,2})", line)
    for i in range(0, len(parts), 2):
        parts[i] = parts[i].replace("|", "\\|")
        parts[i] = re.sub(r'(\w)_(?=[,.;)" ]|$)(?! :)', r"\1\\_", parts[i])
    return "".join(parts)


def is_name(line: str) -> bool:
    """``name_`` or ``name_ : type``: numpydoc takes care of these."""
    return bool(re.match(r"^\s*\w+( : .*)?$", line))


def readable(lines: list[str]) -> list[str]:
    found, indent = [], None
    for line in opened_summary(lines):
        depth = len(line) - len(line.lstrip())
        if indent is not None and line.strip() and depth <= indent:
            indent = None
        doctest = line.lstrip().startswith((">>>", "..."))
        if indent is None and not doctest:
            name, colon, kind = line.partition(" : ")
            found.append(name + colon + plain(kind) if is_name(line) else plain(line))
        else:
            found.append(line)
        if indent is None and line.rstrip().endswith("::"):
            indent = depth
    return found


def process(*event):
    """What autodoc calls with its application, the object, and the lines to change in place."""
    lines = event[-1]
    lines[:] = readable(lines)


def setup(app):
    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True}
