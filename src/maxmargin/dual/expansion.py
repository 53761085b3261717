"""The function that a solution of a dual problem stands for."""

from __future__ import annotations

from typing import NamedTuple

from .problem import Float


class Expansion(NamedTuple):
    """The function f(x) = Σ coef_i k(x_i, x) + intercept that a solution stands for.

    Attributes
    ----------
    coef : float array
        One coefficient a sample.
    intercept : float
    rho : float
        The margin |f| = ρ before `coef` and `intercept` were divided by it. Only ν-SVC finds one;
        elsewhere it is 1.
    epsilon : float
        Half the width of the tube of regression: given for ε-SVR, found by ν-SVR, else 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import Expansion
    >>> Expansion(np.array([-0.5, 0.5]), intercept=0.0).epsilon
    0.0
    """

    coef: Float
    intercept: float
    rho: float = 1.0
    epsilon: float = 0.0
