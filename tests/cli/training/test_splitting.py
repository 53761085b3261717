"""The part held out for the test: shares of classes, and rows that occur twice."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.cli.training.splitting import repeated, split_for_test

RANDOM = np.random.default_rng(0)


def split(X, y, holdout=0.25, seed=0, classifies=True):
    (train, test), notes = split_for_test(X, np.asarray(y), holdout, seed, classifies)
    assert sorted([*train, *test]) == list(range(len(y)))
    assert (np.diff(train) > 0).all()
    assert (np.diff(test) > 0).all()
    return train, test, notes


def test_classes_keep_their_shares():
    y = np.repeat([0, 1, 2], [60, 28, 12])
    _, test, notes = split(RANDOM.normal(size=(100, 2)), y)
    assert np.bincount(y[test]).tolist() == [15, 7, 3]
    assert notes == []
    assert split(RANDOM.normal(size=(100, 2)), y, seed=1)[1].tolist() != test.tolist()


def test_targets_of_a_regression_have_no_shares():
    y = np.arange(40.0)
    _, test, notes = split(RANDOM.normal(size=(40, 2)), y, classifies=False)
    assert (test.size, notes) == (10, [])


def test_a_sample_alone_in_its_class_is_trained_with():
    y = np.array(["a"] * 20 + ["b"] * 19 + ["rare"])
    for seed in range(8):
        _, test, notes = split(RANDOM.normal(size=(40, 2)), y, seed=seed)
        assert 39 not in test
        assert sorted(y[test]).count("a") == 5
        assert notes == ["only one sample of class 'rare': used for training, not for the test"]


def test_classes_of_one_each_are_split_all_the_same():
    train, test, notes = split(RANDOM.normal(size=(8, 2)), np.arange(8))
    assert (train.size, test.size, notes) == (6, 2, [])


def test_more_classes_than_test_samples_are_split_without_shares():
    y = np.repeat(np.arange(10), 2)
    train, test, _ = split(RANDOM.normal(size=(20, 2)), y, holdout=0.25)
    assert (train.size, test.size) == (15, 5)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_few_copies_move_to_the_training_part(form):
    X, y = RANDOM.normal(size=(80, 3)), np.resize([0, 1], 80)
    plain = split(X, y)
    # A test row becomes a copy of a training row of its class.
    place = plain[1][0]
    X[place] = X[next(k for k in plain[0] if y[k] == y[place])]
    train, test, notes = split(form(X), y)
    assert place in train
    assert test.tolist() == plain[1][1:].tolist()
    assert notes == ["1 rows that repeat training rows are not used for the test"]
    # With another target it is no copy.
    y[place] = 1 - y[place]
    assert not repeated(form(X), y, *plain[:2]).any()


def test_many_copies_stay_and_are_told():
    X, y = np.zeros((40, 1)), np.resize([0, 1], 40)
    X[:20, 0] = RANDOM.normal(size=20)
    train, test, notes = split(X, y)
    share = repeated(X, y, train, test).mean()
    assert share > 0.2
    assert test.size == 10
    assert len(notes) == 1
    assert notes[0].startswith(f"{share:.0%} of the test rows also occur in the training part")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_copies_equal_a_training_row_in_features_and_target(form):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
    y = np.array([5, 5, 5, 6, 6, 5])
    found = repeated(form(X), y, np.array([0, 1]), np.array([2, 3, 4, 5]))
    assert found.tolist() == [True, False, False, False]


def test_many_classes_of_one_sample_are_counted():
    y = np.array(["a", "b"] * 30 + [f"odd {i}" for i in range(6)])
    X = np.random.default_rng(0).normal(size=(y.size, 2))
    _, notes = split_for_test(X, y, 0.25, 0, True)
    assert notes[0].startswith("only one sample of class 'odd 0', 'odd 1', 'odd 2', 'odd 3' and 2 ")
