"""The driver `blocks`: small blocks of random problems, settling, returning, and its rows."""

from types import SimpleNamespace

import numpy as np
import pytest
from checks import assert_feasible, assert_optimal
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from strategies import BOUNDED, cases, gram_of

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import certify, hinge
from maxmargin.kernels import Gaussian
from maxmargin.runtime import parallel as threads
from maxmargin.runtime.parallel import single_threaded_blas
from maxmargin.solvers import costs
from maxmargin.solvers.drivers import block_cache as longrows
from maxmargin.solvers.drivers.block_cache import BlockRowCache
from maxmargin.solvers.drivers.decomposition import BlockRun
from maxmargin.solvers.drivers.shards import Samples
from maxmargin.solvers.plan import Plan


@pytest.mark.parametrize("kind", BOUNDED)
@settings(max_examples=40)
@given(data=st.data())
def test_blocks_of_any_size_reach_the_optimum_of_an_independent_solver(kind, data):
    case = data.draw(cases(kind))
    with pytest.MonkeyPatch.context() as patch:
        size = data.draw(st.sampled_from([2, 4, 8]))
        patch.setattr(costs, "SMALL_BLOCK", size)
        patch.setattr(costs, "LARGE_BLOCK", size * data.draw(st.sampled_from([1, 6])))
        # With 0 no kernel values are cheap.
        patch.setattr(costs, "CHEAP_FEATURES", data.draw(st.sampled_from([0, 1 << 30])))
        solution = solve(
            case.problem,
            gram_of(case.K),
            driver="blocks",
            tol=1e-7,
            cache_bytes=data.draw(st.sampled_from([0, 1 << 20, np.inf])),
            shrinking=data.draw(st.booleans()),
            planning=data.draw(st.sampled_from([0, 2])),
        )
    assert_feasible(solution.alpha, case.problem)
    assert_optimal(solution, case)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_blocks_and_full_agree_on_a_few_thousand_samples(dtype):
    X, y = chess_board(3000, noise=0.1, random_state=0)
    machine, gram = hinge(y, 10.0), Gaussian(2.0).bind(X, dtype)
    found = {driver: solve(machine.problem, gram, driver=driver) for driver in ("blocks", "full")}
    exact = Gaussian(2.0).bind(X)
    for solution in found.values():
        assert solution.status == "converged"
        assert certify(machine.problem, solution.alpha, exact, solution.bias).violation < 1.5e-3
    assert found["blocks"].dual == pytest.approx(found["full"].dual, rel=1e-6)


def test_samples_that_settled_too_early_return():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = np.where(np.hypot(*X.T) < 1.2, 1.0, -1.0)
    machine = hinge(y, 100.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "SMALL_BLOCK", 64)
        patch.setattr(costs, "LEAST_SETTLED", 0.01)
        solution = solve(machine.problem, Gaussian(1.0).bind(X), driver="blocks", cache_bytes=0)
    K = rbf_kernel(X, gamma=1.0)
    gradient = machine.problem.gradient(solution.alpha, K @ solution.alpha)
    assert machine.problem.violation(solution.alpha, gradient) < 1e-3
    assert solution.gradient == pytest.approx(gradient, abs=1e-8)


@settings(max_examples=50)
@given(data=st.data())
def test_long_rows_are_the_rows_of_the_matrix_through_any_history(data):
    n, block = 12, 4
    K = rbf_kernel(np.random.default_rng(0).normal(size=(n, 2)))
    K = 0.5 * (K + K.T)
    rows = BlockRowCache(
        gram_of(K), data.draw(st.sampled_from([0, 8 * n * 7, 1 << 20])), block, lambda: None
    )
    columns = np.arange(n)
    for _ in range(data.draw(st.integers(1, 12))):
        if columns.size > 4 and data.draw(st.booleans()):
            keep = data.draw(st.sets(st.integers(0, columns.size - 1), min_size=3))
            keep = np.array(sorted(keep))
            rows.restrict(keep)
            columns = columns[keep]
        few = data.draw(st.sets(st.integers(0, columns.size - 1), min_size=1, max_size=block))
        few = np.array(sorted(few))
        rows.ensure(few)
        expected = K[np.ix_(columns[few], columns)]
        assert (rows.values[rows.slot[few]] == expected).all()
        weights = np.arange(1.0, few.size + 1.0)
        assert rows.combine(few, weights) == pytest.approx(weights @ expected)


@settings(max_examples=100)
@given(data=st.data())
def test_rows_are_packed_in_place_by_any_number_of_threads(data):
    width, rows = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 40))
    slots = sorted(data.draw(st.sets(st.integers(0, rows - 1), min_size=1)))
    keep = sorted(data.draw(st.sets(st.integers(0, width - 1), min_size=1)))
    memory = np.random.default_rng(0).random(rows * width)
    expected = memory.reshape(rows, width)[np.ix_(slots, keep)]
    with pytest.MonkeyPatch.context() as patch, single_threaded_blas(3):
        patch.setattr(threads, "WORTH_A_THREAD", 1)
        longrows.pack_rows(memory, width, np.array(slots), np.array(keep))
    np.testing.assert_array_equal(memory[: expected.size].reshape(expected.shape), expected)


@pytest.mark.parametrize("kind", ["expensive", "cheap", "tiled"])
@settings(max_examples=50)
@given(data=st.data())
def test_blocks_are_blocks_of_the_matrix_through_any_history(kind, data):
    n = 16
    gram = Gaussian(1.0).bind(np.random.default_rng(0).normal(size=(n, 2)))
    K = gram.matrix()
    if kind != "tiled":
        gram = gram_of(K)
    assert gram.tiled == (kind == "tiled")
    problem = hinge(np.where(np.arange(n) % 2, 1.0, -1.0), 1.0).problem
    budget = data.draw(st.sampled_from([0, 8 * n * 9, 1 << 20]))
    features = 0 if kind == "expensive" else 2
    plan = Plan(
        n, "blocks", "float64", block=6, row_bytes=budget, features=features, recompute=features > 0
    )
    all_samples = Samples(problem, gram, np.zeros(n), plan, lambda: None)
    present = np.arange(n)
    for _ in range(data.draw(st.integers(1, 10))):
        if data.draw(st.integers(0, 4)) == 4 and present.size > 6:
            keep = sorted(data.draw(st.sets(st.integers(0, present.size - 1), min_size=6)))
            all_samples.rows.restrict(np.array(keep))
            all_samples.live = all_samples.live.part(np.array(keep), all_samples.rows)
            present = present[keep]
        chosen = data.draw(st.sets(st.sampled_from(list(present)), min_size=1, max_size=6))
        chosen = np.array(sorted(chosen))
        part = all_samples.block(chosen)
        np.testing.assert_array_equal(part.rows.matrix, K[np.ix_(chosen, chosen)])
        for k in range(chosen.size):
            if data.draw(st.booleans()):
                bound = problem.lower[chosen[k]] + problem.upper[chosen[k]]
                part.v.alpha[k] = bound * data.draw(st.sampled_from([0.0, 0.5, 1.0]))
        all_samples.apply(part)
        all_samples.live.write(all_samples.alpha, all_samples.gradient)
        expected = problem.gradient(all_samples.alpha, K @ all_samples.alpha)
        assert all_samples.gradient[present] == pytest.approx(expected[present], abs=1e-12)


@pytest.mark.parametrize("few", [0, 1 << 30], ids=["expensive", "cheap"])
def test_rows_are_computed_for_samples_that_move(few, monkeypatch):
    X, y = chess_board(1500, noise=0.1, random_state=0)
    in_blocks, block = set(), Samples.block

    def noted(all_samples, samples):
        in_blocks.update(samples.tolist())
        return block(all_samples, samples)

    monkeypatch.setattr(Samples, "block", noted)
    monkeypatch.setattr(costs, "SMALL_BLOCK", 256)
    monkeypatch.setattr(costs, "CHEAP_FEATURES", few)
    solution = solve(hinge(y, 10.0).problem, Gaussian(2.0).bind(X), driver="blocks")
    support = np.count_nonzero(solution.alpha)
    assert support <= solution.row_misses < 0.9 * len(in_blocks)


def test_blocks_that_grow_with_the_free_variables_stay_within_the_memory(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = np.where(rng.random(400) < 0.5, 1.0, -1.0)
    monkeypatch.setattr(costs, "SMALL_BLOCK", 16)
    problem, gram = hinge(y, 100.0).problem, Gaussian(0.2).bind(X)
    solution = solve(problem, gram, driver="blocks", cache_bytes=0, face=False)
    assert np.count_nonzero((solution.alpha != 0) & (abs(solution.alpha) < 100.0)) > 3 * 16
    assert solution.status == "converged"
    assert solution.dual == pytest.approx(solve(problem, gram, driver="full").dual, rel=1e-6)


@pytest.mark.parametrize(("features", "batches"), [(36, 3), (136, 5), (10_000, 10), (0, 1)])
def test_there_is_a_pause_after_so_many_products(features, batches, monkeypatch):
    n, pauses = 40, []
    # Four rows of 100 products an entry, each of which counts twice in float64.
    monkeypatch.setattr(longrows, "BATCH_PRODUCTS", 2.0 * 4 * n * 100)
    rows = BlockRowCache(
        gram_of(np.eye(n)), 1 << 20, 10, lambda: pauses.append(1), features=features
    )
    rows.ensure(np.arange(10))
    assert len(pauses) == batches
    np.testing.assert_array_equal(rows.values[rows.slot[:10]], np.eye(n)[:10])


def test_protected_and_recently_used_rows_are_overwritten_last():
    n = 40
    K = np.arange(n * n, dtype=float).reshape(n, n)
    rows = BlockRowCache(gram_of(K + K.T), 8 * n * 12, 4, lambda: None)
    protected = np.zeros(n, dtype=bool)
    protected[:4] = True
    for first in range(0, n, 4):
        rows.ensure(np.arange(first, first + 4), protected)
    kept = np.flatnonzero(rows.slot >= 0)
    assert kept.tolist() == [*range(4), *range(n - 8, n)]
    rows.ensure(np.array([n - 8, 20]), protected)
    rows.ensure(np.arange(10, 14), protected)
    assert (rows.slot[[0, 1, 2, 3, n - 8, 20]] >= 0).all()
    assert rows.misses == n + 1 + 4


def test_a_run_without_gains_refreshes_gradients_once_then_stops_polishing_then_ends():
    refreshed = []
    run = SimpleNamespace(stagnant=True, refreshes=0, goal=1e-6)
    run.stagnation = SimpleNamespace(idle=3)
    run.settings = SimpleNamespace(tol=1e-3)
    run.all_samples = SimpleNamespace(refresh=lambda: refreshed.append(run.goal))
    assert [BlockRun._stalled(run) for _ in range(3)] == [None, None, "precision"]
    assert refreshed == [1e-6]
    assert run.goal == 1e-3
    assert (run.stagnant, run.stagnation.idle) == (False, 0)


@pytest.mark.parametrize(("free", "polishes"), [(10, True), (11, False)])
def test_the_exact_optimum_needs_a_block_of_twice_the_free_variables(free, polishes):
    live = SimpleNamespace(size=100, free=lambda: np.arange(free))
    run = SimpleNamespace(polish_rounds=None, can_polish=lambda: True, size=8, largest=20)
    run.settings, run.all_samples = SimpleNamespace(tol=1e-3), SimpleNamespace(live=live)
    assert BlockRun._polish(run) == polishes
    assert run.size == (20 if polishes else 8)
