"""Samples that come in stages: rows are completed, not computed again, and nothing else changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from strategies import gram_of

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import certify, epsilon_svr, hinge, nu_svc, squared_hinge
from maxmargin.kernels import Gaussian, Gram, Linear, Normalised, Precomputed
from maxmargin.solvers import costs
from maxmargin.solvers.drivers import block_cache as longrows
from maxmargin.solvers.drivers.block_cache import BlockRowCache
from maxmargin.solvers.drivers.shards import Samples
from maxmargin.solvers.plan import Plan
from maxmargin.solvers.rows.permuted import Arrangement


@pytest.fixture
def small_stages(monkeypatch):
    """Several stages from 60 samples on, and blocks of 64."""
    monkeypatch.setattr(costs, "SMALLEST_STAGE", 60)
    monkeypatch.setattr(costs, "STAGE_RATIO", 3)
    monkeypatch.setattr(costs, "SMALL_BLOCK", 64)


def some_matrix(n):
    K = rbf_kernel(np.random.default_rng(0).normal(size=(n, 2)))
    return 0.5 * (K + K.T)


def machines():
    X, y = chess_board(900, noise=0.1, random_state=0)
    target = np.sin(3.0 * X[:, 0]) + 0.3 * np.random.default_rng(0).normal(size=900)
    return X, {
        "hinge": hinge(y, 10.0),
        "squared_hinge": squared_hinge(y, 10.0),
        "epsilon_svr": epsilon_svr(target, 1.0, 0.1),
        "nu_svc": nu_svc(y, 0.3),
    }


@settings(max_examples=50)
@given(data=st.data())
def test_rows_completed_in_stages_are_the_rows_of_the_matrix(data):
    n, block = 40, 4
    K = some_matrix(n)
    rows = BlockRowCache(
        gram_of(K), data.draw(st.sampled_from([0, 1 << 20])), block, lambda: None, 6
    )
    for width in (6, 30, n):
        if width > rows.n:
            wanted = data.draw(st.sets(st.integers(0, rows.n - 1), min_size=1))
            wanted = np.array(sorted(wanted))
            there = wanted[rows.has(wanted)]
            before, evaluations = rows.n, rows.evaluations
            rows.widen(width, wanted)
            kept = np.flatnonzero(rows.slot >= 0)
            assert kept.size == min(there.size, len(rows.values))
            assert np.isin(kept, there).all()
            assert rows.evaluations - evaluations == kept.size * (width - before)
            assert (rows.values[rows.slot[kept], :width] == K[kept, :width]).all()
            weights = np.arange(1.0, kept.size + 1.0)
            expected = weights @ K[kept, before:width]
            assert rows.combine(kept, weights, before) == pytest.approx(expected)
        for _ in range(data.draw(st.integers(0, 6))):
            few = data.draw(st.sets(st.integers(0, width - 1), min_size=1, max_size=block))
            few = np.array(sorted(few))
            rows.ensure(few)
            assert (rows.values[rows.slot[few], :width] == K[few, :width]).all()
    keep = np.arange(0, n, 2)
    cached = keep[rows.has(keep)]
    rows.restrict(keep)
    assert (rows.values[rows.slot[cached // 2]] == K[np.ix_(cached, keep)]).all()


def test_rows_that_a_pause_left_incomplete_are_forgotten(monkeypatch):
    n = 24
    K, calls = some_matrix(n), []

    def pause():
        calls.append(len(calls))
        if len(calls) == 3:
            raise TimeoutError

    rows = BlockRowCache(gram_of(K), 1 << 20, 4, pause, 12)
    monkeypatch.setattr(longrows, "BATCH_BYTES", 2 * 8 * 12)
    rows.ensure(np.arange(4))
    with pytest.raises(TimeoutError):
        rows.widen(n, np.arange(4))
    cached = np.flatnonzero(rows.slot >= 0)
    assert cached.size == 2
    assert rows.n == n
    assert (rows.values[rows.slot[cached]] == K[cached]).all()


@pytest.mark.parametrize("budget", [0, 8 * 48 * 20, 1 << 20])
@pytest.mark.parametrize("name", ["hinge", "epsilon_svr"])
def test_gradients_are_right_after_growing(budget, name):
    n, rng = 48, np.random.default_rng(0)
    K = some_matrix(n)
    labels = np.where(np.arange(n) % 2, 1.0, -1.0)
    machine = hinge(labels, 1.0) if name == "hinge" else epsilon_svr(labels, 1.0, 0.1)
    problem = machine.problem
    plan = Plan(n, "blocks", "float64", block=6, row_bytes=budget)
    all_samples = Samples(problem, gram_of(K), np.zeros(problem.size), plan, lambda: None, [12, 30])
    for size in (12, 30, 48):
        assert all_samples.live.size == size
        assert all_samples.complete == (size == n) != bool(all_samples.stages)
        for _ in range(4):
            part = all_samples.block(np.sort(rng.permutation(size)[:6]))
            part.v.alpha[:] = rng.uniform(part.v.lowest, part.v.highest)
            all_samples.apply(part)
        if size < n:
            all_samples.grow()
        all_samples.live.write(all_samples.alpha, all_samples.gradient)
        pull = K @ problem.per_sample(all_samples.alpha)
        expected = problem.gradient(all_samples.alpha, pull).reshape(-1, n)
        known = all_samples.live.size
        found = all_samples.gradient.reshape(-1, n)[:, :known]
        assert found == pytest.approx(expected[:, :known], abs=1e-12)


@pytest.mark.parametrize("batches", [0, 1, 2])
def test_gradients_are_right_where_growing_was_broken_off(batches, monkeypatch):
    n, rng = 48, np.random.default_rng(0)
    K, problem = some_matrix(n), hinge(np.where(np.arange(n) % 2, 1.0, -1.0), 1.0).problem
    plan = Plan(n, "blocks", "float64", block=6, row_bytes=1 << 20)
    all_samples = Samples(problem, gram_of(K), np.zeros(n), plan, lambda: None, [12, 30])
    part = all_samples.block(np.arange(6))
    part.v.alpha[:] = rng.uniform(part.v.lowest, part.v.highest)
    all_samples.apply(part)
    done = []

    def pause():
        done.append(1)
        if len(done) > batches:
            raise TimeoutError

    monkeypatch.setattr(longrows, "BATCH_BYTES", 2 * 8 * 18)
    all_samples.rows.pause = pause
    with pytest.raises(TimeoutError):
        all_samples.grow()
    all_samples.rows.pause = lambda: None
    all_samples.return_all()
    assert all_samples.complete
    assert not all_samples.stages
    all_samples.live.write(all_samples.alpha, all_samples.gradient)
    expected = problem.gradient(all_samples.alpha, K @ all_samples.alpha)
    assert all_samples.gradient == pytest.approx(expected, abs=1e-12)


@pytest.mark.usefixtures("small_stages")
@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "epsilon_svr", "nu_svc"])
@pytest.mark.parametrize("cache_bytes", [0, 1 << 30])
@pytest.mark.parametrize("cheap", [0, 1 << 30], ids=["expensive", "cheap"])
def test_stages_lead_to_the_optimum_of_the_whole_matrix(name, cache_bytes, cheap, monkeypatch):
    monkeypatch.setattr(costs, "CHEAP_FEATURES", cheap)
    X, known = machines()
    problem, gram = known[name].problem, Gaussian(2.0).bind(X)
    found = solve(problem, gram, driver="blocks", tol=1e-6, cache_bytes=cache_bytes)
    expected = solve(problem, gram, driver="full", tol=1e-6)
    assert found.status == expected.status == "converged"
    assert found.dual == pytest.approx(expected.dual, rel=1e-9)
    pull = gram.matrix() @ problem.per_sample(found.alpha)
    assert found.gradient == pytest.approx(problem.gradient(found.alpha, pull), abs=1e-9)
    assert certify(problem, found.alpha, gram, found.bias).violation < 1.1e-6


@pytest.mark.usefixtures("small_stages")
@pytest.mark.parametrize(
    "kernel", [Linear() + Gaussian(2.0), 2.0 * Gaussian(2.0), Normalised(Gaussian(1.0) + Linear())]
)
def test_stages_serve_composed_kernels(kernel):
    X, known = machines()
    assert_both_drivers_agree(known["hinge"].problem, kernel.bind(X))


@pytest.mark.usefixtures("small_stages")
def test_stages_serve_a_matrix_that_is_given():
    X, known = machines()
    assert_both_drivers_agree(known["hinge"].problem, Precomputed().bind(Gaussian(2.0)(X)))


def assert_both_drivers_agree(problem, gram):
    found, expected = (
        solve(problem, gram, driver=driver, tol=1e-6).dual for driver in ("blocks", "full")
    )
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.usefixtures("small_stages")
def test_a_run_that_ends_in_an_early_stage_knows_every_gradient():
    X, known = machines()
    problem, gram = known["hinge"].problem, Gaussian(2.0).bind(X)
    found = solve(problem, gram, driver="blocks", max_steps=20)
    assert found.status == "step_limit"
    expected = problem.gradient(found.alpha, gram.matrix() @ found.alpha)
    assert found.alpha.any()
    assert found.gradient == pytest.approx(expected, abs=1e-9)


@pytest.mark.usefixtures("small_stages")
def test_values_of_an_early_stage_are_not_computed_again(monkeypatch):
    X, known = machines()
    problem, gram = known["hinge"].problem, Gaussian(2.0).bind(X)
    kept = solve(problem, gram, driver="blocks").kernel_evaluations
    widen = BlockRowCache.widen
    monkeypatch.setattr(
        BlockRowCache, "widen", lambda rows, width, _: widen(rows, width, np.arange(0))
    )
    assert kept < 0.95 * solve(problem, gram, driver="blocks").kernel_evaluations


class Watched(Gram):
    """Counts the inputs that are taken out of those given."""

    taken = 0

    def _select(self, points, indices):
        selected = super()._select(points, indices)
        if points is self.X:
            self.taken += len(selected)
        return selected


def test_successive_columns_of_an_arrangement_are_not_copied():
    X, y = chess_board(40, random_state=0)
    gram, order = Watched(Gaussian(2.0), X), np.random.default_rng(0).permutation(40)
    arranged = Arrangement(hinge(y, 1.0).problem, gram, order).gram
    assert gram.taken == 40
    K, row = Gaussian(2.0)(X)[np.ix_(order, order)], np.array([3])
    for columns in (np.arange(10), np.arange(10, 25), np.arange(25), None):
        found = arranged.rows(row, columns)
        assert found == pytest.approx(K[np.ix_(row, np.arange(40) if columns is None else columns)])
    assert gram.taken == 40 + 4
