"""Axes of plots of a search."""

import pytest
from matplotlib.figure import Figure

from maxmargin.report.plots.tuning import logarithmic


@pytest.mark.parametrize(
    ("low", "high", "text"), [(-3.0, 2.0, "$10^{2}$"), (0.0, 2.0, "100")], ids=["powers", "numbers"]
)
def test_ticks_of_logarithms_are_powers_over_a_wide_range_and_numbers_over_a_narrow_one(
    low, high, text
):
    ax = Figure().subplots()
    ax.set_xlim(low, high)
    logarithmic(ax.xaxis, "log_gamma")
    assert ax.xaxis.get_major_formatter()(2.0) == text
    assert ax.get_xlabel() == "γ"
