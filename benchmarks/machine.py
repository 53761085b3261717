"""The machine under the benchmark: what it is, how fast it multiplies, what a process takes."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

PACKAGES = ("maxmargin", "numpy", "scipy", "scikit-learn", "numba", "scikit-learn-intelex", "daal")
# Rows and columns of the block of a Gram matrix whose product is timed, and its features.
GEMM_SHAPE = (1024, 4096, 784)
# A load above this share of the cores disturbs the measurement.
QUIET = 0.25


def gemm_rate(dtype: str, shape: tuple[int, int, int] = GEMM_SHAPE, repeats: int = 10) -> float:
    """Floating-point operations a second of a matrix product, the best of several."""
    rows, columns, features = shape
    random = np.random.default_rng(0)
    left = random.standard_normal((rows, features)).astype(dtype)
    right = random.standard_normal((columns, features)).astype(dtype)
    out = left @ right.T
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        np.matmul(left, right.T, out=out)
        seconds.append(time.perf_counter() - began)
    return 2.0 * rows * columns * features / min(seconds)


def description() -> dict[str, Any]:
    """Processor, cores, load and versions."""
    return {
        "processor": _processor(),
        "cores": cores(),
        "load": load(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "threads": {
            pool.get("internal_api", "?"): pool["num_threads"] for pool in threadpool_info()
        },
    }


def cores() -> int:
    """Those this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load() -> float | None:
    """Processes at work in the last minute, on average."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def busy(now: float | None) -> str | None:
    """A warning where the load before the first run says that others are at work."""
    if now is None or now <= QUIET * cores():
        return None
    return f"the machine is busy (load {now:.1f} on {cores()} cores): do not trust the times"


def reset_peak() -> int:
    """Bytes in use; the peak is counted from here on where the system can do that."""
    _give_back()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        return _status("VmRSS")
    except OSError:
        return peak()


def peak() -> int:
    """The most bytes in use so far, or since `reset_peak`."""
    try:
        return _status("VmHWM")
    except OSError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _give_back() -> None:
    """Let the allocator return what was freed: taken again, it would not be counted."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise OSError(f"no {field} in /proc/self/status")


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
