"""One dual variable at a time: its gradient, and the value that is best for it alone."""

import numpy as np
import pytest

from maxmargin.solvers.linear.dual import sweeps
from maxmargin.solvers.linear.losses import QUADRATIC, Loss

# As Python: these are parts of compiled loops, and cannot be called alone.
improved, projected_gradient = (
    getattr(f, "py_func", f) for f in (sweeps.improved, sweeps.projected_gradient)
)

LOWER, UPPER = -1.0, 1.5


def loss(epsilon, ridge):
    arrays = ([0.7], [LOWER], [UPPER], [ridge])
    return Loss(QUADRATIC, *map(np.array, arrays), epsilon)


def dual(found, beta, q, start, residual):
    """The dual as a function of β alone; the residual is that at the start."""
    moved = beta - start
    linear = residual * moved - 0.5 * q * moved**2
    return linear - found.epsilon * abs(beta) - 0.5 * found.ridge[0] * beta**2


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("ridge", [0.0, 0.8])
@pytest.mark.parametrize("beta", [-0.6, 0.9])
@pytest.mark.parametrize("residual", [-2.0, 0.1, 2.0])
def test_gradient_is_the_slope_of_the_dual(epsilon, ridge, beta, residual):
    found, step = loss(epsilon, ridge), 1e-6
    sides = [dual(found, beta + s, 0.0, beta, residual) for s in (-step, step)]
    expected = (sides[1] - sides[0]) / (2 * step)
    slope, allowed = projected_gradient(found, 0, beta, residual)
    assert slope == pytest.approx(expected, abs=1e-6)
    assert allowed == slope


@pytest.mark.parametrize("residual", [-2.0, 0.1, 2.0])
def test_gradient_does_not_lead_out_of_the_box_and_stops_at_the_kink(residual):
    found = loss(0.3, 0.0)
    assert projected_gradient(found, 0, LOWER, residual)[1] == max(residual + 0.3, 0.0)
    assert projected_gradient(found, 0, UPPER, residual)[1] == min(residual - 0.3, 0.0)
    expected = np.sign(residual) * max(abs(residual) - 0.3, 0.0)
    assert projected_gradient(found, 0, 0.0, residual)[0] == pytest.approx(expected)


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("ridge", [0.0, 0.8])
@pytest.mark.parametrize("start", [-0.6, 0.0, 0.9])
@pytest.mark.parametrize("residual", [-3.0, -0.5, 0.1, 0.6, 3.0])
def test_no_other_value_of_the_variable_is_better(epsilon, ridge, start, residual):
    found, q = loss(epsilon, ridge), 1.7
    best = improved(found, 0, start, residual, q)
    grid = np.linspace(LOWER, UPPER, 2001)
    values = [dual(found, beta, q, start, residual) for beta in grid]
    assert LOWER <= best <= UPPER
    assert best == pytest.approx(grid[int(np.argmax(values))], abs=2e-3)
    assert dual(found, best, q, start, residual) >= max(values) - 1e-12
