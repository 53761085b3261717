"""A statement that a page makes if the results bear it out, and takes back if they do not."""

from __future__ import annotations

from .items import Verdict


def claim(holds: bool, statement: str) -> tuple[Verdict, str]:
    """Verdict and reason."""
    if holds:
        return Verdict.REPRODUCED, statement
    return Verdict.DIFFERS, f"This does not hold: {statement}"
