"""The shared data sets are the ones the thesis worked with, as far as counting shows it."""

import numpy as np
import pytest
from realdata import TABLE_7_1


@pytest.mark.parametrize("name", TABLE_7_1)
def test_two_class_sets_have_the_printed_size(real_data, name):
    X, y = real_data(name)
    assert len(X) == len(y) == TABLE_7_1[name].samples
    assert set(np.unique(y)) == {-1, 1}


@pytest.mark.parametrize(
    ("name", "train", "test"),
    [
        ("a9a", (32_561, 123), (16_281, 123)),
        ("usps", (7_291, 256), (2_007, 256)),
        ("mnist", (60_000, 784), (10_000, 784)),
        ("news20", (11_314, 75_878), (7_532, 75_878)),
    ],
)
def test_split_sets_have_both_parts(real_data, name, train, test):
    assert real_data(name, dtype=np.float32)[0].shape == train
    assert real_data(name, "test", dtype=np.float32)[0].shape == test


def test_standardised_spambase_has_mean_zero_and_variance_one(real_data):
    X, _ = real_data("spambase-standardised")
    assert np.allclose(X.mean(axis=0), 0, atol=1e-12)
    assert np.allclose(X.std(axis=0), 1, atol=1e-12)


def test_unknown_set_is_refused_by_name(real_data):
    with pytest.raises(ValueError, match="no data set is called 'moons'"):
        real_data("moons")
