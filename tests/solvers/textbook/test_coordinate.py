"""Coordinate ascent takes the steps of a naive loop, one variable at a time."""

import numpy as np
import pytest

from maxmargin.dual import epsilon_svr, hinge, squared_hinge
from maxmargin.solvers.smo.state import STEP_KINDS
from maxmargin.solvers.textbook import coordinate_ascent

TOL = 1e-2
# Shorter steps only undo rounding.
ROUNDING = 1e-9


def machines():
    """A box, a ridge, and two variables of each sample; the Gram matrix."""
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 3))
    y = np.where(X[:, 0] + 0.5 * random.normal(size=12) > 0, 1.0, -1.0)
    made = hinge(y, 0.7), squared_hinge(y, 2.0), epsilon_svr(X[:, 1], 0.4, 0.1)
    return [machine.problem for machine in made], X @ X.T + 0.1


def naive(problem, K, order, rule):
    """(variable, new value, newton step, length) of each step."""
    Q = np.tile(K, (problem.copies, problem.copies)) + np.diag(problem.ridge)
    alpha, taken = np.zeros(problem.size), []

    def gain(k, a):
        moved = alpha.copy()
        moved[k] = a
        return sum(s * (problem.linear @ v - 0.5 * v @ Q @ v) for s, v in ((1, moved), (-1, alpha)))

    while True:
        before, met = alpha.copy(), []
        for k in range(problem.size):
            newton = (problem.linear - Q @ alpha) / np.diag(Q)
            target = np.clip(alpha + newton, problem.lower, problem.upper)
            if order == "largest":
                k = int(np.argmax([gain(a, target[a]) for a in range(problem.size)]))
            outwards = newton[k] * ((problem.upper if newton[k] > 0 else problem.lower) - alpha)[k]
            met.append(newton[k] * Q[k, k] if outwards > 0 else 0.0)
            if met[-1] and abs(target[k] - alpha[k]) > ROUNDING:
                taken.append((k, target[k], newton[k], target[k] - alpha[k]))
            alpha[k] = target[k]
        change = alpha - before
        w = change.reshape(problem.copies, -1).sum(axis=0)
        holds = {
            "weights": np.sqrt(w @ K @ w) < TOL,
            "spread": max(met) - min(met) < TOL,
            "change": np.abs(change).max() <= TOL,
        }
        holds["both"] = holds["weights"] and holds["spread"]
        if holds[rule]:
            return taken


@pytest.mark.parametrize("order", ["cyclic", "largest"])
@pytest.mark.parametrize("rule", ["weights", "spread", "both", "change"])
def test_steps_and_their_number_are_those_of_a_naive_loop(order, rule):
    problems, K = machines()
    for problem in problems:
        found = coordinate_ascent(problem, K, order=order, rule=rule, tol=TOL, trace=True)
        variable, new, newton, length = (
            np.array(c) for c in zip(*naive(problem, K, order, rule), strict=True)
        )
        trace = found.trace
        before, after = trace.before[:, 0], trace.after[:, 0]
        real = np.abs(after - before) > ROUNDING
        assert trace.i[real].tolist() == variable.tolist()
        assert (trace.j == -1).all()
        np.testing.assert_allclose(after[real], new, atol=1e-11)
        np.testing.assert_allclose(before[real], new - length, atol=1e-11)
        np.testing.assert_allclose(trace.ratio[real], length / newton, rtol=1e-7)
        clipped = np.abs(length - newton) > ROUNDING
        assert (trace.kind[real] == STEP_KINDS.index("clipped")).tolist() == clipped.tolist()
        if not problem.ridge.any():
            assert 0 < clipped.sum() < clipped.size


def test_an_epoch_visits_each_variable_once_in_an_order_drawn_anew():
    # Every variable moves in every epoch: without bounds, and a little of each in each.
    n = 12
    problem, K = hinge(np.resize([1.0, -1.0], n), np.inf).problem, np.eye(n) + 0.01
    orders = [
        coordinate_ascent(
            problem, K, trace=True, max_steps=2 * n, tol=0, **options
        ).trace.i.tolist()
        for options in ({}, {"order": "permuted", "random_state": 0}, {"random_state": 1})
    ]
    assert orders[0] == orders[1] != orders[2]
    first, second = orders[0][:n], orders[0][n:]
    assert sorted(first) == list(range(n)) != first
    assert sorted(second) == list(range(n)) != second != first


def test_a_limit_of_steps_is_kept_to_the_step():
    problems, K = machines()
    found = coordinate_ascent(problems[0], K, tol=1e-9, max_steps=7)
    assert (found.status, found.steps) == ("step_limit", 7)
    assert found.trace is None
    assert found.violation > 1e-9


def test_without_curvature_a_variable_goes_to_its_bound_or_for_ever():
    y, K = np.array([1.0, -1.0]), np.zeros((2, 2))
    found = coordinate_ascent(hinge(y, 3.0).problem, K, trace=True)
    np.testing.assert_array_equal(found.alpha, [3.0, -3.0])
    assert found.trace.ratio.tolist() == [0.0, 0.0]
    assert coordinate_ascent(hinge(y, np.inf).problem, K).status == "unbounded"


def test_an_exact_optimum_satisfies_a_tolerance_of_zero():
    x = np.array([-1.0, 1.0])
    found = coordinate_ascent(hinge(x, 1.0).problem, np.outer(x, x), rule="change", tol=0.0)
    assert (found.status, found.violation) == ("converged", 0.0)
