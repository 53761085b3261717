"""Cholesky factors and triangular solves of large matrices, divided among threads.

    [A₁₁     ]   [L₁₁    ] [L₁₁ᵀ L₂₁ᵀ]      L₁₁L₁₁ᵀ = A₁₁,   L₂₁ = A₂₁L₁₁⁻ᵀ,
    [A₂₁  A₂₂] = [L₂₁ L₂₂] [     L₂₂ᵀ]      L₂₂L₂₂ᵀ = A₂₂ − L₂₁L₂₁ᵀ

BLAS is limited to one thread during a fit, and SciPy's wrappers hold the GIL; the functions
themselves are called here from several threads, each for some rows of L₂₁ or a part of A₂₂. All
matrices are in Fortran order, and only lower triangles are read.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CFUNCTYPE, addressof, c_char, c_double, c_float, c_int, c_void_p
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs, spotrf, strtrs

from ..runtime.blas import address_of
from ..runtime.costs import FEWEST_COLUMNS, FEWEST_ROWS
from ..runtime.parallel import in_parts, in_turn

Array = NDArray[Any]

# Parts with at most so many rows are left to LAPACK in one thread.
LEAF = 384
# Halves begin at multiples of this many rows.
ROUND = 64
# Smallest number of right sides of a part.
SOLVED_PART = 128
LETTERS = {letter: c_char(letter.encode()) for letter in "LRNT"}


def cholesky(A: Array) -> bool:
    """A ← L with zeros above the diagonal; returns whether A is positive definite."""
    n = len(A)
    if n < FEWEST_ROWS:
        potrf = spotrf if A.dtype == np.float32 else dpotrf
        return not potrf(A, lower=1, clean=1, overwrite_a=1)[1]
    if not halved_cholesky(A):
        return False
    for left in range(0, n, ROUND):
        right = min(left + ROUND, n)
        A[:left, left:right] = 0.0
        A[left:right, left:right] = np.tril(A[left:right, left:right])
    return True


def halved_cholesky(A: Array) -> bool:
    n = len(A)
    if n <= LEAF:
        return lapack_cholesky(A)
    h = (n // 2 + ROUND - 1) // ROUND * ROUND
    if not halved_cholesky(A[:h, :h]):
        return False
    below, rest = A[h:, :h], A[h:, h:]

    def some_rows(start: int, stop: int) -> None:
        divide(A[:h, :h], below[start:stop])

    in_parts(some_rows, n - h, below.size, h, least=SOLVED_PART)
    q = (n - h) // 2

    def corners() -> None:
        subtract_square(below[:q], rest[:q, :q])
        subtract_square(below[q:], rest[q:, q:])

    def beside() -> None:
        subtract_product(below[q:], below[:q], rest[q:, :q])

    in_turn(lambda task: task(), [beside, corners])
    return halved_cholesky(rest)


def factored_in_place(Q: Array) -> Array | None:
    """Upper Cholesky factor of Q, which is overwritten; None if Q is not positive definite."""
    # In Fortran order this is the lower factor of the transpose.
    return Q if cholesky(Q.T) else None


def triangular(L: Array, b: Array, transposed: bool = False) -> Array:
    """L⁻¹b, or L⁻ᵀb, of a vector or of columns."""
    if not b.size:
        return b
    columns = b.shape[1] if b.ndim == 2 else 1
    if columns < FEWEST_COLUMNS:
        trtrs = strtrs if L.dtype == np.float32 else dtrtrs
        x: Array = trtrs(L, b, lower=1, trans=int(transposed))[0]
        return x
    x = np.array(b, dtype=L.dtype, order="F")

    def some_columns(start: int, stop: int) -> None:
        solve(L, x[:, start:stop], transposed)

    in_parts(some_columns, columns, b.size, len(L), grain=FEWEST_COLUMNS, least=SOLVED_PART)
    return x


@cache
def routine(name: str, module: str = "cython_blas") -> Callable[..., None]:
    """A BLAS or LAPACK function, called without the GIL and with all arguments by reference."""
    return CFUNCTYPE(None)(address_of(name, module))


def call(
    name: str, dtype: np.dtype[Any], *arguments: Any, module: str = "cython_blas"
) -> list[Any]:
    letter, number = ("s", c_float) if dtype == np.float32 else ("d", c_double)
    kept = [as_c(argument, number) for argument in arguments]
    routine(letter + name, module)(*(c_void_p(addressof(value)) for value in kept))
    return kept


def as_c(argument: Any, number: Any) -> Any:
    if isinstance(argument, str):
        return LETTERS[argument]
    if isinstance(argument, int):
        return c_int(argument)
    if isinstance(argument, float):
        return number(argument)
    return number.from_address(argument.ctypes.data)


def step(A: Array) -> int:
    """Leading dimension: entries from one column to the next."""
    return A.strides[1] // A.itemsize if A.shape[1] > 1 else len(A)


def lapack_cholesky(A: Array) -> bool:
    """A ← L, leaving entries above the diagonal; returns whether A is positive definite."""
    *_, info = call("potrf", A.dtype, "L", len(A), A, step(A), 0, module="cython_lapack")
    return bool(info.value == 0)


def solve(L: Array, b: Array, transposed: bool) -> None:
    """b ← L⁻¹b, or L⁻ᵀb"""
    kind = ("L", "L", "T" if transposed else "N", "N")
    call("trsm", L.dtype, *kind, *b.shape, 1.0, L, step(L), b, step(b))


def divide(L: Array, B: Array) -> None:
    """B ← BL⁻ᵀ"""
    call("trsm", L.dtype, "R", "L", "T", "N", *B.shape, 1.0, L, step(L), B, step(B))


def subtract_square(B: Array, C: Array) -> None:
    """C ← C − BBᵀ"""
    call("syrk", B.dtype, "L", "N", *B.shape, -1.0, B, step(B), 1.0, C, step(C))


def subtract_product(A: Array, B: Array, C: Array) -> None:
    """C ← C − ABᵀ"""
    shape = (*C.shape, A.shape[1])
    call("gemm", A.dtype, "N", "T", *shape, -1.0, A, step(A), B, step(B), 1.0, C, step(C))
