"""Rows of prepared inputs."""

import numpy as np
import pytest

from maxmargin.kernels.vector.embedding import taken
from maxmargin.runtime.costs import WORTH_A_THREAD

TABLE = np.arange(4000.0).reshape(1000, 4)
MANY = WORTH_A_THREAD // 4 + 100


@pytest.mark.parametrize("count", [10, MANY], ids=["few", "many"])
@pytest.mark.parametrize("low", [0, -1000], ids=["from the beginning", "from the end"])
def test_rows_are_those_of_numpy(count, low):
    places = np.random.default_rng(0).integers(low, 1000, count)
    np.testing.assert_array_equal(taken(TABLE, places), TABLE[places])


@pytest.mark.parametrize("wrong", [-1001, 1000])
def test_rows_that_are_not_there_are_an_error(wrong):
    for count in (10, MANY):
        with pytest.raises(IndexError, match="out of bounds"):
            taken(TABLE, np.append(np.zeros(count, dtype=np.int64), wrong))


def test_consecutive_rows_are_a_view():
    assert np.shares_memory(taken(TABLE, slice(3, 900)), TABLE)
