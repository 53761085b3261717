"""Decorators for compiled code, their flags, and vectorisable extrema.

Numba does not vectorise ``if x > best: best = x``, but does vectorise calls of LLVM's ``maxnum``:
0.45 instead of 1.7 ns per element in the passes of the loop.

LLVM compiles a loop that both sums and stores twice, vectorised and scalar, and takes the scalar
version if arrays begin within a few vectors of each other in memory. The last bits of the sum then
depend on the addresses of the arrays. Therefore sums have loops of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numba
from llvmlite import ir
from numba.extending import intrinsic

from . import notice as _notice  # noqa: F401  (listens from now on)
from .code_cache import CodeCache
from .second_process import Parts
from .separate import callable_by_symbol

Function = TypeVar("Function", bound=Callable[..., Any])

# No 'ninf': infinite bounds and penalties are ordinary values here.
FASTMATH = {"nnan", "nsz", "contract", "arcp", "reassoc"}


class Decorator(Protocol):
    """Compiles a function; its type stays that of the Python function."""

    def __call__(self, function: Function, /) -> Function: ...


def on_disk(parts: Parts | None = None, **options: Any) -> Decorator:
    """A decorator that compiles a function and caches the result on disk; see `CodeCache`."""

    def decorate(function: Any) -> Any:
        dispatcher = numba.njit(**options)(function)
        if not numba.config.DISABLE_JIT:
            told = {name: sorted(v) if isinstance(v, set) else v for name, v in options.items()}
            dispatcher._cache = CodeCache(function, repr(sorted(told.items())), parts)
        return dispatcher

    return decorate


# No C wrapper: nothing here calls compiled code through a C function pointer.
SHARED: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
FAST = {**SHARED, "fastmath": FASTMATH}
compiled = on_disk(**FAST)
# For code that neither allocates nor returns arrays: without reference counting. Passing a dozen
# arrays between functions would cost more than a step on hundreds of variables.
borrowing = on_disk(**FAST, _nrt=False)


def borrowing_with(parts: Parts) -> Decorator:
    """`borrowing`, with parts that a second process compiles."""
    return on_disk(parts, **FAST, _nrt=False)


# For functions called by compiled code only: without the Python wrapper, which takes about as long
# to compile as a loop.
OWN = {**FAST, "no_cpython_wrapper": True}
# Inlined by LLVM: otherwise the process that compiles a caller could call the function's own code,
# and later ones, which load the caller from disk, a copy of it that was optimised again and rounds
# in other places.
CALLED = {**OWN, "forceinline": True}
called: Decorator = numba.njit(**CALLED)
# The same for code that neither allocates nor returns arrays.
inlined: Decorator = numba.njit(**CALLED, _nrt=False)


def called_by_symbol(returns: Any) -> Decorator:
    """For large functions that compiled code calls rarely: compiled on their own and kept on disk,
    not linked into their callers. `returns` is the Numba type of the results."""

    def decorate(function: Any) -> Any:
        if numba.config.DISABLE_JIT:
            return function
        return callable_by_symbol(on_disk(**OWN, _nrt=False)(function), returns)

    return decorate


# For code that depends on the order of additions (compensated sums, exact comparisons).
compiled_strict = on_disk(**SHARED)
# For code in which NaN must propagate and operations stay in order, but may fuse to multiply-adds.
FUSED = {**SHARED, "fastmath": {"contract"}}
compiled_fused = on_disk(**FUSED)
# The previous two for code that neither allocates nor returns arrays.
borrowing_strict, borrowing_fused = on_disk(**SHARED, _nrt=False), on_disk(**FUSED, _nrt=False)
inlined_fused: Decorator = numba.njit(**{**CALLED, **FUSED}, _nrt=False)


def from_python(function: Function, decorator: Decorator = borrowing) -> Function:
    """Make a function for compiled code callable from Python too; compiled at the first call."""
    dispatcher = getattr(function, "dispatcher", function)
    original: Function = getattr(dispatcher, "py_func", dispatcher)
    return decorator(original)


def _extremum(name: str) -> Callable[[Any, Any], Any]:
    @intrinsic
    def extremum(_typing: Any, a: Any, _b: Any) -> Any:
        def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            kind = args[0].type
            function = builder.module.declare_intrinsic(
                name, (kind,), ir.FunctionType(kind, [kind, kind])
            )
            return builder.call(function, args, fastmath=("nnan", "nsz"))

        return a(a, a), codegen

    result: Callable[[Any, Any], Any] = extremum
    return result


largest: Callable[[Any, Any], Any]
smallest: Callable[[Any, Any], Any]
if numba.config.DISABLE_JIT:
    largest, smallest = max, min
else:
    largest, smallest = _extremum("llvm.maxnum"), _extremum("llvm.minnum")
