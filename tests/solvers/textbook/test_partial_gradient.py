"""A partial gradient step ends at the best point of its direction, or at a bound."""

import sys

import naive
import numpy as np
import pytest

from maxmargin.dual import hinge, nu_svc, squared_hinge
from maxmargin.solvers.smo.state import STEP_KINDS
from maxmargin.solvers.textbook import partial_gradient
from maxmargin.solvers.textbook.partial_gradient import _chosen, _longest, _restricted
from maxmargin.solvers.textbook.record import Recorder

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(16, 2))
Y = np.where(X[:, 0] + 0.5 * RANDOM.normal(size=16) > 0, 1.0, -1.0)
K = X @ X.T + 0.3 * np.eye(16)


@pytest.fixture(autouse=True)
def little_patience(monkeypatch):
    monkeypatch.setattr(sys.modules[partial_gradient.__module__], "PATIENCE", 300)


@pytest.mark.parametrize(
    "make", [lambda: hinge(Y, 0.4), lambda: squared_hinge(Y, 1.0), lambda: nu_svc(Y, 0.5)]
)
@pytest.mark.parametrize("sets", ["violating", "random"])
def test_steps_end_at_the_best_point_of_their_direction_or_at_a_bound(make, sets):
    problem = make().problem
    found = partial_gradient(problem, K, sets=sets, size=6, max_steps=25, trace="alpha")
    trace, Q = found.trace, K + np.diag(problem.ridge)
    assert found.steps == len(trace) > 3
    for k in range(len(trace)):
        before, after = trace.alpha[k], trace.alpha[k + 1]
        direction = after - before
        assert np.count_nonzero(direction) <= 6
        slope = (problem.linear - Q @ after) @ direction
        scale = (problem.linear - Q @ before) @ direction
        sums = np.bincount(problem.group, direction)
        np.testing.assert_allclose(sums, 0.0, atol=1e-9)
        assert scale > 0
        moved = direction != 0
        ends = np.where(direction > 0, problem.upper, problem.lower)[moved]
        at_end = np.abs(after[moved] - ends).min() < 1e-12
        assert slope > -1e-6 * scale
        if STEP_KINDS[trace.kind[k]] == "clipped":
            assert at_end
        else:
            assert abs(slope) < 1e-6 * scale


def test_the_most_violating_variables_are_taken_from_both_ends():
    run = Recorder(hinge(Y, 1.0).problem, K)
    run.gradient = np.random.default_rng(1).normal(size=16)
    # At α = 0 the positive may rise, the negative fall.
    rising = sorted(np.flatnonzero(Y > 0), key=lambda a: -run.gradient[a])[:3]
    falling = sorted(np.flatnonzero(Y < 0), key=lambda a: run.gradient[a])[:3]
    for size in (6, 7):
        found = _chosen(run, "violating", size, np.random.default_rng(0))
        assert found.tolist() == sorted(rising + falling)
    drawn = _chosen(run, "random", 6, np.random.default_rng(0))
    assert (np.diff(drawn) > 0).all()
    assert drawn.size == 6
    assert _chosen(run, "random", 99, np.random.default_rng(0)).tolist() == list(range(16))


@pytest.mark.parametrize(("sets", "size"), [("violating", 2), ("violating", 5), ("random", 5)])
def test_machines_with_two_sums_reach_their_optimum(sets, size):
    """A random set may miss one of the sums, and the extreme gradients may belong to different
    ones, so that they cannot be exchanged."""
    problem = nu_svc(Y, 0.5).problem
    found = partial_gradient(problem, K, sets=sets, size=size, tol=1e-4)
    if sets == "violating":
        assert (found.status, found.violation <= 1e-4) == ("converged", True)
    assert found.dual == pytest.approx(naive.solve_dual(problem, K).value, rel=1e-6)


def test_variables_that_stay_leave_their_sum_to_the_others():
    problem = nu_svc(Y, 0.5).problem
    alpha, chosen = problem.feasible(), np.array([2, 5, 7, 9])
    part = _restricted(problem, alpha, chosen)
    sums = np.bincount(part.group, alpha[chosen], minlength=2)
    np.testing.assert_allclose(part.totals, sums)
    np.testing.assert_array_equal(part.upper, problem.upper[chosen])
    np.testing.assert_array_equal(part.lower, problem.lower[chosen])


def test_the_longest_step_is_that_of_the_first_bound():
    part = _restricted(hinge(Y, 1.0).problem, np.zeros(16), np.flatnonzero(Y > 0)[:3])
    alpha = np.array([0.2, 0.6, 0.5])
    assert _longest(part, alpha, np.array([0.4, -0.2, 0.0])) == pytest.approx(2.0)
    assert _longest(part, alpha, np.array([0.1, -0.2, 0.0])) == pytest.approx(3.0)
    assert _longest(part, alpha, np.zeros(3)) == np.inf


def test_given_sets_are_used_in_turn():
    sets = [np.arange(16), np.arange(8, 16)]
    problem = hinge(Y, 1.0).problem
    moves = np.diff(
        partial_gradient(problem, K, sets=sets, max_steps=4, trace="alpha").trace.alpha, axis=0
    )
    assert moves[0][:8].any()
    assert moves[2][:8].any()
    assert not moves[1][:8].any()
    assert not moves[3][:8].any()


def test_a_limit_of_steps_and_the_seed_are_kept():
    problem = hinge(Y, 1.0).problem
    runs = [
        partial_gradient(problem, K, sets="random", size=4, max_steps=5, **seed)
        for seed in ({}, {"random_state": 0}, {"random_state": 1})
    ]
    assert [(run.status, run.steps) for run in runs] == [("step_limit", 5)] * 3
    assert runs[0].alpha.tolist() == runs[1].alpha.tolist() != runs[2].alpha.tolist()
    assert runs[0].trace is None
