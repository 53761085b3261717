"""All samples of the driver `blocks`: those that violate most, found without sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.solvers.drivers.shards import mark_most


@settings(max_examples=200)
@given(data=st.data())
def test_marked_variables_score_no_less_than_the_others(data):
    size, copies = data.draw(st.integers(1, 30)), data.draw(st.sampled_from([1, 2]))

    def drawn(values):
        return np.array(data.draw(st.lists(values, min_size=size * copies, max_size=size * copies)))

    gradient = drawn(st.integers(-4, 4)).astype(float)
    rise = np.where(drawn(st.booleans()), 0.0, -np.inf)
    fall = np.where(drawn(st.booleans()), 0.0, np.inf)
    count = data.draw(st.integers(1, 12))
    top, bottom = (float(data.draw(st.integers(-3, 3))) for _ in range(2))
    marks, possible, expected = np.zeros(size, dtype=bool), set(), 0
    mark_most(gradient, rise, fall, top, bottom, count, marks)
    for scores, limit in ((gradient + rise, bottom), (-(gradient + fall), -top)):
        above = np.flatnonzero(scores > limit)
        least = np.sort(scores[above])[::-1][:count].min(initial=np.inf)
        assert marks[above[scores[above] > least] % size].all()
        possible |= set(above[scores[above] >= least] % size)
        expected = max(expected, min(count, above.size))
    assert set(np.flatnonzero(marks)) <= possible
    assert copies == 2 or expected <= np.count_nonzero(marks) <= 2 * count


@pytest.mark.parametrize("count", [1, 7, 50, 99])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_ties_are_broken_evenly_over_the_variables(count, sign):
    marks = np.zeros(100, dtype=bool)
    rise, fall = (np.full(100, 0.0 if s == sign else -s * np.inf) for s in (1.0, -1.0))
    mark_most(np.full(100, sign), rise, fall, 0.0, 0.0, count, marks)
    assert np.count_nonzero(marks) == count
    gaps = np.diff(np.flatnonzero(np.concatenate([marks, marks])))
    assert gaps.max() - gaps.min() <= 1
