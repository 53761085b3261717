"""A pytest plugin: no further test begins once the CPU time given for all of them is used.

MAXMARGIN_TESTS_CPU_SECONDS=30 pytest -p benchmarks.cpu_budget tests/dual

The first test always runs. The time of child processes counts, that of imports does not.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

SECONDS = "MAXMARGIN_TESTS_CPU_SECONDS"


def cpu_seconds() -> float:
    return sum(os.times()[:4])


class Budget:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.end: float | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        if self.end is None:
            self.end = cpu_seconds() + self.seconds
        return True if cpu_seconds() >= self.end else None


def pytest_configure(config: Any) -> None:
    seconds = float(os.environ.get(SECONDS) or 0)
    if seconds > 0:
        config.pluginmanager.register(Budget(seconds))
