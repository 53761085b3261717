"""Steps along a pair: the Newton step, its overstep, and the step planned ahead."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from maxmargin.dual import hinge
from maxmargin.solvers.smo.state import CLIPPED, FREE, PLANNED
from maxmargin.solvers.textbook import all_pairs, linear_smo, platt_smo, simplified_smo, smo
from maxmargin.solvers.textbook.pairs.selection import Past
from maxmargin.solvers.textbook.pairs.smo import planned_length, step_along
from maxmargin.solvers.textbook.record import Recorder

y = np.resize([1.0, -1.0], 8)


def begun(seed, C=50.0, n=8):
    """A state inside of a large box."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    run = Recorder(hinge(y[:n], C).problem, X @ X.T + 0.5 * np.eye(n))
    for j in range(1, n, 2):
        run.move_pair(j - 1, j, 5.0, FREE, 1.0)
    run.gradient = random.normal(size=n)
    return run


def gain_of_both(run, pair, following, length):
    """The gain of a step along the pair and the best step along the following one."""
    K, G = run.K.matrix, run.gradient
    v, w = (np.eye(len(G))[a] - np.eye(len(G))[b] for a, b in (pair, following))
    ahead = (w @ G - length * (w @ K @ v)) / (w @ K @ w)
    step = length * v + ahead * w
    return G @ step - 0.5 * step @ K @ step


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("following", [(2, 3), (0, 3), (4, 1)])
def test_a_planned_step_is_the_best_before_the_next_pair(seed, following):
    run = begun(seed)
    found = planned_length(run, (0, 1), following)
    best = minimize_scalar(lambda t: -gain_of_both(run, (0, 1), following, t)).x
    assert found == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("place", range(4))
def test_a_step_is_not_planned_if_either_ends_at_a_bound(place):
    run = begun(0)
    first = planned_length(run, (0, 1), (2, 3))
    assert first is not None
    turn = np.sign([first, -first])
    K, G = run.K.matrix, run.gradient
    w = np.array([0, 0, 1, -1, 0, 0, 0, 0.0])
    second = (w @ G - first * (w @ (K[0] - K[1]))) / (w @ K @ w)
    turn = np.append(turn, np.sign([second, -second]))[place]
    end = run.alpha[place] + [first, -first, second, -second][place]
    (run.problem.upper if turn > 0 else run.problem.lower)[place] = end
    assert planned_length(run, (0, 1), (2, 3)) is None
    (run.problem.upper if turn > 0 else run.problem.lower)[place] = end + 1e-9 * turn
    assert planned_length(run, (0, 1), (2, 3)) == first


def test_the_same_pair_cannot_be_planned_with():
    assert planned_length(begun(0), (0, 1), (0, 1)) is None
    assert planned_length(begun(0), (0, 1), (1, 0)) is None


@pytest.mark.parametrize(
    ("step", "kind", "planned"),
    [
        ("newton", FREE, False),
        ("plan_7_1", FREE, True),
        ("plan_7_1", CLIPPED, True),
        ("plan_7_1", PLANNED, False),
        ("plan_7_3", FREE, True),
        ("plan_7_3", CLIPPED, False),
        ("plan_7_3", PLANNED, False),
    ],
)
def test_a_step_is_planned_where_the_last_one_allows_it(step, kind, planned):
    run = begun(0)
    run.gradient[:2] = 1.0, -1.0
    K = run.K.matrix
    newton = 2.0 / (K[0, 0] + K[1, 1] - 2 * K[0, 1])
    found = step_along(run, (0, 1), Past([(4, 5), (2, 3)], kind, 1.0), step)
    expected = planned_length(run, (0, 1), (2, 3)) if planned else newton
    assert found[0] == (PLANNED if planned else FREE)
    assert found[1:] == pytest.approx((expected, newton))
    assert step_along(run, (0, 1), Past([], kind, 1.0), step)[0] == FREE


def test_steps_are_clipped_at_the_box_and_may_go_too_far():
    run = begun(0)
    run.gradient[:2] = 1.0, -1.0
    past = Past([], CLIPPED, 1.0)
    _, newton, _ = step_along(run, (0, 1), past, "newton")
    assert step_along(run, (0, 1), past, "newton", 1.5)[:2] == (FREE, pytest.approx(1.5 * newton))
    run.problem.upper[0] = run.alpha[0] + newton
    assert step_along(run, (0, 1), past, "newton") == (CLIPPED, pytest.approx(newton), newton)
    run.problem.upper[0] = run.alpha[0] + 0.5 * newton
    assert step_along(run, (0, 1), past, "newton")[1] == pytest.approx(0.5 * newton)
    flat = Recorder(hinge(y[:2], 3.0).problem, np.ones((2, 2)))
    assert step_along(flat, (0, 1), past, "newton") == (CLIPPED, 3.0, np.inf)


def solvers():
    X = np.random.default_rng(0).normal(size=(20, 2))
    labels = np.where(X[:, 0] + 0.3 * X[:, 1] ** 2 > 0, 1.0, -1.0)
    K, problem = X @ X.T + 0.1 * np.eye(20), hinge(labels, 5.0).problem
    return {
        "smo": lambda **options: smo(problem, K, **options),
        "all_pairs": lambda **options: all_pairs(problem, K, **options),
        "platt_smo": lambda **options: platt_smo(labels, K, 5.0, **options),
        "simplified_smo": lambda **options: simplified_smo(labels, K, 5.0, **options),
    }


@pytest.mark.parametrize("name", ["smo", "all_pairs", "platt_smo", "simplified_smo"])
def test_a_limit_of_steps_is_kept_to_the_step(name):
    solver = solvers()[name]
    whole = solver(tol=1e-3, trace=True)
    assert whole.status in ("converged", "stuck")
    short = solver(tol=1e-3, max_steps=5, trace=True)
    assert (short.status, short.steps, len(short.trace)) == ("step_limit", 5, 5)
    assert whole.steps > 5
    np.testing.assert_array_equal(short.trace.i, whole.trace.i[:5])
    assert solver(tol=1e-3).trace is None
    assert solver(tol=100.0).steps == 0


def test_platt_and_the_simplified_choices_depend_on_the_seed_alone():
    for name in ("platt_smo", "simplified_smo"):
        solver = solvers()[name]
        runs = [solver(trace=True, **seed).trace for seed in ({}, {"random_state": 0})]
        np.testing.assert_array_equal(runs[0].i, runs[1].i)
        other = solver(trace=True, random_state=1).trace
        assert len(other) != len(runs[0]) or (other.i != runs[0].i).any()


def test_smo_begins_where_it_is_told():
    solver = solvers()["smo"]
    whole = solver(tol=1e-6)
    again = solver(tol=1e-6, alpha=whole.alpha)
    assert (again.steps, again.status) == (0, "converged")


def test_the_longer_steps_of_an_overstep_are_told_in_units_of_newton_steps():
    trace = solvers()["smo"](overstep=1.2, trace=True).trace
    free = trace.kind == FREE
    np.testing.assert_allclose(trace.ratio[free], 1.2)
    assert (trace.ratio[trace.kind == CLIPPED] <= 1.2).all()


def test_weights_kept_step_by_step_take_the_steps_of_the_gradient():
    """The linear SMO of maintained weights against the mvp selection of `smo`."""
    X = np.random.default_rng(1).normal(size=(15, 2))
    labels = np.where(X[:, 0] > 0.2, 1.0, -1.0)
    problem, K = hinge(labels, 1.0).problem, X @ X.T
    plain = smo(problem, K, selection="mvp", tol=1e-3, trace="alpha")
    # Later on, rounding breaks ties between variables that a free step has made equal.
    for steps in range(1, 8):
        short = linear_smo(X, labels, 1.0, tol=1e-3, max_steps=steps)
        assert (short.status, short.steps) == ("step_limit", steps)
        np.testing.assert_allclose(short.alpha, plain.trace.alpha[steps], atol=1e-12)
        np.testing.assert_allclose(short.weights, short.alpha @ X, atol=1e-12)
        gradient = labels - K @ short.alpha
        assert short.violation == pytest.approx(problem.violation(short.alpha, gradient))
        assert short.bias == pytest.approx(problem.bias(short.alpha, gradient)[0])
    assert linear_smo(X, labels, 1.0, tol=1e-3).status == "converged"
    same = linear_smo(np.ones((2, 1)), y[:2], 3.0)
    assert same.alpha.tolist() == [3.0, -3.0]
    assert linear_smo(np.ones((2, 1)), y[:2], np.inf).status == "unbounded"
    with pytest.raises(ValueError, match="a row for each of the 2 labels"):
        linear_smo(np.ones((3, 1)), y[:2], 1.0)
