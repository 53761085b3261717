"""Preconditioned conjugate gradients for several right sides with common products."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .system import Float


class Budget(NamedTuple):
    """Limits of the iterations.

    Attributes
    ----------
    limit : int
        Iterations.
    gives_up : bool
        Whether to end as soon as the limit is predicted to be exceeded.
    ended : callable
        The status with which to end now, or None.
    """

    limit: int
    gives_up: bool = False
    ended: Callable[[], str | None] = lambda: None


class Found(NamedTuple):
    """An approximate solution, the number of iterations, and the reason if they ended early."""

    solution: Float
    iterations: int
    ended: str | None


def conjugate_gradients(
    multiply: Callable[[Float], Float],
    precondition: Callable[[Float], Float],
    right: Float,
    weight: Float,
    aim: float,
    budget: Budget,
) -> Found:
    """Solve AX = B until every residual column is `aim` times as long as at the start, measured as
    the norm of √weight·r."""
    x, r = np.zeros_like(right), right.copy()
    start = np.sqrt(weight @ (r * r))
    z = precondition(r)
    p, rz = z, np.einsum("ij,ij->j", r, z)
    for iteration in range(budget.limit):
        Ap = multiply(p)
        curvature = np.einsum("ij,ij->j", p, Ap)
        going = (curvature > 0) & (rz > 0)
        step = np.divide(rz, curvature, out=np.zeros_like(rz), where=going)
        x += step * p
        r -= step * Ap
        shares = np.divide(np.sqrt(weight @ (r * r)), start, out=np.zeros_like(start), where=going)
        share = float(shares.max())
        if share <= aim:
            return Found(x, iteration + 1, None)
        ended = budget.ended()
        if ended is not None:
            return Found(x, iteration + 1, ended)
        # The rate of convergence is known well enough after ten iterations.
        if budget.gives_up and iteration + 1 >= 10:
            rate = np.log(share) / (iteration + 1)
            if rate >= 0 or np.log(aim) / rate > budget.limit:
                return Found(x, iteration + 1, "step_limit")
        z = precondition(r)
        new = np.einsum("ij,ij->j", r, z)
        p = z + np.divide(new, rz, out=np.zeros_like(new), where=rz > 0) * p
        rz = new
    return Found(x, max(budget.limit, 0), "step_limit")
