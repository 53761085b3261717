"""Room that returns for the next array, and never while one still uses it."""

import gc
import threading
import weakref

import numpy as np
import pytest

from maxmargin import memory, solve
from maxmargin.data import chess_board
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian
from maxmargin.memory import room

pytestmark = pytest.mark.skipif(
    not hasattr(memory.mmap, "MADV_FREE"), reason="this system cannot take back kept memory"
)
LARGE = (1024, 1024)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(memory, "_kept", [])


def address(array):
    return array.ctypes.data


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_room_is_an_array_as_ordered(dtype):
    array = room((700, 512), dtype)
    array[...] = 3
    assert array.shape == (700, 512)
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert (array == 3).all()


def test_small_arrays_are_left_to_the_allocator():
    assert room((10, 10), np.float64).base is None


def test_room_given_back_is_used_again():
    first = room(LARGE, np.float64)
    place = address(first)
    del first
    assert address(room(LARGE, np.float64)) == place


def test_smaller_arrays_use_larger_room_of_another_type():
    first = room(LARGE, np.float64)
    place = address(first)
    del first
    assert address(room(LARGE, np.float32)) == place


def test_what_is_kept_beyond_a_little_is_offered_to_the_system(monkeypatch):
    class Pages(bytearray):
        offered = None

        def madvise(self, advice, start, length):
            assert advice == memory.mmap.MADV_FREE
            self.offered = start, length

    page = memory.mmap.PAGESIZE
    monkeypatch.setattr(memory, "WARM", 4 * page)
    returned = [Pages(page), Pages(page + 100), Pages(3 * page), Pages(1)]
    for pages in returned:
        memory.Lease(pages, len(pages))
    assert [pages.offered for pages in returned] == [None, None, (page, 2 * page), (0, 1)]


def test_a_view_keeps_the_room():
    whole = room(LARGE, np.float64)
    part = whole[10:20, ::2].T
    part[...] = 7.0
    del whole
    gc.collect()
    other = room(LARGE, np.float64)
    other[...] = 0.0
    assert (part == 7.0).all()


def test_two_arrays_never_share():
    first, second = room(LARGE, np.float64), room(LARGE, np.float64)
    first[...], second[...] = 1.0, 2.0
    assert (first == 1.0).all()


def test_no_more_is_kept_than_allowed(monkeypatch):
    monkeypatch.setattr(memory, "MOST_KEPT", (10 << 20) / memory.main_memory())
    arrays = [room(LARGE, np.float64) for _ in range(3)]
    del arrays
    assert sum(len(kept.pages) for kept in memory._kept) <= 10 << 20


def test_threads_get_rooms_of_their_own():
    wrong = []

    def use(number):
        for _ in range(50):
            array = room(LARGE, np.float32)
            array[...] = number
            if not (array == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=use, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_lease_may_end_while_another_is_made():
    held = room(LARGE, np.float64)
    with memory._lock:
        del held
    assert len(memory._kept) == 1


def test_of_too_much_the_smallest_are_not_kept(monkeypatch):
    monkeypatch.setattr(memory, "MOST_KEPT", (20 << 20) / memory.main_memory())
    arrays = [room((mega, 1 << 20), np.uint8) for mega in (3, 12, 6)]
    arrays.clear()
    assert [len(kept.pages) >> 20 for kept in memory._kept] == [6, 12]


@pytest.mark.parametrize("driver", ["full", "rows", "blocks"])
def test_a_run_leaves_no_cycle_that_holds_memory_until_garbage_is_collected(driver):
    X, y = chess_board(800, random_state=0)
    gram = Gaussian(2.0).bind(X)
    gone = weakref.ref(gram)
    gc.disable()
    try:
        solve(hinge(y, 10.0).problem, gram, driver=driver)
        del gram
        assert gone() is None
    finally:
        gc.enable()
