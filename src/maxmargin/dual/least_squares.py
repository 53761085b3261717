"""Kernel ridge regression: its machine, and the certificate of any function in any units.

    primal  ½ Σ_i w_i (t_i − f(x_i))² + ½λ‖f − b‖²,   f = Kβ + b
    dual    t·u − ½ Σ_i u_i²/w_i − uᵀKu/(2λ),   Σu = 0 with a free bias,   u = λβ

With the residual r = t − f the difference is a sum of squares and what a sum of β off 0 costs,

    gap = ½ Σ_i w_i (r_i − λβ_i/w_i)² − λb Σ_i β_i

Without penalty (λ = 0) the dual asks for Ku = 0 of u = w·r. What is shown then is how much the
error would fall if f moved along itself or along a constant, (u·f)²/(2 Σ w f²); it is 0 for the
solution, and no bound for other functions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .arguments import as_penalties, as_vector
from .certificate import Certificate
from .machines import Machine, _one_group, read_plain
from .problem import Float


def least_squares(targets: ArrayLike, C: ArrayLike) -> Machine:
    """½‖w‖² + ½ Σ C_i (t_i − f(x_i))² → min: ridge regression with λ/weight_i = 1/C_i.

    The least-squares support vector machine is this one with labels as targets.

    Parameters
    ----------
    targets : array of shape (samples,)
    C : float, or array of shape (samples,)
        Price of an error, one for all samples or one each.

    Returns
    -------
    Machine

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import least_squares
    >>> least_squares(np.array([0.0, 1.0]), C=4.0).problem.ridge
    array([0.25, 0.25])
    """
    t = as_vector("targets", targets)
    penalty = as_penalties("C", C, t.size)
    unlimited = np.where(penalty > 0, np.inf, 0.0)
    ridge = np.divide(1.0, penalty, out=np.zeros_like(penalty), where=penalty > 0)
    problem = _one_group(t, -unlimited + 0.0, unlimited, ridge)
    return Machine("least_squares", problem, read_plain)


def certify_least_squares(
    targets: Float,
    weight: Float,
    penalty: float,
    coef: Float,
    intercept: float | None,
    kernel_coef: Float,
) -> Certificate:
    """The certificate of f = Kβ + b, given Kβ for every sample; b is None without a bias.

    Parameters
    ----------
    targets, weight : float arrays
        One number for each sample.
    penalty : float
        λ.
    coef : float array
        β.
    intercept : float or None
        b.
    kernel_coef : float array
        Kβ.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import certify_least_squares
    >>> x, t = np.array([-1.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.0])
    >>> coef = np.array([-0.25, 0.0, 0.25])
    >>> certify_least_squares(t, np.ones(3), 2.0, coef, 1.0, x * (x @ coef))
    Certificate(primal=0.5, dual=0.5, relative gap 0.0e+00, violation 0.0e+00)
    """
    bias = 0.0 if intercept is None else float(intercept)
    residual = targets - kernel_coef - bias
    error = 0.5 * float(weight @ (residual * residual))
    if penalty == 0:
        return _without_penalty(weight, residual, error, kernel_coef, intercept is not None)
    primal = error + 0.5 * penalty * float(coef @ kernel_coef)
    left = residual - penalty * coef / weight
    total, size = float(coef.sum()), float(np.abs(coef).sum())
    broken = 0.0 if intercept is None or not size else abs(total) / size
    gap = 0.5 * float(weight @ (left * left))
    if intercept is not None:
        gap -= penalty * bias * total
    violation = np.ptp(left) if intercept is not None else np.abs(left).max(initial=0.0)
    return Certificate(primal, primal - gap, gap, float(violation), broken)


def _without_penalty(
    weight: Float, residual: Float, error: float, kernel_coef: Float, intercept: bool
) -> Certificate:
    """Least squares alone."""
    u = weight * residual
    directions = [kernel_coef, np.ones_like(u)] if intercept else [kernel_coef]
    gap = 0.0
    for direction in directions:
        length = float(weight @ (direction * direction))
        gap += 0.5 * float(u @ direction) ** 2 / length if length > 0 else 0.0
    gap = min(gap, error)
    return Certificate(error, error - gap, gap, float(np.abs(residual).max(initial=0.0)), 0.0)
