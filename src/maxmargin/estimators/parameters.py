"""Checks of constructor parameters, made when `fit` begins."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..kernels import Kernel

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
BOOLEANS = (bool, np.bool_)
# Numeric types; abstract classes come last because they are slow to check.
WHOLE, REAL = (int, Integral), (float, int, Real)
# Types of options.
SINGLE = (str, *BOOLEANS, type(None))


class ParameterError(ValueError, TypeError):
    """A constructor parameter has a value that is not allowed."""


def refuse(owner: Any, name: str, allowed: str) -> None:
    value = getattr(owner, name)
    raise ParameterError(
        f"{name} of {type(owner).__name__} must be {allowed}, got {value!r} "
        f"of type {type(value).__name__}"
    )


def check_number(
    owner: Any,
    name: str,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    closed: str = "neither",
    whole: bool = False,
    optional: bool = False,
    or_text: str = "",
) -> None:
    """A real number between low and high; `closed` says which of the two are included. A string may
    be allowed as well."""
    value = getattr(owner, name)
    if (optional and value is None) or (or_text and isinstance(value, str) and value == or_text):
        return
    if is_number(value, WHOLE if whole else REAL):
        above = value >= low if closed in ("left", "both") else value > low
        below = value <= high if closed in ("right", "both") else value < high
        if above and below:
            return
    left = "[" if closed in ("left", "both") else "("
    right = "]" if closed in ("right", "both") else ")"
    kind = "a whole number" if whole else "a number"
    none = ", or None" if optional else f", or {or_text!r}" if or_text else ""
    refuse(owner, name, f"{kind} in {left}{low:g}, {high:g}{right}{none}")


def check_option(owner: Any, name: str, options: tuple[Any, ...]) -> None:
    value = getattr(owner, name)
    # 1 does not count as True here, and arrays are not compared.
    if not (isinstance(value, SINGLE) and value in options):
        refuse(owner, name, f"one of {', '.join(map(repr, options))}")


def check_boolean(owner: Any, name: str) -> None:
    check_option(owner, name, (False, True))


def check_kernel(owner: Any, name: str = "kernel") -> None:
    value = getattr(owner, name)
    known = isinstance(value, str) and value in KERNELS
    if not (known or isinstance(value, Kernel) or (callable(value) and not isinstance(value, str))):
        refuse(
            owner, name, f"one of {', '.join(map(repr, KERNELS))}, a maxmargin kernel or a callable"
        )


def check_gamma(owner: Any, name: str = "gamma") -> None:
    value = getattr(owner, name)
    if isinstance(value, str) and value in ("scale", "auto"):
        return
    if not (is_number(value) and 0 <= value < np.inf):
        refuse(owner, name, "'scale', 'auto' or a number in [0, inf)")


def check_cache_size(owner: Any, name: str = "cache_size") -> None:
    value = getattr(owner, name)
    if isinstance(value, str) and value == "auto":
        return
    if not (is_number(value) and 0 < value < np.inf):
        refuse(owner, name, "'auto' or a number of megabytes in (0, inf)")


def check_full_matrix(owner: Any, samples: int, itemsize: int) -> None:
    """Check that ``solver="full"`` is compatible with a numeric `cache_size`."""
    needed = samples * samples * itemsize / 1e6
    if owner.solver == "full" and owner.cache_size != "auto" and needed > owner.cache_size:
        raise ParameterError(
            f"cache_size of {type(owner).__name__} must be at least {needed:.3g} with "
            f'solver="full", which keeps the matrix of {samples} samples in memory, got '
            f"{owner.cache_size!r}: "
            'raise it, or leave solver at "auto"'
        )


def check_class_weight(owner: Any, name: str = "class_weight") -> None:
    value = getattr(owner, name)
    if isinstance(value, dict):
        negative = [label for label, weight in value.items() if not weight >= 0]
        if negative:
            refuse(owner, name, f"without negative weights ({negative[0]!r} has one)")
        return
    check_option(owner, name, ("balanced", None))


def check_callable(owner: Any, name: str) -> None:
    value = getattr(owner, name)
    if not (value is None or callable(value)):
        refuse(owner, name, "callable or None")


def check_verbose(owner: Any, name: str = "verbose") -> None:
    value = getattr(owner, name)
    if not (isinstance(value, BOOLEANS) or (is_number(value, WHOLE) and value >= 0)):
        refuse(owner, name, "a boolean or a whole number, not negative")


def check_jobs(owner: Any, name: str = "n_jobs") -> None:
    value = getattr(owner, name)
    if not (value is None or (is_number(value, WHOLE) and value != 0)):
        refuse(owner, name, "None or a whole number other than 0")


def check_seed(owner: Any, name: str = "random_state") -> None:
    check_random_state(getattr(owner, name))


def is_number(value: Any, kind: tuple[type, ...] = REAL) -> bool:
    return isinstance(value, kind) and not isinstance(value, BOOLEANS)
