"""Any stream: duplicates, contradictions, one class at first, any C, precision and kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.dual import certify, hinge
from maxmargin.kernels import FromFunction, Gaussian, Linear, Oligo, Polynomial
from maxmargin.solvers import solve
from maxmargin.solvers.online.machine import OnlineMachine, OnlineSettings

VECTORS = (Gaussian(0.7), Linear(), Polynomial(degree=2, gamma=0.5, coef0=1.0))
STRINGS = Oligo(k=2, sigma=1.0)
POLICIES = st.sampled_from(["second_order", "mvp"])


@st.composite
def streams(draw):
    """Kernel, inputs on a small grid or short strings, labels, bounds and the dtype of rows."""
    size = draw(st.integers(1, 30))
    if draw(st.integers(0, 3)):
        kernel = draw(st.sampled_from(VECTORS))
        numbers = st.lists(st.integers(-2, 2), min_size=2 * size, max_size=2 * size)
        X = np.array(draw(numbers), dtype=float).reshape(size, 2)
    else:
        kernel = STRINGS
        X = draw(st.lists(st.text("ACGT", max_size=5), min_size=size, max_size=size))
    labels = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=size, max_size=size)))
    labels[: draw(st.integers(0, size))] = 1.0
    weight = draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 3.0]), min_size=size, max_size=size))
    C = 10.0 ** draw(st.integers(-3, 6))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    if dtype == np.float32 and isinstance(X, np.ndarray):
        X = X.astype(np.float32)
    return kernel, X, labels, C * np.array(weight), dtype


def some(X, part):
    return X[part] if isinstance(X, np.ndarray) else [X[k] for k in part]


def assert_feasible(machine, X, labels, bound):
    alpha, chosen = machine.alpha, machine.number
    assert abs(alpha.sum()) <= 1e-13 * bound.sum()
    assert (alpha * labels[chosen] >= 0).all()
    assert (np.abs(alpha) <= bound[chosen]).all()
    assert (bound[chosen] > 0).all()
    assert np.unique(chosen).size == chosen.size
    assert list(map(repr, machine.inputs)) == list(map(repr, some(X, chosen)))


def assert_remembers_its_gradient(machine, bound):
    """G = y − Kα for the matrix that is kept, which is that of the kernel to its precision.

    Coefficients may once have been as large as their bounds.
    """
    n, alpha = machine.size, machine.alpha
    K = machine.support.rows[:n, :n].astype(np.float64)
    assert np.array_equal(K, K.T)
    exact = np.asarray(machine.kernel(machine.inputs), dtype=np.float64) if n else K
    assert np.abs(K - exact).max(initial=0.0) <= 8 * np.finfo(machine.dtype).eps * machine.scale
    rounding = 1e-14 * (1.0 + machine.scale * bound.sum())
    assert np.abs(machine.gradient - (machine.labels - K @ alpha)).max(initial=0.0) <= rounding


def exact_dual(machine):
    """The dual value in long doubles, and how far rounding of α may have changed it."""
    n, alpha = machine.size, machine.alpha.astype(np.longdouble)
    K = machine.support.rows[:n, :n].astype(np.longdouble)
    total = float(np.abs(alpha).sum())
    steepest = 1.0 + float(np.abs(machine.gradient).max(initial=0.0))
    rounding = 1e-14 * total * steepest + 1e-18 * machine.scale * total**2
    return float(alpha @ machine.labels - 0.5 * (alpha @ K @ alpha)), rounding


@settings(max_examples=100, deadline=None)
@given(streams(), POLICIES, st.integers(1, 7), st.integers(0, 3))
def test_every_call_leaves_a_feasible_point_and_no_lower_dual(stream, selection, batch, reprocess):
    kernel, X, labels, bound, dtype = stream
    machine = OnlineMachine(kernel, OnlineSettings(selection, reprocess), dtype)
    before = 0.0
    for start in range(0, labels.size, batch):
        part = np.arange(labels.size)[start : start + batch]
        machine.learn(some(X, part), labels[part], bound[part], part)
        assert_feasible(machine, X, labels, bound)
        assert_remembers_its_gradient(machine, bound)
        dual, rounding = exact_dual(machine)
        assert dual >= before - rounding
        before = dual


@settings(max_examples=60, deadline=None)
@given(streams(), POLICIES, st.integers(2, 5), st.integers(0, 2))
def test_a_budget_is_kept_by_feasible_points(stream, selection, budget, reprocess):
    kernel, X, labels, bound, dtype = stream
    machine = OnlineMachine(kernel, OnlineSettings(selection, reprocess, budget=budget), dtype)
    for k in range(labels.size):
        machine.learn(some(X, [k]), labels[[k]], bound[[k]], np.array([k]))
        assert machine.size <= budget
        assert_feasible(machine, X, labels, bound)
        assert_remembers_its_gradient(machine, bound)


@settings(max_examples=40, deadline=None)
@given(streams(), POLICIES)
def test_passes_and_finish_in_turn_reach_the_batch_optimum(stream, selection):
    kernel, X, labels, bound, _ = stream
    if np.unique(labels[bound > 0]).size < 2:
        return
    if isinstance(X, np.ndarray):
        X = X.astype(np.float64)
    machine = OnlineMachine(kernel, OnlineSettings(selection, tol=1e-7))
    for _ in range(100):
        steps, place = machine.steps, np.full(labels.size, -1)
        place[machine.number] = np.arange(machine.size)
        machine.learn(X, labels, bound, place=place)
        if machine.steps == steps:
            break
        machine.finish(1e-8)
    assert machine.steps == steps
    alpha = np.zeros(labels.size)
    alpha[machine.number] = machine.alpha
    problem, gram = hinge(labels, bound).problem, kernel.bind(X, np.float64)
    proof = certify(problem, alpha, gram)
    optimum = solve(problem, gram, tol=1e-8)
    rounding = 1e-13 * machine.scale * np.abs(alpha).sum()
    assert proof.infeasibility <= 1e-12 * bound.max()
    assert proof.violation <= 3e-7 + 10 * rounding
    assert proof.dual == pytest.approx(optimum.dual, rel=1e-7, abs=1e-7 * bound.sum())


def test_a_step_on_nearly_equal_inputs_does_not_lose_in_single_precision():
    """Their curvature is below what float32 resolves, but not zero: the whole of C is too far."""
    table = np.array([[1.0, 1.0 - 1e-7], [1.0 - 1e-7, 1.0]])
    kernel = FromFunction(lambda A, B: table[np.ix_(A, B)])
    machine = OnlineMachine(kernel, OnlineSettings(tol=1e-9), np.float32)
    machine.learn(np.arange(2), np.array([-1.0, 1.0]), np.full(2, 1e9))
    n, alpha = 2, machine.alpha
    assert alpha @ machine.labels - 0.5 * alpha @ table @ alpha > 0
    assert abs(alpha.sum()) <= 1e-12 * np.abs(alpha).sum()
    assert machine.size == n


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_kernel_that_is_not_finite_is_refused_and_nothing_is_learned(value, dtype):
    table = np.eye(4)
    table[1, 3] = table[3, 1] = value
    kernel = FromFunction(lambda A, B: table[np.ix_(A, B)])
    machine = OnlineMachine(kernel, OnlineSettings(), dtype)
    labels, bound = np.array([-1.0, 1.0, -1.0, 1.0]), np.ones(4)
    machine.learn(np.arange(3), labels[:3], bound[:3])
    before = machine.alpha.copy()
    with pytest.raises(ValueError, match="kernel must be finite in float"):
        machine.learn(np.array([3]), labels[3:], bound[3:], np.array([3]))
    assert np.array_equal(machine.alpha, before)


def test_values_beyond_single_precision_are_refused():
    machine = OnlineMachine(Polynomial(degree=20, gamma=1.0), OnlineSettings(), np.float32)
    with pytest.raises(ValueError, match="kernel must be finite in float32"):
        machine.learn(np.full((2, 1), 100.0), np.array([-1.0, 1.0]), np.ones(2))
