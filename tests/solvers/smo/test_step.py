"""A step planned ahead is the first half of the best double step."""

from typing import NamedTuple

import numba
import numpy as np
import pytest

from maxmargin.solvers.smo import state as r
from maxmargin.solvers.smo import step as planning

SAMPLES = 4
PAIR = (0, 1)
OTHERS = [(2, 3), (0, 2), (2, 0), (1, 2), (2, 1)]


class Moving(NamedTuple):
    """What a planned step reads of `Variables`."""

    alpha: np.ndarray
    gradient: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    ridge: np.ndarray
    kink: np.ndarray


class Told(NamedTuple):
    """What it reads of `Control`."""

    planning: int
    floor: float


class Past(NamedTuple):
    """What it reads of `Memory`."""

    state: np.ndarray
    recent: np.ndarray
    recent_bend: np.ndarray


@numba.njit
def planned(v, row_i, row_j, i, j, slope, bend, control, memory):
    return planning.planned_step(v, row_i, row_j, i, j, slope, bend, row_i.size, control, memory)


def direction(pair, size):
    along = np.zeros(size)
    along[list(pair)] = 1.0, -1.0
    return along


def problem(ridge, copies, seed=0):
    """A definite Gram matrix of four samples, the whole of Q, and variables without bounds."""
    random = np.random.default_rng(seed)
    points, size = random.normal(size=(SAMPLES, 6)), copies * SAMPLES
    K = points @ points.T
    infinite = np.full(size, np.inf)
    v = Moving(
        random.normal(size=size),
        random.normal(size=size),
        -infinite,
        infinite,
        ridge * random.uniform(1.0, 2.0, size),
        np.zeros(size),
    )
    return K, np.tile(K, (copies, copies)) + np.diag(v.ridge), v


def step_of(K, Q, v, pair, recent):
    (i, j), size = pair, v.alpha.size
    along, bends = (
        direction(pair, size),
        [direction(p, size) @ Q @ direction(p, size) for p in recent],
    )
    memory = Past(np.zeros(1, r.STATE), np.array(recent), np.array(bends))
    memory.state["recent"] = len(recent)
    rows = K[i % SAMPLES], K[j % SAMPLES]
    slope, bend = v.gradient @ along, along @ Q @ along
    return planned(v, *rows, i, j, slope, bend, Told(len(recent), 1e-12), memory)


def best_double_step(Q, v, pair, other):
    """The gain of both pairs together and the steps along them, by the 2 × 2 system."""
    both = np.column_stack([direction(p, v.alpha.size) for p in (pair, other)])
    slopes = both.T @ v.gradient
    steps = np.linalg.solve(both.T @ Q @ both, slopes)
    return 0.5 * slopes @ steps, steps


@pytest.mark.parametrize("ridge", [0.0, 3.0])
@pytest.mark.parametrize("other", OTHERS)
def test_planned_step_is_the_first_of_the_best_double_step(other, ridge):
    K, Q, v = problem(ridge, copies=1)
    found, step = step_of(K, Q, v, PAIR, [other])
    assert found
    assert step == pytest.approx(best_double_step(Q, v, PAIR, other)[1][0], rel=1e-12)


@pytest.mark.parametrize("other", [(4, 5), (0, 5), (2, 4), (5, 1)])
def test_copies_of_a_sample_share_its_row_but_not_its_ridge(other):
    K, Q, v = problem(ridge=3.0, copies=2)
    found, step = step_of(K, Q, v, PAIR, [other])
    assert found
    assert step == pytest.approx(best_double_step(Q, v, PAIR, other)[1][0], rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_of_recent_pairs_the_one_of_the_largest_gain_is_planned_with(seed):
    K, Q, v = problem(ridge=1.0, copies=1, seed=seed)
    others = [(2, 3), (0, 2), (3, 1)]
    _, step = step_of(K, Q, v, PAIR, others)
    _, best = max((best_double_step(Q, v, PAIR, other) for other in others), key=lambda d: d[0])
    assert step == pytest.approx(best[0], rel=1e-12)


@pytest.mark.parametrize("variable", range(SAMPLES))
def test_nothing_is_planned_beyond_a_bound(variable):
    K, Q, v = problem(ridge=1.0, copies=1)
    _, steps = best_double_step(Q, v, PAIR, (2, 3))
    move = steps @ [direction(PAIR, SAMPLES), direction((2, 3), SAMPLES)]
    bound = v.upper if move[variable] > 0 else v.lower
    for part, allowed in ((0.9, False), (1.1, True)):
        bound[variable] = v.alpha[variable] + part * move[variable]
        assert step_of(K, Q, v, PAIR, [(2, 3)])[0] == allowed


def test_nothing_is_planned_across_a_kink():
    K, Q, v = problem(ridge=1.0, copies=1)
    for variable in range(SAMPLES):
        kinked = v._replace(alpha=v.alpha.copy(), kink=v.kink.copy())
        kinked.kink[variable] = 0.1
        assert step_of(K, Q, kinked, PAIR, [(2, 3)])[0]
        kinked.alpha[variable] = 0.0
        assert not step_of(K, Q, kinked, PAIR, [(2, 3)])[0]
