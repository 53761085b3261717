"""A wide face step goes to the optimum of all free variables that stay inside their boxes."""

from dataclasses import replace

import numpy as np
import pytest
from checks import assert_feasible
from faces import active_at, cloud, inside, machines, point_of, positive
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import certify, epsilon_svr, hinge
from maxmargin.kernels import Gaussian
from maxmargin.linalg.bordered import Factor
from maxmargin.solvers import costs
from maxmargin.solvers.drivers import decomposition as blocks
from maxmargin.solvers.newton.projected_step import balanced, stopped_newton, wide_face_step
from maxmargin.solvers.newton.step import factored_in_place
from maxmargin.solvers.rows.lru import FullRows


@given(seed=st.integers(0, 999), groups=st.integers(1, 3), width=st.sampled_from([0.3, 1.0, 10.0]))
@settings(max_examples=60)
def test_the_direction_is_optimal_for_all_that_are_not_stopped(seed, groups, width):
    rng = np.random.default_rng(seed)
    Q, gradient, group = positive(rng, 24), 10.0 * rng.normal(size=24), np.arange(24) % groups
    lowest, highest = -width * rng.uniform(0.1, 1.0, 24), width * rng.uniform(0.1, 1.0, 24)
    way = stopped_newton(Factor.of(Q.copy(), np.arange(24)), gradient, lowest, highest, group)
    if way is None:
        return
    d, reaction, _ = way
    assert ((lowest <= d) & (d <= highest)).all()
    residual = gradient - Q @ d
    np.testing.assert_allclose(residual, reaction, atol=1e-8)
    going = (lowest < d) & (d < highest)
    for g in range(groups):
        assert d[group == g].sum() == pytest.approx(0.0, abs=1e-9)
        left = residual[going & (group == g)]
        assert left == pytest.approx(left[:1].repeat(left.size), abs=1e-8)


def test_too_many_in_the_way_are_left_to_pairs():
    rng = np.random.default_rng(0)
    tight = np.full(40, 1e-6)
    R = Factor.of(positive(rng, 40), np.arange(40))
    assert stopped_newton(R, rng.normal(size=40), -tight, tight, np.zeros(40, int)) is None


def test_an_indefinite_matrix_is_not_factored():
    assert factored_in_place(np.array([[1.0, 2.0], [2.0, 1.0]])) is None


def aimed(kind, distance, beyond=0.0):
    """A problem with its Gram matrix, a point inside its boxes at a distance from another one, and
    that other one: the optimum, if the box were wider for every eighth variable, which lies so far
    beyond its bound there."""
    rng = np.random.default_rng(kind)
    K, y = cloud(rng)
    problem = machines(y, 10.0)[kind].problem
    optimum, start = inside(problem, rng, width=10.0), inside(problem, rng, width=10.0)
    start = optimum + distance * (start - optimum)
    if beyond:
        upper = np.isfinite(problem.upper)
        outside = np.where(upper, problem.upper + beyond, problem.lower - beyond)
        optimum[::8] = outside[::8]
    ridge = problem.ridge + 1.0
    Q = np.tile(K, (problem.copies, problem.copies)) + np.diag(ridge)
    return replace(problem, linear=Q @ optimum, ridge=ridge), K, start, optimum


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("distance", [0.1, 1e-3])
def test_a_step_with_no_bound_in_the_way_reaches_the_optimum(kind, distance):
    problem, K, start, optimum = aimed(kind, distance)
    active = active_at(problem, K, start)
    result = wide_face_step(active)
    assert point_of(active, problem)[0] == pytest.approx(optimum, abs=1e-5 * distance)
    assert result.gain > 0.0
    assert result.factor is not None


@pytest.mark.parametrize("kind", range(4))
def test_what_is_left_free_is_optimal_and_the_rest_is_exactly_at_bounds(kind):
    problem, K, start, _ = aimed(kind, 0.1, beyond=2.0)
    active = active_at(problem, K, start)
    result = wide_face_step(active)
    alpha, gradient = point_of(active, problem)
    free = problem.free(alpha)
    slack = np.minimum(alpha - problem.lower, problem.upper - alpha)
    assert result.rounds > 1
    assert problem.free(start).sum() > free.sum()
    assert slack[free].min() > 1e-3
    for g in range(problem.totals.size):
        assert np.ptp(gradient[free & (problem.group == g)]) < 1e-5


def test_a_step_stops_where_its_gain_is_largest():
    """A variable is fixed at a bound that it would leave once others are fixed too, so that the
    whole way is longer than the best one."""
    rng = np.random.default_rng(4446)
    Q, start = 0.01 * (positive(rng, 8) - np.eye(8)), np.tile([0.5, -0.5], 4)
    problem = hinge(np.sign(start), 1.0).problem
    target = start + 0.3 * rng.normal(size=8)
    active = active_at(replace(problem, linear=Q @ target), Q, start)
    result = wide_face_step(active)
    moved = active.v.alpha - start
    assert result.gain > 0.0
    assert moved @ active.v.gradient == pytest.approx(0.0, abs=1e-5 * result.gain)


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("beyond", [0.0, 2.0])
def test_a_step_gains_what_it_says_and_stays_feasible(kind, beyond):
    problem, K, start, _ = aimed(kind, 0.1, beyond)
    active = active_at(problem, K, start)
    before = problem.value(*point_of(active, problem))
    result = wide_face_step(active)
    alpha, gradient = point_of(active, problem)
    assert_feasible(alpha, problem)
    expected = problem.gradient(alpha, K @ problem.per_sample(alpha))
    assert gradient == pytest.approx(expected, abs=1e-8)
    after = problem.value(alpha, expected)
    assert result.gain > 0.0
    assert after - before == pytest.approx(result.gain, rel=1e-8, abs=1e-12 * abs(after))


def test_a_step_beside_a_kink_reaches_the_optimum_and_gains_what_it_says():
    rng = np.random.default_rng(0)
    K = cloud(rng)[0] + np.eye(40)
    optimum = np.append(rng.uniform(1.0, 2.0, 10), np.zeros(20))
    optimum = np.append(optimum, -optimum[:10])
    y = K @ optimum + 0.1 * np.sign(optimum)
    problem = epsilon_svr(y, 10.0, 0.1).problem
    sides = np.append(np.maximum(optimum, 0.0), np.minimum(optimum, 0.0))
    active = active_at(problem, K, 0.9 * sides)
    assert active.folded
    before = problem.value(*point_of(active, problem))
    result = wide_face_step(active)
    alpha, gradient = point_of(active, problem)
    assert alpha == pytest.approx(sides, abs=1e-6)
    assert problem.value(alpha, gradient) - before == pytest.approx(result.gain, rel=1e-8)


@pytest.mark.parametrize("spread", [0.3, 3.0, 100.0])
def test_float32_is_enough_or_float64_finishes(spread):
    """Points so close that float32 cannot factor their Gram matrix, and points far apart."""
    rng = np.random.default_rng(0)
    X, y = spread * rng.normal(size=(60, 2)), np.sign(rng.normal(size=60))
    K = Gaussian(0.3)(X)
    problem = hinge(y, 1e6).problem
    start = problem.feasible(0.1 * y * rng.uniform(0.5, 1.5, 60))
    reached = []
    for dtype in (np.float32, np.float64):
        active = active_at(problem, K, start)
        active.rows = FullRows(K.astype(dtype))
        wide_face_step(active)
        assert_feasible(active.v.alpha, problem)
        alpha = active.v.alpha
        reached.append(problem.value(alpha, problem.gradient(alpha, K @ alpha)))
    assert reached[0] == pytest.approx(reached[1], rel=1e-3)


def test_what_is_stopped_stays_at_its_bound():
    alpha = np.array([0.5, 1.0, 1.0, 0.0])
    reached = np.array([0.4, 2.0, 0.7, 0.0])
    lower, upper, group = np.zeros(4), np.full(4, 2.0), np.zeros(4, int)
    repaired = balanced(reached, alpha, lower, upper, group)
    assert repaired.sum() == pytest.approx(alpha.sum(), rel=1e-15)
    assert repaired[1] == 2.0
    assert repaired[3] == 0.0


def test_sums_are_kept_to_the_last_bits_and_boxes_exactly():
    rng = np.random.default_rng(0)
    lower, upper, group = np.zeros(50), np.full(50, 3.0), np.arange(50) % 2
    alpha = rng.uniform(0.0, 3.0, 50)
    reached = np.clip(alpha + 1e-9 * rng.normal(size=50), lower, upper)
    repaired = balanced(reached, alpha, lower, upper, group)
    assert ((repaired >= lower) & (repaired <= upper)).all()
    for g in range(2):
        assert repaired[group == g].sum() == pytest.approx(alpha[group == g].sum(), rel=1e-15)


def test_a_free_set_wider_than_a_block_is_solved_in_few_rounds(monkeypatch):
    X, y = chess_board(1500, random_state=0)
    problem, gram = hinge(y, 1e3).problem, Gaussian(0.5).bind(X)
    monkeypatch.setattr(costs, "SMALL_BLOCK", 32)
    wide, optimise = [], blocks.BlockRun._optimise

    def noted(run, part):
        wide.append(run.wide)
        return optimise(run, part)

    monkeypatch.setattr(blocks.BlockRun, "_optimise", noted)
    solution = solve(problem, gram, driver="blocks")
    assert solution.status == "converged"
    assert np.count_nonzero(problem.free(solution.alpha)) > 32
    assert any(wide)
    assert certify(problem, solution.alpha, gram).violation < 1e-3
