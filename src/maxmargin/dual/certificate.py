"""The certificate: distance of a solution from the optimum, from the problem and α alone.

With f = Kα, q = αᵀKα, a bias b_g for each group and the residual e = linear − f − b, the dual
problem has by conjugacy the primal value

    primal = ½q + Σ_a loss_a + Σ_g b_g·totals_g
    loss_a = max e_a·t − ½ridge_a·t²  over  lower_a ≤ t ≤ upper_a

which is the objective of the machine (hinge, ε-insensitive, …) at the function f + b. It is never
below the dual value, and the difference is a sum of terms that are never negative,

    gap = Σ_a loss_a − (e_a·α_a − ½ridge_a·α_a²)  +  Σ_g b_g·(totals_g − Σ_g α)

so that it is computed without cancellation.

A bound at infinity without ridge makes the loss a constraint, e ≤ 0 or e ≥ 0. Then the function is
s·f + b, with the scale s and the bias chosen such that the constraints hold, and ½(s − 1)²q joins
the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dnrm2

from ..kernels.base import Gram
from ..runtime.jit import borrowing_strict
from .kernel_sums import kernel_expansion
from .problem import ROUNDING, DualProblem, Float, Int

NOTHING_PROVEN = (
    ("primal", np.inf),
    ("dual", -np.inf),
    ("gap", np.inf),
    ("violation", np.inf),
    ("infeasibility", np.inf),
)


@dataclass(frozen=True)
class Certificate:
    """Proof of how good a solution is.

    For a positive semi-definite kernel the optimum lies between `dual` and `primal`.

    Attributes
    ----------
    primal, dual : float
    gap : float
        primal − dual.
    violation : float
        ψ(α), the largest violation of the optimality conditions by a pair of variables.
    infeasibility : float
        The largest excess over the box or deviation from a demanded sum, as a fraction of Σ|α|.

    Examples
    --------
    >>> from maxmargin.dual import Certificate
    >>> Certificate(primal=10.5, dual=10.0, gap=0.5, violation=0.25, infeasibility=0.0)
    Certificate(primal=10.5, dual=10, relative gap 4.8e-02, violation 2.5e-01)
    """

    primal: float
    dual: float
    gap: float
    violation: float
    infeasibility: float

    def __post_init__(self) -> None:
        # What overflow has made of a number proves nothing, and no gap is known beside it.
        for name, worst in NOTHING_PROVEN:
            if getattr(self, name) != getattr(self, name):
                object.__setattr__(self, name, worst)
        if np.isinf(self.primal) or np.isinf(self.dual):
            object.__setattr__(self, "gap", np.inf)

    @cached_property
    def magnitude(self) -> float:
        """max(|primal|, |dual|)."""
        return max(abs(self.primal), abs(self.dual))

    @property
    def relative_gap(self) -> float:
        """gap / max(|primal|, |dual|)."""
        if np.isinf(self.gap):
            return self.gap
        return self.gap / max(self.magnitude, float(np.finfo(np.float64).tiny))

    def __repr__(self) -> str:
        broken = f", infeasibility {self.infeasibility:.1e}" if self.infeasibility > 1e-12 else ""
        return (
            f"Certificate(primal={self.primal:.10g}, dual={self.dual:.10g}, "
            f"relative gap {self.relative_gap:.1e}, violation {self.violation:.1e}{broken})"
        )


def certify(
    problem: DualProblem, alpha: Float, gram: Gram, bias: Float | None = None
) -> Certificate:
    """The certificate of α, recomputed in float64.

    Parameters
    ----------
    problem : DualProblem
    alpha : float array
    gram : Gram
        Of the samples, in float64.
    bias : float array, optional
        One for each group; `DualProblem.bias` of α when absent.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import certify, hinge
    >>> from maxmargin.kernels import Linear
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1, 1, 1])
    >>> gram = Linear().bind(X, np.float64)
    >>> certify(hinge(y, C=1.0).problem, np.array([-0.5, 0.5, 0.0]), gram)
    Certificate(primal=0.5, dual=0.5, relative gap 0.0e+00, violation 0.0e+00)
    """
    return certify_expansion(
        problem, alpha, kernel_expansion(problem.per_sample(alpha), gram), bias
    )


def certify_expansion(
    problem: DualProblem, alpha: Float, kernel_alpha: Float, bias: Float | None = None
) -> Certificate:
    """The certificate of α, given Kα for every sample (`kernel_expansion`).

    Parameters
    ----------
    problem : DualProblem
    alpha : float array
    kernel_alpha : float array
        Kα for every sample.
    bias : float array, optional
        One for each group; `DualProblem.bias` of α when absent.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import certify_expansion, hinge
    >>> x, y = np.array([-1.0, 1.0, 3.0]), np.array([-1, 1, 1])
    >>> alpha = np.array([-0.5, 0.5, 0.0])
    >>> certify_expansion(hinge(y, C=1.0).problem, alpha, np.outer(x, x) @ alpha)
    Certificate(primal=0.5, dual=0.5, relative gap 0.0e+00, violation 0.0e+00)
    """
    return certificate_and_bias(problem, alpha, kernel_alpha, bias)[0]


def certificate_and_bias(
    problem: DualProblem,
    alpha: Float,
    kernel_alpha: Float,
    bias: Float | None = None,
    gradient: Float | None = None,
) -> tuple[Certificate, Float]:
    """The certificate, and the bias that it uses; the gradient is written to the array given."""
    gradient = np.empty(problem.size) if gradient is None else gradient
    dual = gradient_and_value(problem.linear, problem.ridge, alpha, kernel_alpha, gradient)
    own_bias, violation = problem.bias_and_violation(alpha, gradient)
    if bias is None:
        bias = own_bias
    if bias.shape != problem.totals.shape:
        raise ValueError(
            f"bias must have one entry for each of the {problem.totals.size} groups, "
            f"got shape {bias.shape}"
        )
    gap, infeasibility = _gap(problem, alpha, kernel_alpha, bias)
    certificate = Certificate(
        primal=dual + gap,
        dual=dual,
        gap=gap,
        violation=violation,
        infeasibility=infeasibility,
    )
    return certificate, bias


def gap_resolution(problem: DualProblem, alpha: Float, bias: Float, largest: float) -> float:
    """The duality gap that rounding alone may leave, from the terms that cancel in it:
    1e-14 · Σ_a |α_a| (|linear_a| + 2|b_a| + ‖α‖·largest).

    Kα is a sum of entries up to `largest`, whose rounding has either sign. Every b occurs in the
    losses and, times the sum of its group, beside them.
    """
    expansion = largest * float(dnrm2(alpha))
    terms = np.abs(problem.linear) + 2.0 * np.abs(bias)[problem.group] + expansion
    return ROUNDING * float(np.abs(alpha) @ terms)


class _Constraints(NamedTuple):
    """Which variables demand e ≤ 0 (`above`) and e ≥ 0 (`below`)."""

    above: NDArray[np.bool_]
    below: NDArray[np.bool_]


def _gap(
    problem: DualProblem, alpha: Float, kernel_alpha: Float, bias: Float
) -> tuple[float, float]:
    """(gap, infeasibility)"""
    f, stretch = kernel_alpha, 0.0
    if problem.constrained:
        hard = _Constraints(
            above=np.isinf(problem.upper) & (problem.ridge == 0),
            below=np.isinf(problem.lower) & (problem.ridge == 0),
        )
        scale = _scale(problem, problem.of_samples(f), hard)
        if np.isfinite(scale):
            f = scale * f
            squared_norm = float(problem.per_sample(alpha) @ kernel_alpha)
            stretch = 0.5 * (scale - 1.0) * (scale - 1.0) * squared_norm
            if problem.biased:
                residual = problem.linear - problem.of_samples(f)
                bias = _bias_within(problem, residual, hard, bias)
        else:
            stretch = np.inf
    totals = problem.totals
    if not problem.biased:
        totals = problem.sums(alpha)
        if totals.size == 2:  # their difference is demanded
            totals[0] += np.diff(totals)[0] - np.diff(problem.totals)[0]
    gap, infeasibility = gap_and_infeasibility(
        problem.linear, problem.lower, problem.upper, problem.ridge, problem.group,
        totals, alpha, f, bias,
    )  # fmt: skip
    return stretch + gap, infeasibility


def _scale(problem: DualProblem, f: Float, hard: _Constraints) -> float:
    """A scale s at which a bias (0 where there is none) can meet all constraints of s·f; ∞ where
    none is found.

    It is the smallest such scale when the constraints are all there is (½‖w‖² is to be least),
    and 1 where that is large enough and there are losses too.
    """
    needed = []
    for g in range(problem.totals.size if problem.biased else 0):
        above, below = hard.above & (problem.group == g), hard.below & (problem.group == g)
        if above.any() and below.any():
            asked = problem.linear[above].max() - problem.linear[below].min()
            margin = f[above].min() - f[below].max()
            proven = margin > ROUNDING * np.abs(f[above | below]).max()
            needed.append(float(asked / margin) if proven else np.inf)
    if not problem.biased:
        sign = np.where(hard.above, 1.0, -1.0)[hard.above | hard.below]
        asked, reached = (sign * v[hard.above | hard.below] for v in (problem.linear, f))
        proven = reached > ROUNDING * np.abs(reached).max(initial=0.0)
        scales = np.divide(asked, reached, out=np.full(asked.size, np.inf), where=proven)
        needed += scales[asked > 0.0].tolist()
    with_losses = (problem.lower < problem.upper) & ~hard.above & ~hard.below
    if with_losses.any() or not needed:
        needed.append(1.0)
    return max(needed)


def _bias_within(problem: DualProblem, residual: Float, hard: _Constraints, bias: Float) -> Float:
    """The nearest bias that meets the constraints."""
    low = np.full(bias.size, -np.inf)
    high = np.full(bias.size, np.inf)
    np.maximum.at(low, problem.group[hard.above], residual[hard.above])
    np.minimum.at(high, problem.group[hard.below], residual[hard.below])
    meeting: Float = np.minimum(np.maximum(bias, low), high)
    return meeting


def rounding_is_small(
    problem: DualProblem, alpha: Float, slack: Float, rounding: float, allowed: float
) -> bool:
    """Whether what rounding of the function adds to the losses is allowed.

    It moves free variables off the margin, and those at a bound to its other side where the slack
    (the gradient minus the bias) is no larger than the rounding. The price are their boxes or,
    where these are infinite, squares.
    """
    boxes = problem.upper - problem.lower
    if rounding * float(boxes.sum()) <= allowed:
        return True
    moved = problem.free(alpha) | (np.abs(slack) <= rounding)
    boxed, squared = moved & np.isfinite(boxes), moved & (problem.ridge > 0.0)
    squares = rounding * np.abs(alpha[squared]) + 0.5 * rounding**2 / problem.ridge[squared]
    return rounding * float(boxes[boxed].sum()) + float(squares.sum()) <= allowed


@borrowing_strict
def gradient_and_value(
    linear: Float, ridge: Float, alpha: Float, kernel_alpha: Float, gradient: Float
) -> float:
    """gradient ← linear − Kα − ridge·α; returns the dual value ½ α·(linear + gradient)."""
    samples, total, lost = kernel_alpha.size, 0.0, 0.0
    for a in range(alpha.size):
        gradient[a] = linear[a] - kernel_alpha[a % samples] - ridge[a] * alpha[a]
        term = alpha[a] * (linear[a] + gradient[a]) - lost
        after = total + term
        lost = (after - total) - term
        total = after
    return 0.5 * total


@borrowing_strict
def gap_and_infeasibility(
    linear: Float,
    lower: Float,
    upper: Float,
    ridge: Float,
    group: Int,
    totals: Float,
    alpha: Float,
    kernel_alpha: Float,
    bias: Float,
) -> tuple[float, float]:
    """The sum of `certificate`, and the largest excess over a bound or a sum as a part of Σ|α|."""
    samples = kernel_alpha.size
    gap, excess, size = 0.0, 0.0, 0.0
    for a in range(alpha.size):
        value, bend, low, high = alpha[a], ridge[a], lower[a], upper[a]
        if low - value > excess:
            excess = low - value
        if value - high > excess:
            excess = value - high
        size += abs(value)
        # The best response t maximises e·t − ½ridge·t² in the box.
        error = linear[a] - kernel_alpha[a % samples] - bias[group[a]]
        best, other = (high, low) if error > 0.0 else (low, high)
        if bend > 0.0:
            best = error / bend
            best = low if best < low else high if best > high else best
        elif abs(best) == np.inf:  # a constraint contributes nothing when it holds
            best = 0.0 if abs(other) == np.inf else other
        gap += (best - value) * (error - 0.5 * bend * (best + value))
    for g in range(totals.size):
        # Compensated summation, so that rounding of the sums does not show in the gap.
        total, lost = 0.0, 0.0
        for a in range(alpha.size):
            if group[a] == g:
                term = alpha[a] - lost
                after = total + term
                lost = (after - total) - term
                total = after
        gap += bias[g] * (totals[g] - total)
        off = abs(totals[g] - total)
        excess = off if off > excess else excess
        size = abs(totals[g]) if abs(totals[g]) > size else size
    return gap, excess / size if size > 0.0 else 0.0
