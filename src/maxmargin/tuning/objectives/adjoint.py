"""The derivative of the hinge machine's outputs, for all parameters by one adjoint solve (9.3.1).

Let the function Φ of the outputs z = f(x_v), v ∈ V, have the slope g = ∂Φ/∂z. On the free vectors u
and the bounded ones g the machine satisfies

    H (α_u, b) = (y_u, 0) − (K_ug, 1ᵀ) α_g,     H = (K_uu 1; 1ᵀ 0),     α_g = C y_g

and with λ the solution of H λ = (K_uV g, Σ g)

    dΦ = Σ_v g_v dK_v α − Σ_u λ_u dK_u α + (g K_Vg − λ_u K_ug − λ_b 1ᵀ) dα_g

so that ∂Φ/∂theta is one contraction of ∂K/∂theta with a matrix of rank one, and the last term is
the derivative in C. If no vector is free, b is the midpoint of the interval between the two vectors
i and j that bound it, and λ = ½ Σ g on these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.base import Inputs, take
from ...runtime.jit import from_python
from ...solvers.newton.step import solve_factored
from ..base import Float, Point
from ..machines.optimum import Fit, Int, factored

solve_in_place = from_python(solve_factored)


class Saddle:
    """H = (K 1; 1ᵀ 0), factored once.

    Parameters
    ----------
    K : Gram matrix of the free vectors, one at least
    ridge : float
        Added to the diagonal, relative to its largest entry.
    """

    def __init__(self, K: Float, ridge: float = 0.0) -> None:
        self.size = len(K)
        if ridge:
            K = K + ridge * np.abs(np.diagonal(K)).max() * np.eye(self.size)
        self.constant = float(np.abs(np.diagonal(K)).max())
        self.factor = factored(K)
        if self.factor is None:
            # Not positive semi-definite, as with a sigmoid kernel.
            H = np.ones((self.size + 1, self.size + 1))
            H[:-1, :-1], H[-1, -1] = K, 0.0
            self.pseudoinverse = np.linalg.pinv(H, hermitian=True)
        else:
            self.ones = self._cleared(np.ones(self.size))

    def _cleared(self, b: Float) -> Float:
        assert self.factor is not None
        solve_in_place(self.factor, b, self.size)
        return b

    def solve(self, right: Float, total: float) -> tuple[Float, float]:
        """(λ_u, λ_b) with K λ_u + λ_b = right and Σ λ_u = total."""
        if self.factor is None:
            solved = self.pseudoinverse @ np.append(right, total)
            return solved[:-1], float(solved[-1])
        plain = self._cleared(right + self.constant * total)
        last = float((plain.sum() - total) / self.ones.sum())
        return plain - last * self.ones, last

    def inverse(self) -> Float:
        """H⁻¹."""
        eye = np.eye(self.size + 1)
        columns = [np.append(*self.solve(unit[:-1], unit[-1])) for unit in eye]
        return np.asarray(0.5 * (np.array(columns) + np.array(columns).T))


class Adjoint(NamedTuple):
    """How a function of the machine's (α_u, b) depends on Gram rows and on the sum of α::

        dΦ = −Σ_r weights_r dK_r α − last·dΣα

    Attributes
    ----------
    rows : int array
        Indices of the training samples r.
    weights : float array
    last : float
    """

    rows: Int
    weights: Float
    last: float


def adjoint(fit: Fit, saddle: Saddle | None, right: Float, total: float) -> Adjoint:
    """λ for slopes `right` in α_u and `total` in b, with H = `saddle_of(fit, K)`."""
    if saddle is None:
        return Adjoint(np.array(fit.meeting), np.full(2, 0.5 * total), 0.0)
    weights, last = saddle.solve(right, total)
    return Adjoint(fit.free, weights, last)


def saddle_of(fit: Fit, K: Float, ridge: float = 0.0) -> Saddle | None:
    """H of a machine, or None if no vector is free."""
    return Saddle(K[fit.free[:, None], fit.free], ridge) if fit.free.size else None


def bounded_part(fit: Fit) -> Float:
    """α with zeros on the free vectors: the part that changes with C."""
    alpha = fit.alpha.copy()
    alpha[fit.free] = 0.0
    return alpha


def sensitivities(
    fit: Fit,
    block: Float,
    slope: Float,
    saddle: Saddle | None,
    free_slope: Float | float = 0.0,
) -> tuple[Float, float]:
    """(c, ∂Φ/∂ log C) for a function Φ of a machine's outputs and free α: dΦ = Σ_r c_r dK_r α + …

    Parameters
    ----------
    fit : Fit
        A hinge machine on m samples.
    block : array of shape (rows, m)
        Gram block whose first m rows are those of the training samples.
    slope : array of shape (rows,)
        ∂Φ/∂f at these inputs.
    saddle : `saddle_of` the machine
    free_slope : array, one entry for each free vector
        ∂Φ/∂α_u.
    """
    pulled = slope @ block
    found = adjoint(fit, saddle, pulled[fit.free] + free_slope, float(slope.sum()))
    coefficients = slope.copy()
    coefficients[found.rows] -= found.weights
    bounded = bounded_part(fit)
    moving = np.flatnonzero(bounded)
    along = coefficients @ block[:, moving] if moving.size else np.zeros(0)
    log_C = float(along @ bounded[moving] - found.last * bounded.sum())
    return coefficients, log_C


class Derivative:
    """∂Φ as weights of ∂K_ij/∂theta and the derivative in log C, gathered part by part.

    Parameters
    ----------
    samples : int
        Size of the Gram matrix.
    """

    def __init__(self, samples: int) -> None:
        self.weights = np.zeros((samples, samples))
        self.log_C = 0.0

    def add_outputs(
        self,
        fit: Fit,
        K: Float,
        slope: Float,
        saddle: Saddle | None,
        free_slope: Float | float = 0.0,
    ) -> None:
        """Add the contribution of a machine's outputs and of the α of its free vectors."""
        coefficients, log_C = sensitivities(fit, K, slope, saddle, free_slope)
        rows, columns = np.flatnonzero(coefficients), np.flatnonzero(fit.alpha)
        part = np.outer(coefficients[rows], fit.alpha[columns])
        self.weights[rows[:, None], columns] += part
        self.log_C += log_C

    def contracted(self, point: Point, X: Inputs) -> Float:
        """The gradient in the coordinates of a point, given the inputs of the matrix."""
        left = np.flatnonzero(self.weights.any(axis=1))
        right = np.flatnonzero(self.weights.any(axis=0))
        slope = point.kernel.gradient(
            take(X, left), take(X, right), self.weights[left[:, None], right]
        )
        return point.gradient(slope, self.log_C)
