"""The rooms of the lab: what each one computes.

A room is a module here with a record `ROOM` and a pure function `answer(request) -> dict`, both
plain JSON, and a module of the same name in `static/rooms/` that draws the answer. A new room is
one line in `NAMES`.
"""

from __future__ import annotations

import importlib
from typing import Any

from .fields import RequestError, Room

__all__ = ["NAMES", "RequestError", "Room", "answer", "example", "rooms"]

NAMES = (
    "smo",
    "race",
    "coordinate",
    "online",
    "tuning",
    "trees",
    "lagrange",
    "losses",
)


def rooms() -> list[Room]:
    """The record of every room, in the order of the menu."""
    return [_module(name).ROOM for name in NAMES]


def answer(name: str, request: Any) -> dict[str, Any]:
    """What a room answers; `RequestError` says what is wrong with a request."""
    if name not in NAMES:
        raise RequestError(f"room must be one of {', '.join(NAMES)}, got {name!r}")
    if not isinstance(request, dict):
        raise RequestError(f"request must be an object, got {type(request).__name__}")
    found: dict[str, Any] = _module(name).answer(request)
    return found


def example(name: str) -> dict[str, Any]:
    """The request that a room starts with."""
    return dict(_module(name).ROOM.example)


def _module(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}")
