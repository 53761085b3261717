"""Several machines of one stream, against functions and violations written out."""

from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.dual import hinge
from maxmargin.estimators.online import committee as online
from maxmargin.estimators.online.committee import Committee
from maxmargin.kernels import FromFunction

KERNEL = FromFunction(lambda A, B: (1.0 + A @ B.T) ** 2)
X = np.random.default_rng(0).normal(size=(12, 2))


def machine(number, alpha, bias=0.0):
    """What a trained machine offers, of examples of X."""
    return SimpleNamespace(
        kernel=KERNEL,
        number=np.array(number, dtype=int),
        inputs=X[np.array(number, dtype=int)],
        alpha=np.array(alpha, dtype=float),
        size=len(number),
        steps=len(number) + 1,
        bias=bias,
        dtype=np.dtype(np.float64),
    )


def three():
    return Committee(
        [
            machine([4, 1, 7], [0.5, -0.7, 0.2], 0.1),
            machine([7, 9], [1.0, -1.0], -0.3),
            machine([0, 4, 9, 2], [0.1, 0.2, -0.5, 0.2], 0.7),
        ]
    )


@pytest.mark.parametrize("block", [1, 20, 10_000])
def test_joined_functions_are_those_of_the_machines(block, monkeypatch):
    monkeypatch.setattr(online, "PREDICTION_BLOCK", block)
    found = three()
    expected = [KERNEL(X, m.inputs) @ m.alpha + m.bias for m in found.machines]
    np.testing.assert_allclose(found.values(X), np.transpose(expected))
    function = found.function()
    assert function.number.tolist() == [0, 1, 2, 4, 7, 9]
    np.testing.assert_array_equal(function.inputs, X[function.number])
    assert found.steps == 12
    single = Committee(found.machines[:1])
    np.testing.assert_allclose(single.values(X)[:, 0], expected[0])
    assert Committee([machine([], [], 0.4)]).values(X).tolist() == [[0.4]] * 12


def test_labels_are_those_of_each_machine():
    codes = np.array([0, 1, 2, 1])
    assert three().labels(codes, 2).tolist() == [-1, -1, 1, -1]
    assert Committee([machine([], [])]).labels(codes[:2], 0).tolist() == [-1, 1]


@pytest.mark.parametrize("block", [1, 50, 10_000])
def test_violation_is_that_of_the_problem_of_the_examples(block, monkeypatch):
    monkeypatch.setattr(online, "PREDICTION_BLOCK", block)
    random = np.random.default_rng(0)
    for _ in range(60):
        codes, bound = random.integers(2, size=12), random.choice([0.0, 0.2, 0.5], 12)
        codes[:2], bound[:2] = [0, 1], 0.5
        labels = np.where(codes == 1, 1.0, -1.0)
        alpha = labels * bound * random.choice([0.0, 0.4, 1.0], 12, p=[0.45, 0.1, 0.45])
        support = np.flatnonzero(alpha)
        found = Committee([machine(support, alpha[support])])
        problem = hinge(labels, bound).problem
        expected = problem.violation(alpha, labels - KERNEL(X, X) @ alpha)
        assert found.violation(0, X, codes, bound, alpha) == pytest.approx(max(0.0, expected))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_are_computed_in_the_precision_of_the_machines(dtype):
    found = three()
    inputs = X.astype(np.float32)
    for one in found.machines:
        one.dtype, one.inputs = np.dtype(dtype), inputs[one.number]
    wide = inputs.astype(np.float64)
    expected = np.transpose(
        [KERNEL(wide, wide[one.number]) @ one.alpha + one.bias for one in found.machines]
    )
    error = np.abs(found.values(inputs) - expected).max()
    assert error < 1e-14 if dtype == np.float64 else 1e-9 < error < 1e-5


def test_values_that_overflow_are_refused_whichever_they_are():
    beyond = X.copy()
    beyond[7] = 1e200
    with pytest.raises(ValueError, match="overflows float64: scale the inputs"):
        three().values(beyond)


def test_machines_without_members_violate_by_the_difference_of_their_labels():
    found, codes = Committee([machine([], [])]), np.arange(12) % 2
    assert found.violation(0, X, codes, np.ones(12), np.zeros(12)) == 2.0
    assert found.violation(0, X, np.ones(12), np.ones(12), np.zeros(12)) == 0.0
