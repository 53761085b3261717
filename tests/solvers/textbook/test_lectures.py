"""Projections, candidate sets and whole gradients of the lectures."""

import numpy as np
import pytest

from maxmargin.dual import epsilon_svr, hinge, nu_svc, squared_hinge
from maxmargin.solvers import chunking, projected_gradient, solve
from maxmargin.solvers.textbook.lectures import _excess, _in_use, _restricted, project

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(24, 2))
Y = np.where(X[:, 0] + 0.5 * RANDOM.normal(size=24) > 0, 1.0, -1.0)
K = X @ X.T + 0.2 * np.eye(24)


def problems():
    return {
        "hinge": hinge(Y, RANDOM.uniform(0.5, 2.0, 24)).problem,
        "squared_hinge": squared_hinge(Y, 1.0).problem,  # without upper bounds
        "nu_svc": nu_svc(Y, 0.4).problem,  # two sums
        "epsilon_svr": epsilon_svr(X[:, 1], 0.8, 0.1).problem,
    }


NAMES = pytest.mark.parametrize("name", ["hinge", "squared_hinge", "nu_svc", "epsilon_svr"])


@NAMES
@pytest.mark.parametrize("size", [0.01, 1.0, 1e3])
def test_a_projection_is_the_nearest_feasible_point(name, size):
    problem = problems()[name]
    point = size * np.random.default_rng(1).normal(size=problem.size)
    found = project(problem, point)
    assert (found >= problem.lower).all()
    assert (found <= problem.upper).all()
    sums = np.bincount(problem.group, found, minlength=problem.totals.size)
    np.testing.assert_allclose(sums, problem.totals, atol=1e-12 * max(1.0, size) * problem.size)
    # No pair of a group can come nearer: those that may fall are not farther below their points
    # than those that may rise.
    move = point - found
    for g in range(problem.totals.size):
        own = problem.group == g
        rise, fall = own & (found < problem.upper), own & (found > problem.lower)
        assert move[rise].max(initial=-np.inf) <= move[fall].min(initial=np.inf) + 1e-10 * size
    np.testing.assert_allclose(project(problem, found), found, atol=1e-12 * max(1.0, size))


@NAMES
def test_both_reach_the_optimum(name):
    problem = problems()[name]
    best = solve(problem, K, tol=1e-8)
    for found in (
        chunking(problem, K, chunk=5, tol=1e-4),
        projected_gradient(problem, K, tol=1e-4),
    ):
        assert found.status == "converged"
        assert found.violation <= 1e-4
        assert found.dual == pytest.approx(best.dual, rel=1e-4)
        gradient = problem.gradient(found.alpha, K @ problem.per_sample(found.alpha))
        np.testing.assert_allclose(found.gradient, gradient, atol=1e-9)
        assert found.dual == pytest.approx(problem.value(found.alpha, gradient))
        np.testing.assert_allclose(found.bias, problem.bias(found.alpha, gradient), atol=1e-8)


def test_limits_are_kept_to_the_round():
    problem = problems()["hinge"]
    for solver, name in ((chunking, "max_rounds"), (projected_gradient, "max_steps")):
        extra = {"chunk": 2} if solver is chunking else {}
        whole = solver(problem, K, tol=1e-6, **extra)
        assert whole.steps > 3
        short = solver(problem, K, tol=1e-6, **{name: 2}, **extra)
        assert (short.status, short.steps) == ("step_limit", 2)
        enough = solver(problem, K, tol=1e-6, **{name: whole.steps + 1}, **extra)
        assert (enough.status, enough.steps) == ("converged", whole.steps)
    with pytest.raises(ValueError, match="chunk must be at least 2, got 1"):
        chunking(problem, K, chunk=1)


def test_kernel_values_of_candidates_are_counted():
    problem = problems()["hinge"]
    assert projected_gradient(problem, K).kernel_evaluations == 24**2
    # All samples at once: the gradient, the block and the gradient again.
    assert chunking(problem, K, chunk=24).kernel_evaluations == 3 * 24**2


def test_first_candidates_depend_on_the_seed_alone():
    problem = problems()["hinge"]
    runs = [
        chunking(problem, K, chunk=4, max_rounds=1, **seed).alpha.tolist()
        for seed in ({}, {"random_state": 0}, {"random_state": 1})
    ]
    assert runs[0] == runs[1] != runs[2]
    assert 2 <= np.count_nonzero(runs[0]) <= 4


@NAMES
def test_the_problem_of_some_samples_is_the_whole_with_the_others_fixed(name):
    problem = problems()[name]
    alpha = project(problem, 0.3 * np.random.default_rng(2).normal(size=problem.size))
    gradient = problem.gradient(alpha, K @ problem.per_sample(alpha))
    chosen = np.array([3, 4, 11, 17])
    variables = (np.arange(problem.copies)[:, None] * 24 + chosen).ravel()
    part = _restricted(problem, alpha, gradient, variables, K[np.ix_(chosen, chosen)])
    own = alpha[variables]
    block = K[np.ix_(chosen, chosen)]
    np.testing.assert_allclose(
        part.gradient(own, block @ part.per_sample(own)), gradient[variables], atol=1e-12
    )
    sums = np.bincount(part.group, own, minlength=part.totals.size)
    np.testing.assert_allclose(part.totals, sums, atol=1e-9)
    for field in ("lower", "upper", "ridge", "group"):
        np.testing.assert_array_equal(getattr(part, field), getattr(problem, field)[variables])


@NAMES
def test_the_excess_of_a_sample_is_that_of_its_worst_variable(name):
    problem = problems()[name]
    alpha = project(problem, 0.3 * np.random.default_rng(3).normal(size=problem.size))
    gradient = problem.gradient(alpha, K @ problem.per_sample(alpha))
    bias = problem.bias(alpha, gradient)
    worst = np.zeros(24)
    for a in range(problem.size):
        beyond = gradient[a] - bias[problem.group[a]]
        if (beyond > 0 and alpha[a] < problem.upper[a]) or (
            beyond < 0 and alpha[a] > problem.lower[a]
        ):
            worst[a % 24] = max(worst[a % 24], abs(beyond))
    np.testing.assert_allclose(_excess(problem, alpha, gradient), worst)
    used = {a % 24 for a in range(problem.size) if alpha[a]}
    assert _in_use(problem, alpha).tolist() == sorted(used)
