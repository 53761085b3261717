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

from . import notice as _notice  # noqa: F401  (listens from now on)
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


# Nothing here calls compiled code by a C function pointer.
SHARED = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
FAST = {**SHARED, "fastmath": FASTMATH}
compiled = on_disk(**FAST)
# For code that allocates no array and returns none: no references are counted. Passed from function
# to function, a dozen arrays cost more than a step on hundreds of variables does.
borrowing = on_disk(**FAST, _nrt=False)
# What only compiled code calls: no wrapper to make it callable from Python, which takes about as
# long to compile as a loop does.
CALLED = {**FAST, "no_cpython_wrapper": True}
called = numba.njit(**CALLED)
# The same where no array is allocated or returned.
inlined = numba.njit(**CALLED, _nrt=False)
# Where the order of additions is the point (compensated sums, exact comparisons).
compiled_strict = on_disk(**SHARED)
# Where NaN must stay NaN and rounding in order, but products may fuse with sums.
FUSED = {**SHARED, "fastmath": {"contract"}}
compiled_fused = on_disk(**FUSED)
# Both where no array is allocated or returned.
borrowing_strict, borrowing_fused = on_disk(**SHARED, _nrt=False), on_disk(**FUSED, _nrt=False)
inlined_fused = numba.njit(**FUSED, no_cpython_wrapper=True, _nrt=False)


def from_python(function: Any, decorator: Callable[[Any], Any] = borrowing) -> Any:
    """A function that compiled code calls, callable from Python too; compiled when it is."""
    return decorator(getattr(function, "py_func", function))


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
