"""What all compiled code shares: the decorator, its flags, and vectorisable extrema.

Numba does not vectorise ``if x > best: best = x``; a call of LLVM's ``maxnum`` it does. That is
the difference between 1.7 and 0.45 ns an element in the passes of the loop.

A loop that adds up and also stores is compiled twice by LLVM, in vectors and one by one, and takes
the second where arrays are so small that they begin within a few vectors of each other in memory:
the last bits of its sum then depend on where arrays happen to be. Sums have loops of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba.extending import intrinsic

from .code_cache import CodeCache

# No 'ninf': infinite bounds and penalties are ordinary values here.
FASTMATH = {"nnan", "nsz", "contract", "arcp", "reassoc"}


def on_disk(**options: Any) -> Callable[[Any], Any]:
    """A decorator that compiles, and keeps what it compiled on disk."""

    def decorate(function: Any) -> Any:
        dispatcher = numba.njit(**options)(function)
        if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            dispatcher._cache = CodeCache(function)
        return dispatcher

    return decorate


compiled = on_disk(nogil=True, error_model="numpy", fastmath=FASTMATH)
# For code that allocates no array and returns none: no references are counted. Passed from function
# to function, a dozen arrays cost more than a step on hundreds of variables does.
borrowing = on_disk(nogil=True, error_model="numpy", fastmath=FASTMATH, _nrt=False)
# What only compiled code calls: no wrappers to make it callable from Python.
CALLED = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": FASTMATH,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
called = numba.njit(**CALLED)
# The same where no array is allocated or returned.
inlined = numba.njit(**CALLED, _nrt=False)
# For a function that one other calls, and nobody else: it becomes a part of it.
merged = numba.njit(error_model="numpy", fastmath=FASTMATH, inline="always")
# Where the order of additions is the point (compensated sums, exact comparisons).
compiled_strict = on_disk(nogil=True, error_model="numpy")
# Where NaN must stay NaN and rounding in order, but products may fuse with sums.
FUSED = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
compiled_fused = on_disk(**FUSED)


def _extremum(name):
    @intrinsic
    def extremum(_typing, a, _b):
        def codegen(_context, builder, _signature, args):
            kind = args[0].type
            function = builder.module.declare_intrinsic(
                name, (kind,), ir.FunctionType(kind, [kind, kind])
            )
            return builder.call(function, args, fastmath=("nnan", "nsz"))

        return a(a, a), codegen

    return extremum


if numba.config.DISABLE_JIT:
    largest, smallest = max, min
else:
    largest, smallest = _extremum("llvm.maxnum"), _extremum("llvm.minnum")
