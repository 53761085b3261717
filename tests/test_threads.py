"""How many threads a fit uses, and that limits are lifted again."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from maxmargin.kernels import Gaussian
from maxmargin.threads import (
    _blas,
    blas_threads,
    in_parts,
    own_threads,
    single_threaded_blas,
    threads_for,
)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [0, 1, 5, 100])
def test_parts_cover_everything_once(size, threads):
    visits = np.zeros(size, dtype=int)

    def visit(start, stop):
        visits[start:stop] += 1

    in_parts(visit, size, threads)
    assert (visits == 1).all()


def test_an_error_in_a_part_is_raised():
    def fail(start, _stop):
        if start > 0:
            raise ArithmeticError("in the second part")

    with pytest.raises(ArithmeticError, match="in the second part"):
        in_parts(fail, 10, 2)


def test_a_part_of_a_part_is_not_divided_again():
    sizes = []

    def outer(start, stop):
        in_parts(lambda first, last: sizes.append(last - first), stop - start, 4)

    in_parts(outer, 100, 2)
    assert sizes == [50, 50]


def test_many_callers_at_once_do_not_wait_for_one_another_for_ever():
    def nested(_):
        in_parts(lambda a, b: in_parts(lambda _c, _d: None, b - a, 16), 64, 16)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(nested, range(40), timeout=60))


def test_our_own_passes_may_have_threads_while_blas_has_one():
    with single_threaded_blas(own=3):
        assert (blas_threads(), own_threads()) == (1, 3)
        with single_threaded_blas():
            assert own_threads() == 1
        assert own_threads() == 3
    assert own_threads() == blas_threads()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_shared_among_threads_are_the_same_rows(form, dtype):
    X = np.random.default_rng(0).normal(size=(900, 4))
    X[np.abs(X) < 1.5] = 0.0
    gram, indices = Gaussian(0.3).bind(form(X), dtype), np.arange(0, 900, 2)
    with single_threaded_blas(own=1):
        alone = gram.rows(indices)
    with single_threaded_blas(own=3):
        shared = gram.rows(indices)
    np.testing.assert_allclose(shared, alone, rtol=16 * np.finfo(dtype).eps)


def test_the_limit_is_one_thread_and_is_lifted():
    before = blas_threads()
    with single_threaded_blas():
        assert blas_threads() == 1
    assert blas_threads() == before


def test_of_nested_limits_the_outer_one_lifts_them():
    before = blas_threads()
    with single_threaded_blas():
        with single_threaded_blas():
            assert blas_threads() == 1
        assert blas_threads() == 1
    assert blas_threads() == before


def test_limits_in_other_threads_leave_no_trace():
    before = blas_threads()

    def limited(_):
        with single_threaded_blas():
            return blas_threads()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(limited, range(200)))
    assert blas_threads() == before


def test_only_large_problems_are_given_threads():
    before = blas_threads()
    with threads_for(np.zeros((200, 10))):
        assert blas_threads() == 1
    with threads_for(sparse.csr_array((60_000, 784))):
        assert blas_threads() == before


def test_a_list_of_things_counts_by_its_length():
    with threads_for(["ACGT"] * 50):
        assert blas_threads() == 1


def test_large_problems_leave_the_threads_to_the_blas_of_numpy():
    def threads():
        return {lib.filepath: lib.get_num_threads() for lib in _blas().lib_controllers}

    before = threads()
    many = np.broadcast_to(0.0, (50_000, 100))
    with threads_for(many):
        inside = threads()
        assert own_threads() == blas_threads() == max(before.values())
    assert threads() == before
    if len(before) > 1:
        assert [inside[path] for path in inside if "scipy.libs" in path] == [1]
