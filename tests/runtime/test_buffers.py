"""Memory of fits: limits that hold, arrays that return, what is kept, and how much there is."""

import gc
import multiprocessing
import os
import re
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone

import maxmargin
from maxmargin import SVC, SVR, NuSVC, OneClassSVM, solve
from maxmargin.data import chess_board
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian
from maxmargin.runtime import buffers as memory
from maxmargin.runtime.buffers import (
    buffer,
    free_memory,
    memory_share,
    pages_kept,
    release_memory,
    workers_beside,
)
from maxmargin.solvers import costs, plan
from maxmargin.solvers.plan import memory_budget

NEEDS_PAGES = pytest.mark.skipif(
    not hasattr(memory.mmap, "MADV_DONTNEED"), reason="this system cannot take back kept memory"
)
NEEDS_PROC = pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="this system does not tell the memory in use"
)
LARGE = (1024, 1024)
MB = 1 << 20


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(memory, "_pool", memory.Pool())


def address(array):
    return array.ctypes.data


def kept_bytes():
    return sum(kept.warm for kept in memory._pool.kept)


# ---- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_a_buffer_has_the_requested_shape_and_type(dtype):
    array = buffer((700, 512), dtype)
    array[...] = 3
    assert array.shape == (700, 512)
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert (array == 3).all()


@NEEDS_PAGES
def test_small_arrays_are_left_to_the_allocator():
    assert buffer((10, 10), np.float64).base is None


@NEEDS_PAGES
def test_memory_given_back_is_used_again():
    first = buffer(LARGE, np.float64)
    place = address(first)
    del first
    assert address(buffer(LARGE, np.float64)) == place


@NEEDS_PAGES
def test_smaller_arrays_use_larger_memory_of_another_type():
    first = buffer(LARGE, np.float64)
    place = address(first)
    del first
    assert address(buffer(LARGE, np.float32)) == place


@NEEDS_PAGES
def test_an_array_that_grows_a_little_finds_the_same_memory():
    with memory.pages_kept():
        first = buffer((3_800, 3_800), np.float64)
        place = address(first)
        del first
        assert address(buffer((3_814, 3_814), np.float64)) == place


@NEEDS_PAGES
@pytest.mark.parametrize("size", [memory.SMALLEST, memory.SMALLEST + 1, 10**7, 123_456_789])
def test_little_more_is_mapped_than_was_asked_for(size):
    pages = memory._fresh(size)
    assert size <= len(pages.pages) <= 1.125 * size + 1
    assert pages.warm == size


def test_a_view_keeps_the_memory():
    whole = buffer(LARGE, np.float64)
    part = whole[10:20, ::2].T
    part[...] = 7.0
    del whole
    gc.collect()
    other = buffer(LARGE, np.float64)
    other[...] = 0.0
    assert (part == 7.0).all()


def test_two_arrays_never_share():
    first, second = buffer(LARGE, np.float64), buffer(LARGE, np.float64)
    first[...], second[...] = 1.0, 2.0
    assert (first == 1.0).all()


def test_threads_get_arrays_of_their_own():
    wrong = []

    def use(number):
        for _ in range(50):
            array = buffer(LARGE, np.float32)
            array[...] = number
            if not (array == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=use, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert memory._pool.leased == 0


@NEEDS_PAGES
def test_a_lease_may_end_while_another_is_made():
    array = buffer(LARGE, np.float64)
    with memory._pool.lock:
        del array
    assert len(memory._pool.kept) == 1


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


# ---- what is kept --------------------------------------------------------------------------------


@NEEDS_PAGES
def test_between_fits_no_more_is_kept_than_promised():
    arrays = [buffer((mega, MB), np.uint8) for mega in (3, 12, 40, 30, 200)]
    arrays.clear()
    assert 60 * MB < kept_bytes() <= memory.KEPT
    with pages_kept():
        arrays = [buffer((mega, MB), np.uint8) for mega in (100, 100)]
        arrays.clear()
        assert 200 * MB <= kept_bytes() <= 200 * MB + memory.SPARE
    assert 60 * MB < kept_bytes() <= memory.KEPT


@NEEDS_PAGES
def test_of_too_much_the_largest_are_given_back_first():
    arrays = [buffer((mega, MB), np.uint8) for mega in (5, 40, 30)]
    arrays.clear()
    assert [kept.warm // MB for kept in memory._pool.kept] == [28, 30, 5]


@NEEDS_PAGES
def test_during_a_fit_what_is_kept_adds_little_to_the_peak():
    with pages_kept():
        first = buffer((100, MB), np.uint8)
        del first
        assert kept_bytes() == 100 * MB
        second = buffer((80, MB), np.uint8)
        third = buffer((60, MB), np.uint8)
        assert memory._pool.leased + kept_bytes() <= 160 * MB + memory.SPARE
        del second, third
        buffer((150, MB), np.uint8)
        assert memory._pool.leased + kept_bytes() <= 160 * MB + memory.SPARE


@NEEDS_PAGES
def test_all_of_it_is_released_by_one_call():
    array = buffer((20, MB), np.uint8)
    del array
    assert kept_bytes() == 20 * MB
    assert release_memory() is None
    assert kept_bytes() == 0
    assert maxmargin.release_memory is release_memory


def kept_after_an_array():
    array = buffer((20, MB), np.uint8)
    array[...] = 1
    del array
    return kept_bytes()


@NEEDS_PAGES
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes_keep_nothing(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    assert kept_after_an_array() == 20 * MB
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert pool.submit(kept_after_an_array).result(timeout=200) == 0


@NEEDS_PAGES
def test_workers_of_joblib_keep_nothing():
    assert Parallel(n_jobs=2)(delayed(kept_after_an_array)() for _ in range(2)) == [0, 0]


# ---- limits --------------------------------------------------------------------------------------

# A fit in a process of its own, and by how many bytes it raised the memory in use at its peak.
MEASURED = """
import re, sys, warnings
import numba
import numpy as np
from maxmargin import SVC

def in_use(what):
    with open("/proc/self/status") as lines:
        return 1024 * int(re.search(what + r":\\s+(\\d+)", lines.read())[1])

def noisy(n, d, classes, kind):
    random = np.random.default_rng(0)
    y = random.integers(classes, size=n)
    X = random.normal(size=(n, d)) + 0.15 * random.normal(size=(classes, d))[y]
    return X.astype(kind), y

n, d, classes, kind = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
options = dict(eval(sys.argv[5]))
warnings.simplefilter("ignore")
# Everything is compiled or loaded, the compiler too, and every library has its buffers.
numba.njit(lambda x: x)(1)
for m in (300, 2600):
    SVC(**{**options, "cache_size": 8, "max_iter": 2000}).fit(*noisy(m, d, classes, kind))
X, y = noisy(n, d, classes, kind)
before = in_use("VmRSS")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
SVC(**options).fit(X, y)
print(in_use("VmHWM") - before, in_use("VmRSS") - before, X.nbytes)
"""
WORKING = 64e6


def growth(n, d=10, classes=2, kind="float64", **options):
    """Bytes by which a fit raised the memory in use at its peak, in the end, and of its inputs."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError as error:
        pytest.skip(f"the peak of the memory in use cannot be reset: {error}")
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, (n, d, classes, kind, options))],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(memory.__file__).parents[2]),
            "OPENBLAS_NUM_THREADS": "2",
        },
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return map(int, done.stdout.split())


@NEEDS_PROC
@pytest.mark.parametrize(
    "options",
    [
        {"n": 12_000, "cache_size": 50},
        {"n": 12_000, "cache_size": 50, "precision": "double", "C": 10.0},
        {"n": 12_000, "cache_size": 5},
        {"n": 8000, "cache_size": 50, "d": 80, "kind": "float32"},
        {"n": 6000, "cache_size": 50, "classes": 4, "d": 20},
        {"n": 6000, "cache_size": 50, "classes": 4, "d": 20, "n_jobs": 2},
        {"n": 3000, "cache_size": 20, "d": 20},
        {"n": 4000, "cache_size": 30, "solver": "rows", "max_iter": 20_000},
    ],
    ids=str,
)
def test_a_number_given_as_cache_size_is_kept(options):
    peak, end, inputs = growth(**options)
    print(f"peak {peak / 1e6:.0f} MB, in the end {end / 1e6:.0f} MB")
    assert peak <= options["cache_size"] * 1e6 + WORKING + 3 * inputs + 1000 * options["n"]
    assert end <= memory.KEPT + 3 * inputs + 1000 * options["n"]


@NEEDS_PROC
def test_after_a_large_fit_little_stays():
    peak, end, inputs = growth(12_000, solver="blocks")
    assert peak > 3e8
    assert end <= memory.KEPT + 3 * inputs + 1000 * 12_000


def test_a_small_cache_changes_nothing_but_the_memory():
    X, y = chess_board(3000, noise=0.1, random_state=0)
    found = [
        SVC(C=10.0, gamma=2.0, cache_size=size, solver="blocks").fit(X, y)
        for size in ("auto", 200, 0.5)
    ]
    for model in found:
        assert model.status_ == "converged"
        assert model.certificate_.violation < 1.1e-3
        assert model.certificate_.dual == pytest.approx(found[0].certificate_.dual, rel=1e-6)


@pytest.mark.parametrize("maker", [SVC, NuSVC, SVR, OneClassSVM])
def test_the_default_can_be_told_from_a_number_and_survives_clones(maker):
    assert maker().cache_size == "auto"
    assert clone(maker()).get_params()["cache_size"] == "auto"
    assert clone(maker(cache_size=200)).get_params()["cache_size"] == 200


@pytest.mark.parametrize("wrong", [0, -1, np.inf, np.nan, "200", None, True])
def test_other_cache_sizes_are_refused(wrong):
    with pytest.raises(ValueError, match="cache_size of SVC must be 'auto' or a number"):
        SVC(cache_size=wrong).fit([[0.0], [1.0]], [0, 1])


def test_the_whole_matrix_is_refused_where_it_does_not_fit():
    X, y = chess_board(600, random_state=0)
    with pytest.raises(ValueError, match=r'at least 2\.88 with solver="full".*got 2'):
        SVC(cache_size=2, solver="full").fit(X, y)
    assert SVC(cache_size=2).fit(X, y).status_ == "converged"
    assert SVC(cache_size=3, solver="full").fit(X, y).status_ == "converged"


def test_budgets(monkeypatch):
    monkeypatch.setattr(plan, "memory_share", lambda: 2e9)
    assert memory_budget(50, 100_000) == 50e6
    assert memory_budget(50, 10) == 50e6
    assert memory_budget(5000, 100_000) == 1.6e9
    assert memory_budget("auto", 100_000) == 1e9
    monkeypatch.setattr(plan, "memory_share", lambda: 64e9)
    assert memory_budget("auto", 100_000) == costs.GENEROUS
    assert memory_budget("auto", 100_000, jobs=4) == 4 * costs.GENEROUS


# ---- out of memory -------------------------------------------------------------------------------


def test_more_than_there_is_is_a_memory_error_that_says_what_was_asked_for():
    with pytest.raises(MemoryError, match=r"80,000,000,000,000 bytes, shape \(10000000, 1000000\)"):
        buffer((10**7, 10**6), np.float64)
    with pytest.raises(MemoryError, match="Lower cache_size"):
        buffer((10**7, 10**6), np.float64)
    assert memory._pool.leased == 0


def test_a_system_that_refuses_is_a_memory_error(monkeypatch):
    def refuse(*_, **__):
        raise OSError(memory.errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(memory.mmap, "mmap", refuse)
    with pytest.raises(MemoryError, match="8,388,608 bytes"):
        buffer(LARGE, np.float64)
    assert memory._pool.leased == 0


def test_what_is_kept_is_released_before_memory_is_refused(monkeypatch):
    pool, made = memory.Pool(), memory._fresh
    pool.give_back(made(memory.SMALLEST))

    def limited(size):
        if pool.kept:
            raise MemoryError
        return made(size)

    monkeypatch.setattr(memory, "_fresh", limited)
    assert len(pool.take(2 * memory.SMALLEST).pages) == 2 * memory.SMALLEST
    assert not pool.kept


def test_a_fit_without_memory_is_a_memory_error():
    code = (
        "import resource\n"
        "import numpy as np\n"
        "from maxmargin import SVC\n"
        "X = np.random.default_rng(0).normal(size=(20000, 3))\n"
        "SVC(max_iter=100).fit(X[:500], X[:500, 0] > 0)\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "limit = pages * resource.getpagesize() + (200 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try:\n"
        "    SVC(solver='full').fit(X, X[:, 0] > 0)\n"
        "except MemoryError as error:\n"
        "    print(error)\n"
    )
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("no limit on memory can be set on this system")
    env = {**os.environ, "PYTHONPATH": str(Path(memory.__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "no memory for an array of 1,600,000,000 bytes, shape (20000, 20000)" in done.stdout
    assert float(re.search(r"([\d,]+) bytes are free", done.stdout)[1].replace(",", "")) < 201 * MB


# ---- how much there is ---------------------------------------------------------------------------


def write(system, **files):
    """A system with these files, by path with dots for slashes."""
    for name, content in files.items():
        path = system / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


@pytest.fixture
def machine(tmp_path):
    """A machine with 8 GB free and 1 GB of swap space."""
    info = "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB\nSwapFree: 1000000 kB\n"
    write(tmp_path, **{"proc/meminfo": info})
    return tmp_path


V2_MOUNT = "29 23 0:26 {root} /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
V1_MOUNT = "35 31 0:32 {root} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"


def test_free_memory_is_that_of_the_machine(machine):
    assert free_memory(system=machine) == 8e6 * 1024
    assert free_memory(swap=True, system=machine) == 9e6 * 1024


def test_free_memory_is_that_of_the_nearest_limit_in_version_2(machine):
    group = "sys/fs/cgroup/user.slice"
    write(
        machine,
        **{
            "proc/self/cgroup": "0::/user.slice/app/job\n",
            "proc/self/mountinfo": V2_MOUNT.format(root="/"),
            f"{group}/app/job/memory.max": "max\n",
            f"{group}/app/job/memory.current": "1000\n",
            f"{group}/app/memory.max": "500000000\n",
            f"{group}/app/memory.current": "300000000\n",
            f"{group}/app/memory.stat": "anon 200000000\ninactive_file 100000000\n",
            f"{group}/memory.max": "900000000\n",
            f"{group}/memory.current": "350000000\n",
        },
    )
    assert free_memory(system=machine) == 300e6


def test_free_memory_is_that_of_the_container_in_version_2(machine):
    """Inside a container the group is the root of all that it sees."""
    write(
        machine,
        **{
            "proc/self/cgroup": "0::/\n",
            "proc/self/mountinfo": V2_MOUNT.format(root="/"),
            "sys/fs/cgroup/memory.max": "200000000\n",
            "sys/fs/cgroup/memory.current": "150000000\n",
        },
    )
    assert free_memory(system=machine) == 50e6


@pytest.mark.parametrize("root", ["/", "/docker/abc"])
def test_free_memory_is_that_of_the_nearest_limit_in_version_1(machine, root):
    top = "sys/fs/cgroup/memory"
    group = f"{top}/docker/abc" if root == "/" else top
    write(
        machine,
        **{
            "proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/abc\n0::/\n",
            "proc/self/mountinfo": V1_MOUNT.format(root=root) + V2_MOUNT.format(root="/"),
            f"{group}/memory.limit_in_bytes": "600000000\n",
            f"{group}/memory.usage_in_bytes": "250000000\n",
            f"{group}/memory.stat": "inactive_file 1\ntotal_inactive_file 50000000\n",
            f"{top}/memory.other": "",
        },
    )
    assert free_memory(system=machine) == 400e6


def test_groups_without_limit_limit_nothing(machine):
    write(
        machine,
        **{
            "proc/self/cgroup": "4:memory:/\n0::/\n",
            "proc/self/mountinfo": V1_MOUNT.format(root="/") + V2_MOUNT.format(root="/"),
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "250000000\n",
        },
    )
    assert free_memory(system=machine) == 8e6 * 1024


@pytest.mark.parametrize("line", ["", "nonsense\n", "0::\n", "4:memory\n"])
def test_what_cannot_be_read_limits_nothing(machine, line):
    write(machine, **{"proc/self/cgroup": line, "proc/self/mountinfo": "x\n"})
    assert free_memory(system=machine) == 8e6 * 1024


def test_there_is_some_memory_here():
    assert 1e6 < free_memory() < 1e15


@NEEDS_PROC
def test_workers_share_the_memory_that_is_free():
    assert workers_beside() == 1
    with Parallel(n_jobs=3) as parallel:
        parallel(delayed(time.sleep)(0.3) for _ in range(3))  # until all three are there
        counts = parallel(delayed(workers_beside)() for _ in range(3))
        shares = parallel(delayed(memory_share)() for _ in range(3))
    assert min(counts) >= 3
    assert shares == pytest.approx([free_memory() / count for count in counts], rel=0.3)
