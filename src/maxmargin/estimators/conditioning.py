"""Conditioning of inputs for float64: large offsets are subtracted, and sums are exact.

A linear machine with a free intercept does not depend on where the origin is, since Σ_i α_i = 0:

    Σ_i α_i ⟨x_i, x⟩ + b  =  Σ_i α_i ⟨x_i − c, x − c⟩ + b + ⟨w, c⟩,   w = Σ_i α_i (x_i − c)

Rounding does: for inputs around 1e8, products are around 1e16 and their differences are lost.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

# Rounding of Kα in float64, as a part of the largest entry of K times the norm of α.
KNOWN_TO = 4.0 * float(np.finfo(np.float64).eps)


def offset_of(X: Any) -> np.ndarray | None:
    """The offset c to subtract from the inputs of a linear machine, or None if not worthwhile.

    For sparse inputs it is nonzero only in features present in every sample, so that they stay
    sparse.
    """
    if not X.shape[0]:
        return None
    if sparse.issparse(X):
        full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
        if not full.any() or not X.has_canonical_format:
            return None
        centre = np.where(full, np.asarray(X.mean(axis=0, dtype=np.float64)).ravel(), 0.0)
    else:
        centre = X.mean(axis=0, dtype=np.float64)
    squares = float(centre @ centre)
    # Centring is worth it if it reduces the largest squared norm by this factor.
    if squares == 0.0 or squares < 1e4 * largest_squared_norm(X, centre):
        return None
    return centre


def largest_squared_norm(X: Any, centre: np.ndarray) -> float:
    centred = without(X, centre)
    squared = centred.power(2).sum(axis=1) if sparse.issparse(X) else np.vecdot(centred, centred)
    return float(np.max(squared))


def without(X: Any, centre: np.ndarray) -> Any:
    """X − c in float64; for sparse inputs c must be 0 wherever an entry may be absent."""
    if not sparse.issparse(X):
        return X.astype(np.float64) - centre
    centred = X.astype(np.float64)
    centred.data = centred.data - centre[centred.indices]
    return centred


def exactly_balanced(coef: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Coefficients with a sum of exactly 0: what rounding has left of it, c would magnify.

    The smallest of the free ones that can takes it up, since it has the finest digits.
    """
    rest, size = math.fsum(coef), np.abs(coef)
    able = free & (size > abs(rest))
    if rest == 0.0 or not able.any():
        return coef
    smallest = np.argmin(np.where(able, size, np.inf))
    coef = coef.copy()
    coef[smallest] -= rest
    return coef


def weights_of_features(coef: Any, support_vectors: Any) -> Any:
    """Σ_i coef_i x_i, a row for each function, in float64; where support vectors are close to each
    other and far from 0, as Σ_i coef_i (x_i − c) + (Σ_i coef_i) c."""
    if sparse.issparse(support_vectors) and not sparse.issparse(coef):
        coef = type(support_vectors)(coef)
    centre = offset_of(support_vectors)
    if centre is None:
        product = coef @ widened(support_vectors)
        return product if sparse.issparse(product) else np.asarray(product)
    product = coef @ without(support_vectors, centre)
    rows = coef.toarray() if sparse.issparse(coef) else coef
    rest = np.outer([math.fsum(row) for row in rows], centre)
    return product + (type(product)(rest) if sparse.issparse(product) else rest)


def widened(X: Any) -> Any:
    """float32 as float64."""
    return X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X


def intercept_at_origin(intercept: float, coef: np.ndarray, X: Any, centre: np.ndarray) -> Fraction:
    """The intercept of f for the original inputs, from that for X − c: b − ⟨w, c⟩ with the weights
    w = Σ_i coef_i x_i.

    The terms of w may be 1e30 times as large as w. Each weight is computed with twice the digits of
    float64.
    """
    support, features = np.flatnonzero(coef), np.flatnonzero(centre)
    coef, exponent = scaled(coef[support])
    inputs = X[support][:, features]
    if sparse.issparse(inputs):  # features with a centre are present in all inputs
        inputs = inputs.toarray()
    total = Fraction(0)
    for column, c in zip(inputs.T, centre[features]):
        column, of_column = scaled(column.astype(np.float64))
        weight = sum_of_products(coef, column) * Fraction(2) ** (exponent + of_column)
        total += weight * Fraction(float(c))
    return Fraction(float(intercept)) - total


def scaled(values: np.ndarray) -> tuple[np.ndarray, int]:
    """The values divided by a power of 2, so that the largest is about 1, and its exponent."""
    exponent = math.frexp(float(np.abs(values).max(initial=0.0)))[1]
    result: np.ndarray = np.ldexp(values, -exponent)
    return result, exponent


def sum_of_products(a: np.ndarray, b: np.ndarray) -> Fraction:
    """Σ_i a_i b_i with about 32 digits, of numbers whose products do not underflow."""
    products, rest = product_and_rest(a, b)
    terms = [*products.tolist(), *rest.tolist()]
    high = math.fsum(terms)
    return Fraction(high) + Fraction(math.fsum([*terms, -high]))


def product_and_rest(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a·b rounded, and what rounding took from it (Dekker, A floating-point technique for
    extending the available precision, 1971)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = halves(a), halves(b)
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, rest


def halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values as sums of two with half the digits each, whose products are exact."""
    spread = (2.0**27 + 1.0) * values  # half of the 53 bits
    high = spread - (spread - values)
    return high, values - high


def middle_far_from_zero(least: float, most: float) -> float:
    """The middle of a range, by which targets are shifted if it is far from 0; else 0."""
    middle = 0.5 * least + 0.5 * most
    return middle if abs(middle) > 10.0 * (most - least) else 0.0
