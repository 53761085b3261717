"""Every machine is the row of the table it claims to be, and reads its solution back."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from strategies import KINDS, WEIGHTED, case_of, samples

from maxmargin import dual

LABELS = np.array([1.0, -1.0, -1.0])
TARGETS = np.array([0.5, -2.0, 3.0])
PENALTY = np.array([2.0, 0.0, 5.0])


def arrays(machine):
    problem = machine.problem
    fields = (problem.linear, problem.lower, problem.upper, problem.ridge, problem.group)
    return [field.tolist() for field in (*fields, problem.totals)]


INF = np.inf
TABLE = [
    # linear, lower, upper, ridge, group, totals
    (
        dual.hinge(LABELS, PENALTY),
        ([1, -1, -1], [0, 0, -5], [2, 0, 0], [0, 0, 0], [0, 0, 0], [0]),
    ),
    (
        dual.hinge(LABELS, 4.0),
        ([1, -1, -1], [0, -4, -4], [4, 0, 0], [0, 0, 0], [0, 0, 0], [0]),
    ),
    (
        dual.squared_hinge(LABELS, PENALTY),
        ([1, -1, -1], [0, 0, -INF], [INF, 0, 0], [0.25, 0, 0.1], [0, 0, 0], [0]),
    ),
    (
        dual.hard_margin(LABELS),
        ([1, -1, -1], [0, -INF, -INF], [INF, 0, 0], [0, 0, 0], [0, 0, 0], [0]),
    ),
    (
        dual.epsilon_svr(TARGETS, PENALTY, 0.5),
        (
            [0, -2.5, 2.5, 1, -1.5, 3.5],
            [0, 0, 0, -2, 0, -5],
            [2, 0, 5, 0, 0, 0],
            [0] * 6,
            [0] * 6,
            [0],
        ),
    ),
    (
        dual.nu_svc(LABELS, 0.5, PENALTY),
        ([0, 0, 0], [0, 0, -5], [2, 0, 0], [0, 0, 0], [0, 1, 1], [1.75, -1.75]),
    ),
    (
        dual.nu_svr(TARGETS, 0.5, PENALTY),
        (
            [0.5, -2, 3, 0.5, -2, 3],
            [0, 0, 0, -2, 0, -5],
            [2, 0, 5, 0, 0, 0],
            [0] * 6,
            [0, 0, 0, 1, 1, 1],
            [1.75, -1.75],
        ),
    ),
    (
        dual.one_class(PENALTY, 0.5),
        ([0, 0, 0], [0, 0, 0], [2, 0, 5], [0, 0, 0], [0, 0, 0], [3.5]),
    ),
    (
        dual.one_class(3, 0.5),
        ([0, 0, 0], [0, 0, 0], [1, 1, 1], [0, 0, 0], [0, 0, 0], [1.5]),
    ),
    (
        dual.enclosing_ball([1.0, 2.0, 3.0]),
        ([0.5, 1, 1.5], [0, 0, 0], [INF, INF, INF], [0, 0, 0], [0, 0, 0], [1]),
    ),
]


@pytest.mark.parametrize(
    ("machine", "expected"), TABLE, ids=lambda value: getattr(value, "name", "")
)
def test_problem_is_the_row_of_the_table(machine, expected):
    assert arrays(machine) == list(map(list, expected))


@pytest.mark.parametrize("machine", [row[0] for row in TABLE], ids=lambda machine: machine.name)
def test_arrays_are_float64_and_groups_int64(machine):
    problem = machine.problem
    for values in (problem.linear, problem.lower, problem.upper, problem.ridge, problem.totals):
        assert values.dtype == np.float64
    assert problem.group.dtype == np.int64


def test_infinite_penalty_is_the_hard_margin():
    hard = arrays(dual.hard_margin(LABELS))
    assert arrays(dual.hinge(LABELS, np.inf)) == hard
    assert arrays(dual.squared_hinge(LABELS, np.inf)) == hard


def solved(machine, K):
    """(the function read back, dual value) at the optimum."""
    optimum = naive.solve_dual(machine.problem, K)
    kernel_alpha = K @ machine.problem.per_sample(optimum.alpha)
    gradient = machine.problem.gradient(optimum.alpha, kernel_alpha)
    bias = machine.problem.bias(optimum.alpha, gradient)
    return machine.read(optimum.alpha, bias), optimum.value


def assert_expansion(expansion, coef, intercept, rho=1.0, epsilon=0.0):
    np.testing.assert_allclose(expansion.coef, coef, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        [expansion.intercept, expansion.rho, expansion.epsilon],
        [intercept, rho, epsilon],
        rtol=0,
        atol=1e-12,
    )


TWO_POINTS = np.outer([-1.0, 3.0], [-1.0, 3.0])
TWO_LABELS = np.array([-1.0, 1.0])


def test_two_points_have_their_widest_margin_half_way():
    # f(x) = (x − 1)/2, w = ½, and the dual value is ½‖w‖².
    for machine in (dual.hinge(TWO_LABELS, 1.0), dual.hard_margin(TWO_LABELS)):
        expansion, value = solved(machine, TWO_POINTS)
        assert_expansion(expansion, [-0.125, 0.125], -0.5)
        assert value == pytest.approx(0.125, rel=1e-12)


def test_two_points_with_little_penalty_are_both_bounded():
    # α = ±C, w = 4C, and the bias is the middle of what is allowed: f(1) = 0.
    expansion, value = solved(dual.hinge(TWO_LABELS, 0.1), TWO_POINTS)
    assert_expansion(expansion, [-0.1, 0.1], -0.4)
    assert value == pytest.approx(0.2 - 0.08, rel=1e-12)


def test_squared_hinge_on_two_points():
    # 2t − ½(16 + 2·½/C)t² is largest at t = 2/(16 + 1/C); with C = ¼ that is 0.1.
    expansion, value = solved(dual.squared_hinge(TWO_LABELS, 0.25), TWO_POINTS)
    assert_expansion(expansion, [-0.1, 0.1], -0.4)
    assert value == pytest.approx(0.1, rel=1e-12)


def test_xor_is_separated_by_the_product_of_its_inputs():
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
    y = X[:, 0] * X[:, 1]
    K = naive.gram(naive.polynomial(1.0, 1.0, 2), X)
    expansion, value = solved(dual.hard_margin(y), K)
    assert_expansion(expansion, y / 8, 0.0)
    assert value == pytest.approx(0.25, rel=1e-12)


def test_nu_svc_on_two_points_is_rescaled_to_the_hard_margin():
    # α = ±½ν·2/2 = ±½, w = 2, f(3) = 2·3 + b = ρ and f(−1) = −2 + b = −ρ: b = −2, ρ = 4.
    expansion, value = solved(dual.nu_svc(TWO_LABELS, 0.5), TWO_POINTS)
    assert_expansion(expansion, [-0.125, 0.125], -0.5, rho=4.0)
    assert value == pytest.approx(-2.0, rel=1e-12)


def test_nu_svc_that_cannot_tell_the_classes_apart_is_not_divided_by_zero():
    expansion, value = solved(dual.nu_svc(TWO_LABELS, 0.5), np.ones((2, 2)))
    assert_expansion(expansion, [-0.5, 0.5], 0.0, rho=0.0)
    assert value == 0.0


def test_nu_svr_on_two_targets_finds_the_tube_that_holds_half_of_them():
    # Nothing to learn from K = 0: f = 1 lies between the targets 0 and 2, and ε = 1 reaches both.
    expansion, value = solved(dual.nu_svr([0.0, 2.0], 0.5, 1.0), np.zeros((2, 2)))
    assert_expansion(expansion, [-0.5, 0.5], 1.0, epsilon=1.0)
    assert value == pytest.approx(1.0, rel=1e-12)


def test_epsilon_svr_on_two_targets():
    # The flattest line through the tube of ½ around (−1, 0) and (3, 3): from ½ up to 5/2.
    expansion, value = solved(dual.epsilon_svr([0.0, 3.0], 10.0, 0.5), TWO_POINTS)
    assert_expansion(expansion, [-0.125, 0.125], 1.0, epsilon=0.5)
    assert value == pytest.approx(0.125, rel=1e-12)


def test_one_class_on_two_orthogonal_points():
    expansion, value = solved(dual.one_class(2, 0.5), np.eye(2))
    assert_expansion(expansion, [0.5, 0.5], -0.5)
    assert value == pytest.approx(-0.25, rel=1e-12)


def test_smallest_ball_around_two_points_has_them_as_its_poles():
    expansion, value = solved(dual.enclosing_ball(np.diag(TWO_POINTS)), TWO_POINTS)
    np.testing.assert_allclose(expansion.coef, [0.5, 0.5], rtol=1e-12)
    assert 2 * value == pytest.approx(4.0, rel=1e-12)


def test_point_is_in_the_ball_when_the_function_exceeds_half_its_square():
    expansion, _ = solved(dual.enclosing_ball(np.diag(TWO_POINTS)), TWO_POINTS)
    x = np.array([-1.1, -0.9, 1.0, 2.9, 3.1])
    f = np.outer(x, [-1.0, 3.0]) @ expansion.coef + expansion.intercept
    np.testing.assert_array_equal(f >= 0.5 * x**2, [False, True, True, True, False])


def gaussian_sample():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(25, 2))
    y = np.where(X[:, 0] + rng.normal(size=25) > 0.3, 1.0, -1.0)
    return X, y, np.sin(2 * X[:, 0]) + X[:, 1], rng.uniform(0.5, 2.0, size=25)


def peers():
    X, y, t, w = gaussian_sample()
    settings = {"kernel": "rbf", "gamma": 0.5, "tol": 1e-12}
    return X, {
        "hinge": (dual.hinge(y, 3.0 * w), SVC(C=3.0, **settings), y, w),
        "epsilon_svr": (dual.epsilon_svr(t, 3.0 * w, 0.2), SVR(C=3, epsilon=0.2, **settings), t, w),
        "nu_svc": (dual.nu_svc(y, 0.4), NuSVC(nu=0.4, **settings), y, np.ones(25)),
        "nu_svr": (dual.nu_svr(t, 0.4, 3.0), NuSVR(nu=0.4, C=3.0, **settings), t, np.ones(25)),
        "one_class": (dual.one_class(25, 0.3), OneClassSVM(nu=0.3, **settings), y, np.ones(25)),
    }


@pytest.mark.parametrize("kind", ["hinge", "epsilon_svr", "nu_svc", "nu_svr", "one_class"])
def test_function_read_back_is_the_decision_function_of_scikit_learn(kind):
    X, machines = peers()
    machine, peer, y, weight = machines[kind]
    peer.fit(X, y, sample_weight=weight)
    expansion, _ = solved(machine, naive.gram(naive.gaussian(0.5), X))
    coef = np.zeros(len(X))
    coef[peer.support_] = peer.dual_coef_[0]
    # The peer keeps its kernel rows in float32.
    np.testing.assert_allclose(expansion.coef, coef, rtol=0, atol=1e-4 * np.abs(coef).max())
    assert expansion.intercept == pytest.approx(peer.intercept_[0], rel=1e-4)


@pytest.mark.parametrize("kind", WEIGHTED)
@given(data=st.data())
@settings(max_examples=20)
def test_weight_three_equals_three_copies(kind, data):
    sample = data.draw(samples(weights=(1.0, 2.0, 3.0), largest=8))
    rows = np.repeat(np.arange(len(sample.K)), sample.weight.astype(int))
    assert_same_optimum(kind, sample, sample.taking(rows, np.ones(rows.size)))


@pytest.mark.parametrize("kind", WEIGHTED)
@given(data=st.data())
@settings(max_examples=20)
def test_weight_zero_equals_absence(kind, data):
    sample = data.draw(samples(weights=(0.0, 0.5, 1.0, 2.0)))
    rows = np.flatnonzero(sample.weight)
    assert_same_optimum(kind, sample, sample.taking(rows, sample.weight[rows]))


@given(samples(largest=8))
@settings(max_examples=20)
def test_copies_do_not_change_the_smallest_ball(sample):
    rows = np.repeat(np.arange(len(sample.K)), 1 + sample.weight.astype(int))
    assert_same_optimum("enclosing_ball", sample, sample.taking(rows, np.ones(rows.size)))


def assert_same_optimum(kind, *both):
    first, second = (case_of(kind, sample) for sample in both)
    one, other = (naive.solve_dual(case.problem, case.K) for case in (first, second))
    rounding = 1e-14 * second.magnitude(other.alpha)
    assert one.value == pytest.approx(other.value, rel=1e-9, abs=rounding)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=20)
def test_every_machine_has_a_feasible_point(kind, data):
    problem = case_of(kind, data.draw(samples())).problem
    alpha = problem.feasible()
    np.testing.assert_allclose(problem.sums(alpha), problem.totals, rtol=1e-13, atol=0)


ONES = np.ones(3)
MISTAKES = [
    (lambda: dual.hinge([0, 1, 1], 1.0), r"y must hold labels -1 and \+1 only, got 0"),
    (lambda: dual.hinge([[1, -1]], 1.0), r"y must be a vector .* got shape \(1, 2\)"),
    (lambda: dual.hinge([], 1.0), r"y must be a vector .* got shape \(0,\)"),
    (lambda: dual.hinge([1, np.nan], 1.0), "y contains NaN or infinity"),
    (lambda: dual.hinge(ONES, 1.0), r"y must hold both classes.* there is no -1"),
    (lambda: dual.hinge(-ONES, 1.0), r"y must hold both classes.* there is no \+1"),
    (lambda: dual.hard_margin(ONES), "y must hold both classes"),
    (lambda: dual.hinge(LABELS, [0.0, 1.0, 1.0]), r"with positive weight; there is no \+1"),
    (lambda: dual.hinge(LABELS, 0.0), r"C must be positive, got 0\.0"),
    (lambda: dual.squared_hinge(LABELS, -1.0), r"C must be positive, got -1\.0"),
    (lambda: dual.hinge(LABELS, np.nan), "C contains NaN"),
    (lambda: dual.hinge(LABELS, [1.0, 2.0]), r"one for each of the 3 samples, got shape \(2,\)"),
    (lambda: dual.hinge(LABELS, [1.0, 2.0, -3.0]), r"C must not be negative, got -3\.0"),
    (lambda: dual.epsilon_svr(TARGETS, np.zeros(3), 0.1), "C must be positive for at least one"),
    (lambda: dual.epsilon_svr(TARGETS, np.inf, 0.1), "C must be finite for this machine"),
    (lambda: dual.epsilon_svr(TARGETS, 1.0, -0.1), "epsilon must be finite and not negative, got"),
    (lambda: dual.epsilon_svr([np.inf, 1.0], 1.0, 0.1), "y contains NaN or infinity"),
    (lambda: dual.nu_svc(LABELS, 0.0), r"nu must be in \(0, 1\], got 0\.0"),
    (lambda: dual.nu_svr(TARGETS, 1.5, 1.0), r"nu must be in \(0, 1\], got 1\.5"),
    (lambda: dual.one_class(3, np.nan), r"nu must be in \(0, 1\], got nan"),
    (lambda: dual.nu_svc(ONES, 0.5), "y must hold both classes"),
    (lambda: dual.nu_svc(LABELS, 0.9), r"specified nu is infeasible: got 0\.9.* at most 0\.666667"),
    (lambda: dual.nu_svc(LABELS, 0.6, PENALTY), r"specified nu is infeasible.* at most 0\.571429"),
    (lambda: dual.nu_svc(LABELS, 0.1, [1.0, 2.0]), r"weight must be one number or one for each"),
    (lambda: dual.one_class([1.0, -1.0], 0.5), r"weight must not be negative, got -1\.0"),
    (lambda: dual.one_class([0.0, 0.0], 0.5), "weight must be positive for at least one sample"),
    (lambda: dual.one_class(0, 0.5), r"weight must be a vector .* got shape \(0,\)"),
    (lambda: dual.enclosing_ball([1.0, np.nan]), "diagonal contains NaN or infinity"),
]


@pytest.mark.parametrize(("build", "message"), MISTAKES, ids=[text for _, text in MISTAKES])
def test_mistakes_are_named(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_largest_feasible_nu_is_accepted():
    problem = dual.nu_svc(LABELS, 2.0 / 3.0).problem
    np.testing.assert_array_equal(problem.totals, [1.0, -1.0])
