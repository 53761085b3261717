"""Decorators for compiled code, their flags, and vectorisable extrema.

Numba does not vectorise ``if x > best: best = x``, but does vectorise calls of LLVM's ``maxnum``:
0.45 instead of 1.7 ns per element in the passes of the loop.

LLVM compiles a loop that both sums and stores twice, vectorised and scalar, and takes the scalar
version if arrays begin within a few vectors of each other in memory. The last bits of the sum then
depend on the addresses of the arrays. Therefore sums have loops of their own.
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
    """A decorator that compiles a function and caches the result on disk."""

    def decorate(function: Any) -> Any:
        dispatcher = numba.njit(**options)(function)
        if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            dispatcher._cache = CodeCache(function)
        return dispatcher

    return decorate


# No C wrapper: nothing here calls compiled code through a C function pointer.
SHARED = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
FAST = {**SHARED, "fastmath": FASTMATH}
compiled = on_disk(**FAST)
# For code that neither allocates nor returns arrays: without reference counting. Passing a dozen
# arrays between functions would cost more than a step on hundreds of variables.
borrowing = on_disk(**FAST, _nrt=False)
# For functions called by compiled code only: without the Python wrapper, which takes about as long
# to compile as a loop.
CALLED = {**FAST, "no_cpython_wrapper": True}
called = numba.njit(**CALLED)
# The same for code that neither allocates nor returns arrays.
inlined = numba.njit(**CALLED, _nrt=False)
# For code that depends on the order of additions (compensated sums, exact comparisons).
compiled_strict = on_disk(**SHARED)
# For code in which NaN must propagate and operations stay in order, but may fuse to multiply-adds.
FUSED = {**SHARED, "fastmath": {"contract"}}
compiled_fused = on_disk(**FUSED)
# The previous two for code that neither allocates nor returns arrays.
borrowing_strict, borrowing_fused = on_disk(**SHARED, _nrt=False), on_disk(**FUSED, _nrt=False)
inlined_fused = numba.njit(**FUSED, no_cpython_wrapper=True, _nrt=False)


def from_python(function: Any, decorator: Callable[[Any], Any] = borrowing) -> Any:
    """Make a function for compiled code callable from Python too; compiled at the first call."""
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
