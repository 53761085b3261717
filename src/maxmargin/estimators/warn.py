"""Warnings that point to the line of the user's code that led to them."""

from __future__ import annotations

import sys
import warnings

# scikit-learn wraps `fit`, with a frame or two of its own.
INSIDE = ("maxmargin", "sklearn")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn where this package was called from outside.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn_caller("The fit ended early.", UserWarning)
    >>> told[0].message
    UserWarning('The fit ended early.')
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_inside(module: str) -> bool:
    return module.partition(".")[0] in INSIDE
