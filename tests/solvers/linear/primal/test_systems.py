"""Newton systems of linear machines."""

from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.solvers.linear import Intercept, as_matrix
from maxmargin.solvers.linear.primal.systems import IterativeSystem, _iterations_cost


@pytest.mark.parametrize("intercept", [Intercept(False), Intercept(True), Intercept(True, 0.25)])
@pytest.mark.parametrize("accuracy", [0.5, 0.01])
def test_an_inexact_step_leaves_at_most_this_fraction_of_its_gain(intercept, accuracy):
    rng = np.random.default_rng(0)
    X, g_w, g_b = rng.normal(size=(300, 200)), rng.normal(size=200), 0.3 * intercept.fitted
    h = np.where(rng.random(300) < 0.7, 10.0, 0.0)
    system = IterativeSystem(as_matrix(X), intercept)
    step = system.step(as_matrix(X), h, g_w, g_b, np.zeros(300), accuracy)
    face = h > 0.0
    residual = X[face] @ step.w + step.b - step.u[face] / h[face]
    ends = np.append(np.ones(200), 1.0 / system.kappa if intercept.fitted else 1.0)
    A, g = np.column_stack([X, np.full(300, intercept.fitted)]), np.append(g_w, g_b)
    most = g @ np.linalg.solve(np.diag(ends) + A.T @ (h[:, None] * A), g)
    assert 0.0 < h[face] @ residual**2 <= accuracy * most


def test_an_iteration_takes_two_products_with_each_row():
    cheap, costly = (
        _iterations_cost(SimpleNamespace(row_cost=SimpleNamespace(product=cost)), 100, 5.0)
        for cost in (1.0, 4.0)
    )
    assert costly - cheap == pytest.approx(100 * 5 * 2 * 3.0)
