"""Products in parts: equal work, and sums in the order of the parts."""

import numpy as np
import pytest

from maxmargin.solvers.linear.costs import COSTS
from maxmargin.solvers.linear.data.parts import even_parts, parts_of, run_parts


@pytest.mark.parametrize("count", [1, 2, 8, 64])
def test_parts_have_equal_work(count):
    entries = count * COSTS.worth_a_part
    even = np.linspace(0, entries, 641).astype(np.int64)
    expected = [(k * 640 // count, (k + 1) * 640 // count) for k in range(count)]
    assert parts_of(even, entries) == expected
    assert even_parts(640, entries) == expected


def test_rows_of_unequal_length_are_shared_by_their_entries():
    lengths = np.repeat([10, 1000], [800, 800])
    work = np.concatenate([[0], np.cumsum(lengths)])
    parts = parts_of(work, 4 * COSTS.worth_a_part)
    assert [a for a, _ in parts[1:]] == [b for _, b in parts[:-1]]
    assert (parts[0][0], parts[-1][1]) == (0, 1600)
    shares = [work[b] - work[a] for a, b in parts]
    assert max(shares) - min(shares) <= 1000


def test_numbers_of_parts_are_powers_of_two_up_to_a_limit():
    for entries, count in ((1, 1), (3.9, 2), (4, 4), (1e6, 64)):
        assert len(even_parts(10_000, int(entries * COSTS.worth_a_part))) == count


def test_few_rows_are_one_part():
    assert parts_of(np.array([0, 10**9]), 10**9) == [(0, 1)]


def test_results_are_in_the_order_of_the_parts():
    parts = even_parts(1000, 64 * COSTS.worth_a_part)
    assert run_parts(lambda a, b: (a, b), parts) == parts
