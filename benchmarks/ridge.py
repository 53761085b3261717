"""Kernel ridge regression beside scikit-learn's: `python -m benchmarks.ridge`.

Both solve the same problem (Gaussian kernel, no intercept), one after the other, scikit-learn in a
process of its own: with several threads, OpenBLAS's Cholesky factorisation has been seen to end
the process at 20,000 samples. Then scikit-learn runs again with one thread, and the line says so.
`difference` is the largest difference of predictions on new samples, relative to the largest
prediction.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_ridge import KernelRidge as OtherRidge
from threadpoolctl import threadpool_limits

from maxmargin import KernelRidge

FEATURES, GAMMA, NEW = 10, 0.05, 500


class Run(NamedTuple):
    """One size and penalty: seconds of both, how ours was solved, and how far they are apart."""

    samples: int
    alpha: float
    ours: float
    other: float
    method: str
    iterations: int
    gap: float
    difference: float
    one_thread: bool

    def __str__(self) -> str:
        return (
            f"{self.samples:>7,}  {self.alpha:<8g} {self.ours:>8.3f} s {self.other:>8.3f} s "
            f"{self.other / self.ours:>6.1f} ×   {self.method} ({self.iterations})  "
            f"gap {self.gap:.0e}, difference {self.difference:.0e}"
            f"{', scikit-learn with one thread' if self.one_thread else ''}"
        )


def data(samples: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(samples, FEATURES))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * random.normal(size=samples)
    return X, y


def new_samples() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(NEW, FEATURES))


def timed(work: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The least seconds of some runs, and what the last of them returned."""
    best, result = np.inf, None
    for _ in range(repeat):
        began = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - began)
    return best, result


def of_scikit_learn(
    samples: int, alpha: float, repeat: int, threads: int | None
) -> tuple[float, np.ndarray]:
    """Seconds of scikit-learn, and its predictions on new samples."""
    theirs = OtherRidge(alpha=alpha, kernel="rbf", gamma=GAMMA)
    with threadpool_limits(threads):
        seconds, model = timed(lambda: theirs.fit(*data(samples)), repeat)
        return seconds, model.predict(new_samples())


def in_a_process(*arguments: Any) -> tuple[float, np.ndarray]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(of_scikit_learn, *arguments).result()


def measured(samples: int, alpha: float, repeat: int = 2) -> Run:
    mine = KernelRidge(alpha, gamma=GAMMA, fit_intercept=False)
    ours, model = timed(lambda: mine.fit(*data(samples)), repeat)
    one_thread = False
    try:
        other, expected = in_a_process(samples, alpha, repeat, None)
    except BrokenProcessPool:
        one_thread = True
        other, expected = in_a_process(samples, alpha, repeat, 1)
    apart = float(np.abs(model.predict(new_samples()) - expected).max() / np.abs(expected).max())
    gap = model.certificate_.relative_gap
    method, steps = model.method_, model.n_iter_
    return Run(samples, alpha, ours, other, method, steps, gap, apart, one_thread)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--samples", type=int, nargs="+", default=[1000, 2000, 5000, 10_000, 20_000]
    )
    parser.add_argument("--alpha", type=float, nargs="+", default=[1.0, 1e-3])
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    KernelRidge().fit(*data(3000))  # compiles
    print("samples  alpha        ours   scikit-learn")
    for samples in options.samples:
        for alpha in options.alpha:
            print(measured(samples, alpha, options.repeat), flush=True)


if __name__ == "__main__":
    main()
