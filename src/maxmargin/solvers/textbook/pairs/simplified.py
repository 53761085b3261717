"""The simplified SMO of lecture 004: i in order, j at random, until some passes change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...result import Solution
from .classic import Classic


def simplified_smo(
    y: Any,
    K: Any,
    C: Any,
    *,
    tol: float = 1e-3,
    max_passes: int = 10,
    max_steps: int = 100_000,
    trace: bool | str = False,
    random_state: int = 0,
) -> Solution:
    """Train the hinge machine by pairs of a violating and a random variable.

    Only actual changes are counted: counted as in the lecture, samples that cannot move would keep
    it running for ever.

    Parameters
    ----------
    y : array of −1 and +1
    K : array of shape (samples, samples)
    C : float or array
    tol : float
    max_passes : int
        Passes without a change after which it ends.
    max_steps : int
    trace : bool or "alpha"
    random_state : int

    Returns
    -------
    Solution
        "converged" if all pairs are optimal within 2·tol, "stuck" if no random partner was found.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.textbook import simplified_smo
    >>> x = np.linspace(-1, 1, 20)
    >>> simplified_smo(np.sign(x), np.outer(x, x), C=1.0, max_passes=200).status
    'converged'
    """
    state = Classic(y, K, C, trace)
    random, n, passes = np.random.default_rng(random_state), len(state.y), 0
    while passes < max_passes:
        changed = 0
        for i in range(n):
            if not state.violates(i, tol):
                continue
            j = int(random.integers(n - 1))
            changed += state.optimise(i, j + (j >= i))
            if state.run.steps >= max_steps:
                return state.run.finished("step_limit")
        passes = 0 if changed else passes + 1
    proven = state.run.violation() <= 2.0 * tol
    return state.run.finished("converged" if proven else "stuck")
