"""Oligo kernels on 2,000 sequences of 50 letters: the times aimed at, and a peer.

    python -m benchmarks.sequences

The peer spells out the features of the 3-mer kernel, 64 smoothed counts at each of 50 places, and
multiplies them by BLAS. Everything runs on one core.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from maxmargin.kernels import (
    CombinedOligo,
    EncodedSequences,
    Oligo,
    TripletOligo,
    WeightedOligo,
)

COUNT, LENGTH, SIGMA = 2_000, 50, 1.27
REPEATS = 5


class Work(NamedTuple):
    """Something to time, and the seconds it may take, where there is such a target."""

    name: str
    run: Callable[[], Any]
    target: float | None = None


def random_sequences(count: int, length: int) -> list[str]:
    letters = np.random.default_rng(0).choice(list("ACGT"), size=(count, length))
    return ["".join(row) for row in letters]


def by_features(X: list[str], sigma: float) -> np.ndarray:
    """The Gram matrix of ``Oligo(3, sigma)`` as a product of matrices."""
    sequences = EncodedSequences(X)
    bounds, code, position = sequences.occurrences(3)
    features = np.zeros((len(sequences), 64, sequences.width))
    features[np.repeat(np.arange(len(sequences)), np.diff(bounds)), code, position] = 1.0
    place = np.arange(sequences.width)
    smoothed = features @ np.exp(-(((place[:, None] - place) / (2.0 * sigma)) ** 2))
    K = features.reshape(len(X), -1) @ smoothed.reshape(len(X), -1).T
    norm = np.sqrt(np.diagonal(K))
    return K / norm[:, None] / norm


def works(X: list[str], sigma: float = SIGMA) -> list[Work]:
    W = np.random.default_rng(1).standard_normal((len(X), len(X)))
    sigmas = (sigma,) * 6
    return [
        Work("3-mers, explicit features by BLAS", lambda: by_features(X, sigma)),
        Work("3-mers, Gram matrix", lambda: Oligo(3, sigma)(X), 2.0),
        Work("3-mers, Gram matrix, sigma = 20", lambda: Oligo(3, 20.0)(X)),
        Work("1- to 6-mers, Gram matrix", lambda: CombinedOligo(sigmas)(X)),
        Work(
            "64 weights and sigma, gradient",
            lambda: TripletOligo(sigma).gradient(X, None, W),
            10.0,
        ),
        Work("6 weights, 6 sigmas, gradient", lambda: WeightedOligo(sigmas).gradient(X, None, W)),
    ]


def seconds(work: Work, repeats: int) -> float:
    """Median, after a first run that may have to compile."""
    work.run()
    spans = []
    for _ in range(repeats):
        began = time.perf_counter()
        work.run()
        spans.append(time.perf_counter() - began)
    return float(np.median(spans))


def report(tasks: list[Work], repeats: int = REPEATS) -> None:
    print(f"{'':36}{'seconds':>9}{'to BLAS':>9}{'target':>8}")
    peer = None
    for task in tasks:
        found = seconds(task, repeats)
        peer = found if peer is None else peer
        verdict = ""
        if task.target is not None:
            verdict = f"{task.target:8.0f}   {'met' if found <= task.target else 'MISSED'}"
        print(f"{task.name:36}{found:9.3f}{found / peer:9.2f}{verdict}", flush=True)


def main() -> None:
    with threadpool_limits(limits=1):
        report(works(random_sequences(COUNT, LENGTH)))


if __name__ == "__main__":
    main()
