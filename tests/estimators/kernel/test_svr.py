"""Support vector regression without errors: an infinite C is tried in units of the targets."""

import numpy as np
import pytest

from maxmargin import SVR

X = np.linspace(0.0, 3.0, 12)[:, None]
Y = np.sin(2.0 * X[:, 0])


@pytest.mark.parametrize("unit", [2.0**-40, 1.0, 2.0**40])
def test_an_infinite_price_is_tried_in_units_of_the_range_of_the_targets(unit):
    machine = SVR(C=np.inf)._machine(unit * Y, np.array([1.0, 2.0] * 6))
    expected = 1e3 * unit * np.ptp(Y) * np.array([1.0, 2.0] * 12)
    np.testing.assert_allclose(machine.problem.upper - machine.problem.lower, expected, rtol=1e-15)


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_units_of_targets_do_not_matter_to_a_tube_without_errors(unit):
    model = SVR(C=np.inf, epsilon=0.1, gamma=1.0).fit(X, Y)
    scaled = SVR(C=np.inf, epsilon=0.1 * unit, gamma=1.0, tol=1e-3 * unit).fit(X, unit * Y)
    np.testing.assert_allclose(scaled.predict(X), unit * model.predict(X), rtol=1e-9)
    assert np.abs(model.predict(X) - Y).max() <= 0.1 + 1e-3
