"""The row cache of blocks: which rows are overwritten, and that those in memory are right."""

import numpy as np
import pytest

from maxmargin.kernels import Gaussian
from maxmargin.solvers.drivers import block_cache
from maxmargin.solvers.drivers.block_cache import SIZES, BlockRowCache

X = np.random.default_rng(0).normal(size=(20, 3))
GRAM = Gaussian(0.5).bind(X, np.float64)


def filled():
    """A cache of eight rows, with those of the samples 0 to 7."""
    cache = BlockRowCache(GRAM, 0.0, block=8, pause=lambda: None)
    assert cache.most == SIZES.fewest_rows == 8
    cache.ensure(np.arange(8))
    return cache


def present(cache):
    """The samples whose rows are in memory, which must be those of the matrix."""
    samples = np.flatnonzero(cache.slot >= 0)
    np.testing.assert_array_equal(cache.owner[cache.slot[samples]], samples)
    rows = cache.values[cache.slot[samples], : cache.n]
    np.testing.assert_allclose(rows, GRAM.rows(samples), rtol=1e-12)
    return samples.tolist()


def test_the_least_recently_used_rows_are_overwritten_whichever_they_are():
    for used in range(8):
        cache = filled()
        cache.ensure(np.delete(np.arange(8), used))
        cache.ensure(np.array([8]))
        assert present(cache) == [*np.delete(np.arange(8), used), 8]


def test_protected_rows_are_overwritten_last():
    for kept in range(8):
        cache = filled()
        cache.ensure(np.delete(np.arange(8), kept))
        protected = np.arange(20) == kept
        cache.ensure(np.arange(8, 15), protected)
        assert present(cache) == [kept, *range(8, 15)]
        cache.ensure(np.arange(8, 16), protected)
        assert present(cache) == list(range(8, 16))


def test_rows_in_memory_are_not_computed_again():
    cache = filled()
    cache.ensure(np.array([7, 0, 3]))
    assert cache.misses == 8
    cache.ensure(np.array([0, 9]))
    assert cache.misses == 9


@pytest.mark.parametrize("budget", [0.0, 1e6])
def test_rows_of_columns_that_stay_are_packed_not_computed_again(budget):
    cache = BlockRowCache(GRAM, budget, block=8, pause=lambda: None)
    cache.ensure(np.arange(3, 11))
    keep = np.arange(1, 20, 2)
    cached, misses = keep[cache.has(keep)], cache.misses
    cache.restrict(keep)
    assert cache.misses == misses
    assert cached.tolist() == [3, 5, 7, 9]
    assert np.flatnonzero(cache.slot >= 0).tolist() == [1, 2, 3, 4]
    rows = cache.values[cache.slot[[1, 2, 3, 4]]]
    np.testing.assert_allclose(rows, GRAM.rows(cached)[:, keep], rtol=1e-12)
    cache.ensure(np.array([0, 1]))
    assert cache.misses == misses + 1
    np.testing.assert_allclose(cache.values[cache.slot[0]], GRAM.rows([1])[0, keep], rtol=1e-12)


def test_rows_that_a_pause_cut_off_are_not_taken_for_present(monkeypatch):
    calls = []

    def pause():
        calls.append(1)
        if len(calls) == 2:
            raise TimeoutError

    cache = BlockRowCache(GRAM, 1e6, block=8, pause=pause)
    monkeypatch.setattr(block_cache, "BATCH_BYTES", 2 * 8 * 20)
    with pytest.raises(TimeoutError):
        cache.ensure(np.arange(8))
    assert present(cache) == [0, 1, 2, 3]
