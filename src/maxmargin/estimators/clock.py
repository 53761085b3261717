"""The time limit of a fit."""

from __future__ import annotations

import time

import numpy as np


class OutOfTime(Exception):
    """The time limit ran out during optional work."""


class Clock:
    """The time that is left of `max_seconds`."""

    def __init__(self, max_seconds: float | None) -> None:
        self.limit = np.inf if max_seconds is None else float(max_seconds)
        self.began = time.perf_counter()

    def left(self) -> float:
        return max(0.0, self.limit - (time.perf_counter() - self.began))

    def overtime(self) -> None:
        """Raise `OutOfTime` if a certificate would exceed the limit by more than is documented."""
        grace = min(0.25, 0.05 * self.limit) if np.isfinite(self.limit) else 0.0
        if time.perf_counter() - self.began > self.limit + grace:
            raise OutOfTime
