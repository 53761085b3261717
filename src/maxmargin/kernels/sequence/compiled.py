"""Compiled sums over K-mer matches, at a cost proportional to the matches.

One side comes as `Occurrences`, sequence after sequence. The other side comes as an `Index` from
K-mers to places. For row i, K-mer ω and an indexed position q the smoothed count

    s(q) = λ_ω Σ_{p ∈ S_ω(i)} table[|p − q|]

is formed once, then added to every column that has ω at q. The table ends where its entries become
negligible, so only p within reach of q are visited.
"""

from typing import NamedTuple

import numpy as np

from ...runtime.jit import compiled
from ..base import Array, Float


class Occurrences(NamedTuple):
    """K-mers of sequence i: ``bounds[i]:bounds[i + 1]``, sorted by (code, position)."""

    bounds: Array
    code: Array
    position: Array


class Index(NamedTuple):
    """Inverted index: the sequences and positions of each K-mer.

    K-mer ``codes[c]`` occurs at the ascending positions ``position[places[c]:places[c + 1]]``. Each
    of its entries ``entries[c]:entries[c + 1]`` means that sequence ``column`` contains it at
    position number ``place``.
    """

    codes: Array
    places: Array
    position: Array
    entries: Array
    place: Array
    column: Array


class Smoothing(NamedTuple):
    """exp(−d²/4σ²) and its derivative in log σ for d = 0, 1, …, and the weights λ_ω.

    `weights` has one entry per code, or a single one that all codes share.
    """

    table: Array
    slope: Array
    weights: Array


@compiled
def _find(codes: Array, code: int) -> int:
    """Index of `code` in the sorted `codes`, -1 where absent."""
    low, high = 0, codes.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    if low < codes.shape[0] and codes[low] == code:
        return low
    return -1


@compiled
def _slot(code: int, weights: Float) -> int:
    return code if weights.shape[0] > 1 else 0


@compiled
def _group_end(code: Array, begin: int, end: int) -> int:
    """End of the run of equal codes that starts at `begin`."""
    stop = begin + 1
    while stop < end and code[stop] == code[begin]:
        stop += 1
    return stop


@compiled
def _smooth(
    position: Array,
    begin: int,
    stop: int,
    at: Array,
    first: int,
    last: int,
    table: Float,
    out: Float,
) -> None:
    """out_m = Σ_t table[|position_t − at_m|] over begin ≤ t < stop, for first ≤ m < last."""
    reach = table.shape[0] - 1
    low = begin
    for m in range(first, last):
        q = at[m]
        while low < stop and position[low] < q - reach:
            low += 1
        total = 0.0
        t = low
        while t < stop and position[t] <= q + reach:
            total += table[abs(position[t] - q)]
            t += 1
        out[m - first] = total


@compiled
def add_gram_rows(
    rows: Array,
    left: Occurrences,
    right: Index,
    smoothing: Smoothing,
    row_scale: Float,
    column_scale: Float,
    out: Array,
) -> None:
    """out_rj += row_scale_i · column_scale_j · k(i, j) with i = rows_r."""
    table, weights = smoothing.table, smoothing.weights
    n = column_scale.shape[0]
    row = np.zeros(n)
    smoothed = np.empty(right.position.shape[0])
    for r in range(rows.shape[0]):
        i = rows[r]
        row[:] = 0.0
        begin, end = left.bounds[i], left.bounds[i + 1]
        while begin < end:
            code = left.code[begin]
            stop = _group_end(left.code, begin, end)
            c = _find(right.codes, code)
            if c >= 0:
                first, last = right.places[c], right.places[c + 1]
                _smooth(left.position, begin, stop, right.position, first, last, table, smoothed)
                weight = weights[_slot(code, weights)]
                for e in range(right.entries[c], right.entries[c + 1]):
                    row[right.column[e]] += weight * smoothed[right.place[e]]
            begin = stop
        for j in range(n):
            out[r, j] += row_scale[i] * column_scale[j] * row[j]


@compiled
def contract_gram(
    rows: Array,
    left: Occurrences,
    right: Index,
    smoothing: Smoothing,
    row_scale: Float,
    column_scale: Float,
    W: Float,
    by_weight: Float,
    row_sums: Float,
    column_sums: Float,
) -> float:
    """Contract V_rj = row_scale_i · column_scale_j · W_rj, i = rows_r, with derivatives of k.

    Adds λ_ω Σ V_rj ∂k_ij/∂λ_ω to `by_weight`, Σ_j V_rj k_ij to `row_sums` and Σ_r V_rj k_ij to
    `column_sums`; returns Σ V_rj ∂k_ij/∂log σ.
    """
    table, slope, weights = smoothing.table, smoothing.slope, smoothing.weights
    n = column_scale.shape[0]
    row = np.zeros(n)
    v = np.zeros(n)
    smoothed = np.empty(right.position.shape[0])
    sloped = np.empty(right.position.shape[0])
    by_sigma = 0.0
    for r in range(rows.shape[0]):
        i = rows[r]
        for j in range(n):
            v[j] = row_scale[i] * column_scale[j] * W[r, j]
        row[:] = 0.0
        begin, end = left.bounds[i], left.bounds[i + 1]
        while begin < end:
            code = left.code[begin]
            stop = _group_end(left.code, begin, end)
            c = _find(right.codes, code)
            if c >= 0:
                first, last = right.places[c], right.places[c + 1]
                _smooth(left.position, begin, stop, right.position, first, last, table, smoothed)
                _smooth(left.position, begin, stop, right.position, first, last, slope, sloped)
                slot = _slot(code, weights)
                value = 0.0
                steep = 0.0
                for e in range(right.entries[c], right.entries[c + 1]):
                    j, m = right.column[e], right.place[e]
                    row[j] += weights[slot] * smoothed[m]
                    value += v[j] * smoothed[m]
                    steep += v[j] * sloped[m]
                by_weight[slot] += weights[slot] * value
                by_sigma += weights[slot] * steep
            begin = stop
        total = 0.0
        for j in range(n):
            share = v[j] * row[j]
            total += share
            column_sums[j] += share
        row_sums[r] += total
    return by_sigma


@compiled
def contract_diagonal(
    left: Occurrences, smoothing: Smoothing, factor: Float, by_weight: Float, values: Float
) -> float:
    """values_i = k(i, i); contracts `factor`_i with its derivatives as `contract_gram` does."""
    table, slope, weights = smoothing.table, smoothing.slope, smoothing.weights
    code, position = left.code, left.position
    reach = table.shape[0] - 1
    by_sigma = 0.0
    for i in range(values.shape[0]):
        begin, end = left.bounds[i], left.bounds[i + 1]
        values[i] = 0.0
        while begin < end:
            stop = _group_end(code, begin, end)
            value = (stop - begin) * table[0]
            steep = 0.0
            for s in range(begin, stop):
                t = s + 1
                while t < stop and position[t] - position[s] <= reach:
                    value += 2.0 * table[position[t] - position[s]]
                    steep += 2.0 * slope[position[t] - position[s]]
                    t += 1
            slot = _slot(code[begin], weights)
            values[i] += weights[slot] * value
            by_weight[slot] += factor[i] * weights[slot] * value
            by_sigma += factor[i] * weights[slot] * steep
            begin = stop
    return by_sigma
