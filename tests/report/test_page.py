"""Parts of pages in HTML."""

import numpy as np

from maxmargin.report.measures import Measure
from maxmargin.report.page import bullets, measures_table


def test_bullets_are_a_list_with_texts_escaped_and_nothing_for_no_texts():
    assert bullets(["a < b", "c"]) == "<ul><li>a &lt; b</li><li>c</li></ul>"
    assert bullets([]) == ""


def test_bars_are_drawn_for_intervals_of_shares_only():
    with_interval = Measure("accuracy", 0.9, 0.8, 0.95)
    without = Measure("balanced accuracy", 0.9, np.nan, np.nan)
    error = Measure("mean squared error", 3.0, 2.0, 4.0)
    bars = [
        measures_table((one,)).count("<svg") + measures_table((one,)).count('class="bar')
        for one in (with_interval, without, error)
    ]
    assert bars[0] > 0
    assert bars[1:] == [0, 0]
    assert "2 – 4" in measures_table((error,))
    assert "80.0 – 95.0 %" in measures_table((with_interval,))


def test_an_interval_below_one_does_not_read_as_hundred_to_hundred():
    table = measures_table((Measure("accuracy", 0.99995, 0.9998, 0.99999),))
    assert "99.980 – 99.999 %" in table
