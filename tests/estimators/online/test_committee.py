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
@pytest.mark.parametrize("seed", range(6))
def test_violation_is_that_of_the_problem_of_the_examples(seed, block, monkeypatch):
    monkeypatch.setattr(online, "PREDICTION_BLOCK", block)
    random = np.random.default_rng(seed)
    codes, bound = random.integers(2, size=12), random.choice([0.0, 0.2, 0.5], 12)
    labels = np.where(codes == 1, 1.0, -1.0)
    alpha = labels * bound * random.choice([0.0, 0.4, 1.0], 12)
    support = np.flatnonzero(alpha)
    found = Committee([machine(support, alpha[support])])
    problem = hinge(labels, bound).problem
    expected = problem.violation(alpha, labels - KERNEL(X, X) @ alpha)
    assert expected > 0
    assert found.violation(0, X, codes, bound, alpha) == pytest.approx(expected)


def test_machines_without_members_violate_by_the_difference_of_their_labels():
    found, codes = Committee([machine([], [])]), np.arange(12) % 2
    assert found.violation(0, X, codes, np.ones(12), np.zeros(12)) == 2.0
    assert found.violation(0, X, np.ones(12), np.ones(12), np.zeros(12)) == 0.0
