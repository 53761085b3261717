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
    lower = {name.lower(): name for name in reversed(names)}
    close = get_close_matches(wanted.lower(), list(lower), n=1, cutoff=0.6)
    if close:
        return f"did you mean {lower[close[0]]!r}?"
    return f"it has {listed(names)}"
