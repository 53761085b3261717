"""The certificate of a kernel machine from its public attributes alone, in extended precision.

With coefficients a (one for each distinct sample, those of copies added up), f = Ka, q = aᵀKa and
the residual r = target − f − b,

    machine            target  loss(r)                      Σa     dual
    hinge              y       C max(0, yr)                 0      Σya − ½q
    squared hinge      y       C max(0, yr)²                0      Σya − ½q − Σa²/4C
    ε-insensitive      y       C max(0, |r| − ε)            0      Σya − εΣ|a| − ½q
    ν-regression       y       C max(0, |r| − ε) + νεC      0      Σya − ½q, if Σ|a| ≤ νΣC
    ν-classification   yρ      weight (max(0, yr) − νρ)     0      −½q, if Σ|a| = νΣweight
    one class          0       weight max(0, r)             νΣw    −½q

    primal = ½q + Σ loss + b·total        gap = primal − dual

ν-classification delivers a/ρ and b/ρ; ρ follows from the sum that its coefficients must have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .kernels import LONG, OWN_UNIT, UNIT, Gram

# Sums of coefficients are kept up to the rounding of every step, of which there are thousands; this
# is also what `Certificate` calls infeasible. What it does to the gap is part of the gap.
INFEASIBLE = 1e-12
ONE = LONG(1)
# A gap of this part of the losses at f = 0 (of ν-machines: of the terms that cancel in it) is none:
# the optimum may vanish.
FLOOR = LONG(1e-14)


@dataclass
class Function:
    """One problem of a model, on distinct samples.

    Attributes
    ----------
    kind : {"hinge", "squared_hinge", "epsilon", "nu_svr", "one_class", "nu_svc"}
    samples : int array
        Which of the distinct samples it is about.
    target : array
        Labels ±1 or values, one for each of these.
    bound : array
        C times weight (of ν-classification the weight), one for each.
    copies : int array
        How many samples each stands for.
    coef : array
    rest : number
        The sum of the coefficients, of which a large constant in the kernel values may make much.
    intercept : number
    epsilon, nu : number
    """

    kind: str
    samples: np.ndarray
    target: np.ndarray
    bound: np.ndarray
    copies: np.ndarray
    coef: np.ndarray
    intercept: float
    epsilon: float = 0.0
    nu: float = 0.0
    name: str = ""
    rest: float = 0.0


class Values(NamedTuple):
    """Primal and dual value, their difference, and the violation."""

    primal: float
    dual: float
    gap: float
    violation: float


class Exact(NamedTuple):
    """What the certificate should say.

    Attributes
    ----------
    values : Values
        The violation takes coefficients that rounding may have moved off a bound as on it.
    most_violation : float
        The violation without that allowance.
    rounding : Values
        How far off a computation in float64 may be.
    own : Values
        How far off these values may be.
    infeasibility : float
        By how much box and sum are exceeded, relative to Σ|a|.
    certain : bool
        Whether all of the problem is known from the public attributes.
    floor : float
        What rounding leaves of the losses at f = 0: no smaller gap can be asked for.
    """

    values: Values
    most_violation: float
    rounding: Values
    own: Values
    infeasibility: float
    floor: float
    certain: bool = True

    @property
    def scale(self) -> float:
        return max(abs(self.values.primal), abs(self.values.dual))

    @property
    def relative_gap(self) -> float:
        return self.values.gap / self.scale if self.scale > 0 else self.values.gap


def exact(function: Function, matrix: Gram) -> Exact:
    """The certificate of one function."""
    part = np.ix_(function.samples, function.samples)
    K, rounding = matrix.values[part], matrix.rounding[part]
    a = function.coef.astype(LONG)
    b, bound = LONG(function.intercept), function.bound.astype(LONG)
    # Ka + b with kernel values of which a constant was subtracted.
    left = LONG(function.rest)
    # Two large numbers may leave a small one.
    off = 3 * OWN_UNIT * (abs(b) + abs(matrix.constant * left))
    b, of_constant = b + matrix.constant * left, matrix.constant * left**2
    sizes = Sizes(rounding, matrix.largest(function.samples), off)
    if function.kind == "nu_svc":
        return exact_nu(function, K, sizes, a, b, bound, of_constant)
    return _exact(function, K, sizes, a, b, bound, of_constant=of_constant)


class Sizes(NamedTuple):
    """What the digits of a result depend on: rounding of K, its largest entry, error of b."""

    rounding: np.ndarray
    largest: float
    of_bias: float


def exact_nu(function, K, sizes, a, b, weight, of_constant) -> Exact:
    """ν-classification: that of f, b and ρ before they were divided by ρ."""
    size = np.abs(a).sum()
    rho = function.nu * weight.sum() / size if size > 0 else LONG(1)
    if abs(rho - 1) < 1e-12:
        # Or nothing was divided because ρ is not positive: then it is not known, and at best the
        # one that fits f and b.
        margins = function.target * (K @ a + b)
        candidates = [LONG(1), *margins]
        costs = [(weight * np.maximum(r - margins, 0)).sum() - r * size for r in candidates]
        best = candidates[int(np.argmin(costs))]
        found = _exact(function, K, sizes, a, b, weight, best, of_constant)
        return found._replace(certain=False)
    a, b, of_constant = a * rho, b * rho, of_constant * rho**2
    sizes = sizes._replace(of_bias=sizes.of_bias * rho)
    return _exact(function, K, sizes, a, b, weight, rho, of_constant)


def _exact(function, K, sizes, a, b, bound, rho=ONE, of_constant=0) -> Exact:
    kind, n, nu = function.kind, len(a), LONG(function.nu)
    sign = function.target.astype(LONG)
    target = rho * sign if kind == "nu_svc" else sign
    epsilon = LONG(function.epsilon) if kind in ("epsilon", "nu_svr") else LONG(0)
    total = nu * bound.sum() if kind == "one_class" else LONG(0)
    # What ν adds to the primal value.
    price = LONG(0)
    if kind in ("nu_svr", "nu_svc"):
        price = (epsilon if kind == "nu_svr" else -rho) * nu * bound.sum()
    ridge = 0.5 / bound if kind == "squared_hinge" else np.zeros(n, dtype=LONG)
    hard = bool(np.isinf(bound).any()) and kind != "squared_hinge"
    f = K @ a
    q = a @ f + of_constant
    r = target - f - b
    loss = loss_function(kind, sign, bound, epsilon)

    def terms(r):
        return loss(r) - r * a + epsilon * np.abs(a) + 0.5 * ridge * a * a

    dual = -0.5 * (ridge * a * a).sum() - 0.5 * q
    if kind != "nu_svc":
        dual += target @ a
    if kind == "epsilon":
        dual -= epsilon * np.abs(a).sum()
    if hard:
        primal = hard_primal(kind, target, f, q)
    else:
        primal = 0.5 * q + loss(r).sum() + b * total + price
    gradient = (0 if kind == "nu_svc" else target) - f - ridge * a
    low = violation(function, a, gradient, bound, epsilon, exactly=False)
    high = violation(function, a, gradient, bound, epsilon, exactly=True)

    def errors(unit, of_kernel) -> Values:
        # The coefficients of copies are rounded, and so is their sum.
        of_f = (of_kernel + (n + 3 + 2 * function.copies) * unit * np.abs(K)) @ np.abs(a)
        of_r = of_f + 3 * unit * (np.abs(target) + np.abs(f) + abs(b) + epsilon)
        of_r += 3 * unit * ridge * np.abs(a) + sizes.of_bias
        of_q = np.abs(a) @ of_f + 4 * unit * abs(of_constant)
        many = (n + 6 + 2 * function.copies.max()) * unit
        of_dual = 0.5 * of_q + many * (np.abs(target * a).sum() + epsilon * np.abs(a).sum())
        of_dual += many * 0.5 * (ridge * a * a).sum()
        if hard:
            of_primal = hard_rounding(primal, q, of_q, 2 * of_r.max(initial=0))
            return Values(of_primal, of_dual, of_primal + of_dual, 2 * of_r.max(initial=0))
        change = np.maximum(loss(r + of_r), loss(r - of_r)) - loss(r)
        of_primal = 0.5 * of_q + change.sum() + many * (loss(r).sum() + abs(b * total) + abs(price))
        of_terms = np.maximum(terms(r + of_r), terms(r - of_r)) - terms(r)
        # Bounds and coefficients are products that were rounded.
        of_gap = of_terms.sum() + many * (np.abs(terms(r)).sum() + abs(price))
        of_gap += 4 * unit * np.abs(a * r).sum() + many * epsilon * np.abs(a).sum()
        of_gap += many * abs(b) * (np.abs(a).sum() + abs(total))
        # Targets and thresholds may have been shifted, which the rounding of Σa makes visible.
        shift = (np.abs(target).max(initial=0) + abs(b)) * abs(a.sum() - total) * (unit == UNIT)
        of_dual, of_gap = of_dual + shift, of_gap + shift
        if kind == "nu_svr":
            # Two variables for each sample, whose sizes add up to νΣC, leave their difference.
            both = many * np.abs(r).max(initial=0) * nu * bound.sum()
            of_gap += both
            of_dual += both + many * np.abs(target).max() * nu * bound.sum()
        # The primal value is computed as the dual value and the gap.
        of_primal = max(of_primal, of_dual + of_gap)
        return Values(of_primal, of_dual, of_gap, 2 * of_r.max(initial=0))

    own = errors(OWN_UNIT, sizes.rounding * (OWN_UNIT / UNIT))
    return Exact(
        Values(primal, dual, primal - dual, low),
        high,
        errors(UNIT, sizes.rounding),
        own._replace(gap=own.primal + own.dual),
        infeasibility(function, a, bound, total),
        FLOOR
        * (
            LONG(0)
            if hard
            else smallest_scale(kind, loss(target), a, b - rho * sign, sizes.largest)
        ),
    )


def loss_function(kind, sign, bound, epsilon) -> Callable[[np.ndarray], np.ndarray]:
    if kind in ("hinge", "nu_svc"):
        return lambda r: np.where(sign * r > 0, bound * np.maximum(sign * r, 0), LONG(0))
    if kind == "squared_hinge":
        return lambda r: bound * np.maximum(sign * r, 0) ** 2
    if kind == "one_class":
        return lambda r: bound * np.maximum(r, 0)
    # Both sides, of which ε < 0 would count the middle twice.
    return lambda r: bound * (np.maximum(r - epsilon, 0) + np.maximum(-r - epsilon, 0))


def smallest_scale(kind, losses, a, thresholds, largest):
    """Of objectives: the losses at f = 0, or, where ν scales the function and the optimum may be 0,
    the terms that cancel in the gap, as docs/guide/certificates.md has them."""
    if kind not in ("nu_svc", "one_class"):
        return losses.sum()
    return np.abs(a) @ (2 * np.abs(thresholds) + largest * np.sqrt((a * a).sum()))


def hard_primal(kind, target, f, q):
    """½‖sw‖² with the least s that leaves no errors; unknown for regression."""
    if kind != "hinge":
        return LONG(np.nan)
    margin = f[target > 0].min() - f[target < 0].max()
    return 0.5 * (2 / margin) ** 2 * q if margin > 0 else LONG(np.inf)


def hard_rounding(primal, q, of_q, of_margin):
    """The error of ½s²q, s = 2/margin, from those of q and the margin."""
    if not np.isfinite(primal) or q <= 0:
        return LONG(np.inf)
    return primal / q * of_q + primal * of_margin * np.sqrt(2 * primal / q)


def violation(function, a, gradient, bound, epsilon, exactly):
    """How far the gradient of a variable that can rise exceeds that of one that can fall."""
    # The coefficients of copies are rounded each, and so is their sum.
    off = LONG(0) if exactly else 4 * (function.copies + 2) * UNIT
    kind, target = function.kind, function.target
    if kind == "nu_svc" and not exactly:
        # All of them were divided by ρ, which follows from Σ|a| and Σweight, both rounded.
        off = off + 2 * function.copies.sum() * UNIT
    below_bound = (np.abs(a) < bound * (1 - off)) | (kind == "squared_hinge")
    if kind in ("hinge", "squared_hinge", "nu_svc"):
        rise = np.where(target > 0, below_bound, a < 0)
        fall = np.where(target > 0, a > 0, below_bound)
        if kind == "nu_svc":
            sides = (target > 0, target < 0)
            return max(excess(gradient[s], rise[s], gradient[s], fall[s]) for s in sides)
        return excess(gradient, rise, gradient, fall)
    if kind == "one_class":
        return excess(gradient, below_bound, gradient, a > 0)
    # Two variables for each sample: one between 0 and C, one between −C and 0.
    up, down = gradient - epsilon, gradient + epsilon
    up_rises, up_falls = (a <= 0) | below_bound, a > 0
    down_rises, down_falls = a < 0, (a >= 0) | below_bound
    if kind == "nu_svr" and not tube_is_closed(function):
        # Here ε is what the sums over both kinds of variables determine.
        return max(
            excess(gradient, up_rises, gradient, up_falls),
            excess(gradient, down_rises, gradient, down_falls),
        )
    both, rises = np.concatenate([up, down]), np.concatenate([up_rises, down_rises])
    found = excess(both, rises, both, np.concatenate([up_falls, down_falls]))
    if kind == "nu_svr":
        # A sample with both variables bounds the distance 2ε of the two thresholds by twice the
        # violation, and without ε gradients move by as much.
        return max(epsilon, found - 2 * epsilon)
    return found


def tube_is_closed(function: Function) -> bool:
    """Whether both sides of the tube share a sample, so that they are not known from their sum."""
    size = np.abs(function.coef).sum()
    return bool(size < function.nu * function.bound.sum() * (1 - INFEASIBLE))


def excess(up, rises, down, falls):
    if not (rises.any() and falls.any()):
        return LONG(0)
    return max(up[rises].max() - down[falls].min(), LONG(0))


def infeasibility(function, a, bound, total) -> float:
    """The largest excess over the box or the sum, relative to Σ|a|."""
    kind, size = function.kind, np.abs(a).sum()
    if kind == "nu_svr":
        size = LONG(function.nu) * bound.sum()  # of both sides of the tube
    if size == 0:
        return float(total > 0)
    excess_of = [abs(a.sum() - total)]
    if kind != "squared_hinge":
        excess_of.append(np.maximum(np.abs(a) - bound, 0).max())
    if kind in ("hinge", "squared_hinge", "nu_svc"):
        excess_of.append(np.maximum(-function.target * a, 0).max())
    if kind == "one_class":
        excess_of.append(np.maximum(-a, 0).max())
    if kind == "nu_svr":
        excess_of.append(max(np.abs(a).sum() - size, LONG(0)))
    return max(excess_of) / size
