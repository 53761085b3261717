"""Threads of a fit: work is divided by its size alone, and limits of BLAS are lifted again."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import samebits
from scipy import sparse
from threadpoolctl import threadpool_limits

from maxmargin.kernels import Gaussian, Polynomial
from maxmargin.runtime import parallel as threads
from maxmargin.runtime.parallel import (
    GRAIN,
    WORTH_A_THREAD,
    in_parts,
    in_turn,
    libraries,
    own_threads,
    part_length,
    single_threaded_blas,
    threads_of,
)

PLENTY = 64 * WORTH_A_THREAD


def blas_threads():
    return [threads_of(library) for library in [*libraries().shared, *libraries().per_thread]]


@pytest.mark.parametrize("own", [1, 2, 3, 20])
@pytest.mark.parametrize("size", [0, 1, 5, 100, 20_000])
def test_parts_cover_everything_once(size, own):
    visits = np.zeros(size, dtype=int)

    def visit(start, stop):
        visits[start:stop] += 1

    with single_threaded_blas(own):
        in_parts(visit, size, PLENTY)
    assert (visits == 1).all()


@pytest.mark.parametrize("depth", [1, 1000])
@pytest.mark.parametrize("least", [1, 1024])
@pytest.mark.parametrize("size", [300, 5000, 100_000])
def test_where_parts_begin_does_not_depend_on_the_number_of_threads(size, least, depth):
    found = []
    for own in (1, 2, 7):
        parts = []
        with single_threaded_blas(own):
            in_parts(lambda *part, parts=parts: parts.append(part), size, 10**6, depth, least=least)
        found.append(sorted(parts))
    assert found[0] == found[1] == found[2]
    assert all(start % GRAIN == 0 for start, _ in found[0])
    assert all(stop - start >= min(least, size) for start, stop in found[0][:-1])


def test_little_work_is_not_divided():
    assert part_length(10_000, WORTH_A_THREAD - 1) == 10_000
    # Two parts are worth two threads, and a power of two of them for more.
    parts = [-(-(1 << 20) // part_length(1 << 20, k * WORTH_A_THREAD)) for k in (1, 2, 3, 8, 10**4)]
    assert parts == [2, 4, 4, 16, 256]
    assert part_length(10_000, WORTH_A_THREAD) < 10_000


def test_sizes_may_be_numbers_of_numpy():
    parts = []
    in_parts(lambda *part: parts.append(part), np.int64(1000), np.int64(PLENTY), np.int32(100))
    assert sorted(parts)[-1][-1] == 1000


def test_there_is_work_for_more_than_sixteen_threads():
    assert len(range(0, 10**6, part_length(10**6, 10**9))) > 100


def test_as_many_threads_work_as_there_are():
    meeting = threading.Barrier(20)
    with single_threaded_blas(20):
        in_turn(lambda _: meeting.wait(timeout=60), range(20))


def test_an_error_in_a_part_is_raised():
    def fail(start, _stop):
        if start > 0:
            raise ArithmeticError("in the second part")

    with single_threaded_blas(2), pytest.raises(ArithmeticError, match="in the second part"):
        in_parts(fail, 1000, PLENTY)


def test_an_index_error_in_a_part_is_raised():
    with pytest.raises(IndexError, match="out of bounds"):
        in_turn(np.zeros(3).item, [7])


def test_after_an_error_nothing_new_is_begun():
    begun = []

    def fail(item):
        begun.append(item)
        raise ArithmeticError

    with single_threaded_blas(1), pytest.raises(ArithmeticError):
        in_turn(fail, range(100))
    assert begun == [0]


def test_a_part_of_a_part_is_not_divided_again():
    sizes = []

    def outer(start, stop):
        in_parts(lambda first, last: sizes.append(last - first), stop - start, PLENTY)

    in_parts(outer, 128, PLENTY)
    assert sizes == [64, 64]


def test_many_callers_at_once_do_not_wait_for_one_another_for_ever():
    def nested(_):
        in_parts(lambda a, b: in_parts(lambda _c, _d: None, b - a, PLENTY), 6400, PLENTY)

    with single_threaded_blas(16), ThreadPoolExecutor(8) as pool:
        list(pool.map(nested, range(40), timeout=60))


def test_our_own_passes_may_have_threads_while_blas_has_one():
    with single_threaded_blas(own=3):
        assert (max(blas_threads()), own_threads()) == (1, 3)
        with single_threaded_blas(own=1):
            assert own_threads() == 1
        assert own_threads() == 3
    assert own_threads() == max(blas_threads())


@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_our_own_passes_have_as_many_threads_as_blas_had_outside(count):
    with threadpool_limits(count, user_api="blas"):
        outside = max(blas_threads())
        assert own_threads() == outside
        with single_threaded_blas():
            assert own_threads() == outside
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(own_threads).result() == outside


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(2, 0.3)], ids=["Gaussian", "poly"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("features", [4, 30, 90])
def test_rows_shared_among_threads_are_the_same_rows(kernel, form, dtype, features):
    X = np.random.default_rng(0).normal(size=(2500, features))
    X[np.abs(X) < 1.7] = 0.0
    gram, indices = kernel.bind(form(X), dtype), np.arange(0, 2500, 3)
    with single_threaded_blas(own=1):
        alone = gram.rows(indices)
    with single_threaded_blas(own=3):
        shared = gram.rows(indices)
    np.testing.assert_array_equal(shared, alone)


def test_the_limit_is_one_thread_and_is_lifted():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_threaded_blas():
            assert max(blas_threads()) == 1
            with single_threaded_blas():
                assert max(blas_threads()) == 1
            assert max(blas_threads()) == 1
        assert blas_threads() == before


def test_the_limit_holds_until_the_last_thread_is_done():
    with threadpool_limits(2, user_api="blas"):
        before, inside, leave = blas_threads(), threading.Event(), threading.Event()

        def limited():
            with single_threaded_blas():
                inside.set()
                leave.wait(60)
                return max(blas_threads())

        with ThreadPoolExecutor(1) as pool:
            with single_threaded_blas():
                future = pool.submit(limited)
                inside.wait(60)
            assert max(blas_threads()) == 1
            leave.set()
            assert future.result() == 1
        assert blas_threads() == before


def test_limits_in_many_threads_leave_no_trace():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()

        def limited(_):
            with single_threaded_blas():
                return max(blas_threads())

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(limited, range(300))) == {1}
        assert blas_threads() == before


def test_what_somebody_else_has_set_meanwhile_is_left_alone():
    with threadpool_limits(2, user_api="blas"):
        with single_threaded_blas():
            threadpool_limits(3, user_api="blas")
        assert set(blas_threads()) == {3}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_during_a_fit_of_another_thread_is_not_limited():
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        before, inside, leave = blas_threads(), threading.Event(), threading.Event()

        def limited():
            with single_threaded_blas():
                inside.set()
                leave.wait(60)

        future = pool.submit(limited)
        inside.wait(60)
        with threads._limit.lock:  # as if the other thread were just changing it
            child = os.fork()
            if not child:
                with single_threaded_blas():
                    limit = max(blas_threads())
                os._exit(0 if limit == 1 and blas_threads() == before else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        leave.set()
        future.result()


# ---- the same bits -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def usual():
    """What fits in the main thread come to."""
    return {name: samebits.digest(name) for name in samebits.PROBLEMS}


@pytest.mark.parametrize("name", samebits.PROBLEMS)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_results_do_not_depend_on_the_threads_of_blas(usual, name, count):
    with threadpool_limits(count, user_api="blas"):
        assert samebits.digest(name) == usual[name]


def test_results_do_not_depend_on_the_thread_or_on_other_fits(usual):
    names = list(samebits.PROBLEMS)
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(4) as pool:
        assert dict(zip(names, pool.map(samebits.digest, names))) == usual


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_results_are_the_same_in_a_forked_child(usual):
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def fit():
        sender.send({name: samebits.digest(name) for name in samebits.PROBLEMS})

    child = context.Process(target=fit)
    child.start()
    assert receiver.poll(200)
    assert receiver.recv() == usual
    child.join(60)


@pytest.mark.usefixtures("usual")
def test_results_are_the_same_in_processes_with_other_settings():
    path = os.pathsep.join([*sys.path, str(Path(threads.__file__).parents[2])])

    def digests(**settings):
        done = subprocess.run(
            [sys.executable, samebits.__file__],
            env={**os.environ, "PYTHONPATH": path, **settings},
            capture_output=True,
            text=True,
            timeout=600,
            check=True,
        )
        return done.stdout.splitlines()

    # What is compiled in a process may be arranged differently from what is loaded: `usual` has
    # compiled it.
    alone = digests(OPENBLAS_NUM_THREADS="1")
    assert len(alone) == len(samebits.PROBLEMS)
    assert digests(OPENBLAS_NUM_THREADS="2") == alone
    assert digests(OPENBLAS_NUM_THREADS="4", NUMBA_NUM_THREADS="1") == alone
