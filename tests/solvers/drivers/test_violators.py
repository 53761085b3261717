"""The variables that violate most, found without sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.solvers.drivers.violators import mark_most


@settings(max_examples=200)
@given(data=st.data())
def test_those_marked_want_no_less_than_the_others(data):
    size, copies = data.draw(st.integers(1, 30)), data.draw(st.sampled_from([1, 2]))
    scores = np.array(
        data.draw(st.lists(st.integers(-4, 4), min_size=size * copies, max_size=size * copies)),
        dtype=float,
    )
    barred = np.array(
        data.draw(st.lists(st.booleans(), min_size=scores.size, max_size=scores.size))
    )
    sign = data.draw(st.sampled_from([1.0, -1.0]))
    count, limit = data.draw(st.integers(1, 12)), float(data.draw(st.integers(-3, 3)))
    marks = np.zeros(size, dtype=bool)
    mark_most(sign * scores, np.where(barred, -sign * np.inf, 0.0), sign, limit, count, marks)
    scores[barred] = -np.inf
    above = np.flatnonzero(scores > limit)
    least = np.sort(scores[above])[::-1][:count].min(initial=np.inf)
    for_sure = above[scores[above] > least]
    assert marks[for_sure % size].all()
    assert set(np.flatnonzero(marks)) <= set(above[scores[above] >= least] % size)
    if copies == 1:
        assert np.count_nonzero(marks) == min(count, above.size)


@pytest.mark.parametrize("count", [1, 7, 50, 99])
def test_of_equal_wants_some_from_everywhere_are_marked(count):
    marks = np.zeros(100, dtype=bool)
    mark_most(np.ones(100), np.zeros(100), 1.0, 0.0, count, marks)
    assert np.count_nonzero(marks) == count
    gaps = np.diff(np.flatnonzero(np.concatenate([marks, marks])))
    assert gaps.max() - gaps.min() <= 1
