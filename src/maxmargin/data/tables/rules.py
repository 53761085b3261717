"""Limits by which the columns of a table are judged."""

from __future__ import annotations

from typing import NamedTuple


class Rules(NamedTuple):
    """How columns of a table become features."""

    # A column of strings is an identifier if more than this fraction of them, and at least this
    # many, are different.
    identifier_share: float = 0.5
    fewest_identifiers: int = 21
    # Part of the present cells that are numbers where the others count as mistakes.
    mostly_numbers: float = 0.9
    # Tables with more features than this, most of them 0, become sparse.
    largest_dense: int = 1000
    sparse_below: float = 0.1


RULES = Rules()
