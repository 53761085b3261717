"""Linear machines against the slow truth, their certificates, budgets and hard cases."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_linear import objective, primal_optimum, quadratic_optimum

from maxmargin.solvers.linear import CLASSIFICATION, REGRESSION, Intercept, Point, fit_linear
from maxmargin.solvers.linear.certificate import certify_linear, feasible
from maxmargin.solvers.linear.data.matrix import (
    DenseMatrix,
    SparseMatrix,
    _compressed,
    as_matrix,
)
from maxmargin.solvers.linear.losses import squared
from maxmargin.solvers.linear.primal import newton
from maxmargin.solvers.linear.records import LinearProblem

INTERCEPTS = [Intercept(True), Intercept(True, 1.0), Intercept(True, 0.01), Intercept(False)]
DUAL_LOSSES = ["hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive"]
SMOOTH_LOSSES = ["squared_hinge", "logistic", "squared_epsilon_insensitive", "squared"]


def make_loss(name, y, C, epsilon):
    if name in CLASSIFICATION:
        return CLASSIFICATION[name](y, C)
    return squared(y, C) if name == "squared" else REGRESSION[name](y, C, epsilon)


@st.composite
def problems(draw, names, most=9):
    name = draw(st.sampled_from(names))
    n, d = draw(st.integers(2, most)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-3, 4, (n, d)) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    if draw(st.booleans()):
        X = X + 0.1 * rng.standard_normal((n, d))
    y = rng.choice([-1.0, 1.0], n)
    y[:2] = [-1.0, 1.0]
    if name not in CLASSIFICATION:
        y = 3.0 * rng.standard_normal(n) + X[:, 0]
    C = draw(st.sampled_from([1e-3, 0.1, 1.0, 30.0])) * rng.choice([1.0, 1.0, 2.5], n)
    epsilon = (
        0.0 if name in CLASSIFICATION or name == "squared" else draw(st.sampled_from([0.0, 0.5]))
    )
    return name, X, y, C, epsilon, draw(st.sampled_from(INTERCEPTS))


@settings(max_examples=200)
@given(problems(DUAL_LOSSES, most=20))
def test_optimum_is_that_of_a_general_quadratic_program(problem):
    name, X, y, C, epsilon, intercept = problem
    solution = fit_linear(X, make_loss(name, y, C, epsilon), intercept=intercept)
    truth = quadratic_optimum(name, X, y, C, epsilon, intercept)
    assert solution.status == "converged"
    assert solution.certificate.primal == pytest.approx(truth, rel=1e-6, abs=1e-7)


@settings(max_examples=150)
@given(problems(SMOOTH_LOSSES, most=20), st.sampled_from(["l1", "l2"]))
def test_optimum_of_smooth_losses_is_that_of_a_general_minimiser(problem, penalty):
    name, X, y, C, epsilon, intercept = problem
    loss = make_loss(name, y, C, epsilon)
    solution = fit_linear(X, loss, intercept=intercept, penalty=penalty)
    truth = primal_optimum(name, X, y, C, epsilon, intercept, penalty)
    assert solution.certificate.dual <= truth * (1 + 1e-9) + 1e-12
    assert solution.certificate.primal <= truth * (1 + 2e-6) + 1e-9


@settings(max_examples=100)
@given(problems([*DUAL_LOSSES, "logistic", "squared"], most=30))
def test_primal_value_of_the_certificate_is_the_objective_written_out(problem):
    name, X, y, C, epsilon, intercept = problem
    solution = fit_linear(X, make_loss(name, y, C, epsilon), intercept=intercept, max_steps=3)
    written = objective(name, X, y, C, epsilon, intercept, solution.w, solution.b)
    assert solution.certificate.primal == pytest.approx(written, rel=1e-12, abs=1e-12)


@settings(max_examples=100)
@given(problems([*DUAL_LOSSES, "logistic", "squared"], most=30), st.integers(1, 6))
def test_dual_value_never_exceeds_the_optimum_however_early_the_end(problem, steps):
    name, X, y, C, epsilon, intercept = problem
    loss = make_loss(name, y, C, epsilon)
    early = fit_linear(X, loss, intercept=intercept, max_steps=steps)
    best = fit_linear(X, loss, intercept=intercept)
    slack = 1e-9 * abs(best.certificate.primal) + 1e-12
    assert early.certificate.gap >= 0.0
    assert early.certificate.dual <= best.certificate.primal + slack
    assert early.certificate.primal >= best.certificate.dual - slack


@pytest.mark.parametrize("name", [*DUAL_LOSSES, "logistic", "squared"])
@pytest.mark.parametrize("intercept", INTERCEPTS[:2])
def test_small_problems_are_solved_to_the_last_digits(name, intercept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 7))
    y = np.sign(X[:, 0] + 0.5 * rng.standard_normal(60))
    for C in (1e-3, 1.0, 1e3):
        solution = fit_linear(X, make_loss(name, y, np.full(60, C), 0.1), intercept=intercept)
        assert solution.certificate.relative_gap < 1e-12


@pytest.mark.parametrize("name", [*DUAL_LOSSES, "logistic", "squared"])
def test_sparse_and_dense_single_and_double_give_one_model(name):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((80, 6)) < 0.6, 0.0, rng.integers(-4, 5, (80, 6))).astype(np.float64)
    y = np.where(X.sum(axis=1) + rng.standard_normal(80) > 0, 1.0, -1.0)
    loss = make_loss(name, y, np.ones(80), 0.1)
    models = [
        fit_linear(data, loss)
        for data in (
            X,
            X.astype(np.float32),
            np.asfortranarray(X),
            sp.csr_array(X),
            sp.csc_array(X),
        )
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.w, models[0].w, rtol=1e-7, atol=1e-9)


def test_dense_input_full_of_zeros_is_compressed_and_read_only_input_is_accepted():
    rng = np.random.default_rng(2)
    X = np.where(rng.random((3000, 40)) < 0.9, 0.0, rng.standard_normal((3000, 40)))
    X[7] = 1.0
    X.setflags(write=False)
    matrix = as_matrix(X)
    assert isinstance(matrix, SparseMatrix)
    w = rng.standard_normal(40)
    np.testing.assert_allclose(matrix.margins(w), X @ w, atol=1e-12)
    assert isinstance(as_matrix(X[:, :3] + 1.0), DenseMatrix)


@pytest.mark.parametrize("crowded", [slice(0, 0), slice(0, 3000), slice(4000, 6000)])
def test_compressed_matrix_is_the_dense_one_however_uneven(crowded):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((6000, 70)) < 0.95, 0.0, rng.standard_normal((6000, 70)))
    X[crowded][1::2] = 1.5
    X = X.astype(np.float32)
    matrix = as_matrix(X) if not X[crowded].size else _compressed(X, 0.05)
    assert isinstance(matrix, SparseMatrix)
    np.testing.assert_array_equal(matrix._dense(np.arange(6000)), X)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_compact_part_has_the_features_in_use_and_the_same_inner_products(make):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((30, 50)) < 0.9, 0.0, rng.standard_normal((30, 50)))
    rows = np.array([3, 4, 11, 29])
    part, used = as_matrix(make(X)).compact(rows)
    everything = np.arange(rows.size)
    products = part.inner(everything, everything)
    np.testing.assert_allclose(products, X[rows] @ X[rows].T, atol=1e-14)
    np.testing.assert_allclose(part.combine(np.ones(4)), X[rows].sum(axis=0)[used], atol=1e-14)


def test_unsorted_duplicate_sparse_entries_are_summed():
    messy = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3])), (1, 3))
    np.testing.assert_array_equal(as_matrix(messy).margins(np.array([1.0, 1.0, 10.0])), [42.0])


@pytest.mark.parametrize("name", ["hinge", "epsilon_insensitive", "squared_hinge"])
def test_weight_three_equals_three_copies(name):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((40, 5)), rng.choice([-1.0, 1.0], 40)
    weight = rng.integers(1, 4, 40)
    weighted = fit_linear(X, make_loss(name, y, 2.0 * weight, 0.1))
    cost = np.full(weight.sum(), 2.0)
    copied = fit_linear(
        np.repeat(X, weight, axis=0), make_loss(name, np.repeat(y, weight), cost, 0.1)
    )
    np.testing.assert_allclose(weighted.w, copied.w, rtol=1e-8, atol=1e-10)
    assert weighted.b == pytest.approx(copied.b, rel=1e-8, abs=1e-10)


def test_intercept_without_free_samples_is_the_middle_of_what_is_optimal():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    solution = fit_linear(X, CLASSIFICATION["hinge"](y, np.full(4, 0.1)))
    np.testing.assert_allclose([solution.w[0], solution.b], [0.2, -0.1], atol=1e-12)


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("C", [1e-8, 1e8])
def test_extreme_costs_converge_or_say_why_not(name, C):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((50, 3)) * [1.0, 1e-3, 1e3]
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(50) > 0, 1.0, -1.0)
    solution = fit_linear(X, CLASSIFICATION[name](y, np.full(50, C)), max_steps=500)
    assert solution.status == "converged"
    assert solution.certificate.relative_gap <= 1e-6


def test_zero_and_constant_and_repeated_features_do_no_harm():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((30, 1))
    X = np.hstack([np.zeros((30, 2)), np.ones((30, 1)), x, x])
    y = np.where(x[:, 0] > 0.1, 1.0, -1.0)
    for name in ("hinge", "squared_hinge", "logistic"):
        solution = fit_linear(X, CLASSIFICATION[name](y, np.full(30, 10.0)))
        assert solution.certificate.relative_gap <= 1e-9
        assert solution.w[3] == pytest.approx(solution.w[4], abs=1e-9)
        assert solution.w[0] == solution.w[1] == 0.0


def test_nothing_but_zeros_leaves_only_the_intercept():
    y = np.array([1.0, 1.0, 1.0, -1.0])
    solution = fit_linear(np.zeros((4, 3)), CLASSIFICATION["hinge"](y, np.ones(4)))
    assert not solution.w.any()
    assert solution.b == pytest.approx(1.0)
    assert solution.certificate.gap == pytest.approx(0.0, abs=1e-12)


def blobs(n=2000, d=20, seed=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X @ rng.standard_normal(d) + 2.0 * rng.standard_normal(n) > 0, 1.0, -1.0)


def test_ample_samples_are_set_aside_and_looked_at_again():
    X, y = blobs(20_000)
    solution = fit_linear(X, CLASSIFICATION["hinge"](y, np.ones(20_000)), trace=True)
    assert solution.trace.active.min() < 5_000
    assert solution.certificate.relative_gap <= 1e-6


def test_no_sample_is_set_aside_once_the_share_to_be_kept_has_overflown(monkeypatch):
    monkeypatch.setattr(newton, "COSTS", newton.COSTS._replace(awake_factor=np.inf))
    X, y = blobs(20_000)
    solution = fit_linear(X, CLASSIFICATION["hinge"](y, np.ones(20_000)), trace=True)
    assert solution.trace.active.min() == 20_000
    assert solution.certificate.relative_gap <= 1e-6


def test_wide_data_is_solved_by_conjugate_gradients():
    rng = np.random.default_rng(7)
    X = sp.random_array((1500, 20_000), density=0.004, random_state=rng, format="csr")
    y = np.where(X @ rng.standard_normal(20_000) > 0, 1.0, -1.0)
    for name in ("hinge", "squared_hinge", "logistic"):
        solution = fit_linear(X, CLASSIFICATION[name](y, np.full(1500, 10.0)))
        assert solution.status == "converged"
        assert solution.certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("name", ["hinge", "epsilon_insensitive"])
def test_faces_that_lose_their_last_sample_do_not_stall_a_free_intercept(name):
    """One or two features, few free samples: the intercept is often between two kinks."""
    rng = np.random.default_rng(11)
    for _ in range(300):
        n, d = int(10 ** rng.uniform(0.7, 3.0)), int(rng.integers(1, 4))
        X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-2, 2, d)
        outputs = X @ rng.standard_normal(d)
        outputs += rng.choice([0.0, 0.1, 1.0]) * outputs.std() * rng.standard_normal(n)
        y = outputs / (outputs.std() + 1e-12)
        if name == "hinge":
            y = np.where(y > np.quantile(y, rng.choice([0.5, 0.9])), 1.0, -1.0)
        solution = fit_linear(X, make_loss(name, y, np.full(n, 10 ** rng.uniform(-3, 3)), 0.1))
        assert solution.converged, (n, d)
        assert solution.certificate.relative_gap <= 2e-6 or solution.certificate.primal < 1e-2


@pytest.mark.parametrize("intercept", INTERCEPTS[:2])
@pytest.mark.parametrize("name", ["hinge", "squared_hinge"])
def test_separable_wide_data_converge_however_large_the_cost(name, intercept):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((500, 1500))
    y = np.where(X[:, 0] + rng.standard_normal(500) > 0, 1.0, -1.0)
    solution = fit_linear(X, make_loss(name, y, np.full(500, 100.0), 0.0), intercept=intercept)
    assert solution.converged
    assert solution.certificate.relative_gap <= 1e-6


@pytest.mark.parametrize("C", [0.3, 10.0])
def test_sparse_wide_data_are_solved_by_coordinate_descent_alone(C):
    rng = np.random.default_rng(0)
    X = sp.random(2000, 8000, density=0.02, random_state=0, format="csr")
    y = np.where(X @ rng.standard_normal(8000) > 0, 1.0, -1.0)
    loss = make_loss("hinge", y, np.full(2000, C), 0.0)
    sizes = []
    solution = fit_linear(
        X, loss, intercept=Intercept(True, 1.0), callback=lambda p: sizes.append(p.steps)
    )
    assert solution.converged
    assert len(sizes) < solution.steps / 2  # epochs between looks, no Newton steps
    assert solution.certificate.relative_gap <= 1e-6


def test_large_cost_on_frequent_features_without_scaling_converges():
    rng = np.random.default_rng(0)
    n, d, k = 6000, 20_000, 30
    columns = np.minimum((3.0 * rng.pareto(0.9, (n, k))).astype(int), d - 1)
    rows = np.repeat(np.arange(n), k)
    X = sp.csr_array((rng.exponential(size=n * k), (rows, columns.ravel())), shape=(n, d))
    X.sum_duplicates()
    y = np.where(X @ rng.standard_normal(d) + 5.0 * rng.standard_normal(n) > 0, 1.0, -1.0)
    solution = fit_linear(X, CLASSIFICATION["squared_hinge"](y, np.full(n, 1000.0)))
    assert solution.status == "converged"
    assert solution.certificate.relative_gap <= 1e-6


def test_start_from_the_optimum_takes_few_steps():
    X, y = blobs()
    loss = CLASSIFICATION["hinge"](y, np.ones(2000))
    cold = fit_linear(X, loss)
    warm = fit_linear(X, loss, start=Point(cold.beta, None, cold.b))
    assert warm.steps < 0.7 * cold.steps
    np.testing.assert_allclose(warm.w, cold.w, atol=1e-3)


def test_budgets_end_the_run_and_say_so():
    X, y = blobs()
    loss = CLASSIFICATION["hinge"](y, np.ones(2000))
    assert fit_linear(X, loss, max_steps=3).status == "step_limit"
    assert fit_linear(X, loss, max_steps=3).steps == 3
    assert fit_linear(X, loss, max_seconds=0.0).status == "time_limit"
    seen = []
    stopped = fit_linear(X, loss, callback=lambda progress: seen.append(progress) or len(seen) == 4)
    assert stopped.status == "stopped"
    assert [progress.steps for progress in seen] == sorted({progress.steps for progress in seen})


def test_certificate_repairs_an_infeasible_dual_point():
    X, y = blobs(200, 3)
    loss = CLASSIFICATION["hinge"](y, np.ones(200))
    rng = np.random.default_rng(8)
    repaired = feasible(loss, Intercept(True), 5.0 * rng.standard_normal(200))
    assert abs(repaired.sum()) <= 1e-12
    assert ((repaired >= loss.lower) & (repaired <= loss.upper)).all()
    problem = LinearProblem(as_matrix(X), loss, Intercept(True))
    certificate, beta = certify_linear(problem, np.ones(3), 0.3, 5.0 * rng.standard_normal(200))
    optimum = fit_linear(X, loss).certificate.primal
    assert certificate.dual <= optimum <= certificate.primal
    assert abs(beta.sum()) <= 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"solver": "magic"}, "solver must be one of"),
        ({"penalty": "l3"}, 'penalty must be "l1", "l2" or "none"'),
        ({"order": "random"}, "order must be one of"),
        ({"stop": "soon"}, "stop must be one of"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    X, y = blobs(20, 2)
    with pytest.raises(ValueError, match=message):
        fit_linear(X, CLASSIFICATION["hinge"](y, np.ones(20)), **arguments)


def test_losses_for_another_number_of_samples_are_refused():
    X, y = blobs(20, 2)
    with pytest.raises(ValueError, match="loss has 19 samples, X has 20"):
        fit_linear(X, CLASSIFICATION["hinge"](y[1:], np.ones(19)))
