"""Targets that no machine can learn from, and what is said about them."""

import numpy as np
import pytest

from maxmargin import SVC, SVR, AutoSVC, AutoSVR, LinearSVC

X = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize("machine", [SVC(), LinearSVC(), AutoSVC()])
def test_missing_label_is_refused_with_its_position(machine):
    y = np.array(["a", "b", None, "b", None, "a"], dtype=object)
    with pytest.raises(ValueError, match=r"missing \(None\) for 2 of 6 samples, .* position 2"):
        machine.fit(X, y)


@pytest.mark.parametrize("machine", [SVR(), AutoSVR()])
def test_classes_are_no_targets_of_a_regression(machine):
    with pytest.raises(ValueError, match="y must hold numbers, got strings such as 'a'"):
        machine.fit(X, np.array(list("abaabb")))


@pytest.mark.parametrize("machine", [SVR(), AutoSVR()])
def test_numbers_in_strings_are_targets_of_a_regression(machine):
    assert machine.fit(X, np.array(list("123456"))).predict(X).dtype == np.float64
