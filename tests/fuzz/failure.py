"""What went wrong."""

from __future__ import annotations

from typing import NamedTuple


class Failure(NamedTuple):
    """A promise that was not kept.

    Attributes
    ----------
    check : str
        Which promise: a word that stays the same while the case is made smaller.
    message : str
    """

    check: str
    message: str
