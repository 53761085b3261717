"""Bounds: their formulas, limits, and that they hold where the error is known."""

import math

import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.estimators.baselines import (
    margin_bound,
    margin_vc_dimension,
    separation_probability,
    vc_bound,
)


def test_margin_bound_is_the_formula_of_theorem_1_1():
    expected = 4 / (50 * 0.3) * math.sqrt(20.0) + 3 * math.sqrt(math.log(2 / 0.1) / 100)
    assert margin_bound(trace=20.0, margin=0.3, samples=50, delta=0.1) == pytest.approx(expected)


def test_margin_bound_holds_for_separable_samples():
    random = np.random.default_rng(0)
    n = 20_000
    X = random.uniform(-1, 1, size=(2 * n, 2))
    X[:, 0] += 2 * np.sign(X[:, 0])
    y = np.sign(X[:, 0])
    model = SVC(kernel="linear", C=1e6).fit(X[:n], y[:n])
    margin = 1.0 / np.linalg.norm(model.coef_)
    bound = margin_bound((X[:n] ** 2).sum(), margin, n)
    assert (model.predict(X[n:]) != y[n:]).mean() <= bound < 0.1


def test_probability_of_separation_is_one_up_to_the_dimension_and_then_decays():
    values = [separation_probability(n, 5) for n in (1, 5, 30, 60, 120)]
    assert values[:2] == [1.0, 1.0]
    assert values[2] > values[3] > values[4] > 0.0
    assert separation_probability(60, 5) == pytest.approx((math.e * 12) ** 5 / 2**60)


def test_thresholds_separate_pure_chance_as_seldom_as_the_bound_says():
    """x ≤ v with either sign shatters two points: h = 2; of n labels 2n are separated."""
    for n in range(3, 12):
        assert 2 * n / 2**n <= separation_probability(n, 2)


def test_vc_bound_solves_its_equation():
    for error in (0.0, 0.01, 0.3):
        bound = vc_bound(error, 100_000, 20, 0.05)
        growth = 20 * (math.log(2 * 100_000 / 20) + 1) - math.log(0.05 / 4)
        E = 4 * growth / 100_000
        assert bound - error == pytest.approx(math.sqrt(E * bound))


def test_vc_bound_approaches_the_training_error():
    bounds = [vc_bound(0.1, n, 10) for n in (10**3, 10**5, 10**7, 10**9)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == pytest.approx(0.1, abs=1e-3)


def test_dimension_of_a_margin():
    assert margin_vc_dimension(2.0, 0.0) == 1
    assert margin_vc_dimension(2.0, 1.5) == 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin_bound(1.0, 0.0, 10), "margin must be a number in"),
        (lambda: margin_bound(-1.0, 1.0, 10), "trace must be a number in"),
        (lambda: margin_bound(1.0, 1.0, 0), "samples must be a whole number"),
        (lambda: margin_bound(1.0, 1.0, 10, 1.0), "delta must be a number in"),
        (lambda: vc_bound(1.5, 10, 2), "error must be a number in"),
        (lambda: vc_bound(0.5, 10, 20), "vc_dimension must be at most the number of samples"),
        (lambda: separation_probability(10, 0), "vc_dimension must be a number in"),
        (lambda: margin_vc_dimension(-1.0, 1.0), "radius must be a number in"),
    ],
)
def test_bad_arguments_are_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()
