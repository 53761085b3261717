"""The machines: how labels and C become a dual problem, and what its solution means.

    machine            linear      box of α             ridge     sum of α
    hinge              y           0 … y·C              0         0
    squared_hinge      y           0 … y·∞              1/(2C)    0
    hard_margin        y           0 … y·∞              0         0
    epsilon_svr        y−ε, y+ε    [0, C], [−C, 0]      0         0
    nu_svc             0           0 … y·weight         0         ±ν·Σweight/2, a group a class
    nu_svr             y, y        [0, C], [−C, 0]      0         ±ν·ΣC/2, a group a sign
    one_class          0           [0, weight]          0         ν·Σweight
    enclosing_ball     ½·diag K    [0, ∞)               0         1
    least_squares      t           (−∞, ∞)              1/C       0

C may be one number or one a sample (C times its weight). A sample with C = 0 is absent, one with
C = 3 counts as three with C = 1. Where there are two groups, group 0 holds the variables α ≥ 0
and group 1 those with α ≤ 0. Without an intercept (of the first, second and fourth) Σα is free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arguments import as_fraction, as_labels, as_penalties, as_vector, require_both_classes
from .expansion import Expansion
from .problem import ROUNDING, DualProblem, Float


@dataclass(frozen=True, eq=False)
class Machine:
    """A dual problem and the way back from its solution to a function.

    Attributes
    ----------
    name : str
    problem : DualProblem
    reader : callable
        Makes an `Expansion` of problem, α and bias.

    Examples
    --------
    Two points at −1 and +1 on a line, Gram matrix xxᵀ: α = ½y, so f(x) = x.

    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> machine = hinge(np.array([-1, 1]), C=1.0)
    >>> machine.problem.lower, machine.problem.upper
    (array([-1.,  0.]), array([0., 1.]))
    >>> machine.read(alpha=np.array([-0.5, 0.5]), bias=np.array([0.0]))
    Expansion(coef=array([-0.5,  0.5]), intercept=0.0, rho=1.0, epsilon=0.0)
    """

    name: str
    problem: DualProblem
    reader: Callable[[DualProblem, Float, Float], Expansion]

    def read(self, alpha: Float, bias: Float) -> Expansion:
        """The function of a solution, given `DualProblem.bias` of it."""
        return self.reader(self.problem, alpha, bias)


def read_plain(problem: DualProblem, alpha: Float, bias: Float, epsilon: float = 0.0) -> Expansion:
    return Expansion(problem.per_sample(alpha), float(bias[0]), epsilon=epsilon)


def read_rescaled(problem: DualProblem, alpha: Float, bias: Float) -> Expansion:
    middle, rho = 0.5 * (bias[0] + bias[1]), 0.5 * (bias[1] - bias[0])
    divisor = rho if rho > 0 else 1.0
    with np.errstate(over="ignore"):  # estimators refuse what is not finite
        coef = problem.per_sample(alpha) / divisor
        return Expansion(coef, float(middle / divisor), rho=float(rho))


def read_tube(problem: DualProblem, alpha: Float, bias: Float) -> Expansion:
    middle, epsilon = 0.5 * (bias[0] + bias[1]), 0.5 * (bias[0] - bias[1])
    return Expansion(problem.per_sample(alpha), float(middle), epsilon=float(epsilon))


def hinge(y: ArrayLike, C: ArrayLike, intercept: bool = True) -> Machine:
    """½‖w‖² + Σ C_i max(0, 1 − y_i f(x_i)) → min.

    With C = ∞ it is the hard margin machine.

    Parameters
    ----------
    y : array of shape (samples,)
        Labels −1 and +1.
    C : float, or array of shape (samples,)
        Price of an error, one for all samples or one each.
    intercept : bool
        Whether f has one.

    Returns
    -------
    Machine

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> hinge(np.array([1.0, -1.0]), C=2.0).problem.upper
    array([2., 0.])
    """
    labels, penalty = _two_classes(y, C)
    problem = _one_group(labels, *_signed_box(labels, penalty), biased=intercept)
    return Machine("hinge", problem, read_plain)


def squared_hinge(y: ArrayLike, C: ArrayLike, intercept: bool = True) -> Machine:
    """½‖w‖² + Σ C_i max(0, 1 − y_i f(x_i))² → min.

    The thesis writes C/2 instead of C: its C is twice the one here.

    Parameters
    ----------
    y : array of shape (samples,)
        Labels −1 and +1.
    C : float, or array of shape (samples,)
        Price of an error, one for all samples or one each.
    intercept : bool
        Whether f has one.

    Returns
    -------
    Machine

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import squared_hinge
    >>> squared_hinge(np.array([1.0, -1.0]), C=2.0).problem.ridge
    array([0.25, 0.25])
    """
    labels, penalty = _two_classes(y, C)
    present = penalty > 0
    ridge = np.divide(0.5, penalty, out=np.zeros_like(penalty), where=present)
    lower, upper = _signed_box(labels, np.where(present, np.inf, 0.0))
    problem = _one_group(labels, lower, upper, ridge, biased=intercept)
    return Machine("squared_hinge", problem, read_plain)


def hard_margin(y: ArrayLike) -> Machine:
    """½‖w‖² → min subject to y_i f(x_i) ≥ 1. Unbounded when the classes are not separable.

    Parameters
    ----------
    y : array of shape (samples,)
        Labels −1 and +1.

    Returns
    -------
    Machine

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hard_margin
    >>> hard_margin(np.array([1.0, -1.0])).problem.upper
    array([inf,  0.])
    """
    labels = as_labels(y)
    unlimited = np.full(labels.size, np.inf)
    require_both_classes(labels, unlimited)
    return Machine("hard_margin", _one_group(labels, *_signed_box(labels, unlimited)), read_plain)


def epsilon_svr(y: ArrayLike, C: ArrayLike, epsilon: float, intercept: bool = True) -> Machine:
    """½‖w‖² + Σ C_i max(0, |y_i − f(x_i)| − ε) → min.

    Parameters
    ----------
    y : array of shape (samples,)
        Targets.
    C : float, or array of shape (samples,)
        Price of an error, one for all samples or one each.
    epsilon : float
        Half the width of the tube, not negative.
    intercept : bool
        Whether f has one.

    Returns
    -------
    Machine

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import epsilon_svr
    >>> epsilon_svr(np.array([0.5, 3.0]), C=2.0, epsilon=0.1).problem.linear
    array([0.4, 2.9, 0.6, 3.1])
    """
    targets = as_vector("y", y)
    penalty = as_penalties("C", C, targets.size, finite=True)
    epsilon = float(epsilon)
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise ValueError(f"epsilon must be finite and not negative, got {epsilon}")
    problem = _two_copies(
        linear=np.concatenate([targets - epsilon, targets + epsilon]),
        penalty=penalty,
        group=np.zeros(2 * targets.size, dtype=np.int64),
        totals=np.zeros(1),
        biased=intercept,
    )
    return Machine("epsilon_svr", problem, partial(read_plain, epsilon=epsilon))


def nu_svc(
    y: ArrayLike, nu: float, weight: ArrayLike | None = None, intercept: bool = True
) -> Machine:
    """½‖w‖² − ν·Σweight·ρ + Σ weight_i max(0, ρ − y_i f(x_i)) → min over f and ρ.

    Free positives have gradient b − ρ, free negatives b + ρ. The function read back is f/ρ, whose
    margin is 1. Where ρ = 0 (the classes cannot be told apart, w = 0) it is f itself.

    Parameters
    ----------
    y : array of shape (samples,)
        Labels −1 and +1.
    nu : float
        In (0, 1].
    weight : array of shape (samples,), optional
        Of each sample; 1 by default.
    intercept : bool
        Whether f has one.

    Returns
    -------
    Machine

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import nu_svc
    >>> nu_svc(np.array([1.0, 1.0, -1.0, -1.0]), nu=0.5).problem.totals
    array([ 1., -1.])
    """
    labels = as_labels(y)
    nu = as_fraction(nu)
    present = as_penalties("weight", 1.0 if weight is None else weight, labels.size, finite=True)
    require_both_classes(labels, present)
    smaller = min(present[labels > 0].sum(), present[labels < 0].sum())
    largest = 2.0 * float(smaller / present.sum())
    if intercept and nu > largest * (1.0 + ROUNDING):
        raise ValueError(
            f"specified nu is infeasible: got {nu:g}, but with this balance of classes at most "
            f"{largest:g} is possible; choose nu no larger than that"
        )
    half = min(0.5 * nu * present.sum(), smaller)
    totals = np.array([half, -half])
    if not intercept:  # any two sums will do, as long as their difference is ν Σ weight
        first = min(nu * present.sum(), present[labels > 0].sum())
        totals = np.array([first, first - nu * present.sum()])
    lower, upper = _signed_box(labels, present)
    problem = DualProblem(
        linear=np.zeros(labels.size),
        lower=lower,
        upper=upper,
        ridge=np.zeros(labels.size),
        group=(labels < 0).astype(np.int64),
        totals=totals,
        samples=labels.size,
        biased=intercept,
    )
    return Machine("nu_svc", problem, read_rescaled)


def nu_svr(y: ArrayLike, nu: float, C: ArrayLike, intercept: bool = True) -> Machine:
    """½‖w‖² + Σ C_i (ν·ε + max(0, |y_i − f(x_i)| − ε)) → min over f and ε ≥ 0.

    Free variables above the tube have gradient b + ε, those below b − ε.

    Parameters
    ----------
    y : array of shape (samples,)
        Targets.
    nu : float
        In (0, 1].
    C : float, or array of shape (samples,)
        Price of an error, one for all samples or one each.
    intercept : bool
        Whether f has one.

    Returns
    -------
    Machine

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import nu_svr
    >>> nu_svr(np.array([0.5, 3.0]), nu=0.5, C=2.0).problem.totals
    array([ 1., -1.])
    """
    targets = as_vector("y", y)
    nu = as_fraction(nu)
    penalty = as_penalties("C", C, targets.size, finite=True)
    half = 0.5 * nu * penalty.sum()
    problem = _two_copies(
        linear=np.tile(targets, 2),
        penalty=penalty,
        group=np.repeat(np.arange(2), targets.size),
        totals=np.array([half, -half]),
        biased=intercept,
    )
    return Machine("nu_svr", problem, read_tube)


def one_class(weight: int | ArrayLike, nu: float) -> Machine:
    """½‖w‖² − ν·Σweight·ρ + Σ weight_i max(0, ρ − ⟨w, φ(x_i)⟩) → min over w and ρ.

    The function read back is f(x) = ⟨w, φ(x)⟩ − ρ: its intercept is −ρ.

    Parameters
    ----------
    weight : int or array
        Number of samples, each of weight 1, or the weights.
    nu : float
        In (0, 1].

    Returns
    -------
    Machine

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import one_class
    >>> one_class(4, nu=0.25).problem.totals
    array([1.])
    """
    entries = as_vector("weight", np.ones(int(weight)) if isinstance(weight, Integral) else weight)
    present = as_penalties("weight", entries, entries.size)
    nu = as_fraction(nu)
    zeros = np.zeros(present.size)
    total = present.sum()
    problem = _one_group(zeros, zeros, present, total=min(nu * total, total))
    return Machine("one_class", problem, read_plain)


def enclosing_ball(diagonal: ArrayLike) -> Machine:
    """½ max_i ‖φ(x_i) − c‖² → min over c = Σ α_i φ(x_i), from the diagonal of the Gram matrix.

    The squared radius is twice the optimum. A point x is inside when f(x) ≥ ½k(x, x).

    Parameters
    ----------
    diagonal : array of shape (samples,)
        k(x_i, x_i).

    Returns
    -------
    Machine

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import enclosing_ball
    >>> enclosing_ball(np.array([1.0, 4.0])).problem.linear
    array([0.5, 2. ])
    """
    half = 0.5 * as_vector("diagonal", diagonal)
    unlimited = np.full(half.size, np.inf)
    problem = _one_group(half, np.zeros(half.size), unlimited, total=1.0)
    return Machine("enclosing_ball", problem, read_plain)


def part_of(machine: str, y: Float | None, C: Float, epsilon: float = 0.0) -> DualProblem | None:
    """The variables of some of the samples of a machine; None of no samples.

    Its sums are 0, and mean nothing: those of all samples together are what a machine demands. A
    part may have samples of one class only.

    Parameters
    ----------
    machine : {"hinge", "squared_hinge", "epsilon_svr", "one_class"}
    y : float array or None
        Labels ±1 or targets.
    C : float array
        The price of an error, or for "one_class" the weight, of each sample.
    epsilon : float
    """
    if not C.size:
        return None
    if machine == "one_class":
        zeros = np.zeros(C.size)
        return _one_group(zeros, zeros, C)
    assert y is not None
    if machine == "epsilon_svr":
        linear, group = np.concatenate([y - epsilon, y + epsilon]), np.zeros(2 * y.size, np.int64)
        return _two_copies(linear, C, group, np.zeros(1))
    if machine == "hinge":
        return _one_group(y, *_signed_box(y, C))
    if machine == "squared_hinge":
        ridge = np.divide(0.5, C, out=np.zeros_like(C), where=C > 0)
        return _one_group(y, *_signed_box(y, np.where(C > 0, np.inf, 0.0)), ridge)
    raise ValueError(f"machine has no parts: {machine!r}")


def _one_group(
    linear: Float,
    lower: Float,
    upper: Float,
    ridge: Float | None = None,
    total: float = 0.0,
    biased: bool = True,
) -> DualProblem:
    n = linear.size
    ridge, group = np.zeros(n) if ridge is None else ridge, np.zeros(n, dtype=np.int64)
    return DualProblem(linear, lower, upper, ridge, group, np.array([total]), n, biased)


def _two_copies(
    linear: Float, penalty: Float, group: Any, totals: Float, biased: bool = True
) -> DualProblem:
    n, zeros = penalty.size, np.zeros(penalty.size)
    lower, upper = np.concatenate([zeros, zeros - penalty]), np.concatenate([penalty, zeros])
    return DualProblem(linear, lower, upper, np.zeros(2 * n), group, totals, n, biased)


def _two_classes(y: ArrayLike, C: ArrayLike) -> tuple[Float, Float]:
    """Labels and penalties of two classes, both present."""
    labels, penalty = np.asarray(y, dtype=np.float64), np.asarray(C, dtype=np.float64)
    plain = labels.ndim == 1 and labels.shape == penalty.shape
    plain = plain and bool((penalty >= 0.0).all() and (np.abs(labels) == 1.0).all())
    first = (labels > 0.0)[penalty > 0.0] if plain else labels[:0]
    if not first.any() or first.all():
        labels = as_labels(y)
        penalty = as_penalties("C", C, labels.size)
        require_both_classes(labels, penalty)
    return labels, penalty


def _signed_box(labels: Float, size: Float) -> tuple[Float, Float]:
    """Between 0 and y·size."""
    signed = labels * size + 0.0  # no −0.0
    return np.minimum(signed, 0.0), np.maximum(signed, 0.0)
