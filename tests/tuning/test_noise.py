"""NoisyRprop on the test functions of chapter 11, and these functions."""

import numpy as np
import pytest

from maxmargin.tuning import NoisyRprop, Vector
from maxmargin.tuning.noise import SeparateBowl, SkewedSlope, TiltedBowl, UnreliableSign

ALL = (UnreliableSign, SeparateBowl, TiltedBowl, SkewedSlope)


def size(family):
    return len(family.optimum)


def mean(family, x):
    """g of section 11.4, without its constants."""
    if family is UnreliableSign:
        return 0.5 * abs(x[0])
    if family is SkewedSlope:
        return 2 * x[0] ** 2 - 3 * x[0] + 1.5
    u = x - 0.5
    return u @ u + family.coupling * u[0] * u[1]


@pytest.mark.parametrize("family", ALL)
def test_mean_gradient_is_that_of_the_mean_function(family):
    function, x = family(random_state=0), np.array([0.3, 0.9])[: size(family)]
    draws = [function.evaluate(Vector(x)) for _ in range(20_000)]
    eye = 1e-6 * np.eye(size(family))
    expected = [(mean(family, x + e) - mean(family, x - e)) / 2e-6 for e in eye]
    gradients = np.array([draw.gradient for draw in draws])
    error = 4 * gradients.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(gradients.mean(axis=0) - expected) < error).all()


@pytest.mark.parametrize("family", ALL)
def test_gradient_of_a_draw_is_its_central_difference(family):
    x = np.array([0.31, 0.87])[: size(family)]
    for i in range(size(family)):
        step = 1e-7 * np.eye(size(family))[i]
        up, down, here = family(random_state=1), family(random_state=1), family(random_state=1)
        for _ in range(20):
            difference = up.evaluate(Vector(x + step)).value - down.evaluate(Vector(x - step)).value
            slope = here.evaluate(Vector(x)).gradient[i]
            assert difference / 2e-7 == pytest.approx(slope, abs=1e-6)


def test_unreliable_sign_is_driven_to_the_smallest_numbers_there_are():
    optimiser = NoisyRprop(Vector(np.array([1.05])), step=0.01)
    optimiser.run(
        UnreliableSign(random_state=0),
        evaluations=200_000,
        callback=lambda o: o.evaluations % 100 == 0 and abs(o.point.theta[0]) < 1e-300,
    )
    assert abs(optimiser.point.theta[0]) < 1e-300


def test_mean_not_median_of_a_skewed_gradient_is_brought_to_zero():
    optimiser = NoisyRprop(Vector(np.array([1.8])), step=0.01)
    result = optimiser.run(SkewedSlope(random_state=0), evaluations=100_000)
    assert abs(result.point.theta[0] - 0.75) < 0.02
    assert optimiser.averages[0] > 1


@pytest.mark.parametrize(("family", "distance"), [(SeparateBowl, 0.01), (TiltedBowl, 0.04)])
def test_bowls_are_descended(family, distance):
    optimiser = NoisyRprop(Vector(np.array([1.2, 1.3])), step=0.01)
    result = optimiser.run(family(random_state=0), evaluations=100_000)
    assert np.linalg.norm(result.point.theta - family.optimum) < distance
    assert (optimiser.steps < 0.01).all()
