"""How a hinge machine depends on its samples and parameters: spans (9.1.5), derivatives (9.3.1).

With u the free and g the bounded support vectors and H = (K_uu 1; 1ᵀ 0),

    H (α_u, b) = (y_u, 0) − (K_ug, 1ᵀ) α_g

    S_n² = 1 / (H⁻¹)_nn  for n free,    K_nn − vᵀH⁻¹v, v = (K_un, 1), for n bounded
    ∂(α_u, b)/∂θ = −H⁻¹ (∂K_u/∂θ α, 0),    ∂(α_u, b)/∂C = −H⁻¹ (K_ug y_g, 1ᵀy_g)
    ∂f(x)/∂θ = Σ_i ∂α_i/∂θ k(x, x_i) + α_i ∂k(x, x_i)/∂θ + ∂b/∂θ

(The thesis prints q_n − p_n = α_n²S_n² for the loss of margin without n; |α_n| S_n² is correct.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dual.problem import DualProblem, Float
from .record import CountedMatrix


class Sets(NamedTuple):
    """Free and bounded support vectors, and the inverse of H."""

    free: NDArray[np.intp]
    bounded: NDArray[np.intp]
    inverse: Float


class Change(NamedTuple):
    """Derivatives of a machine in one parameter."""

    alpha: Float
    bias: float


def support_sets(problem: DualProblem, K: Any, alpha: Any) -> Sets:
    """The sets u and g of an optimal α; there must be a free vector."""
    matrix, alpha = CountedMatrix(K).matrix, np.asarray(alpha, dtype=np.float64)
    if problem.copies != 1 or alpha.shape != (problem.size,):
        raise ValueError("alpha must have one entry for each sample of a classifier")
    free = problem.free(alpha)
    if not free.any():
        raise ValueError("no support vector is free: spans and derivatives are not defined")
    u = np.flatnonzero(free)
    H = np.ones((u.size + 1, u.size + 1))
    H[:-1, :-1], H[-1, -1] = matrix[np.ix_(u, u)], 0.0
    return Sets(
        u,
        np.flatnonzero(~free & (alpha != 0)),
        np.asarray(np.linalg.pinv(H, hermitian=True), dtype=np.float64),
    )


def spans(problem: DualProblem, K: Any, alpha: Any) -> Float:
    """S_n, the distance of each support vector from the affine hull of the other free ones; NaN
    for samples that are not support vectors.

    Parameters
    ----------
    problem : DualProblem
        Of a hinge machine.
    K : array of shape (samples, samples)
    alpha : array
        The optimum.

    Returns
    -------
    ndarray of shape (samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import solve
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import spans
    >>> x = np.array([-1.0, 1.0, 3.0])
    >>> problem, K = hinge(np.sign(x), C=1.0).problem, np.outer(x, x)
    >>> spans(problem, K, solve(problem, K).alpha)
    array([ 2.,  2., nan])
    """
    matrix = CountedMatrix(K).matrix
    u, g, inverse = support_sets(problem, matrix, alpha)
    squares = np.full(problem.size, np.nan)
    diagonal = np.diagonal(inverse)[:-1]
    squares[u] = np.divide(1.0, diagonal, out=np.zeros(u.size), where=diagonal > 0)
    v = np.vstack([matrix[np.ix_(u, g)], np.ones((1, g.size))])
    squares[g] = matrix[g, g] - np.einsum("ij,ij->j", v, inverse @ v)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def span_count(problem: DualProblem, K: Any, alpha: Any, bias: float) -> int:
    """The number of samples with y_n f(x_n) ≤ |α_n| S_n², an estimate of the leave-one-out errors.

    It is exact if the sets of free and bounded vectors do not change when a sample is left out.

    Parameters
    ----------
    problem, K, alpha
        As for `spans`.
    bias : float

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import solve
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import span_count
    >>> x = np.array([-3.0, -2.0, 2.0, 3.0])
    >>> problem, K = hinge(np.sign(x), C=1.0).problem, np.outer(x, x)
    >>> solution = solve(problem, K)
    >>> span_count(problem, K, solution.alpha, solution.bias[0])
    2
    """
    matrix, signed = CountedMatrix(K).matrix, np.asarray(alpha, dtype=np.float64)
    margins = problem.linear * (matrix @ signed + bias)
    loss = np.abs(signed) * np.nan_to_num(spans(problem, matrix, signed)) ** 2
    return int(np.sum(margins <= loss))


def derivative_in_parameter(problem: DualProblem, K: Any, alpha: Any, change: Any) -> Change:
    """∂α/∂θ and ∂b/∂θ, given ∂K/∂θ as a matrix.

    Parameters
    ----------
    problem, K, alpha
        As for `spans`.
    change : array of shape (samples, samples)
        ∂K/∂θ.

    Returns
    -------
    Change

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import solve
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import derivative_in_parameter
    >>> x = np.array([-1.0, 1.0, 3.0])
    >>> problem, K = hinge(np.sign(x), C=1.0).problem, np.outer(x, x)
    >>> derivative_in_parameter(problem, K, solve(problem, K).alpha, K).alpha.round(6)
    array([ 0.5, -0.5,  0. ])
    """
    signed, slope = np.asarray(alpha, dtype=np.float64), np.asarray(change, dtype=np.float64)
    u, _, inverse = support_sets(problem, K, signed)
    solved = -inverse @ np.append(slope[u] @ signed, 0.0)
    return _placed(problem, u, solved)


def derivative_in_C(problem: DualProblem, K: Any, alpha: Any) -> Change:
    """∂α/∂C and ∂b/∂C, where the bounds of all samples grow at rate 1.

    Parameters
    ----------
    problem, K, alpha
        As for `spans`.

    Returns
    -------
    Change

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import solve
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import derivative_in_C
    >>> x = np.array([-1.0, 1.0, 3.0])
    >>> problem, K = hinge(np.sign(x), C=1.0).problem, np.outer(x, x)
    >>> bool(np.abs(derivative_in_C(problem, K, solve(problem, K).alpha).alpha).max() < 1e-9)
    True
    """
    matrix, signed = CountedMatrix(K).matrix, np.asarray(alpha, dtype=np.float64)
    u, g, inverse = support_sets(problem, matrix, signed)
    y = np.sign(signed[g])
    solved = -inverse @ np.append(matrix[np.ix_(u, g)] @ y, y.sum())
    found = _placed(problem, u, solved)
    found.alpha[g] = y
    return found


def derivative_of_values(block: Any, alpha: Any, found: Change, change: Any = None) -> Float:
    """∂f(x)/∂θ at some inputs.

    Parameters
    ----------
    block : array of shape (inputs, samples)
        Kernel values of the inputs and the samples.
    alpha : array
        The optimum.
    found : Change
        From `derivative_in_parameter` or `derivative_in_C`.
    change : array of shape (inputs, samples), optional
        Derivatives of the kernel values; None if θ is C.

    Returns
    -------
    ndarray of shape (inputs,)

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import solve
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import derivative_in_parameter, derivative_of_values
    >>> x = np.array([-1.0, 1.0, 3.0])
    >>> problem, K = hinge(np.sign(x), C=1.0).problem, np.outer(x, x)
    >>> alpha = solve(problem, K).alpha
    >>> found = derivative_in_parameter(problem, K, alpha, K)
    >>> bool(np.abs(derivative_of_values(K[:2], alpha, found, K[:2])).max() < 1e-9)
    True
    """
    values = np.asarray(block, dtype=np.float64) @ found.alpha + found.bias
    return values if change is None else values + np.asarray(change) @ np.asarray(alpha)


def _placed(problem: DualProblem, free: NDArray[np.intp], solved: Float) -> Change:
    alpha = np.zeros(problem.size)
    alpha[free] = solved[:-1]
    return Change(alpha, float(solved[-1]))
