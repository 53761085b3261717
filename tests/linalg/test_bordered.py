"""A bordered factor solves as one made at once, and steps that begin with a known one arrive."""

from itertools import pairwise

import numpy as np
import pytest
from faces import active_at, cloud, inside, machines, point_of, positive
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import solve
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian
from maxmargin.linalg.bordered import Factor
from maxmargin.solvers.newton import projected_step as wideface
from maxmargin.solvers.newton.projected_step import (
    grown_factor,
    new_factor,
    stopped_newton,
    wide_face_step,
)


def solved(factor, b):
    return factor.back(factor.forward(b))


@given(seed=st.integers(0, 999), sizes=st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_borders_of_any_size_give_the_factor_of_the_whole(seed, sizes):
    rng = np.random.default_rng(seed)
    ends = np.cumsum([5, *sizes])
    Q, b = positive(rng, ends[-1]), rng.normal(size=(ends[-1], 3))
    factor = Factor.of(Q[:5, :5].copy(), np.arange(5))
    for start, end in pairwise(ends):
        new = slice(start, end)
        assert factor.border(Q[:start, new], Q[new, new].copy(), np.arange(start, end))
    assert factor.size == ends[-1]
    assert factor.bordered == ends[-1] - 5
    np.testing.assert_array_equal(factor.names, np.arange(ends[-1]))
    np.testing.assert_allclose(solved(factor, b), np.linalg.solve(Q, b), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(solved(factor, b[:, 0]), np.linalg.solve(Q, b[:, 0]), atol=1e-8)


def test_float32_is_kept_and_answers_come_in_float64():
    rng = np.random.default_rng(0)
    Q = positive(rng, 12)
    factor = Factor.of(Q[:9, :9].astype(np.float32), np.arange(9))
    assert factor.border(Q[:9, 9:].astype(np.float32), Q[9:, 9:].astype(np.float32), np.arange(3))
    assert factor.dtype == factor.Y.dtype == factor.M.dtype == np.float32
    found = solved(factor, np.ones(12))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.linalg.solve(Q, np.ones(12)), rtol=1e-3, atol=1e-5)


def test_a_border_that_is_not_positive_is_refused_and_changes_nothing():
    factor = Factor.of(np.eye(3), np.arange(3))
    assert not factor.border(np.full((3, 1), 2.0), np.ones((1, 1)), np.array([3]))
    assert factor.size == 3
    np.testing.assert_array_equal(solved(factor, np.arange(3.0)), np.arange(3.0))
    assert Factor.of(np.array([[1.0, 2.0], [2.0, 1.0]]), np.arange(2)) is None


@given(seed=st.integers(0, 999))
def test_idle_variables_stay_and_the_others_go_to_their_optimum(seed):
    rng = np.random.default_rng(seed)
    Q, gradient, group = positive(rng, 20), rng.normal(size=20), np.arange(20) % 2
    idle = rng.choice(20, size=4, replace=False)
    rest = np.setdiff1d(np.arange(20), idle)
    far = np.full(20, 1e6)
    far[idle] = 0.0
    factor = Factor.of(Q.copy(), np.arange(20))
    d, _, _ = stopped_newton(factor, gradient, -far, far, group, idle)
    without = Factor.of(Q[np.ix_(rest, rest)].copy(), rest)
    expected, _, _ = stopped_newton(without, gradient[rest], -far[rest], far[rest], group[rest])
    assert (d[idle] == 0.0).all()
    np.testing.assert_allclose(d[rest], expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", range(4))
def test_a_known_factor_leads_where_a_new_one_does(kind, monkeypatch):
    rules = wideface.RULES._replace(most_left=0.5, most_bordered=1.0)
    monkeypatch.setattr(wideface, "RULES", rules)
    rng = np.random.default_rng(kind)
    K, y = cloud(rng)
    problem = machines(y, 1e3)[kind].problem
    start = inside(problem, rng)
    fewer = start.copy()
    fewer[::7] = 0.0
    before, now = (active_at(problem, K, problem.feasible(point)) for point in (fewer, start))
    known, _ = new_factor(before, before.free()[2:], np.dtype(np.float64))
    grown, E = grown_factor(now, now.free(), known)
    assert grown is known
    assert np.isin(now.free(), E).all()
    np.testing.assert_array_equal(now.names()[E], grown.names)
    anew = active_at(problem, K, problem.feasible(start))
    wide_face_step(now, known=known)
    wide_face_step(anew)
    found, expected = (problem.value(*point_of(active, problem)) for active in (now, anew))
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_factor_of_samples_that_are_elsewhere_is_of_no_use():
    K, y = cloud(np.random.default_rng(0))
    problem = hinge(y, 10.0).problem
    active = active_at(problem, K, inside(problem, np.random.default_rng(1)))
    known = Factor.of(np.eye(3), np.array([1, 2, 1000]))
    assert grown_factor(active, active.free(), known)[0] is None


def test_blocks_use_a_factor_again(monkeypatch):
    answers = []

    def watched(*arguments):
        found = grown_factor(*arguments)
        answers.append(found[0] is not None)
        return found

    monkeypatch.setattr(wideface, "grown_factor", watched)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=4000) > 0, 1.0, -1.0)
    solution = solve(hinge(y, 10.0).problem, Gaussian(0.05).bind(X), driver="blocks")
    assert solution.converged
    assert any(answers)
