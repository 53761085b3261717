"""Which of two machines is the better choice, and how that is said."""

import numpy as np
import pytest

from maxmargin.cli.training import cost
from maxmargin.cli.training.cost import Comparison, Estimate, duration, extrapolated, growing_fits


def compared(kernel=0.95, linear=0.9, seconds=60.0, measure="accuracy"):
    return Comparison(Estimate(kernel, seconds, 1234), Estimate(linear, 3.0), measure, 8000)


@pytest.mark.parametrize(
    ("options", "limit", "linear"),
    [
        ({}, None, False),
        ({"seconds": 900.0}, None, False),
        ({"seconds": 901.0}, None, True),
        ({"seconds": 50.0}, 100.0, False),
        ({"seconds": 51.0}, 100.0, True),
        # Without a gain worth the name, only what is over soon is worth its time.
        ({"kernel": 0.502, "linear": 0.5}, None, False),
        ({"kernel": 0.9, "linear": 0.9}, None, True),
        ({"kernel": 0.9, "linear": 0.9, "seconds": 30.0}, None, False),
        ({"kernel": 0.8, "linear": 0.9, "seconds": 31.0}, None, True),
        ({"kernel": 0.903, "linear": 0.9}, None, False),
        ({"kernel": 0.901, "linear": 0.9}, None, True),
    ],
)
def test_the_linear_machine_is_chosen_where_the_other_costs_more_than_it_gains(
    options, limit, linear
):
    assert compared(**options).prefers_linear(limit) == linear


def test_the_choice_is_said_with_the_cost_of_the_other():
    chosen, other = compared().in_words(linear=False)
    assert chosen == (
        "estimated from 8,000 samples: a Gaussian kernel reaches 95.0 % in about 60 s, "
        "1,234 support vectors;"
    )
    assert other == "a linear machine reaches 90.0 % in about 3 s (--linear)"
    chosen, other = compared(measure="R²").in_words(linear=True)
    assert chosen == "estimated from 8,000 samples: a linear machine reaches R² 0.900 in about 3 s;"
    assert other.endswith("1,234 support vectors (--kernel rbf)")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.01, "1 s"),
        (89.4, "89 s"),
        (90, "2 min"),
        (5399, "90 min"),
        (5400, "2 h"),
        (36000, "10 h"),
    ],
)
def test_durations_have_the_unit_of_their_size(seconds, text):
    assert duration(seconds) == text


class Clocked:
    """A machine whose fits seem to take 0.1 ms a sample, and whose support grows by roots."""

    def fit(self, X, y):
        self.support_ = np.empty(int(np.sqrt(len(X[: len(y)]))))


def test_fits_grow_until_one_takes_long_enough(monkeypatch):
    monkeypatch.setattr(cost, "timed", lambda model, X, y: model.fit(X, y) or 1e-4 * len(y))
    fits = growing_fits(Clocked(), np.empty((40_000, 1)), np.empty(40_000))
    assert [fit.samples for fit in fits] == [2000, 4000, 8000, 16_000]
    assert [
        fit.samples for fit in growing_fits(Clocked(), np.empty((5000, 1)), np.empty(5000))
    ] == [
        2000,
        4000,
    ]


def test_a_fit_that_compiled_is_timed_again(monkeypatch):
    seconds = iter([0.1, 9.0, 0.3, 1.1])
    monkeypatch.setattr(cost, "timed", lambda model, X, y: model.fit(X, y) or next(seconds))
    fits = growing_fits(Clocked(), np.empty((8000, 1)), np.empty(8000))
    assert [fit.seconds for fit in fits] == [0.1, 0.3, 1.1]


@pytest.mark.parametrize(
    ("values", "low", "high", "expected"),
    [([1.0, 2.0], 1.0, 2.0, 8.0), ([1.0, 8.0], 1.0, 2.0, 128.0), ([5.0, 4.0], 0.0, 1.0, 4.0)],
)
def test_extrapolation_is_by_a_power_within_bounds(values, low, high, expected):
    assert extrapolated(values, 4.0, low, high) == pytest.approx(expected)
