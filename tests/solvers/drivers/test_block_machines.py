"""The driver `blocks` on all machines, kernels and budgets, with small blocks."""

import numpy as np
import pytest

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import certify, epsilon_svr, hinge, nu_svc, squared_hinge
from maxmargin.kernels import Gaussian, Linear, Normalised, Precomputed
from maxmargin.solvers import costs

X, Y = chess_board(900, noise=0.1, random_state=0)
TARGET = np.sin(3.0 * X[:, 0]) + 0.3 * np.random.default_rng(0).normal(size=900)
PROBLEMS = {
    "hinge": hinge(Y, 10.0).problem,
    "squared_hinge": squared_hinge(Y, 10.0).problem,
    "epsilon_svr": epsilon_svr(TARGET, 1.0, 0.1).problem,
    "nu_svc": nu_svc(Y, 0.3).problem,
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(costs, "SMALL_BLOCK", 64)


def assert_gradient_is_exact(found, problem, gram):
    pull = gram.matrix() @ problem.per_sample(found.alpha)
    assert found.gradient == pytest.approx(problem.gradient(found.alpha, pull), abs=1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("cache_bytes", [0, 1 << 30])
@pytest.mark.parametrize("cheap", [0, 1 << 30], ids=["expensive", "cheap"])
def test_blocks_lead_to_the_optimum_of_the_whole_matrix(name, cache_bytes, cheap, monkeypatch):
    monkeypatch.setattr(costs, "CHEAP_FEATURES", cheap)
    problem, gram = PROBLEMS[name], Gaussian(2.0).bind(X)
    found = solve(problem, gram, driver="blocks", tol=1e-6, cache_bytes=cache_bytes)
    expected = solve(problem, gram, driver="full", tol=1e-6)
    assert found.status == expected.status == "converged"
    assert found.dual == pytest.approx(expected.dual, rel=1e-9)
    assert_gradient_is_exact(found, problem, gram)
    assert certify(problem, found.alpha, gram, found.bias).violation < 1.1e-6


@pytest.mark.parametrize(
    "gram",
    [
        (Linear() + Gaussian(2.0)).bind(X),
        (2.0 * Gaussian(2.0)).bind(X),
        Normalised(Gaussian(1.0) + Linear()).bind(X),
        Precomputed().bind(Gaussian(2.0)(X)),
    ],
    ids=["sum", "multiple", "normalised", "precomputed"],
)
def test_blocks_serve_every_kind_of_kernel(gram):
    duals = [
        solve(PROBLEMS["hinge"], gram, driver=driver, tol=1e-6).dual
        for driver in ("blocks", "full")
    ]
    assert duals[0] == pytest.approx(duals[1], rel=1e-9)


@pytest.mark.parametrize("name", ["hinge", "epsilon_svr", "nu_svc"])
@pytest.mark.parametrize("cache_bytes", [0, 1 << 30])
def test_a_run_that_ends_early_knows_every_gradient(name, cache_bytes):
    problem, gram = PROBLEMS[name], Gaussian(2.0).bind(X)
    found = solve(problem, gram, driver="blocks", max_steps=20, cache_bytes=cache_bytes)
    assert found.status == "step_limit"
    assert found.alpha.any()
    assert_gradient_is_exact(found, problem, gram)


@pytest.mark.parametrize("cache_bytes", [0, 1 << 30])
def test_a_run_from_a_given_point_begins_with_its_gradient(cache_bytes):
    problem, gram = PROBLEMS["hinge"], Gaussian(2.0).bind(X)
    begun = solve(problem, gram, driver="blocks", max_steps=300).alpha
    found = solve(problem, gram, driver="blocks", alpha=begun, max_steps=0, cache_bytes=cache_bytes)
    assert found.alpha == pytest.approx(begun, abs=0.0)
    assert_gradient_is_exact(found, problem, gram)
