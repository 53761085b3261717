"""Degenerate problems: each ends soon, with the right answer or an honest status."""

import naive
import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin import solve
from maxmargin.dual import (
    certify,
    enclosing_ball,
    epsilon_svr,
    hard_margin,
    hinge,
    one_class,
    squared_hinge,
)
from maxmargin.kernels import Precomputed
from maxmargin.solvers import SELECTIONS


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    return X, y


def certified(machine, K, solution):
    return certify(machine.problem, solution.alpha, Precomputed().bind(K), solution.bias)


@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 1e3, 1e6, 1e8])
@pytest.mark.parametrize("machine", [hinge, squared_hinge])
@pytest.mark.parametrize("gamma", [None, 0.5])
def test_every_size_of_C_is_solved_to_a_small_gap(blobs, C, machine, gamma):
    X, y = blobs
    K = X @ X.T if gamma is None else rbf_kernel(X, gamma=gamma)
    made = machine(y, C)
    solution = solve(made.problem, K)
    assert solution.status == "converged"
    assert certified(made, K, solution).relative_gap < 1e-6


@pytest.mark.parametrize("selection", sorted(set(SELECTIONS) - {"max_gain"}))
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_points_with_both_labels_do_not_disturb(blobs, selection, C):
    X, y = blobs
    X, y = np.concatenate([X, X, X[:20]]), np.concatenate([y, -y, y[:20]])
    machine = hinge(y, C)
    K = rbf_kernel(X, gamma=0.5)
    solution = solve(machine.problem, K, selection=selection, face=False, max_steps=200_000)
    assert solution.status == "converged"
    assert certified(machine, K, solution).relative_gap < 1e-4


def test_orthogonal_points_share_alpha_equally(blobs):
    _, y = blobs
    solution = solve(hinge(y, 10.0).problem, np.eye(y.size))
    bias = (y > 0).mean() - (y < 0).mean()
    assert solution.alpha == pytest.approx(y - bias, abs=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_indistinguishable_points_leave_the_larger_class_in_front(value):
    y = np.array([1.0] * 5 + [-1.0] * 3)
    K = np.full((8, 8), value)
    machine = hinge(y, 1.0)
    solution = solve(machine.problem, K)
    assert solution.status == "converged"
    assert solution.dual == pytest.approx(6.0)
    assert solution.bias == pytest.approx([1.0])


def test_bias_is_the_middle_of_its_interval_when_all_variables_are_bounded():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    K = np.outer([2.0, 1.0, -1.0, -2.0], [2.0, 1.0, -1.0, -2.0])
    solution = solve(hinge(y, 1e-3).problem, K)
    assert (np.abs(solution.alpha) == 1e-3).all()
    assert solution.bias == pytest.approx([0.0], abs=1e-12)


def test_a_single_sample_a_class_is_solved_by_hand():
    K = np.array([[4.0, 0.0], [0.0, 4.0]])
    solution = solve(hinge(np.array([1.0, -1.0]), 10.0).problem, K)
    assert solution.alpha == pytest.approx([0.25, -0.25])


def test_two_nearly_equal_points_of_different_class_reach_C():
    K = np.array([[1.0, 1.0 - 1e-9], [1.0 - 1e-9, 1.0]])
    solution = solve(hinge(np.array([1.0, -1.0]), 1e8).problem, K)
    assert solution.alpha == pytest.approx([1e8, -1e8])


@pytest.mark.parametrize("face", [True, False])
def test_a_hard_margin_on_equal_points_of_different_class_is_unbounded(blobs, face):
    X, y = blobs
    K = rbf_kernel(np.concatenate([X, X]), gamma=5.0)
    assert solve(hard_margin(np.concatenate([y, -y])).problem, K, face=face).status == "unbounded"


def test_a_hard_margin_that_no_hyperplane_attains_is_unbounded(blobs):
    X, y = blobs
    solution = solve(hard_margin(y).problem, X @ X.T, max_seconds=30)
    assert solution.status == "unbounded"


def test_a_hopeless_hard_margin_without_face_steps_keeps_to_its_budget(blobs):
    X, y = blobs
    solution = solve(hard_margin(y).problem, X @ X.T, face=False, max_steps=20_000)
    assert solution.status == "step_limit"
    assert solution.steps == 20_000


def test_a_hard_margin_is_the_limit_of_large_C(blobs):
    X, _ = blobs
    y = np.sign(X[:, 0])
    hard, soft = (solve(m.problem, X @ X.T) for m in (hard_margin(y), hinge(y, 1e8)))
    assert hard.status == "converged"
    assert hard.dual == pytest.approx(soft.dual, rel=1e-9)


@pytest.mark.parametrize("face", [True, False])
def test_an_indefinite_kernel_ends_at_a_stationary_point_and_says_so(blobs, face):
    X, y = blobs
    K = np.tanh(2.0 * X @ X.T + 1.0)
    assert np.linalg.eigvalsh(K)[0] < -1.0
    machine = hinge(y, 10.0)
    solution = solve(machine.problem, K, face=face, max_steps=100_000)
    assert solution.status == "stationary"
    gradient = machine.problem.gradient(solution.alpha, K @ solution.alpha)
    assert machine.problem.violation(solution.alpha, gradient) <= 1e-3


def test_samples_of_weight_zero_never_move(blobs):
    X, y = blobs
    C = np.where(np.arange(y.size) % 3 == 0, 0.0, 1.0)
    solution = solve(hinge(y, C).problem, rbf_kernel(X))
    assert (solution.alpha[::3] == 0).all()
    kept = C > 0
    alone = solve(hinge(y[kept], 1.0).problem, rbf_kernel(X[kept]))
    assert solution.dual == pytest.approx(alone.dual, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1e6, 1e12])
def test_the_unit_of_the_inputs_does_not_matter(blobs, factor):
    X, y = blobs
    K = X @ X.T
    reference = solve(hinge(y, 1.0).problem, K)
    scaled = solve(hinge(y, 1.0 / factor).problem, factor * K)
    assert scaled.status == "converged"
    assert scaled.dual == pytest.approx(reference.dual / factor, rel=1e-9)


@pytest.mark.parametrize("C", [1.0, 1e6])
def test_single_precision_rows_solve_the_problem_they_state(blobs, C):
    X, y = blobs
    K = rbf_kernel(X, gamma=0.5).astype(np.float32)
    solution = solve(hinge(y, C).problem, K)
    assert solution.status == "converged"
    exact = solve(hinge(y, C).problem, K.astype(np.float64))
    assert solution.dual == pytest.approx(exact.dual, rel=1e-6)


def test_zero_width_tubes_interpolate(blobs):
    X, _ = blobs
    K = rbf_kernel(X, gamma=0.5)
    machine = epsilon_svr(X[:, 0], 1e8, 0.0)
    solution = solve(machine.problem, K)
    coef = machine.read(solution.alpha, solution.bias).coef
    assert K @ coef + solution.bias[0] == pytest.approx(X[:, 0], abs=1e-6)


def test_the_ball_around_two_points_is_centred_between_them():
    solution = solve(enclosing_ball(np.array([0.0, 4.0])).problem, np.diag([0.0, 4.0]))
    assert solution.alpha == pytest.approx([0.5, 0.5])
    assert 2.0 * solution.dual == pytest.approx(1.0)


def test_one_class_of_equal_points_weighs_them_all_within_bounds():
    solution = solve(one_class(10, 0.5).problem, np.ones((10, 10)))
    assert solution.status == "converged"
    assert solution.alpha.sum() == pytest.approx(5.0)


def test_an_impossible_tolerance_ends_with_the_best_of_this_precision(blobs):
    X, y = blobs
    machine = hinge(y, 1e6)
    K = rbf_kernel(X, gamma=0.5)
    solution = solve(machine.problem, K, tol=1e-30, max_seconds=60)
    assert solution.status in ("precision", "converged")
    assert solution.dual == pytest.approx(naive.solve_dual(machine.problem, K).value, rel=1e-9)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"tol": 0.0}, "tol must be positive, got 0.0"),
        ({"tol": np.nan}, "tol must be positive"),
        ({"selection": "best"}, "selection must be one of"),
        ({"planning": -1}, "planning must be 0, 1, 2"),
        ({"overstep": 2.0}, "overstep must lie between 0 and 2"),
        ({"driver": "disk"}, 'driver must be "auto"'),
        ({"driver": "rows", "selection": "greedy"}, "needs the whole matrix"),
        ({"max_steps": -1}, "max_steps must not be negative"),
        ({"max_seconds": np.nan}, "max_seconds must not be negative"),
        ({"alpha": np.zeros(3)}, "alpha must have shape"),
        ({"alpha": np.array([np.nan, 0.0])}, "alpha contains NaN"),
    ],
)
def test_bad_arguments_are_named(argument, message):
    problem = hinge(np.array([1.0, -1.0]), 1.0).problem
    with pytest.raises(ValueError, match=message):
        solve(problem, np.eye(2), **argument)


def test_a_gram_matrix_of_another_size_is_refused():
    with pytest.raises(ValueError, match="3 samples, the problem 2"):
        solve(hinge(np.array([1.0, -1.0]), 1.0).problem, np.eye(3))


def test_a_gram_matrix_with_nan_is_refused():
    K = np.array([[1.0, np.nan], [np.nan, 1.0]])
    with pytest.raises(ValueError, match="NaN"):
        solve(hinge(np.array([1.0, -1.0]), 1.0).problem, K)
