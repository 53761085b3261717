"""The benchmark of smooth linear machines: its values, and what it compares."""

import numpy as np
import pytest

from benchmarks import smooth


@pytest.mark.parametrize("machine", smooth.STRENGTH)
def test_contenders_reach_the_same_value(machine, monkeypatch):
    monkeypatch.setattr("benchmarks.linear.FILL", 1e-9)
    found = smooth.compare("breast", machine, repeats=1)
    assert found.gap <= 1e-6
    assert found.values.keys() == found.seconds.keys() == smooth.contenders(machine).keys()
    best = min(found.values.values())
    assert found.values["ours"] == pytest.approx(best, rel=1e-6)
    assert all(value == pytest.approx(best, rel=1e-3) for value in found.values.values())
    assert len(smooth.table([found]).rows) == 1


def test_value_of_ridge_counts_the_penalty_and_the_squares_by_hand():
    class Model:
        coef_, intercept_ = np.array([2.0]), 1.0

    assert smooth.value("ridge", np.array([[1.0], [0.0]]), np.array([3.0, 3.0]), Model()) == 8.0


def test_points_lie_on_both_sides_of_a_plane():
    X, y = smooth.data_of("points", "logistic")
    assert X.shape == (245_000, 3)
    assert abs(y.mean()) < 0.01
