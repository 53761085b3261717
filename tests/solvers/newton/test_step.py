"""A face step goes to the optimum of the free variables, or to the bounds on the way to it."""

from dataclasses import replace

import numpy as np
import pytest
from checks import assert_feasible
from faces import active_at, cloud, inside, machines, point_of, positive
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin.dual import hard_margin, hinge
from maxmargin.runtime.jit import from_python
from maxmargin.runtime.lapack import POTRF
from maxmargin.solvers.newton import step as face
from maxmargin.solvers.newton.compiled_step import factor_of, small_face_step
from maxmargin.solvers.newton.step import (
    UNBOUNDED,
    FaceResult,
    delete_from_factor,
    face_step,
    factored,
    newton_direction,
)
from maxmargin.solvers.smo.schedule import blank_memory

delete_from_factor, factor_of, newton_direction, small_face_step = map(
    from_python, (delete_from_factor, factor_of, newton_direction, small_face_step)
)


def compiled_step(active, most=10**6):
    free, memory = active.free().size, blank_memory(0, len(active.v.rise))[0]
    rounds, gain, state = small_face_step(
        active.v,
        active.rows.store,
        active.size,
        free,
        most,
        POTRF,
        memory.numbers,
        memory.indices,
    )
    return FaceResult(rounds, gain, state == UNBOUNDED)


@pytest.fixture(params=[face_step, compiled_step])
def take_step(request):
    """The face step from Python, and the one that never leaves compiled code."""
    return request.param


def upper_factor(Q):
    return np.linalg.cholesky(Q).T


@given(n=st.integers(2, 12), data=st.data(), seed=st.integers(0, 999))
def test_deleting_from_a_factor_equals_factoring_the_smaller_matrix(n, data, seed):
    k = data.draw(st.integers(0, n - 1))
    A = np.random.default_rng(seed).normal(size=(n, n + 2))
    Q = A @ A.T
    R = np.ascontiguousarray(upper_factor(Q))
    delete_from_factor(R, k, n)
    kept = np.delete(np.arange(n), k)
    expected = upper_factor(Q[np.ix_(kept, kept)])
    assert np.triu(R[:-1, :-1]) == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(Q).max())


def test_many_deletions_do_not_spoil_the_factor():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 60))
    Q = A @ A.T + 0.1 * np.eye(60)
    R, kept = np.ascontiguousarray(upper_factor(Q)), np.arange(60)
    for size in range(60, 5, -1):
        k = int(rng.integers(size))
        delete_from_factor(R, k, size)
        kept = np.delete(kept, k)
    expected = upper_factor(Q[np.ix_(kept, kept)])
    assert np.triu(R[: kept.size, : kept.size]) == pytest.approx(expected, rel=1e-9)


def test_a_singular_matrix_is_factored_with_a_negligible_shift():
    X = np.random.default_rng(0).normal(size=(20, 2))
    K = rbf_kernel(np.concatenate([X, X, X]))
    R = factored(K)
    np.testing.assert_allclose(R.T @ R, K, atol=1e-9)


def test_an_indefinite_matrix_is_not_factored():
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert factored(indefinite) is None
    assert not factor_of(indefinite, 1e-6, np.empty((2, 2)), POTRF)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 65, 200])
def test_the_compiled_factor_is_that_of_lapack(size):
    Q, R = positive(np.random.default_rng(size), size), np.zeros((size, size))
    assert factor_of(Q, 0.5, R, POTRF)
    np.testing.assert_allclose(
        np.triu(R), upper_factor(Q + 0.5 * np.eye(size)), rtol=1e-10, atol=1e-10
    )


def test_a_face_without_all_its_rows_is_left_to_the_caller():
    K, y = cloud(np.random.default_rng(0))
    active = active_at(
        hinge(y, 1.0).problem, K, inside(hinge(y, 1.0).problem, np.random.default_rng(0))
    )
    before = active.v.alpha.copy()
    active.rows.store.slot[active.free()[3]] = -1
    assert compiled_step(active).rounds == -1
    assert (active.v.alpha == before).all()


def test_a_face_that_cannot_be_factored_is_left_alone():
    problem = hinge(np.array([1.0, -1.0]), 1.0).problem
    active = active_at(problem, np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([0.5, -0.5]))
    assert compiled_step(active) == face_step(active) == FaceResult(0, 0.0, False)
    assert active.v.alpha.tolist() == [0.5, -0.5]


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_the_direction_solves_the_constrained_newton_system(groups):
    rng = np.random.default_rng(groups)
    A = rng.normal(size=(12, 12))
    Q, gradient, group = A @ A.T + np.eye(12), rng.normal(size=12), np.arange(12) % groups
    direction, units = np.empty(gradient.size), np.empty((groups, gradient.size))
    R, order = np.ascontiguousarray(upper_factor(Q)), np.arange(12)
    newton_direction(R, order, 12, gradient, group, units, True, direction, np.empty(12))
    residual = gradient - Q @ direction
    for g in range(groups):
        assert direction[group == g].sum() == pytest.approx(0.0, abs=1e-12)
        assert residual[group == g] == pytest.approx(residual[group == g].mean())


@pytest.mark.parametrize("kind", range(4))
def test_a_face_without_bounds_in_the_way_is_solved_at_once(take_step, kind):
    rng = np.random.default_rng(kind)
    K, y = cloud(rng)
    problem = machines(y, 10.0)[kind].problem
    start, optimum = inside(problem, rng, width=10.0), inside(problem, rng, width=10.0)
    # Q + 1e-3·I has one optimum, and the linear term is such that it lies inside the box.
    ridge = problem.ridge + 1e-3
    Q = np.tile(K, (problem.copies, problem.copies)) + np.diag(ridge)
    problem = replace(problem, linear=Q @ optimum, ridge=ridge)
    active = active_at(problem, K, start)
    take_step(active)
    assert active.v.alpha == pytest.approx(optimum, rel=1e-9, abs=1e-11)
    assert problem.violation(active.v.alpha, active.v.gradient) < 1e-10


@pytest.mark.parametrize("C", [1.0, 1e6])
def test_rounds_one_at_a_time_are_the_same_rounds(monkeypatch, C):
    rng = np.random.default_rng(0)
    K, y = cloud(rng)
    problem = machines(y, C)[0].problem
    start = inside(problem, rng, width=C)
    at_once, one_by_one = active_at(problem, K, start), active_at(problem, K, start)
    result = face_step(at_once)
    monkeypatch.setattr(face, "ROUNDS_WORK", 1)
    assert face_step(one_by_one).rounds >= result.rounds > 1
    assert one_by_one.v.alpha == pytest.approx(at_once.v.alpha, rel=1e-9, abs=1e-9 * C)


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_what_is_left_free_is_optimal_and_the_rest_is_exactly_at_bounds(take_step, kind, C):
    rng = np.random.default_rng(kind)
    K, y = cloud(rng)
    problem = machines(y, C)[kind].problem
    active = active_at(problem, K, inside(problem, rng, width=C))
    take_step(active)
    alpha, gradient = point_of(active, problem)
    assert_feasible(alpha, problem)
    free = problem.free(alpha)
    slack = np.minimum(alpha - problem.lower, problem.upper - alpha)
    assert 0 < free.sum() < free.size
    assert slack[free].min() > 1e-6
    for g in range(problem.totals.size):
        members = gradient[free & (problem.group == g)]
        assert members == pytest.approx(members[:1].repeat(members.size), abs=1e-8 * max(1.0, C))


@pytest.mark.parametrize("kind", range(4))
def test_the_gain_is_the_rise_of_the_dual_value(take_step, kind):
    rng = np.random.default_rng(kind)
    K, y = cloud(rng)
    problem = machines(y, 1.0)[kind].problem
    active = active_at(problem, K, inside(problem, rng))
    before = problem.value(*point_of(active, problem))
    result = take_step(active)
    after = problem.value(*point_of(active, problem))
    assert result.gain > 0.0
    assert result.gain == pytest.approx(after - before, rel=1e-10)


@pytest.mark.parametrize("kind", range(4))
def test_the_gradient_follows_the_step(take_step, kind):
    rng = np.random.default_rng(kind)
    K, y = cloud(rng)
    problem = machines(y, 1.0)[kind].problem
    active = active_at(problem, K, inside(problem, rng))
    take_step(active)
    alpha, gradient = point_of(active, problem)
    expected = problem.gradient(alpha, K @ problem.per_sample(alpha))
    assert gradient == pytest.approx(expected, abs=1e-10)


def test_who_may_rise_and_fall_follows_the_step(take_step):
    rng = np.random.default_rng(0)
    K, y = cloud(rng)
    problem = hinge(y, 0.1).problem
    active = active_at(problem, K, inside(problem, rng))
    take_step(active)
    assert ((active.v.rise[0] == 0.0) == problem.can_rise(active.v.alpha)).all()
    assert ((active.v.fall[0] == 0.0) == problem.can_fall(active.v.alpha)).all()


def test_variables_at_bounds_stay_there(take_step):
    rng = np.random.default_rng(0)
    K, y = cloud(rng)
    problem = hinge(y, 1.0).problem
    start = inside(problem, rng)
    start[::3] = 0.0
    start = problem.feasible(start)
    bound = ~problem.free(start)
    active = active_at(problem, K, start)
    take_step(active)
    assert bound.sum() > 5
    assert (active.v.alpha[bound] == start[bound]).all()


def test_duplicates_make_no_difference_to_the_value_reached(take_step):
    rng = np.random.default_rng(1)
    K, y = cloud(rng, 20)
    C = 50.0
    single = hinge(y, 2 * C).problem
    start = 0.1 * single.feasible(y)
    once = active_at(single, K, start)
    take_step(once)
    double = hinge(np.tile(y, 2), C).problem
    twice = active_at(double, np.tile(K, (2, 2)), np.tile(0.5 * start, 2))
    take_step(twice)
    assert double.value(twice.v.alpha, twice.v.gradient) == pytest.approx(
        single.value(once.v.alpha, once.v.gradient), rel=1e-6
    )


def test_a_ray_without_end_is_unbounded(take_step):
    problem = hard_margin(np.array([1.0, -1.0])).problem
    active = active_at(problem, np.ones((2, 2)), np.array([1.0, -1.0]))
    assert take_step(active).unbounded


@pytest.mark.parametrize("free", [0, 1])
def test_fewer_than_two_free_variables_have_nowhere_to_go(free):
    y = np.array([1.0, 1.0, -1.0])
    problem = hinge(y, np.array([1.0, 1.0, 1.5])).problem
    alpha = [np.array([0.0, 0.0, 0.0]), np.array([1.0, 0.0, -1.0])][free]
    assert problem.free(alpha).sum() == free
    result = face_step(active_at(problem, np.eye(3), alpha))
    assert (result.rounds, result.gain, result.unbounded) == (0, 0.0, False)


def test_rounds_are_limited(take_step):
    rng = np.random.default_rng(0)
    K, y = cloud(rng)
    problem = hinge(y, 0.1).problem
    start = inside(problem, rng)
    assert take_step(active_at(problem, K, start), most=5).rounds == 5
    assert take_step(active_at(problem, K, start)).rounds > 5


def test_a_step_told_to_end_leaves_a_better_feasible_point(monkeypatch):
    monkeypatch.setattr(face, "ROUNDS_WORK", 1)
    rng = np.random.default_rng(0)
    K, y = cloud(rng)
    problem = hinge(y, 0.1).problem
    start = inside(problem, rng)
    active = active_at(problem, K, start)
    before = problem.value(active.v.alpha, active.v.gradient)
    result = face_step(active, must_end=lambda: True)
    assert result.rounds == 1
    assert face_step(active_at(problem, K, start)).rounds > 1
    assert_feasible(active.v.alpha, problem)
    assert problem.value(active.v.alpha, active.v.gradient) > before


def test_a_direction_of_nothing_but_rounding_is_not_taken():
    """Q is 0 along (1, 1, 1) and the gradient is level: what is left of d is rounding, along which
    a step would go to the bounds and leave the sum."""
    X = np.array([[-1.0, 0.0], [0.0, 2.0], [1.0, -2.0]])
    Q = X @ X.T
    alpha, gradient = np.array([-5.7, -0.2, 4.9]), np.array([-1.0, -1.0 + 3e-13, -1.0]) / 3.0
    lower, upper = np.array([-10.0, -10.0, 0.0]), np.array([0.0, 0.0, 10.0])
    total = alpha.sum()
    R = face.factored(Q)
    group, work = np.zeros(3, np.int64), np.empty((face.VECTORS + 1, 3))
    face.some_rounds(
        Q, R, np.arange(3), np.int64(0), alpha, gradient, lower, upper, group, work, 30
    )
    assert alpha.sum() == pytest.approx(total, abs=1e-9)
