"""Distinct samples: what is merged, what is kept, and the way back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.estimators.distinct import content_keys, distinct, one_of_equals


def some(seed, rows=30, values=3):
    """Few values and two features, so that many samples are equal."""
    random = np.random.default_rng(seed)
    X = random.integers(0, values, (rows, 2)).astype(float)
    y = random.integers(0, 2, rows).astype(float)
    return X, y, random.integers(0, 3, rows).astype(float)


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.asarray, sparse.csr_array]), st.booleans())
def test_distinct_samples_are_those_of_a_dictionary(seed, form, ordered):
    X, y, weight = some(seed)
    if not weight.any():
        return
    expected = {}
    for x, t, w in zip(map(tuple, X), y, weight):
        if w > 0:
            expected[x, t] = expected.get((x, t), 0.0) + w
    samples = distinct(form(X), y, weight, ordered=ordered)
    rows = samples.X.toarray() if sparse.issparse(samples.X) else samples.X
    found = dict(zip(zip(map(tuple, rows), samples.y), samples.weight))
    assert found == expected
    if not ordered:
        assert list(found) == list(expected)
    present = weight > 0
    np.testing.assert_array_equal(rows[samples.member[present]], X[present])
    assert (samples.member[~present] == -1).all()


@given(st.integers(0, 2**32 - 1))
def test_order_by_content_forgets_the_order_given(seed):
    X, y, weight = some(seed)
    weight += 1
    order = np.random.default_rng(seed).permutation(len(y))
    one = distinct(X, y, weight, ordered=True)
    other = distinct(X[order], y[order], weight[order], ordered=True)
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.weight, other.weight)


@given(st.integers(0, 2**32 - 1))
def test_samples_with_equal_keys_are_told_apart_by_their_content(seed):
    X, y, _ = some(seed)
    keys, order = np.zeros(len(y), dtype=np.uint64), np.random.default_rng(seed).permutation(len(y))
    place = np.empty(len(y), dtype=np.intp)
    kept = order[: one_of_equals(X, y, keys, order, place)]
    rows = np.column_stack([X, y])
    assert len(kept) == len(np.unique(rows, axis=0))
    np.testing.assert_array_equal(rows[kept[place]], rows)


def test_very_many_copies_are_merged_at_once():
    X = np.zeros((200_000, 1))
    samples = distinct(X, None, np.ones(len(X)), ordered=True)
    assert (samples.size, samples.weight[0]) == (1, len(X))


def test_inputs_without_copies_are_used_as_they_are():
    X = np.arange(12.0).reshape(6, 2)
    assert distinct(X, None, np.ones(6)).X is X


def test_copies_are_found_in_every_precision_and_byte_order_of_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0]])
    for form in (X, X.astype(np.float32), X.astype(int)):
        assert distinct(form, None, np.ones(3)).size == 2


def test_explicit_zeros_are_as_good_as_none():
    X = sparse.csr_array(([0.0, 2.0, -0.0, 2.0], [0, 1, 2, 1], [0, 2, 2, 4, 4]), shape=(4, 3))
    samples = distinct(X, None, np.ones(4), ordered=True)
    assert samples.member[0] == samples.member[2] != samples.member[1] == samples.member[3]


def test_equal_inputs_with_different_targets_stay_apart():
    samples = distinct(np.zeros((3, 1)), np.array([0.0, 1.0, 1.0]), np.ones(3))
    np.testing.assert_array_equal(samples.weight, [1.0, 2.0])


def test_strings_are_merged_and_objects_are_not():
    texts = [
        "ab",
        "ba",
        "ab",
        "",
        "a longer text than eight bytes",
        "a longer text than eight bytes",
    ]
    np.testing.assert_array_equal(distinct(texts, None, np.ones(6)).member, [0, 1, 0, 2, 3, 3])
    things = [frozenset("ab"), frozenset("ab")]
    assert distinct(things, None, np.ones(2)).size == 2


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_shares_of_copies_add_up(seed, filled):
    X, y, weight = some(seed)
    weight += 1
    samples = distinct(X, y, weight)
    random = np.random.default_rng(seed)
    level = random.integers(0, 5, samples.size) / 4
    coef = level * samples.weight * random.choice([-1.0, 1.0], samples.size)
    spread = samples.spread(coef, level if filled else None)
    np.testing.assert_allclose(np.bincount(samples.member, spread), coef, atol=1e-12)
    if filled:
        assert (np.abs(spread) <= weight * (1 + 1e-12)).all()
        between = (np.abs(spread) > 1e-9) & (np.abs(spread) < weight * (1 - 1e-9))
        assert (np.bincount(samples.member[between], minlength=1) <= 1).all()


def test_unlimited_coefficient_goes_to_the_first_copy():
    samples = distinct(np.zeros((3, 1)), None, np.ones(3))
    np.testing.assert_array_equal(samples.spread(np.array([5.0]), np.zeros(1)), [5.0, 0.0, 0.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keys_depend_on_content_and_on_its_place(dtype):
    X = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [1.0, 2.5]], dtype=dtype)
    keys = content_keys(X, None)
    assert keys[0] == keys[2]
    assert len(set(keys.tolist())) == 3
    np.testing.assert_array_equal(keys, content_keys(X.astype(np.float64), None))


def test_keys_of_a_gram_matrix_forget_the_order_of_columns():
    K = np.random.default_rng(0).normal(size=(5, 5))
    order = np.array([3, 1, 4, 0, 2])
    keys = content_keys(K, None, square=True)
    np.testing.assert_array_equal(content_keys(K[np.ix_(order, order)], None, True), keys[order])


def test_keys_of_many_samples_collide_no_more_than_chance_allows():
    grid = np.stack(np.meshgrid(*[np.arange(40.0)] * 3), axis=-1).reshape(-1, 3)
    for X in (grid, grid / 7.0, grid.astype(np.float32) * 1e-20, sparse.csr_array(grid)):
        assert np.unique(content_keys(X, None)).size == len(grid)
