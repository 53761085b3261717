"""Which rows of kernel values workers keep, and whose they are."""

import numpy as np
from numpy.testing import assert_array_equal

from maxmargin.distributed.kept import KeptRows

FIRST, SECOND = np.array([0.0, 2.0, 3.0]), np.array([5.0, 0.0])


def keep(kept, deltas, dtype=np.float64):
    """Keep the rows of all that move and have none."""
    _, without = kept.split(deltas, dtype)
    kept.add(without, dtype, [])


def test_only_members_that_move_have_rows_and_keep_their_order():
    kept = KeptRows(samples=10, capacity=np.inf)
    changes, without = kept.split([FIRST, SECOND], np.float64)
    assert changes.size == 0
    assert_array_equal(np.concatenate(without), [False, True, True, True, False])
    kept.add(without, np.float64, [])
    changes, without = kept.split([FIRST, -SECOND], np.float64)
    assert_array_equal(changes, [2.0, 3.0, -5.0])
    assert not np.concatenate(without).any()


def test_rows_of_later_blocks_come_after_those_of_earlier_rounds():
    kept = KeptRows(samples=10, capacity=np.inf)
    keep(kept, [FIRST])
    keep(kept, [np.array([7.0, 2.0, 0.0]), SECOND])
    assert [group.members for group in kept.groups] == [slice(0, 2), slice(2, 4)]
    changes, _ = kept.split([np.array([1.0, 2.0, 3.0]), np.array([4.0, 0.0])], np.float64)
    assert_array_equal(changes, [2.0, 3.0, 1.0, 4.0])


def test_rows_fit_while_there_is_room_and_are_needed():
    kept = KeptRows(samples=10, capacity=4 * 10 * 5)
    assert kept.fits(5, np.float32)
    assert not kept.fits(6, np.float32)
    assert not kept.fits(3, np.float64)
    assert not kept.fits(0, np.float32)
    keep(kept, [FIRST], np.float32)
    assert kept.fits(3, np.float32)
    assert not kept.fits(4, np.float32)


def test_rows_in_float32_are_of_no_use_for_sums_in_float64():
    kept = KeptRows(samples=10, capacity=np.inf)
    keep(kept, [FIRST], np.float32)
    assert kept.split([FIRST], np.float32)[0].size == 2
    changes, without = kept.split([FIRST], np.float64)
    assert changes.size == 0
    assert without[0].sum() == 2
    assert not kept.groups


def test_rows_in_float64_serve_sums_in_float32():
    kept = KeptRows(samples=10, capacity=np.inf)
    keep(kept, [FIRST], np.float64)
    assert_array_equal(kept.split([FIRST], np.float32)[0], [2.0, 3.0])


def test_nothing_is_known_of_new_blocks_after_all_are_forgotten():
    kept = KeptRows(samples=10, capacity=np.inf)
    keep(kept, [FIRST, SECOND])
    kept.forget()
    assert (kept.groups, kept.size, kept.row_of) == ([], 0, [])
