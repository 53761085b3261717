"""What all compiled code shares: the decorator, its flags, and vectorisable extrema.

Numba does not vectorise ``if x > best: best = x``; a call of LLVM's ``maxnum`` it does. That is
the difference between 1.7 and 0.45 ns an element in the passes of the loop.
"""

import numba
from llvmlite import ir
from numba.extending import intrinsic

# No 'ninf': infinite bounds and penalties are ordinary values here.
FASTMATH = {"nnan", "nsz", "contract", "arcp", "reassoc"}

compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)
# For code that allocates no array and returns none: no references are counted. Passed from function
# to function, a dozen arrays cost more than a step on hundreds of variables does.
borrowing = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH, _nrt=False)
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
compiled_strict = numba.njit(cache=True, nogil=True, error_model="numpy")
# Where NaN must stay NaN and rounding in order, but products may fuse with sums.
FUSED = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
compiled_fused = numba.njit(cache=True, **FUSED)


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
