"""Members that the driver knows: whether they keep to their bounds and sums."""

import numpy as np
import pytest

from maxmargin.solvers.sharded.pool import Columns, Pool
from maxmargin.solvers.sharded.records import Taken


def pool_of(alpha, lower, upper, group):
    """Members with one variable each."""
    pool, size = Pool(1, 1), len(alpha)
    places, zeros = np.arange(size), np.zeros((1, size))
    variables = (zeros, np.array([lower]), np.array([upper]), zeros, np.array([group]))
    pool.at = Columns(*[places] * 6, *variables, np.array([alpha]), zeros)
    return pool


@pytest.mark.parametrize(
    ("alpha", "excess"),
    [
        ([2.0, -2.0, 1.0], 0.0),
        ([2.0, -2.5, 1.0], 0.5),  # below its bound, and the sum is off by as much
        ([2.75, -2.0, 1.0], 0.75),
        ([2.0, -2.0, 0.5], 0.5),  # only the sum of its group
        ([-0.25, 0.25, 1.0], 0.25),  # outside of both boxes, with the right sum
    ],
)
def test_infeasibility_is_the_largest_excess_over_a_bound_or_a_sum(alpha, excess):
    pool = pool_of(alpha, [0.0, -2.0, 0.0], [2.0, 0.0, 4.0], [0, 0, 1])
    size = max(np.abs(alpha).sum(), 1.0)
    assert pool.infeasibility(np.array([0.0, 1.0])) == pytest.approx(excess / size)


def test_sums_are_those_of_each_group():
    pool = pool_of([2.0, -0.5, 1.0, 3.0], [-9.0] * 4, [9.0] * 4, [0, 1, 0, 1])
    np.testing.assert_array_equal(pool.sums(2), [3.0, 2.5])


def taken(X):
    size, zeros = len(X), np.zeros((1, len(X)))
    places = np.arange(size)
    return Taken(places, places, np.ones(size), X, zeros, zeros, zeros + 1.0, zeros, zeros)


def test_members_in_one_block_are_told_the_same_changes():
    pool, X = Pool(1, 1), np.arange(12.0).reshape(6, 2)
    blocks = [pool.add([taken(X[:4])]), pool.add([taken(X[4:])])]
    pool.write(np.ones(6, dtype=bool), np.array([0.5, 0.0, 0.25, 0.0, 0.75, 1.0]))
    pool.told()
    pool.keep(pool.at.alpha[0] > 0.0)
    pool.write(np.ones(4, dtype=bool), np.array([0.5, 0.5, 0.0, 1.0]))

    def change():
        return sum(delta @ block for block, delta in zip(blocks, pool.deltas()))

    apart = change()
    blocks = [pool.merged()]
    assert len(pool.deltas()) == 1
    np.testing.assert_allclose(change(), apart)
    np.testing.assert_allclose(apart, 0.25 * X[2] - 0.75 * X[4])
