"""Rows that arrive one by one, in place of the whole matrix."""

import naive
import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from maxmargin import SVC, solve
from maxmargin.data import chess_board
from maxmargin.dual import epsilon_svr, hinge
from maxmargin.kernels import Gaussian, Polynomial
from maxmargin.kernels.vector.exp import COMPILED
from maxmargin.kernels.vector.gaussian_blocks import fill_gaussian_row
from maxmargin.runtime.jit import borrowing_fused, from_python
from maxmargin.solvers import costs
from maxmargin.solvers import solver as optimise
from maxmargin.solvers.rows import on_demand as rows_module
from maxmargin.solvers.rows.on_demand import OnDemandRows

needs_compiled_code = pytest.mark.skipif(not COMPILED, reason="rows arrive in compiled code only")
PLENTY = 1e9


def easy(n=900, features=10):
    """Two clusters: their few support vectors are found soon."""
    X, y = make_blobs(n, centers=2, n_features=features, cluster_std=1.5, random_state=0)
    return (X - X.mean()) / X.std(), 2.0 * y - 1.0


def noisy(n=900, features=10):
    """Labels without rhyme or reason: every sample is a support vector."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, features)), np.where(rng.random(n) < 0.5, -1.0, 1.0)


def on_demand_rows(n=200, features=3, budget=PLENTY):
    X = np.random.default_rng(0).normal(size=(n, features))
    return X, OnDemandRows.of(Gaussian(0.3).bind(X), budget, True)


@needs_compiled_code
@pytest.mark.parametrize(("dtype", "rounding"), [(np.float32, 3e-7), (np.float64, 1e-15)])
@pytest.mark.parametrize("features", [1, 2, 4, 5, 9])
def test_a_row_is_that_of_the_kernel(features, dtype, rounding):
    X = np.random.default_rng(features).normal(size=(600, features))
    points = Gaussian(0.3).bind(X, dtype).transposed_points()
    assert points.shape[0] % 4 == 0
    row = np.empty(600, dtype)
    from_python(fill_gaussian_row, borrowing_fused)(points, 17, row)
    expected = [naive.gaussian(0.3)(X[17], x) for x in X]
    np.testing.assert_allclose(row, expected, rtol=10 * rounding, atol=rounding)
    assert row[17] == 1.0


def test_only_gaussians_of_dense_inputs_have_points():
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert Polynomial(2).bind(X).transposed_points() is None
    assert (Gaussian(1.0) + Gaussian(2.0)).bind(X).transposed_points() is None
    assert Gaussian([1.0, 0.5, 0.1]).bind(X).transposed_points().shape == (4, 20)


@needs_compiled_code
@pytest.mark.parametrize("features", [2, 10])
def test_an_easy_problem_needs_few_rows(features):
    X, y = easy(features=features)
    gram = Gaussian(1.0 / features).bind(X)
    few = solve(hinge(y, 1.0).problem, gram)
    full = solve(hinge(y, 1.0).problem, gram.matrix())
    assert few.status == full.status == "converged"
    assert few.kernel_evaluations < 0.4 * y.size**2
    assert few.kernel_evaluations == few.row_misses * y.size
    np.testing.assert_allclose(few.dual, full.dual, rtol=1e-6)
    np.testing.assert_allclose(few.gradient, y - gram.matrix() @ few.alpha, atol=1e-9)


@needs_compiled_code
def test_where_all_rows_are_needed_they_soon_come_at_once():
    X, y = noisy()
    gram = Gaussian(0.1).bind(X)
    solution = solve(hinge(y, 1.0).problem, gram)
    full = solve(hinge(y, 1.0).problem, gram.matrix())
    assert y.size**2 < solution.kernel_evaluations <= (y.size + 4 * costs.FIRST_ON_DEMAND) * y.size
    np.testing.assert_allclose(solution.dual, full.dual, rtol=1e-6)


@needs_compiled_code
@pytest.mark.parametrize("kind", ["hinge", "epsilon_svr"])
def test_shrinking_and_face_steps_find_the_rows_they_need(kind):
    X, y = chess_board(800, random_state=0)
    machine = hinge(y, 1e4) if kind == "hinge" else epsilon_svr(np.sin(X).sum(axis=1), 1e3, 0.01)
    gram = Gaussian(0.5).bind(X)
    solution = solve(machine.problem, gram)
    full = solve(machine.problem, gram.matrix())
    assert solution.status == full.status == "converged"
    assert solution.kernel_evaluations > 0
    np.testing.assert_allclose(solution.dual, full.dual, rtol=1e-5)


@needs_compiled_code
def test_sums_and_blocks_need_no_rows_present():
    X, rows = on_demand_rows(budget=90 * 200 * 8)
    K = Gaussian(0.3)(X)
    samples = np.arange(0, 200, 2)  # more than there is room for
    assert samples.size > len(rows.store.values) == 90
    np.testing.assert_allclose(
        rows.combine(samples, np.ones(100)), K[samples].sum(axis=0), atol=1e-12
    )
    np.testing.assert_allclose(rows.block(samples), K[np.ix_(samples, samples)], atol=1e-14)
    np.testing.assert_allclose(rows.restricted(samples).matrix, rows.block(samples))
    stored = rows.stored()
    present = np.flatnonzero(stored.slot >= 0)
    assert present.size == rows.misses == len(rows.store.values)
    np.testing.assert_allclose(stored.values[stored.slot[present]], K[present], atol=1e-14)


@needs_compiled_code
def test_rows_go_on_coming_only_while_they_help():
    _, rows = on_demand_rows(1000, 10)
    assert not rows.always
    rows.store.count[:] = 16
    assert rows.go_on(0.5)
    assert rows.store.count[rows_module.ALLOWED] == 32
    assert not rows.go_on(0.4)  # it got worse
    rows.progress = 0.0
    assert not rows.go_on(0.05)  # at this pace too many are needed
    _, rows = on_demand_rows(1000, 3)
    rows.store.count[:] = 16
    assert rows.go_on(-1.0)  # of few features they cost next to nothing
    rows.store.count[:] = rows.most
    assert not rows.go_on(1.0)


@needs_compiled_code
def test_rows_keep_to_their_memory():
    X = np.random.default_rng(0).normal(size=(1000, 3))
    gram = Gaussian(0.3).bind(X)
    rows = OnDemandRows.of(gram, 100 * 8000, True)
    assert len(rows.store.values) == 100
    problem = hinge(np.where(X[:, 0] > 0, 1.0, -1.0), 1.0).problem
    for rows, on_demand in ((100, True), (costs.FIRST_ON_DEMAND, False)):
        found = solve(problem, gram, driver="full", cache_bytes=rows * 8000)
        assert found.plan.on_demand == on_demand


@needs_compiled_code
@pytest.mark.parametrize(("data", "blocks"), [(easy, False), (noisy, True)])
def test_blocks_take_over_if_the_matrix_does_not_fit(data, blocks, monkeypatch):
    monkeypatch.setattr(costs, "LARGEST_FULL", 500)
    runs = []
    monkeypatch.setattr(optimise, "BlockRun", lambda *args: runs.append(args) or block_run(*args))
    X, y = data()
    gram = Gaussian(0.1).bind(X)
    solution = solve(hinge(y, 1.0).problem, gram)
    assert bool(runs) == blocks
    assert solution.status == "converged"
    full = solve(hinge(y, 1.0).problem, gram.matrix(), driver="full")
    np.testing.assert_allclose(solution.dual, full.dual, rtol=1e-5)


block_run = optimise.BlockRun


@needs_compiled_code
def test_the_certificate_is_right_whatever_rows_there_were():
    X, y = make_moons(1000, noise=0.2, random_state=0)
    model = SVC(C=10.0, gamma=2.0).fit(X, y)
    assert model.solution_.kernel_evaluations < 0.4 * 1000**2
    coef = np.zeros(1000)
    coef[model.support_] = model.dual_coef_[0]
    primal = naive.hinge_primal(
        Gaussian(2.0)(X), 2.0 * y - 1.0, np.full(1000, 10.0), coef, model.intercept_[0]
    )
    np.testing.assert_allclose(model.certificate_.primal, primal, rtol=1e-10)


@needs_compiled_code
def test_time_that_runs_out_before_the_matrix_is_there_leaves_a_feasible_point():
    X, y = noisy(2000)
    solution = solve(hinge(y, 1.0).problem, Gaussian(0.1).bind(X), max_seconds=1e-9)
    assert solution.status == "time_limit"
    assert abs(solution.alpha.sum()) < 1e-9
