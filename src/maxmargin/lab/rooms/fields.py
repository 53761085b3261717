"""Reading the fields of a request: every value is checked, and every error names its field."""

from __future__ import annotations

import base64
import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Request = dict[str, Any]


class RequestError(ValueError):
    """A request that a room does not answer; the text is for the visitor."""


@dataclass(frozen=True)
class Room:
    """An entry of the menu.

    Attributes
    ----------
    name : str
        Of its modules, and in addresses.
    title, sentence : str
    example : dict
        The request that the room starts with; what is left out has a default.
    """

    name: str
    title: str
    sentence: str
    example: Request = field(default_factory=dict)

    def listed(self) -> dict[str, Any]:
        return asdict(self)


def real(
    request: Request, name: str, default: float, low: float = -math.inf, high: float = math.inf
) -> float:
    """A finite number between `low` and `high`."""
    value = request.get(name, default)
    # An int may be too large for a float, and is compared with infinity all the same.
    if not _is_number(value) or not abs(value) < math.inf:
        raise RequestError(f"{name} must be a number, got {_shown(value)}")
    if not low <= value <= high:
        raise RequestError(f"{name} must be between {low:g} and {high:g}, got {_shown(value)}")
    return float(value)


def whole(request: Request, name: str, default: int, low: int, high: int) -> int:
    """An integer between `low` and `high`."""
    value = real(request, name, default, low, high)
    if value != int(value):
        raise RequestError(f"{name} must be a whole number, got {value:g}")
    return int(value)


def choice(request: Request, name: str, default: str, allowed: Any) -> str:
    """One of the allowed texts."""
    value = request.get(name, default)
    if not isinstance(value, str) or value not in allowed:
        raise RequestError(f"{name} must be one of {', '.join(allowed)}, got {_shown(value)}")
    return value


def switch(request: Request, name: str, default: bool) -> bool:
    """True or false."""
    value = request.get(name, default)
    if not isinstance(value, bool):
        raise RequestError(f"{name} must be true or false, got {_shown(value)}")
    return value


def text(request: Request, name: str, default: str, longest: int) -> str:
    """A text of at most `longest` characters."""
    value = request.get(name, default)
    if not isinstance(value, str):
        raise RequestError(f"{name} must be a text, got {_shown(value)}")
    if len(value) > longest:
        raise RequestError(f"{name} must have at most {longest:,} characters, got {len(value):,}")
    return value


def table(
    request: Request, name: str, columns: int, most: int, fewest: int = 0, largest: float = 1e6
) -> Float:
    """A list of rows of `columns` finite numbers each."""
    rows = request.get(name, [])
    if not isinstance(rows, list):
        raise RequestError(f"{name} must be a list of rows, got {_shown(rows)}")
    if not fewest <= len(rows) <= most:
        raise RequestError(f"{name} must have {fewest:,} to {most:,} rows, got {len(rows):,}")
    for row in rows:
        if not isinstance(row, list) or len(row) != columns:
            raise RequestError(f"each row of {name} must have {columns} numbers, got {_shown(row)}")
        for value in row:
            if not _is_number(value):
                raise RequestError(f"{name} must hold numbers only, got {_shown(value)}")
            # Written so that NaN fails too.
            if not abs(value) <= largest:
                raise RequestError(
                    f"numbers of {name} must be at most {largest:g} in size, got {_shown(value)}"
                )
    return np.array(rows, dtype=np.float64).reshape(-1, columns)


def numbers(request: Request, name: str, most: int) -> Float | None:
    """A list of finite numbers, or None where there is none."""
    if request.get(name) is None:
        return None
    values = request[name]
    if not isinstance(values, list):
        raise RequestError(f"{name} must be a list of numbers, got {_shown(values)}")
    return table({name: [[value] for value in values]}, name, 1, most, largest=1e300).ravel()


def record(**values: Any) -> dict[str, Any]:
    """An answer of these fields in plain JSON types."""
    return {name: plain(value) for name, value in values.items()}


def plain(value: Any) -> Any:
    """The same value in plain JSON types; NaN and infinities become None."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    described = repr(value)
    return described if len(described) <= 60 else described[:57] + "…"


def packed(array: Any, kind: str = "float32") -> dict[str, Any]:
    """An array as base64 text, for what is drawn; `unpacked` in static/arrays.js reads it."""
    values = np.ascontiguousarray(array, dtype=np.dtype(kind).newbyteorder("<"))
    return {
        "shape": list(values.shape),
        "kind": kind,
        "data": base64.b64encode(values.tobytes()).decode(),
    }
