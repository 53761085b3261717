"""Rows of the Gram matrix: how many are computed, how often, and in how much memory."""

import numpy as np
import pytest

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian, Gram
from maxmargin.solvers import costs
from maxmargin.solvers.drivers import full as pairs


@pytest.fixture(scope="module")
def cloud():
    """Inputs and labels of two overlapping classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)


@pytest.fixture(scope="module")
def crawling():
    """A problem on which pair steps alone take millions of steps, and its Gram matrix."""
    X, y = chess_board(600, random_state=0)
    return hinge(y, 1e6).problem, Gaussian(0.5).bind(X)


class CountingGram(Gram):
    """Counts the entries of the blocks it is asked for."""

    entries = 0

    def _block(self, left, right, out):
        self.entries += out.size
        super()._block(left, right, out)


def test_the_whole_matrix_is_computed_once(cloud, monkeypatch):
    monkeypatch.setattr(costs, "ON_DEMAND_SAMPLES_IF_CHEAP", np.inf)
    X, y = cloud
    solution = solve(hinge(y, 10.0).problem, Gaussian(1.0).bind(X), driver="full")
    assert solution.kernel_evaluations == y.size**2
    assert solution.row_misses == 0
    assert solution.row_hits == 2 * solution.steps


def test_a_matrix_given_costs_no_evaluations(cloud):
    X, y = cloud
    solution = solve(hinge(y, 10.0).problem, Gaussian(1.0)(X))
    assert solution.kernel_evaluations == 0


@pytest.mark.parametrize("budget", [0, 1 << 16, 1 << 30])
@pytest.mark.parametrize("face", [True, False])
def test_rows_count_every_kernel_evaluation(cloud, budget, face):
    X, y = cloud
    gram = CountingGram(Gaussian(1.0), X)
    solution = solve(
        hinge(y, 10.0).problem, gram, driver="rows", cache_bytes=budget, face=face, max_steps=20_000
    )
    assert solution.kernel_evaluations == gram.entries
    assert solution.row_hits + solution.row_misses == 2 * solution.steps


def test_with_memory_for_all_rows_each_is_computed_once(cloud):
    X, y = cloud
    solution = solve(
        hinge(y, 10.0).problem, Gaussian(1.0).bind(X), driver="rows", shrinking=False, face=False
    )
    assert solution.row_misses <= y.size
    assert solution.kernel_evaluations == solution.row_misses * y.size


def test_a_smaller_cache_misses_more(cloud):
    X, y = cloud
    misses = [
        solve(
            hinge(y, 10.0).problem,
            Gaussian(1.0).bind(X),
            driver="rows",
            cache_bytes=rows * y.size * 8,
            face=False,
            shrinking=False,
        ).row_misses
        for rows in (4, 30, 300)
    ]
    assert misses[0] > 1.2 * misses[1] > 1.2 * 1.2 * misses[2]


@pytest.mark.parametrize("rows", [4, 50, 1000])
def test_cached_rows_keep_to_their_budget(crawling, monkeypatch, rows):
    budget, sizes = rows * 600 * 8, []

    class Watched(pairs.CachedRows):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            sizes.append(self.store.values.nbytes)

    monkeypatch.setattr(pairs, "CachedRows", Watched)
    monkeypatch.setattr("maxmargin.solvers.rows.lru.CachedRows", Watched)
    solve(*crawling, driver="rows", cache_bytes=budget, face=False, max_steps=5000)
    assert len(sizes) > 1  # shrinking makes another cache
    assert max(sizes) <= budget
