"""Distinct samples with weights: copies become one sample, samples without weight disappear.

Equal inputs with equal targets enter every machine only through the sum of their weights. To
merge them before anything is computed makes a weight of 3 and three copies one and the same
problem, down to the last bit, and a weight of 0 the same as absence.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..kernels.vector.embedding import taken
from ..runtime.jit import borrowing, borrowing_strict, compiled_strict, inlined
from ..runtime.parallel import in_parts

# Input types that are used without conversion.
USUAL_TYPES = (np.dtype(np.float64), np.dtype(np.float32))
EPSILON = float(np.finfo(np.float64).eps)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
SHIFT_1, SHIFT_2 = np.uint64(32), np.uint64(29)
NOTHING, MINUS_ZERO = np.uint64(0), np.uint64(1 << 63)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Samples(NamedTuple):
    """The training samples of a machine.

    Attributes
    ----------
    X : inputs
        One per distinct sample, in the order of first appearance unless another is requested. The
        given object itself, not a copy, if there is nothing to merge or to leave out.
    y : float array or None
        Class codes or targets.
    weight : float array
        Positive; the sum over the copies.
    keys : uint64 array
        A hash of the content of each sample, independent of its place.
    member : int array
        For each given sample, its distinct sample, or -1 if it has no weight.
    given_weight : float array
        The weights of the given samples.
    has_copies : bool
        Whether some distinct sample represents several given ones.
    centred : bool
        Whether an offset has been subtracted from X.
    """

    X: Any
    y: np.ndarray | None
    weight: np.ndarray
    keys: np.ndarray
    member: np.ndarray
    given_weight: np.ndarray
    has_copies: bool
    centred: bool = False

    @property
    def size(self) -> int:
        return self.weight.size

    @property
    def targets(self) -> np.ndarray:
        """`y`, of a machine that has targets."""
        assert self.y is not None
        return self.y

    def spread(self, coef: np.ndarray, level: np.ndarray | None = None) -> np.ndarray:
        """Distribute the coefficients of distinct samples over the given samples.

        `level` is each coefficient as a fraction of its largest value: copies are then filled one
        after the other, so that few of them are nonzero. (An unbounded coefficient has level 0: the
        first copy takes it.) Without `level` each copy gets its share by weight.
        """
        if not self.has_copies:
            return np.where(self.member >= 0, coef[self.member], 0.0)
        spread = np.zeros(self.member.size)
        full = np.full(self.size, np.nan) if level is None else np.minimum(level, 1.0)
        hand_out(self.member, self.given_weight, self.weight, coef, full, spread)
        return spread

    def gathered(self, coef: np.ndarray) -> np.ndarray:
        """The coefficients of distinct samples, from those of the given ones."""
        present = self.member >= 0
        return np.bincount(self.member[present], coef[present], minlength=self.size)


@compiled_strict
def hand_out(
    member: np.ndarray,
    given_weight: np.ndarray,
    weight: np.ndarray,
    coef: np.ndarray,
    level: np.ndarray,
    spread: np.ndarray,
) -> None:
    """Each copy gets its share by weight, or, with a level, the first copies are filled."""
    before, met = np.zeros(weight.size), np.zeros(weight.size)
    for i in range(member.size):
        m = member[i]
        if m < 0:
            continue
        share = given_weight[i] / weight[m]
        met[m] += 1.0
        if np.isnan(level[m]) or level[m] >= 1.0:
            part = share
        elif level[m] > 0.0:
            # Rounding of the sum so far must not leave a coefficient of 1e-17.
            rest = level[m] - before[m]
            part = min(rest, share) / level[m] if rest > EPSILON * met[m] * level[m] else 0.0
        else:
            part = 1.0 if before[m] == 0.0 else 0.0
        spread[i] = part * coef[m]
        before[m] += share


def distinct(
    X: Any,
    y: np.ndarray | None,
    weight: np.ndarray,
    square: bool = False,
    ordered: bool = False,
) -> Samples:
    """The distinct samples of positive weight.

    Parameters
    ----------
    X : inputs
        2-D array, CSR matrix, or a sequence of anything.
    y : float array or None
    weight : float array
    square : bool
        Whether X is a Gram matrix, whose columns are samples too.
    ordered : bool
        Whether to sort them into an order that depends on their content alone.
    """
    present, given_weight = weight > 0, weight
    all_present = present.all()
    if not all_present:
        X, given_weight = chosen(X, np.flatnonzero(present), square), weight[present]
        y = None if y is None else y[present]
    keys = content_keys(X, y)
    if ordered and not square and in_usual_layout(X):
        X, y, keys, place = in_order(X, y, keys)
    else:
        X, y, keys, place = one_of_each(X, y, keys, square, ordered)
    member = place
    if not all_present:
        member = np.full(weight.size, -1)
        member[present] = place
    total = np.bincount(place, given_weight)
    if given_weight.size > total.size and given_weight.min() < given_weight.max():
        # Summed in sorted order, weights do not depend on the order of the samples.
        order = np.lexsort((given_weight, place))
        total = np.bincount(place[order], given_weight[order])
    return Samples(X, y, total, keys, member, weight, given_weight.size > total.size)


def one_of_each(
    X: Any, y: np.ndarray | None, keys: np.ndarray, square: bool, ordered: bool
) -> tuple[Any, np.ndarray | None, np.ndarray, np.ndarray]:
    """Distinct samples, their keys, and for each given sample its place among them."""
    first, place = first_equals(X, y, keys), np.arange(keys.size)
    if first is not None:
        own = first == place
        X, y = chosen(X, np.flatnonzero(own), square), None if y is None else y[own]
        keys, place = keys[own], (np.cumsum(own) - 1)[first]
    if square:
        keys = content_keys(X, y, square)
    if ordered:
        # Different samples of a Gram matrix may have equal keys.
        order = np.argsort(keys, kind="stable" if square else None)
        X, y, keys = chosen(X, order, square), None if y is None else y[order], keys[order]
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        place = rank[place]
    return X, y, keys, place


def in_order(
    X: np.ndarray, y: np.ndarray | None, keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray, np.ndarray]:
    """As `one_of_each`, in the order of the keys, for vectors; one compiled pass if there are
    copies."""
    kept, place = np.argsort(keys, kind="stable"), np.empty(keys.size, dtype=np.intp)
    ascending = keys[kept]
    if (ascending[1:] != ascending[:-1]).all():
        place[kept] = np.arange(kept.size)
    else:
        kept = kept[: one_of_equals(X, keys if y is None else y, keys, kept, place)]
    return taken(X, kept), None if y is None else y[kept], keys[kept], place


def in_usual_layout(X: Any) -> bool:
    """Whether inputs are vectors of the usual kind and layout."""
    return (
        isinstance(X, np.ndarray)
        and X.flags.c_contiguous
        and X.dtype in USUAL_TYPES
        and X.ndim == 2
    )


@borrowing_strict
def one_of_equals(
    X: np.ndarray, y: np.ndarray, keys: np.ndarray, order: np.ndarray, place: np.ndarray
) -> int:
    """Keep one of each set of equal samples in `order`, which is sorted by key; returns their
    number. `place` becomes the position of each sample's representative."""
    kept = start = 0
    while start < order.size:
        stop = start + 1
        while stop < order.size and keys[order[stop]] == keys[order[start]]:
            stop += 1
        own = kept
        for k in range(start, stop):
            i, at = order[k], own
            while at < kept and not is_equal(X, y, i, order[at]):
                at += 1
            if at == kept:
                order[kept] = i
                kept += 1
            place[i] = at
        start = stop
    return kept


@inlined
def is_equal(X: np.ndarray, y: np.ndarray, i: int, j: int) -> bool:
    if y[i] != y[j]:
        return False
    equal = True
    for f in range(X.shape[1]):
        equal &= X[i, f] == X[j, f]
    return equal


def chosen(X: Any, indices: np.ndarray, square: bool = False) -> Any:
    """Some of the inputs, in a container of the same type; of a Gram matrix, rows and columns."""
    if square:
        return X[np.ix_(indices, indices)]
    if isinstance(X, list | tuple):
        return [X[i] for i in indices]
    return X.iloc[indices] if hasattr(X, "iloc") else X[indices]


def first_equals(X: Any, y: np.ndarray | None, keys: np.ndarray) -> np.ndarray | None:
    """For each sample the first that is equal to it, often itself; None if all differ."""
    ascending = np.sort(keys)
    if (ascending[1:] != ascending[:-1]).all():
        return None
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    owner = first[place]
    copies = np.flatnonzero(owner != np.arange(keys.size))
    if copies.size:
        equal = equal_inputs(X, copies, owner[copies])
        if y is not None:
            equal &= y[copies] == y[owner[copies]]
        owner[copies[~equal]] = copies[~equal]
    return owner


def equal_inputs(X: Any, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Whether the inputs at `left` and `right` are the same, pair by pair."""
    if not is_numeric(X):
        return np.array([bool(X[i] == X[j]) for i, j in zip(left, right)])
    equal = np.empty(left.size, dtype=bool)
    step = max(1, (1 << 22) // X.shape[1])
    for start in range(0, left.size, step):
        part = slice(start, start + step)
        if sparse.issparse(X):
            difference = abs(X[left[part]] - X[right[part]])
            equal[part] = np.asarray(difference.max(axis=1).todense()).ravel() == 0
        else:
            equal[part] = (X[left[part]] == X[right[part]]).all(axis=1)
    return equal


def size_in_bytes(X: Any) -> int:
    """Memory of arrays and sparse matrices; other containers count as 0."""
    if sparse.issparse(X):
        result: int = X.data.nbytes + X.indices.nbytes
        return result
    return getattr(X, "nbytes", 0)


def is_numeric(X: Any) -> bool:
    return sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf")


def content_keys(X: Any, y: np.ndarray | None, square: bool = False) -> np.ndarray:
    """A 64-bit hash of every sample.

    With `square` it does not depend on the order of the columns, which are samples as well.
    """
    with np.errstate(over="ignore"):  # integer overflow is intended
        if not is_numeric(X):
            keys = _object_keys(X)
        elif sparse.issparse(X):
            keys = _sparse_keys(X)
        else:
            keys = _dense_keys(X, square)
        if y is not None:
            keys = mixed(keys + mixed(bits(y)))
    return keys


def _dense_keys(X: np.ndarray, square: bool) -> np.ndarray:
    rows, columns = X.shape
    salt = np.zeros(columns, dtype=np.uint64) if square else salt_of(columns)
    if X.size <= 1 << 14:  # speed only: small first fits do not compile `row_keys`
        # Much faster than `sum` for rows of a few entries.
        result: np.ndarray = np.einsum("ij->i", stirred(bits(X), salt))
        return result
    keys = np.empty(rows, dtype=np.uint64)
    step = max(1, (1 << 16) // max(columns, 1))  # blocks that stay in the cache

    def some_rows(first: int, last: int) -> None:
        for start in range(first, last, step):
            part = slice(start, min(start + step, last))
            numbers = np.ascontiguousarray(X[part], dtype=np.float64)
            row_keys(numbers.view(np.uint64), salt, keys[part])

    in_parts(some_rows, rows, X.size)
    return keys


@lru_cache(maxsize=16)
def salt_of(columns: int) -> np.ndarray:
    """A number for each place in a row."""
    return mixed(np.arange(columns, dtype=np.uint64))


@borrowing
def row_keys(bits: np.ndarray, salt: np.ndarray, keys: np.ndarray) -> None:
    """Hashes of rows of float64, given by their bits; -0.0 counts as 0.0."""
    for i in range(bits.shape[0]):
        total = NOTHING
        for f in range(bits.shape[1]):
            number = (NOTHING if bits[i, f] == MINUS_ZERO else bits[i, f]) + salt[f]
            number = (number ^ (number >> SHIFT_1)) * MIX_1
            total += number ^ (number >> SHIFT_2)
        keys[i] = total


def _sparse_keys(X: Any) -> np.ndarray:
    salt = mixed(X.indices.astype(np.uint64))
    entries = stirred(bits(X.data), salt)
    entries[X.data == 0] = 0  # as if they were absent
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
    result: np.ndarray = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    return result


def _object_keys(X: Any) -> np.ndarray:
    """Strings are hashed by their letters, other objects by their place."""
    places = mixed(np.arange(len(X), dtype=np.uint64))
    if not isinstance(X, list | tuple | np.ndarray):
        return places
    for place, x in enumerate(X):
        if isinstance(x, str | bytes):
            places[place] = _text_key(x if isinstance(x, bytes) else x.encode())
    return places


def _text_key(text: bytes) -> int:
    padded = np.frombuffer(text.ljust(-(-len(text) // 8) * 8, b"\0"), dtype=np.uint64)
    places = mixed(np.arange(padded.size + 1, dtype=np.uint64))
    return int(mixed(padded + places[1:]).sum(dtype=np.uint64, initial=len(text)))


def bits(values: np.ndarray) -> np.ndarray:
    """The bits of numbers as float64, those of -0.0 as of 0.0."""
    return (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def stirred(numbers: np.ndarray, salt: np.ndarray) -> np.ndarray:
    """Numbers mixed with their position, so that a sum of them depends on the order."""
    numbers = numbers + salt
    numbers = (numbers ^ (numbers >> SHIFT_1)) * MIX_1
    result: np.ndarray = numbers ^ (numbers >> SHIFT_2)
    return result


def mixed(numbers: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit integers that spreads every bit over all others (SplitMix)."""
    numbers = numbers + GOLDEN
    numbers = (numbers ^ (numbers >> np.uint64(30))) * MIX_1
    numbers = (numbers ^ (numbers >> np.uint64(27))) * MIX_2
    result: np.ndarray = numbers ^ (numbers >> np.uint64(31))
    return result
