"""Platt's SMO (lectures 000 and 003): his hierarchy of choices, with a cache of errors.

Sweeps over all samples alternate with sweeps over the free ones. A sample that violates its
condition is paired, in this order, with the free sample whose error differs most, all free samples
from a random position onwards, and all samples from a random position onwards, until a pair moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...result import Solution
from .classic import Classic


def platt_smo(
    y: Any,
    K: Any,
    C: Any,
    *,
    tol: float = 1e-3,
    max_steps: int = 100_000,
    trace: bool | str = False,
    random_state: int = 0,
) -> Solution:
    """Train the hinge machine as Platt proposed.

    Parameters
    ----------
    y : array of −1 and +1
    K : array of shape (samples, samples)
    C : float or array
    tol : float
        Of each sample's condition, given the bias in the middle of [b₁, b₂].
    max_steps : int
    trace : bool or "alpha"
    random_state : int

    Returns
    -------
    Solution
        "converged" if all pairs are optimal within 2·tol; "stuck" if none of the pairs tried moves
        although the point is not optimal.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.textbook import platt_smo
    >>> x = np.linspace(-1, 1, 20)
    >>> platt_smo(np.sign(x), np.outer(x, x), C=1.0).status
    'converged'
    """
    state, random = Classic(y, K, C, trace), np.random.default_rng(random_state)
    n = len(state.y)
    sweep_all, changed = True, 0
    while sweep_all or changed:
        changed = 0
        samples = range(n) if sweep_all else [k for k in range(n) if state.is_free(k)]
        for second in samples:
            if not state.violates(second, tol):
                continue
            for first in partners(state, second, random):
                if state.optimise(first, second):
                    changed += 1
                    break
            if state.run.steps >= max_steps:
                return state.run.finished("step_limit")
        sweep_all = not sweep_all and not changed
    proven = state.run.violation() <= 2.0 * tol
    return state.run.finished("converged" if proven else "stuck")


def partners(state: Classic, second: int, random: np.random.Generator) -> Iterator[int]:
    """The candidates in Platt's order."""
    n = len(state.y)
    free = np.array([k for k in range(n) if state.is_free(k)], dtype=int)
    if free.size > 1:
        differences = np.abs(state.errors()[free] - state.error(second))
        yield int(free[np.argmax(differences)])
    for candidates in (free, np.arange(n)):
        if candidates.size:
            yield from np.roll(candidates, -int(random.integers(candidates.size))).tolist()
