"""Features with the same value in almost all samples: their products are computed as sparse ones.

Images are shifted so that the common value is 0. A feature that differs from it in a fraction s of
the samples contributes only to s² of all inner products, and adding these one by one is faster than
a column of GEMM up to s = 0.15 in float32: three in four features of a9a, three in five of MNIST.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ...runtime.costs import RARE, RARE32, RARE64
from ...runtime.jit import compiled
from ...runtime.parallel import in_parts
from ..base import Array, Inputs
from .elementwise import chunks
from .strides import memory_line


@dataclass(frozen=True)
class RareEntries:
    """The entries of images in rare features: a CSR matrix of samples and these features."""

    matrix: Any

    @classmethod
    def joined(cls, parts: dict[int, Any], features: int, dtype: Any) -> RareEntries:
        """Join the results of `entries_of` for parts of the samples, keyed by their first
        sample."""
        if not parts:
            return cls(sparse.csr_array((0, features), dtype=dtype))
        counts, positions, values = zip(*(parts[start] for start in sorted(parts)))
        ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        index = np.int32 if ends[-1] < 1 << 31 else np.int64
        arrays = np.concatenate(values), np.concatenate(positions).astype(index), ends.astype(index)
        return cls(sparse.csr_array(arrays, shape=(ends.size - 1, features)))

    def take(self, indices: Array | slice) -> RareEntries:
        return RareEntries(self.matrix[indices])

    @cached_property
    def by_feature(self) -> Any:
        return self.matrix.tocsc()

    def add_products(self, right: RareEntries, out: Array) -> None:
        """out += ⟨left, right⟩ over the rare features"""
        if not out.size:
            return
        line = memory_line(out) if out.dtype == self.matrix.dtype else None
        if line is None:
            out += (self.matrix @ right.matrix.T).toarray()
            return
        left, entries = _arrays(self.matrix), _arrays(right.by_feature)

        def some_rows(start: int, stop: int) -> None:
            add_rare_products(*line, *left, *entries, start, stop)

        in_parts(some_rows, len(out), out.size)


def _arrays(matrix: Any) -> tuple[Array, Array, Array]:
    return matrix.data, matrix.indices, matrix.indptr


@compiled
def entries_of(
    X: Array, centre: Array, scale: Array, rare: Array, like: Array, squared_norms: Array
) -> tuple[Array, Array, Array]:
    """Nonzero entries scale·(X − centre) of the rare features (to which centre and scale belong):
    their number per sample, features, and values in the dtype of `like`. Their squares are added to
    the squared norms."""
    rows = X.shape[0]
    counts = np.empty(rows, np.int64)
    features = np.empty(rows * rare.size + 1, np.int32)
    values = np.empty(rows * rare.size + 1, like.dtype)
    present = 0
    for i in range(rows):
        before, total = present, 0.0
        for k in range(rare.size):
            # Always written, but counted only if nonzero: no branch to predict.
            features[present] = k
            values[present] = (X[i, rare[k]] - centre[k]) * scale[k]
            value = np.float64(values[present])
            total += value * value
            present += value != 0.0
        squared_norms[i] += total
        counts[i] = present - before
    return counts, features[:present].copy(), values[:present].copy()


@compiled
def add_rare_products(
    line: Array,
    step: int,
    left_data: Array,
    left_features: Array,
    left_ends: Array,
    right_data: Array,
    right_samples: Array,
    right_ends: Array,
    start: int,
    stop: int,
) -> None:
    """line[i·step + j] += ⟨left_i, right_j⟩, the left by sample and the right by feature

    Indices are unsigned: an index that might be negative takes twice as long.
    """
    for i in range(start, stop):
        row = line[i * step : (i + 1) * step]
        for t in range(left_ends[i], left_ends[i + 1]):
            value, first = left_data[t], right_ends[left_features[t]]
            last = right_ends[left_features[t] + 1]
            samples, values = right_samples[first:last], right_data[first:last]
            for s in range(samples.size):
                row[np.uint64(np.uint32(samples[s]))] += value * values[s]


def rare_share(dtype: Any) -> float:
    return RARE32 if dtype == np.float32 else RARE64


def rare_features(
    X: Inputs, share: float, zero: bool, others: Inputs | None = None
) -> tuple[Array, Array]:
    """Mask of the features that differ from their common value in at most this fraction of the
    samples, and the common values: 0, or the value that most samples seem to have. The mask is
    empty if separating features would not pay off. With other samples given, the fraction of pairs
    counts.
    """
    n, d = X.shape
    common = np.zeros(d, np.result_type(X.dtype, np.float32))
    nothing = np.zeros(d, dtype=bool), common
    if n < 2 or d < RARE.many_features:
        return nothing
    if not zero and not sparse.issparse(X):
        few = np.sort(_spread(X, RARE.few_samples), axis=0)
        common[:] = few[len(few) // 2]
    limit = np.full(d, share)
    if others is not None and others.shape[0]:
        met = _spread(others, RARE.some_samples)
        of_others = np.maximum(differing(met, common), 0.5) / met.shape[0]
        limit = np.minimum(share**2 / of_others, RARE.at_most)
    some = _spread(X, RARE.some_samples)
    if (differing(some, common) <= 2.0 * limit * some.shape[0]).sum() < RARE.many_empty * d:
        return nothing
    counts = differing(X, common)
    for most, many in ((limit * n, RARE.many_rare), (0.0, RARE.many_empty)):
        if (counts <= most).sum() >= many * d:
            return counts <= most, common
    return nothing


def differing(X: Inputs, common: Array) -> Array:
    """Number of samples that differ from the common value, per feature."""
    n, d = X.shape
    if sparse.issparse(X):
        return np.bincount(X.indices, minlength=d)
    counts: list[Array] = []

    def some_rows(start: int, stop: int) -> None:
        count = np.zeros(d, dtype=np.int64)
        for rows in chunks(stop - start, d):
            count_differing(np.ascontiguousarray(X[start:stop][rows], common.dtype), common, count)
        counts.append(count)

    in_parts(some_rows, n, n * d)
    return np.asarray(sum(counts))


@compiled
def count_differing(X: Array, common: Array, counts: Array) -> None:
    for i in range(X.shape[0]):
        for f in range(X.shape[1]):
            counts[f] += X[i, f] != common[f]


def _spread(X: Inputs, count: int) -> Inputs:
    """About `count` of the inputs, evenly spaced."""
    return X[:: max(1, X.shape[0] // count)]
