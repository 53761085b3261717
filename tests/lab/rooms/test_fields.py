"""Fields of requests: values up to their limits, and plain answers."""

import numpy as np
import pytest

from maxmargin.lab.rooms.fields import RequestError, numbers, table


def test_tables_hold_numbers_up_to_a_million():
    rows = [[1e6, -1e6], [0, 1]]
    np.testing.assert_array_equal(table({"points": rows}, "points", 2, most=2), rows)
    for value in (1_000_001, -1.1e6, float("nan")):
        with pytest.raises(RequestError, match=r"numbers of points must be at most 1e\+06 in size"):
            table({"points": [[0, value]]}, "points", 2, most=2)


def test_lists_hold_larger_numbers():
    np.testing.assert_array_equal(numbers({"z": [1e300, -2.0]}, "z", most=2), [1e300, -2.0])
    with pytest.raises(RequestError, match="numbers of z must be at most"):
        numbers({"z": [1e301]}, "z", most=2)
