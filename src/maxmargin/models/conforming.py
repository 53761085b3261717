"""Whether a value is of a declared type, down to the entries of its containers."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np


def conforms(value: Any, hint: Any) -> bool:
    """Whether a value is what a type hint says; whole numbers count as real ones."""
    if hint is Any:
        return True
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(conforms(value, argument) for argument in arguments)
    if hint is None or hint is type(None):
        return value is None
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _is_array_of(value, arguments[1])
    if origin is None:
        return isinstance(value, hint)
    return isinstance(value, origin) and _entries_conform(value, origin, arguments)


def _is_array_of(array: np.ndarray, hint: Any) -> bool:
    (kind,) = typing.get_args(hint)
    return kind is Any or array.dtype == np.dtype(kind)


def _entries_conform(value: Any, origin: Any, arguments: tuple[Any, ...]) -> bool:
    if issubclass(origin, Mapping):
        key, entry = arguments
        return all(conforms(k, key) and conforms(e, entry) for k, e in value.items())
    if origin is tuple and arguments[-1:] != (Ellipsis,):
        pairs = zip(value, arguments, strict=False)
        return len(value) == len(arguments) and all(conforms(e, hint) for e, hint in pairs)
    return all(conforms(entry, arguments[0]) for entry in value)


@cache
def field_types(record: type) -> dict[str, Any]:
    """The declared types of the fields of a dataclass."""
    return typing.get_type_hints(record)
