"""Several processes fit at once in a control group with a limit of memory: none of them is killed.

python -m benchmarks.limited --gigabytes 3 --workers 8 --samples 8000

Needs Linux with a writable control group of version 1 or 2 (as root, or one of your own).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from maxmargin import SVC

V1, V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")


class Fitted(NamedTuple):
    """How a fit went, and the largest memory of its process in MB."""

    status: str
    gap: float
    seconds: float
    peak: int
    plan: str


def fitted(seed: int, samples: int) -> Fitted:
    """A fit of noisy samples of which most are support vectors."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(samples, 20))
    y = X[:, 0] * X[:, 1] + 0.5 * random.normal(size=samples) > 0
    began = time.perf_counter()
    model = SVC(C=10.0).fit(X, y)
    seconds, peak = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    gap, plan = model.certificate_.relative_gap, str(model.solution_.plan)
    return Fitted(model.status_, gap, seconds, peak // 1024, plan)


@contextlib.contextmanager
def limited(limit: int) -> Iterator[Path]:
    """This process and its children in a control group with so many bytes."""
    top = V1 if V1.exists() else V2
    group, name = top / f"limited-{os.getpid()}", "memory.limit_in_bytes"
    try:
        group.mkdir()
        (group / (name if top is V1 else "memory.max")).write_text(str(limit))
        (group / "cgroup.procs").write_text(str(os.getpid()))
    except OSError as error:
        raise SystemExit(f"no control group can be made here: {error}") from None
    try:
        yield group
    finally:
        (top / "cgroup.procs").write_text(str(os.getpid()))
        with contextlib.suppress(OSError):  # a child is still ending
            group.rmdir()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gigabytes", type=float, default=3.0)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--samples", type=int, default=8000)
    options = parser.parse_args()
    with limited(int(options.gigabytes * 1e9)) as group, Parallel(options.workers) as parallel:
        found = parallel(delayed(fitted)(k, options.samples) for k in range(options.workers))
        peak = group / ("memory.max_usage_in_bytes" if V1.exists() else "memory.peak")
        print(f"{options.workers} workers used {int(peak.read_text()) / 1e9:.2f} GB at most")
    for one in found:
        print(
            f"{one.status}, gap {one.gap:.1e}, {one.seconds:.1f} s, {one.peak} MB: {one.plan}",
            flush=True,
        )


if __name__ == "__main__":
    main()
