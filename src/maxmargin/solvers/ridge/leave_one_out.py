"""Leave-one-out residuals of kernel ridge regression, from one factor.

With A = K + λW⁻¹ and, for a free bias, C = A⁻¹ − A⁻¹11ᵀA⁻¹/(1ᵀA⁻¹1) (else C = A⁻¹), β = Ct. Without
the part g of the weight w of sample i, λ/w_i becomes λ/(w_i − g), a change of A of rank one. The
residual of sample i is then

    λβ_i / ((w_i − g) + λg C_ii / w_i),     for g = w_i:  β_i / C_ii
"""

from __future__ import annotations

import numpy as np

from ...linalg.cholesky import triangular
from .preconditioner import FullFactor
from .system import Float, RidgeSystem


def leave_one_out(system: RidgeSystem, coef: Float, inverse: Float, left_out: Float) -> Float:
    """The residuals t_i − f(x_i) of machines trained without a part of the weight of sample i.

    Parameters
    ----------
    system : RidgeSystem
    coef : float array of shape (samples, targets)
        β of the machine of all samples.
    inverse : float array of shape (samples,)
        The diagonal of C, from `inverse_diagonal`.
    left_out : float array of shape (samples,)
        g, between 0 and the weight.
    """
    rest = system.weight - left_out
    divisor = rest + system.penalty * left_out * inverse / system.weight
    return np.asarray(system.penalty * coef / divisor[:, None])


def inverse_diagonal(system: RidgeSystem, factor: FullFactor, step: int = 1024) -> Float:
    """The diagonal of C, from `step` columns of the inverse of the factor at a time."""
    n = system.size
    diagonal = np.zeros(n)
    for left in range(0, n, step):
        right = min(left + step, n)
        # Above its diagonal the inverse of a lower triangle is 0.
        unit = np.zeros((n - left, right - left), order="F")
        unit[: right - left] = np.eye(right - left)
        columns = triangular(factor.lower[left:, left:], unit)
        diagonal[left:right] = np.einsum("ij,ij->j", columns, columns)
    if system.intercept:
        eta = factor.solve(np.ones((n, 1)))[:, 0]
        diagonal -= eta * eta / eta.sum()
    return diagonal
