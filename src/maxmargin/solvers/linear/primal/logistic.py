"""The logistic loss of one sample, in operations that vectorise.

With the margin m = yz and e = exp(−|m|) ≤ 1 nothing overflows and no digits are lost:

    p = 1 / (1 + exp(m))            e / (1 + e) for m > 0, else 1 / (1 + e)
    p (1 − p)                       e / (1 + e)²
    log(1 + exp(−m))                log(1 + e) + max(−m, 0)
"""

from __future__ import annotations

import math

from ....kernels.vector.exp import capped_exp
from ....runtime.jit import inlined


@inlined
def answer(margin: float) -> tuple[float, float]:
    """p and p (1 − p)."""
    e = capped_exp(-abs(margin))
    larger = 1.0 / (1.0 + e)
    smaller = e * larger
    return smaller if margin > 0.0 else larger, smaller * larger


@inlined
def log1p_of_share(e: float) -> float:
    """log(1 + e) for 0 ≤ e ≤ 1: with s = e / (2 + e) ≤ 1/3,

    log(1 + e) = 2 artanh s = 2s (1 + s²/3 + s⁴/5 + …),

    whose 17th term is below rounding.
    """
    s = e / (2.0 + e)
    t = s * s
    p = t * (1 / 33) + 1 / 31
    p = t * (t * (t * (t * p + 1 / 29) + 1 / 27) + 1 / 25) + 1 / 23
    p = t * (t * (t * (t * p + 1 / 21) + 1 / 19) + 1 / 17) + 1 / 15
    p = t * (t * (t * (t * p + 1 / 13) + 1 / 11) + 1 / 9) + 1 / 7
    p = t * (t * (t * p + 1 / 5) + 1 / 3) + 1.0
    return 2.0 * s * p


@inlined
def value(margin: float) -> float:
    """log(1 + exp(−margin))"""
    return log1p_of_share(capped_exp(-abs(margin))) + max(-margin, 0.0)


@inlined
def entropy(p: float) -> float:
    """−p log p − (1 − p) log(1 − p)"""
    result = 0.0
    if p > 0.0:
        result -= p * math.log(p)
    if p < 1.0:
        result -= (1.0 - p) * math.log1p(-p)
    return result
