"""The logistic loss of one sample, against extended precision."""

import numpy as np
import pytest

from maxmargin.runtime.jit import from_python
from maxmargin.solvers.linear import CLASSIFICATION
from maxmargin.solvers.linear.primal import logistic, response

answer, value, entropy = map(from_python, (logistic.answer, logistic.value, logistic.entropy))
respond, total_response, measure = map(
    from_python, (response.respond, response.total_response, response.measure)
)
RANDOM = np.random.default_rng(3)
MARGINS = np.concatenate(
    [RANDOM.normal(scale=scale, size=200) for scale in (1e-8, 1e-2, 1.0, 10.0)]
    + [[0.0, -0.0, 30.0, -30.0, 40.0, -40.0, 700.0, -700.0]]
)
UNIT = np.finfo(float).eps


def exact(margin):
    """p, p (1 − p) and log(1 + exp(−m)) in extended precision."""
    m = np.asarray(margin, dtype=np.longdouble)
    e = np.exp(-np.abs(m))
    larger, smaller = 1 / (1 + e), e / (1 + e)
    return np.where(m > 0, smaller, larger), larger * smaller, np.log1p(e) + np.maximum(-m, 0)


def test_answers_and_values_are_those_of_extended_precision():
    found = [(*answer(m), value(m)) for m in MARGINS.tolist()]
    for ours, expected in zip(np.array(found).T, exact(MARGINS)):
        np.testing.assert_allclose(ours, expected.astype(float), rtol=8 * UNIT, atol=1e-300)


def test_margins_of_any_size_leave_finite_numbers():
    for margin in (1e3, -1e3, 1e300, -1e300):
        p, bend = answer(margin)
        assert p == (0.0 if margin > 0 else 1.0)
        assert bend == 0.0
        assert value(margin) == max(-margin, 0.0)


@pytest.mark.parametrize("p", [0.0, 1e-300, 1e-9, 0.25, 0.5, 1.0 - 1e-9, 1.0])
def test_entropy_is_that_of_a_coin(p):
    q = np.longdouble(p)
    expected = -(q * np.log(q) if q > 0 else 0) - ((1 - q) * np.log1p(-q) if q < 1 else 0)
    assert entropy(p) == pytest.approx(float(expected), rel=1e-14, abs=1e-300)


def samples(seed, n=60):
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.5, 1.0, -1.0)
    C = random.uniform(0.1, 10.0, n)
    return CLASSIFICATION["logistic"](y, C), y, C, random.normal(scale=4.0, size=n)


def test_responses_are_the_derivatives_of_the_loss():
    loss, y, C, z = samples(0)
    beta, h, zeros = np.empty(z.size), np.empty(z.size), np.zeros(z.size)
    total, stiffness = respond(loss, z, zeros, 0.0, beta, h)
    p, bend, _ = exact(y * z)
    np.testing.assert_allclose(beta, y * C * p, rtol=8 * UNIT)
    np.testing.assert_allclose(h, C * bend, rtol=8 * UNIT)
    assert total == pytest.approx(beta.sum(), rel=1e-13)
    assert stiffness == pytest.approx(h.sum(), rel=1e-13)
    shifted = respond(loss, z + 0.5, zeros, 0.0, beta, h)
    assert total_response(loss, z, 0.5, zeros, 0.0) == pytest.approx(shifted, rel=1e-13)


@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.3])
def test_the_complementarity_is_the_divergence_from_the_response(distance):
    loss, y, C, z = samples(1)
    p, _, losses = exact(y * z)
    moved = np.random.default_rng(2).uniform(-1.0, 1.0, z.size)
    q = np.clip(p + distance * moved * p * (1 - p), 0, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = q * np.log(q / p) + (1 - q) * np.log((1 - q) / (1 - p))
    expected, total = float(np.sum(C * terms)), float(np.sum(C * losses))
    found, slack = measure(loss, z, (y * C * q).astype(float))
    assert found == pytest.approx(total, rel=1e-13)
    assert slack >= 0.0
    assert slack == pytest.approx(expected, rel=1e-3, abs=1e-13 * total)
