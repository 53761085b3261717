"""What a support set says of itself, recomputed from its members."""

import numpy as np
import pytest
from scipy.optimize import linprog

from maxmargin.dual import certify, hinge
from maxmargin.kernels import Precomputed
from maxmargin.solvers.online.loop import EVICTED, INSERTED, REMOVED, SIZE, STEPS
from maxmargin.solvers.online.support_set import SupportSet, empty_support


def members(size, seed, places=9):
    """A support set in which the places beyond its members hold numbers that mean nothing; its
    Gram matrix."""
    random = np.random.default_rng(seed)
    labels = np.where(np.arange(size) % 2, -1.0, 1.0)
    bound = random.uniform(0.5, 2.0, size)
    alpha = labels * bound * random.choice([0.0, 0.3, 1.0], size)
    X = random.normal(size=(size, 3))
    K = X @ X.T
    support = empty_support(places, np.dtype(np.float64))
    for array in support:
        array[...] = 7
    support.alpha[:size] = alpha
    support.gradient[:size] = labels - K @ alpha
    support.lower[:size] = np.where(labels > 0, 0.0, -bound)
    support.upper[:size] = np.where(labels > 0, bound, 0.0)
    support.rise[:size] = np.where(alpha < support.upper[:size], 0.0, -np.inf)
    support.fall[:size] = np.where(alpha > support.lower[:size], 0.0, np.inf)
    support.number[:size] = 10 * np.arange(size)
    found = SupportSet()
    found.support = support
    found.counters = np.zeros(1 + max(SIZE, STEPS, INSERTED, REMOVED, EVICTED), dtype=np.int64)
    found.counters[SIZE] = size
    return found, K


def least_loss(found, K):
    """min over b of Σ bound·max(0, 1 − y(Kα + b)), as a linear programme."""
    n, y = found.size, found.labels
    A = np.hstack([-np.eye(n), -y[:, None]])
    limits = [(0, None)] * n + [(None, None)]
    cost, right = [*found.bound, 0.0], y * (K @ found.alpha) - 1.0
    return linprog(cost, A_ub=A, b_ub=right, bounds=limits).fun


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [2, 3, 8])
def test_dual_gap_and_violation_are_those_of_its_problem(size, seed):
    found, K = members(size, seed)
    alpha, labels = found.alpha, found.labels
    assert found.dual == pytest.approx(labels @ alpha - 0.5 * alpha @ K @ alpha, abs=1e-12)
    loss = found.bound @ np.maximum(0.0, 1.0 - labels * (K @ alpha + found.bias))
    assert loss == pytest.approx(least_loss(found, K), abs=1e-9)
    # ½αᵀKα + loss − dual
    gap = alpha @ K @ alpha + loss - labels @ alpha
    assert found.gap == pytest.approx(gap, abs=1e-9)
    problem = found.problem()
    expected = hinge(labels, found.bound).problem
    for name in ("linear", "lower", "upper", "ridge", "group", "totals", "samples"):
        np.testing.assert_array_equal(getattr(problem, name), getattr(expected, name))
    shown = certify(problem, alpha, Precomputed().bind(K))
    assert found.violation == pytest.approx(max(0.0, shown.violation), abs=1e-12)


def test_bias_is_the_middle_of_an_interval_of_equal_loss():
    found, _ = members(2, 0)
    found.support.lower[:2], found.support.upper[:2] = [0.0, -1.0], [1.0, 0.0]
    found.support.gradient[:2] = [0.2, 0.8]
    assert found.bias == pytest.approx(0.5)
    # 0.1 + 0.2 is not 0.3, but their losses are the same.
    found, _ = members(3, 0)
    for scale in (1.0, 2.0**30):
        found.support.lower[:3] = np.array([-0.1, -0.2, 0.0]) * scale
        found.support.upper[:3] = np.array([0.0, 0.0, 0.3]) * scale
        found.support.gradient[:3] = [0.1, 0.2, 0.8]
        assert found.bias == pytest.approx(0.5)


@pytest.mark.parametrize(("label", "expected"), [(1.0, 0.9), (-1.0, -0.4)])
def test_bias_of_a_single_class_is_the_end_where_the_loss_is_zero(label, expected):
    found, _ = members(3, 0)
    found.support.upper[:3] = 1.0 if label > 0 else 0.0
    found.support.lower[:3] = 0.0 if label > 0 else -1.0
    found.support.gradient[:3] = [0.1, 0.9, -0.4]
    assert found.bias == expected
    assert found.gap + found.alpha @ found.gradient == pytest.approx(0.0, abs=1e-15)


def test_an_empty_set_is_optimal():
    found, _ = members(0, 0)
    assert (found.size, found.dual, found.gap, found.violation, found.bias) == (0, 0, 0, 0, 0)


def test_each_event_has_its_counter():
    found, _ = members(4, 0)
    for value, slot in enumerate((STEPS, INSERTED, REMOVED, EVICTED), start=11):
        found.counters[slot] = value
    assert found.counts() == {"steps": 11, "inserted": 12, "removed": 13, "evicted": 14}
    assert (found.size, found.steps) == (4, 11)
    assert found.number.tolist() == [0, 10, 20, 30]


def test_new_places_are_zero_and_rows_are_padded():
    support = empty_support(5, np.dtype(np.float32))
    assert support.rows.dtype == np.float32
    assert support.rows.shape[0] == 5 < support.rows.shape[1]
    assert not any(array.any() for name, array in support._asdict().items() if name != "rows")
