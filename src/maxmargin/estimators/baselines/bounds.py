"""Bounds on the error of a classifier on new samples (thesis, Theorem 1.1 and section 1.3.3)."""

from __future__ import annotations

import math
from numbers import Real


def margin_bound(trace: float, margin: float, samples: int, delta: float = 0.05) -> float:
    """A probable bound on the error of the maximum margin classifier of separable samples.

    With probability at least 1 − δ over the samples, the error on new ones is at most

        4/(ℓρ) √tr(G) + 3 √(ln(2/δ) / 2ℓ)

    (thesis, Theorem 1.1; Shawe-Taylor and Cristianini, 2004).

    Parameters
    ----------
    trace : float
        tr(G) = Σ_i k(x_i, x_i), the trace of the Gram matrix.
    margin : float
        ρ = 1/‖w‖, the distance of the nearest sample from the decision boundary.
    samples : int
        ℓ.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        A bound above 1 says nothing.

    Examples
    --------
    >>> round(margin_bound(trace=10_000, margin=0.5, samples=10_000), 4)
    0.1207
    """
    _check("trace", trace, 0.0, math.inf, low_included=True)
    _check("margin", margin, 0.0, math.inf)
    _check_samples(samples)
    _check("delta", delta, 0.0, 1.0)
    spread = 4.0 / (samples * margin) * math.sqrt(trace)
    return spread + 3.0 * math.sqrt(math.log(2.0 / delta) / (2.0 * samples))


def separation_probability(samples: int, vc_dimension: int) -> float:
    """A bound on the probability that some hypothesis fits random labels without error.

        P(training error = 0) ≤ (eℓ/h)^h / 2^ℓ    for ℓ > h

    with h the VC dimension and labels from the uniform distribution (thesis, section 1.3.3). Up to
    h samples can always be fitted, so that the probability is 1.

    Parameters
    ----------
    samples : int
        ℓ.
    vc_dimension : int
        h.

    Returns
    -------
    float

    Examples
    --------
    >>> separation_probability(samples=10, vc_dimension=10)
    1.0
    >>> print(f"{separation_probability(samples=100, vc_dimension=10):.1e}")
    1.7e-16
    """
    _check_samples(samples)
    _check("vc_dimension", vc_dimension, 0.0, math.inf)
    if samples <= vc_dimension:
        return 1.0
    logarithm = vc_dimension * (1.0 + math.log(samples / vc_dimension)) - samples * math.log(2.0)
    return math.exp(min(logarithm, 0.0))


def vc_bound(error: float, samples: int, vc_dimension: float, delta: float = 0.05) -> float:
    """A probable bound on the error on new samples of a minimiser of the training error.

    With probability at least 1 − δ over the samples, for all hypotheses of a class with VC
    dimension h at once,

        R ≤ R̂ + E/2 (1 + √(1 + 4 R̂/E)),    E = 4/ℓ (h (ln(2ℓ/h) + 1) − ln(δ/4))

    with R̂ the training error: the larger solution of R − R̂ = √(E R) (Vapnik, 1998). The thesis
    prints R̂/E without the factor 4 (section 1.3.3), which does not solve that equation.

    Parameters
    ----------
    error : float
        R̂, in [0, 1].
    samples : int
        ℓ.
    vc_dimension : float
        h, at most ℓ.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        A bound above 1 says nothing.

    Examples
    --------
    >>> round(vc_bound(error=0.02, samples=100_000, vc_dimension=11), 4)
    0.0327
    """
    _check("error", error, 0.0, 1.0, low_included=True, high_included=True)
    _check_samples(samples)
    _check("vc_dimension", vc_dimension, 0.0, math.inf)
    _check("delta", delta, 0.0, 1.0)
    if vc_dimension > samples:
        raise ValueError(
            f"vc_dimension must be at most the number of samples, {samples}, got {vc_dimension}: "
            "there is no bound for fewer samples"
        )
    growth = vc_dimension * (math.log(2.0 * samples / vc_dimension) + 1.0)
    E = 4.0 / samples * (growth - math.log(delta / 4.0))
    return error + E / 2.0 * (1.0 + math.sqrt(1.0 + 4.0 * error / E))


def margin_vc_dimension(radius: float, norm: float) -> int:
    """The largest VC dimension of functions ⟨w, x⟩ with ‖w‖ ≤ A on the ball of radius R.

        h ≤ ⌊R² A²⌋ + 1

    (Vapnik, 1998, Theorem 10.3; thesis, sections 2.2.2 and 9.2).

    Parameters
    ----------
    radius : float
        R, around the origin.
    norm : float
        A, the largest length of w: 1/ρ for a margin ρ.

    Returns
    -------
    int

    Examples
    --------
    >>> margin_vc_dimension(radius=1.0, norm=4.0)
    17
    """
    _check("radius", radius, 0.0, math.inf, low_included=True)
    _check("norm", norm, 0.0, math.inf, low_included=True)
    return math.floor(radius**2 * norm**2) + 1


def _check_samples(samples: int) -> None:
    if isinstance(samples, bool) or not samples >= 1 or samples != int(samples):
        raise ValueError(f"samples must be a whole number of at least 1, got {samples!r}")


def _check(
    name: str,
    value: float,
    low: float,
    high: float,
    *,
    low_included: bool = False,
    high_included: bool = False,
) -> None:
    number = isinstance(value, Real) and not isinstance(value, bool)
    above = number and (value >= low if low_included else value > low)
    below = number and (value <= high if high_included else value < high)
    if not (above and below):
        left, right = "[" if low_included else "(", "]" if high_included else ")"
        allowed = f"{left}{low:g}, {high:g}{right}"
        raise ValueError(f"{name} must be a number in {allowed}, got {value!r}")
