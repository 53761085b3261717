"""Platt's choice sweeps over the free variables while that finds violators, else over all."""

from typing import NamedTuple

import numba
import numpy as np

from maxmargin.solvers.smo import selection
from maxmargin.solvers.smo import state as r

TOL = 0.1
INF = np.inf


class Sloped(NamedTuple):
    """What the choice reads of `Variables`."""

    gradient: np.ndarray
    rise: np.ndarray
    fall: np.ndarray
    group: np.ndarray


class Sweeping(NamedTuple):
    """What it reads of `Memory`."""

    state: np.ndarray


@numba.njit
def chosen(v, tops, bottoms, tol, memory):
    return selection.platt(v, tops, bottoms, tol, memory)


def at(gradient, free):
    """Variables, of which those that are not free are at their lower bound and may only rise."""
    fall = np.where(free, 0.0, INF)
    v = Sloped(np.array(gradient), np.zeros((1, 4)), fall[None], np.zeros(4, dtype=np.int64))
    tops, bottoms = (v.gradient + v.rise[0]).max(), (v.gradient + v.fall[0]).min()
    return v, np.array([tops]), np.array([bottoms])


def swept(v, tops, bottoms, cursor, sweep_all, found):
    memory = Sweeping(np.zeros(1, r.STATE))
    memory.state["cursor"], memory.state["sweep_all"] = cursor, sweep_all
    memory.state["sweep_found"] = found
    _, i, j = chosen(v, tops, bottoms, TOL, memory)
    state = memory.state[0]
    return (i, j), (state["cursor"], state["sweep_all"], state["sweep_found"])


# The middle of top 1 and bottom 0 is 0.5: all violate, above it those that should rise.
ALL_VIOLATE = at([0.9, 0.0, 0.8, 1.0], [False, True, True, False])


def test_a_sweep_takes_the_next_violator_and_the_farthest_partner():
    assert swept(*ALL_VIOLATE, 0, 1, 0) == ((0, 1), (1, 1, 1))
    assert swept(*ALL_VIOLATE, 1, 1, 1) == ((3, 1), (2, 1, 1))
    assert swept(*ALL_VIOLATE, 2, 1, 1) == ((2, 1), (3, 1, 1))
    # Those at bounds are passed over where only the free ones are looked at.
    assert swept(*ALL_VIOLATE, 0, 0, 0) == ((3, 1), (2, 0, 1))


def test_after_all_variables_the_free_ones_are_swept_over():
    assert swept(*ALL_VIOLATE, 4, 1, 1) == ((3, 1), (2, 0, 1))
    assert swept(*ALL_VIOLATE, 4, 1, 0) == ((3, 1), (2, 0, 1))


def test_free_variables_are_swept_over_again_while_one_violates():
    assert swept(*ALL_VIOLATE, 4, 0, 1) == ((3, 1), (2, 0, 1))


def test_all_variables_are_swept_over_once_no_free_one_violates():
    v, tops, bottoms = at([1.0, 0.5, 0.5, 0.0], [False, True, True, False])
    v.rise[0, 3], v.fall[0, 3] = -INF, 0.0  # at its upper bound
    tops, bottoms = np.array([1.0]), np.array([0.0])
    assert swept(v, tops, bottoms, 0, 0, 0) == ((0, 3), (1, 1, 1))
