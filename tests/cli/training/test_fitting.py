"""Fits of the command: what time is left for each part."""

import time

import numpy as np
import pytest

from maxmargin.cli.training import fitting


class Recorder:
    """An online machine that only notes its time limits."""

    def __init__(self):
        self.limits = []

    def set_params(self, **params):
        self.limits.append(params["max_seconds"])
        return self

    def fit(self, *_):
        return self

    def finish(self, *_, max_seconds):
        self.limits.append(max_seconds)


@pytest.mark.parametrize(("left", "low", "high"), [(100.0, 90.0, 100.0), (-5.0, 0.05, 0.05)])
def test_an_online_machine_has_the_time_that_is_left_and_a_moment_at_least(left, low, high):
    machine = Recorder()
    deadline = time.perf_counter() + left
    assert fitting._learned(machine, None, None, deadline, print) is machine
    *limits, end = machine.limits
    assert len(limits) == 2
    assert all(low <= limit <= high for limit in limits)
    assert end is None


def test_an_online_machine_without_a_limit_has_none():
    machine = Recorder()
    fitting._learned(machine, None, None, np.inf, print)
    assert machine.limits == [None, None, None]
