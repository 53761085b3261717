"""Every algorithm of the documents reaches the optimum of `solve`, or says that it did not."""

import numpy as np
import pytest

from maxmargin import LinearSVC, solve
from maxmargin.dual import certify, epsilon_svr, hinge, nu_svc, squared_hinge
from maxmargin.kernels import Gaussian, Precomputed
from maxmargin.solvers.smo.state import STEP_KINDS
from maxmargin.solvers.textbook import (
    POLICIES,
    all_pairs,
    coordinate_ascent,
    hinge_sgd,
    kernel_perceptron,
    kernel_regression,
    largest_rate,
    linear_smo,
    partial_gradient,
    perceptron,
    platt_smo,
    reason,
    simplified_smo,
    smo,
    watch,
)

SEEDS = pytest.mark.parametrize("seed", range(4))


def classes(seed, n=30, features=2):
    """Overlapping classes, their Gaussian Gram matrix and labels."""
    random = np.random.default_rng(seed)
    y = np.where(random.random(n) < 0.5, -1.0, 1.0)
    y[:2] = -1.0, 1.0
    X = random.normal(size=(n, features)) + 0.7 * y[:, None]
    return X, y, Gaussian(0.5)(X)


def machine(seed, C=2.0):
    _, y, K = classes(seed)
    return hinge(y, C).problem, K


def assert_optimal(problem, K, solution, tol):
    """The independent certificate, and the optimum of `solve`."""
    best = solve(problem, K, tol=1e-10)
    shown = certify(problem, solution.alpha, Precomputed().bind(K))
    assert shown.infeasibility < 1e-10
    assert shown.violation <= tol * (1 + 1e-9)
    assert best.dual - solution.dual <= shown.gap + 1e-10
    assert solution.dual <= best.dual + 1e-9 * abs(best.dual)


@SEEDS
@pytest.mark.parametrize("selection", sorted(POLICIES))
@pytest.mark.parametrize("step", ["newton", "plan_7_1", "plan_7_3"])
def test_every_selection_with_every_step_reaches_the_optimum_or_says_stuck(seed, selection, step):
    problem, K = machine(seed)
    solution = smo(problem, K, selection=selection, step=step, tol=1e-6)
    if solution.status == "stuck":
        assert selection.startswith("max_gain")
        assert solution.violation > 1e-6
    else:
        assert solution.status == "converged"
        assert_optimal(problem, K, solution, 1e-6)


@pytest.mark.parametrize("selection", ["mvp", "second_order", "max_gain_whole_cache"])
def test_all_machines_are_served(selection):
    X, y, K = classes(5)
    targets = X[:, 0] + 0.1 * X[:, 1]
    for made in (
        squared_hinge(y, 1.0),
        nu_svc(y, 0.3),
        epsilon_svr(targets, 1.0, 0.1),
        hinge(y, np.linspace(0.1, 2.0, len(y))),
    ):
        solution = smo(made.problem, K, selection=selection, tol=1e-6)
        assert solution.status in ("converged", "stuck")
        if solution.status == "converged":
            assert_optimal(made.problem, K, solution, 1e-6)


def test_maximum_gain_is_stuck_on_the_example_of_the_thesis():
    """Four samples of 6.1.4, with (3, 1) first."""
    r = np.sqrt(3.0)
    K = np.array([[2, r, -1, -r], [r, 4, -r, -3], [-1, -r, 2, r], [-r, -3, r, 4.0]])
    problem = hinge(np.array([-1.0, -1, 1, 1]), 0.1).problem
    start = np.array([-0.1, 0.0, 0.1, 0.0])
    assert smo(problem, K, selection="mvp", tol=1e-9).status == "converged"
    from maxmargin.solvers.textbook.pairs.selection import Past, related_pairs
    from maxmargin.solvers.textbook.record import CLIPPED, Recorder

    run = Recorder(problem, K, alpha=start)
    np.testing.assert_allclose(run.gradient, [-0.7, -1 + r / 5, 0.7, 1 - r / 5])
    assert related_pairs(run, Past([(2, 0)], CLIPPED, 1.0)) is None
    assert run.violation() > 1.0


@SEEDS
def test_planned_steps_are_as_often_free_as_algorithm_7_3_allows(seed):
    problem, K = machine(seed, C=1000.0)
    wild = smo(problem, K, step="plan_7_1", tol=1e-5, trace=True).trace
    tame = smo(problem, K, step="plan_7_3", selection="planning", tol=1e-5, trace=True).trace
    assert "planned" in {STEP_KINDS[k] for k in wild.kind}
    planned = np.flatnonzero(tame.kind == STEP_KINDS.index("planned"))
    assert all(tame.kind[k - 1] == STEP_KINDS.index("free") for k in planned)


@SEEDS
def test_platt_and_the_sweep_over_all_pairs_reach_the_optimum(seed):
    _, y, K = classes(seed)
    problem = hinge(y, 2.0).problem
    for solution in (platt_smo(y, K, 2.0, tol=1e-5), all_pairs(problem, K, tol=2e-5)):
        assert solution.status == "converged"
        assert_optimal(problem, K, solution, 2e-5)


@SEEDS
def test_simplified_smo_reaches_the_optimum_or_says_stuck(seed):
    _, y, K = classes(seed)
    solution = simplified_smo(y, K, 2.0, tol=1e-4, max_passes=30, random_state=seed)
    if solution.status == "converged":
        assert_optimal(hinge(y, 2.0).problem, K, solution, 2e-4)
    else:
        assert solution.status == "stuck"
        assert solution.violation > 2e-4


def test_simplified_smo_with_few_passes_is_honest():
    _, y, K = classes(0, n=60)
    solution = simplified_smo(y, K, 1000.0, tol=1e-8, max_passes=1)
    assert solution.status in ("stuck", "step_limit")
    assert solution.violation > 2e-8


@SEEDS
def test_maintained_weights_are_those_of_the_kernel_machine(seed):
    X, y, _ = classes(seed)
    solution = linear_smo(X, y, 1.0, tol=1e-7)
    best = solve(hinge(y, 1.0).problem, X @ X.T, tol=1e-9)
    assert solution.status == "converged"
    np.testing.assert_allclose(solution.weights, best.alpha @ X, atol=1e-4)
    np.testing.assert_allclose(solution.weights, solution.alpha @ X, atol=1e-12)


@pytest.mark.parametrize("sets", ["violating", "random"])
@pytest.mark.parametrize("size", [2, 6, 30])
def test_partial_gradients_of_any_size_reach_the_optimum(sets, size):
    problem, K = machine(1)
    solution = partial_gradient(problem, K, sets=sets, size=size, tol=1e-3, random_state=1)
    assert solution.status == "converged"
    assert_optimal(problem, K, solution, 1e-3)


def test_partial_gradients_of_too_few_sets_are_stuck():
    problem, K = machine(1)
    solution = partial_gradient(problem, K, sets=[np.array([0, 1, 2, 3])], tol=1e-3)
    assert solution.status == "stuck"
    assert (solution.alpha[4:] == 0).all()


def best_without_bias(problem, K):
    from scipy.optimize import minimize

    Q = np.tile(K, (problem.copies, problem.copies)) + np.diag(problem.ridge)
    found = minimize(
        lambda a: (0.5 * a @ Q @ a - problem.linear @ a, Q @ a - problem.linear),
        np.zeros(problem.size),
        jac=True,
        bounds=list(zip(problem.lower, problem.upper)),
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    )
    return -found.fun


@pytest.mark.parametrize("order", ["cyclic", "permuted", "largest"])
@pytest.mark.parametrize("rule", ["weights", "spread", "both", "change"])
def test_one_variable_at_a_time_solves_machines_without_bias(order, rule):
    X, y, K = classes(2)
    for made in (hinge(y, 2.0), squared_hinge(y, 1.0), epsilon_svr(X[:, 0], 1.0, 0.1)):
        solution = coordinate_ascent(made.problem, K, order=order, rule=rule, tol=1e-7, trace=True)
        assert solution.status in ("converged", "stuck")
        assert solution.dual == pytest.approx(best_without_bias(made.problem, K), abs=1e-6)
        assert solution.bias[0] == 0.0
        assert 0 <= solution.trace.gap[-1] < 1e-4


def test_coordinate_ascent_that_stops_early_says_stuck():
    _, y, K = classes(2)
    solution = coordinate_ascent(hinge(y, 1e4).problem, K, rule="weights", tol=1e-2)
    assert solution.status == "stuck" or solution.violation <= 1e-2
    loose = coordinate_ascent(hinge(y, 1e-6).problem, K, rule="change", tol=1e-3)
    assert (loose.status, loose.violation <= 1e-3) in (("stuck", False), ("converged", True))


def test_hard_margin_without_solution_is_unbounded():
    K, y = np.ones((2, 2)), np.array([-1.0, 1.0])
    assert smo(hinge(y, np.inf).problem, K).status == "unbounded"


# ---- traces ------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["second_order", "mvp"])
def test_trace_tells_every_step(selection):
    problem, K = machine(3)
    solution = smo(problem, K, selection=selection, tol=1e-4, trace="alpha")
    trace = solution.trace
    assert len(trace) == solution.steps
    assert trace.alpha.shape == (len(trace) + 1, problem.size)
    for k in range(len(trace)):
        i, j = trace.i[k], trace.j[k]
        before, after = trace.alpha[k], trace.alpha[k + 1]
        assert set(np.flatnonzero(before != after)) <= {i, j}
        np.testing.assert_array_equal(trace.before[k], before[[i, j]])
        np.testing.assert_array_equal(trace.after[k], after[[i, j]])
        shown = certify(problem, after, Precomputed().bind(K))
        assert trace.dual[k] == pytest.approx(shown.dual, abs=1e-10)
        assert trace.gap[k] == pytest.approx(shown.gap, abs=1e-9)
        at_bound = (after[[i, j]] == problem.lower[[i, j]]) | (
            after[[i, j]] == problem.upper[[i, j]]
        )
        assert at_bound.any() == (STEP_KINDS[trace.kind[k]] == "clipped")
    assert (np.diff(trace.dual) > 0).all()
    assert (np.diff(trace.kernel_evaluations) >= 0).all()
    assert trace.kernel_evaluations[-1] <= problem.size * (problem.size + 1) / 2
    row = trace.rows()[-1]
    assert row["kind"] in STEP_KINDS
    assert row["step"] == len(trace)


@pytest.mark.parametrize("options", [{}, {"selection": "mvp"}, {"planning": 1}])
def test_solve_is_watched_step_by_step(options):
    problem, K = machine(3)
    watched = watch(problem, K, alpha=True, tol=1e-3, **options)
    plain = solve(
        problem, K, driver="full", shrinking=False, face=False, tol=1e-3, trace=True, **options
    )
    trace = watched.trace
    assert watched.status == "converged"
    np.testing.assert_array_equal(watched.alpha, plain.alpha)
    np.testing.assert_array_equal(trace.kind, plain.trace.kind)
    for k in range(len(trace)):
        moved = set(np.flatnonzero(trace.alpha[k] != trace.alpha[k + 1]))
        assert moved == {trace.i[k], trace.j[k]}
        shown = certify(problem, trace.alpha[k + 1], Precomputed().bind(K))
        assert trace.dual[k] == pytest.approx(shown.dual, abs=1e-9)


def test_plain_python_and_compiled_loop_take_the_same_steps():
    problem, K = machine(4)
    ours, compiled = (
        smo(problem, K, selection="mvp", trace=True),
        watch(problem, K, selection="mvp"),
    )
    common = min(len(ours.trace), len(compiled.trace), 20)
    np.testing.assert_array_equal(ours.trace.i[:common], compiled.trace.i[:common])
    np.testing.assert_array_equal(ours.trace.j[:common], compiled.trace.j[:common])


# ---- the primal, the perceptron, regression ----------------------------------------------------


def test_subgradient_descent_approaches_the_objective_of_the_optimum():
    X, y, _ = classes(6, n=100)
    found = hinge_sgd(X, y, C=0.1, epochs=400)
    best = LinearSVC(loss="hinge", C=0.1, tol=1e-9).fit(X, y).certificate_.primal
    assert best * (1 - 1e-6) <= found.objective <= 1.02 * best
    assert found.trace.averaged[-1] == pytest.approx(found.objective)
    assert found.status == "step_limit"


def test_perceptron_is_the_same_in_primal_and_dual():
    X, y, _ = classes(7)
    X = X + 3.0 * y[:, None]
    primal, dual = perceptron(X, y), kernel_perceptron(X @ X.T, y)
    assert primal.status == dual.status == "converged"
    assert primal.trace == dual.trace
    np.testing.assert_allclose((dual.weights * y) @ X, primal.weights)
    assert dual.intercept == primal.intercept
    assert (y * (X @ primal.weights + primal.intercept) > 0).all()


def test_perceptron_on_inseparable_data_ends_at_its_limit():
    assert perceptron([[0.0], [0.0]], [-1, 1], max_epochs=5).status == "step_limit"
    assert kernel_perceptron(np.ones((2, 2)), [-1, 1], max_epochs=5).status == "step_limit"


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_limit_of_gradient_steps_is_ridge_regression(single, share):
    X, _y, K = classes(8, n=15)
    rate = share * largest_rate(K, 0.5, single)
    found = kernel_regression(K, X[:, 0], rate=rate, penalty=0.5, single=single, tol=1e-9)
    assert found.status == "converged"
    np.testing.assert_allclose(
        found.coef, np.linalg.solve(K + 0.5 * np.eye(15), X[:, 0]), atol=1e-7
    )
    assert found.trace.residual[-1] <= 1e-9


def test_gradient_steps_beyond_the_stable_range_diverge_and_are_refused():
    X, _, K = classes(8, n=15)
    limit = largest_rate(K, 0.5)
    beta = np.zeros(15)
    for _ in range(2000):
        beta = beta + 1.05 * limit * (X[:, 0] - K @ beta - 0.5 * beta)
    assert np.abs(beta).max() > 1e6
    with pytest.raises(ValueError, match="rate must be in"):
        kernel_regression(K, X[:, 0], rate=1.05 * limit, penalty=0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, K: smo(p, K, selection="best"), "selection must be one of"),
        (lambda p, K: smo(p, K, step="long"), "step must be one of"),
        (lambda p, K: smo(p, K[:3]), "K must be a square"),
        (lambda p, K: smo(p, K[:3, :3]), "K has 3 samples"),
        (lambda p, K: partial_gradient(p, K, size=1), "size must be at least 2"),
        (lambda p, K: partial_gradient(p, K, sets="all"), "sets must be"),
        (lambda p, K: coordinate_ascent(p, K, order="wild"), "order must be one of"),
        (lambda p, K: coordinate_ascent(p, K, rule="never"), "rule must be one of"),
        (lambda p, K: watch(p, K, max_steps=10**6), "max_steps must be in"),
        (lambda p, K: hinge_sgd(K, p.linear, C=-1.0), "C must be positive"),
        (lambda p, K: perceptron(K, 2 * p.linear), "labels -1 and"),
        (lambda p, K: kernel_regression(K, p.linear[:3]), "t must have"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(*machine(0))


# ---- watching everything that the solver does ---------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"face": True, "shrinking": True},
        {"shrinking": True},
        {"driver": "rows", "cache_bytes": 8 * 60 * 6},
        {"selection": "hybrid_max_gain"},
    ],
)
def test_watched_points_lead_to_the_solution_with_the_dual_values_told(options):
    problem, K = machine(5)
    watched = watch(problem, K, alpha=True, tol=1e-4, **options)
    trace = watched.trace
    assert watched.status == "converged"
    np.testing.assert_array_equal(trace.alpha[-1], watched.alpha)
    assert len(trace.alpha) == len(trace) + 1 == len(trace.samples) == len(trace.rows_cached)
    for k in range(len(trace)):
        shown = certify(problem, trace.alpha[k + 1], Precomputed().bind(K))
        assert trace.dual[k] == pytest.approx(shown.dual, abs=1e-9)
        if trace.i[k] >= 0:
            moved = set(np.flatnonzero(trace.alpha[k] != trace.alpha[k + 1]))
            assert moved == {trace.i[k], trace.j[k]}


def test_watching_tells_newton_steps_shrinking_and_the_cache():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 4, (120, 2))
    y = np.where(X.astype(int).sum(axis=1) % 2, 1.0, -1.0)
    problem, K = hinge(y, C=10.0).problem, np.exp(-((X[:, None] - X) ** 2).sum(axis=-1))
    faces = watch(problem, K, face=True).trace
    assert faces.kinds()["face"] > 0
    assert (faces.i[faces.kind == STEP_KINDS.index("face")] == -1).all()
    shrunk = watch(problem, K, shrinking=True, alpha=True, tol=1e-4).trace
    assert shrunk.samples[0].all()
    assert not shrunk.samples.all()
    cached = watch(problem, K, driver="rows", cache_bytes=8 * 120 * 10, alpha=True).trace
    assert cached.rows_cached[0].sum() == 0
    assert cached.rows_cached.sum(axis=1).max() == 10


def test_regression_is_watched_in_its_own_variables():
    x = np.linspace(-3, 3, 40)
    problem = epsilon_svr(np.sin(x), C=2.0, epsilon=0.05).problem
    K = np.exp(-((x[:, None] - x) ** 2))
    watched = watch(problem, K, alpha=True)
    np.testing.assert_array_equal(watched.trace.alpha[-1], watched.alpha)
    assert watched.trace.i.max() >= 40


@pytest.mark.parametrize("selection", ["second_order", "mvp", "max_gain", "greedy"])
def test_the_chosen_pair_has_the_best_score(selection):
    problem, K = machine(6)
    trace = watch(problem, K, selection=selection, alpha=True).trace
    last = None
    for k in range(len(trace)):
        alpha, pair = trace.alpha[k], (int(trace.i[k]), int(trace.j[k]))
        gradient = problem.gradient(alpha, K @ problem.per_sample(alpha))
        told = reason(problem, K, alpha, gradient, pair, selection=selection, last=last)
        own = [one.score for one in told.candidates if (one.i, one.j) == pair]
        if not (selection == "max_gain" and last is None):
            assert own
            # The compiled loop compares in float32.
            assert own[0] >= told.candidates[0].score * (1 - 1e-5)
        step = trace.after[k][0] - trace.before[k][0]
        assert step / told.newton == pytest.approx(trace.ratio[k], rel=1e-6)
        last = pair
