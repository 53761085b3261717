"""Docstrings of Dask estimators: those of the local ones, and what is different."""

from __future__ import annotations

import inspect

# Parameters that all Dask estimators have.
MORE_PARAMETERS = """\
client : distributed.Client or str, default=None
    The client or the address of a scheduler; None stands for the current client.
checkpoint : path, default=None
    A file that is written after every round of a kernel machine, and from which an interrupted fit
    resumes."""


def merged(single: type, kind: type) -> str:
    """The docstring of `kind` with the sections Parameters and Attributes of `single`, to which its
    own attributes are added."""
    local, own = sections(single), sections(kind)
    parameters = [*local.pop("Parameters", []), *MORE_PARAMETERS.splitlines()]
    attributes = [*local.pop("Attributes", []), *own.pop("Attributes", [])]
    intro, rest = own.pop(""), own.items()
    parts = [("Parameters", parameters), ("Attributes", attributes), *rest]
    titled = ["\n".join([title, "-" * len(title), *lines]) for title, lines in parts]
    return "\n\n".join(["\n".join(intro), *titled])


def sections(kind: type) -> dict[str, list[str]]:
    """The lines of each section of a docstring by title, and those before the first under ""."""
    lines = inspect.cleandoc(kind.__doc__ or "").splitlines()
    found: dict[str, list[str]] = {"": []}
    title = ""
    for line, below in zip(lines, [*lines[1:], ""]):
        if line and below == "-" * len(line):
            title = line
            found[title] = []
        elif line != "-" * len(title) or not title:
            found[title].append(line)
    return {title: _without_end(lines) for title, lines in found.items()}


def _without_end(lines: list[str]) -> list[str]:
    """Lines without empty ones at the end."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines
