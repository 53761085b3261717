"""Crossovers of products, factors and kernel values: sizes at which one method becomes cheaper.

Everything below the solvers looks them up here, as `solvers/costs.py` does for drivers. Each was
found by timing both methods on either side of it, with the command of its group; one that is off by
a factor of two costs some percent of speed, and no accuracy.
"""

from __future__ import annotations

from typing import NamedTuple

# --- threads
# python -m benchmarks.speed --threads

# Number of entries below which a second thread costs more than it saves; parts have at least half
# as many. Terms of a sum of products that take as long as the other work per entry.
WORTH_A_THREAD, TERMS_AN_ENTRY = 1 << 19, 64

# --- Cholesky factors
# python -m benchmarks.ablation --paths threaded-cholesky

# Matrices with fewer rows, and right sides with fewer columns, are left to LAPACK in one thread.
FEWEST_ROWS, FEWEST_COLUMNS = 1200, 8

# --- Gaussian kernel values
# python -m benchmarks.ablation --paths compiled-rows

# Number of features up to which distances are computed one by one instead of by GEMM.
DIRECT_FEATURES = 12
# Time of a Chebyshev point in kernel values, for sums of Gaussians.
COEFFICIENTS_A_VALUE = 4

# --- sparse inputs and features in which most samples agree
# python -m benchmarks.ablation --paths rare-features; benchmarks.speed --others

# CSR matrices with at least this density are as fast by GEMM on one core, and faster on more; above
# this size in bytes they stay sparse.
DENSE_SHARE, DENSE_BYTES = 0.1, 1 << 30
# Largest fraction of samples that differ in a rare feature, for products of the samples with each
# other in float32 and float64, which take twice as long.
RARE32, RARE64 = 0.15, 0.22


class RareFeatures(NamedTuple):
    """When the products of rare features, and of which, are computed apart."""

    # The same for products with unknown samples: even if all of them differ, this is not slower
    # than GEMM.
    towards_unknown: float = 0.015
    # The same for known samples that differ in almost nothing; it bounds the memory of the entries.
    at_most: float = 0.5
    # Separating features pays off with at least this many in all, if this fraction of them is rare,
    # or this fraction has no entries at all.
    many_features: int = 100
    many_rare: float = 0.2
    many_empty: float = 0.02
    # Number of samples that determine the common values, and that decide whether to look further.
    few_samples: int = 31
    some_samples: int = 512


RARE = RareFeatures()

# --- sums of kernel values, as certificates need them
# python -m benchmarks.speed --problems banana,waveform,mnist-10000

# Number of features below which blocks of kernel values have to stay in the cache, as reading them
# takes as long as computing them; a second thread then pays off from this many times as many
# values.
FEW_FEATURES, FEW_FEATURES_SHARE = 64, 6
# Up to this many support vectors their matrix is one block.
ONE_BLOCK = 1000
