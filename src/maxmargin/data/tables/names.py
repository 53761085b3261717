"""Names of columns in messages: listed, and suggested where one is misspelt."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any


def listed(names: Any, most: int = 8) -> str:
    """A list of names for messages, shortened if long."""
    names = [str(name) for name in names]
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def suggestion(wanted: str, names: Sequence[str]) -> str:
    """Suggestions for a misspelt name, as the end of a sentence; else all names."""
    close = closest(wanted, names)
    return f"did you mean {close!r}?" if close else f"it has {listed(names)}"


def suggestions(absent: Sequence[str], names: Sequence[str]) -> str:
    """Suggestions for columns that are missing, as the end of a sentence; else all names."""
    pairs = [(closest(name, names), name) for name in absent]
    close = [f"{found!r} for {name!r}" for found, name in pairs if found]
    if len(absent) == 1 or not close:
        return suggestion(absent[0], names)
    return f"did you mean {', '.join(close[:8])}?"


def closest(wanted: str, names: Sequence[str]) -> str | None:
    """The name most like another, if any is."""
    lower = {name.lower(): name for name in reversed(names)}
    close = get_close_matches(wanted.lower(), list(lower), n=1, cutoff=0.6)
    return lower[close[0]] if close else None
