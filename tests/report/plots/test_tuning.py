"""Plots of a search: axes, and what is marked."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from maxmargin import AutoSVR
from maxmargin.kernels import Gaussian
from maxmargin.models import SearchTable
from maxmargin.report import TuningDisplay
from maxmargin.report.plots.tuning import logarithmic, search_table
from maxmargin.tuning import Point, Stage
from maxmargin.tuning.optimizers import Result


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


def star(display):
    """Coordinates of what is marked."""
    (marked,) = [c for c in display.ax_.collections if c.get_label().startswith("chosen")]
    return marked.get_offsets()[0]


def test_a_curve_marks_what_was_chosen_and_not_the_luckiest_value():
    C = np.log([1.0, 3.0, 10.0])
    stages, errors = np.full(3, "path of C on 20,000 samples"), np.array([0.12, 0.11, 0.109])
    table = SearchTable("", stages, errors, {"log_C": C}, {"log_C": float(C[1])})
    marked = star(TuningDisplay.from_table(table))
    np.testing.assert_allclose(marked, [np.log10(3.0), 0.11])


def test_a_landscape_marks_what_was_chosen():
    columns = {"log_C": np.log([1.0, 1.0, 9.0, 9.0]), "log_gamma": np.log([1.0, 2.0, 1.0, 2.0])}
    chosen = {name: float(column[2]) for name, column in columns.items()}
    stages, errors = np.full(4, "path of C"), np.array([0.1, 0.2, 0.1, 0.3])
    table = SearchTable("", stages, errors, columns, chosen)
    np.testing.assert_allclose(star(TuningDisplay.from_table(table)), np.log10([9.0, 1.0]))


def test_what_was_chosen_is_that_of_the_stage_that_found_it():
    """Kernels of the stages are for scaled inputs."""
    path = {"log_C": np.log([2.0, 4.0]), "value": np.array([0.2, 0.1])}
    result = Result(Point(Gaussian(0.5), 4.0), 0.1, 2, 0.1, "exhausted", 0, ())
    table = search_table([Stage("path of C", result, path)], "", Point(Gaussian((7.0, 8.0)), 4.0))
    assert table.chosen == {"log_gamma": np.log(0.5), "log_C": np.log(4.0)}


def test_stages_of_a_regression_have_the_C_and_tube_of_its_targets():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 1))
    chosen = AutoSVR().search(X, 500.0 * np.sin(2 * X[:, 0]))
    table = search_table(chosen.stages, "", chosen)
    last = {
        name: column[table.stage == table.stage[-1]] for name, column in table.parameters.items()
    }
    for name, value in (("log_C", chosen.C), ("log_epsilon", chosen.epsilon)):
        assert table.chosen[name] == pytest.approx(np.log(value))
        assert np.abs(last[name] - np.log(value)).min() < 1e-9
