"""Losses of linear machines, each described by its conjugate.

    ℓ(z) = max_β  (target − z)β − ε|β| − ½ ridge β²     over  lower ≤ β ≤ upper

| loss | target | ε | box | ridge |
|---|---|---|---|---|
| hinge, C(1 − yz)₊ | y | 0 | between 0 and yC | 0 |
| squared hinge, C(1 − yz)₊² | y | 0 | between 0 and y∞ | 1/2C |
| ε-insensitive, C(|y − z| − ε)₊ | y | ε | [−C, C] | 0 |
| squared ε-insensitive, C(|y − z| − ε)₊² | y | ε | (−∞, ∞) | 1/2C |
| squared, C(y − z)² | y | 0 | (−∞, ∞) | 1/2C |

The logistic loss C log(1 + exp(−yz)) has the box of the hinge and the entropy of β/C in place of
the quadratic term. The solver sees β alone: it is the signed dual variable, w = Σ β_i x_i.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

QUADRATIC, LOGISTIC = range(2)


class Loss(NamedTuple):
    """One loss for each sample, as arrays.

    Attributes
    ----------
    kind : int
        0 of losses with a quadratic conjugate, 1 of the logistic loss.
    target, lower, upper, ridge : float arrays
        Of the conjugate of each sample's loss, see the table of this module.
    epsilon : float

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import squared_hinge
    >>> loss = squared_hinge(y=np.array([1.0, -1.0]), C=np.array([1.0, 2.0]))
    >>> loss.smooth, loss.at([1]).ridge
    (True, array([0.25]))
    """

    kind: int
    target: Float
    lower: Float
    upper: Float
    ridge: Float
    epsilon: float

    @property
    def smooth(self) -> bool:
        """Whether ℓ has a derivative everywhere."""
        return self.kind == LOGISTIC or bool((self.ridge > 0).all())

    @property
    def quadratic(self) -> bool:
        """Whether ℓ is quadratic everywhere."""
        unbounded = np.isinf(self.lower).all() and np.isinf(self.upper).all()
        return self.kind == QUADRATIC and self.epsilon == 0.0 and bool(unbounded)

    @property
    def height(self) -> Float:
        """upper − lower: the C of a sample where the box is finite."""
        return self.upper - self.lower

    def at(self, index: Any) -> Loss:
        """The losses of some samples."""
        return Loss(
            self.kind,
            self.target[index],
            self.lower[index],
            self.upper[index],
            self.ridge[index],
            self.epsilon,
        )

    def scaled(self, factor: float) -> Loss:
        """The losses multiplied by a positive factor."""
        return self._replace(
            lower=self.lower * factor, upper=self.upper * factor, ridge=self.ridge / factor
        )


def in_type(loss: Loss, kind: Any) -> Loss:
    """The losses as numbers of another type."""
    if loss.target.dtype == kind:
        return loss
    return loss._replace(
        **{name: getattr(loss, name).astype(kind) for name in ("target", "lower", "upper", "ridge")}
    )


def hinge(y: Float, C: Float) -> Loss:
    """C(1 − yz)₊.

    Parameters
    ----------
    y : float array
        Labels −1 and +1.
    C : float array
        Price of an error of each sample.

    Returns
    -------
    Loss

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import hinge
    >>> hinge(y=np.array([1.0, -1.0]), C=np.array([1.0, 2.0])).upper
    array([1., 0.])
    """
    return Loss(QUADRATIC, y, np.minimum(y * C, 0.0), np.maximum(y * C, 0.0), np.zeros_like(y), 0.0)


def squared_hinge(y: Float, C: Float) -> Loss:
    """C(1 − yz)₊².

    Parameters
    ----------
    y : float array
        Labels −1 and +1.
    C : float array
        Price of an error of each sample.

    Returns
    -------
    Loss

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import squared_hinge
    >>> squared_hinge(y=np.array([1.0, -1.0]), C=np.array([1.0, 2.0])).ridge
    array([0.5 , 0.25])
    """
    lower = np.where(y > 0, 0.0, -np.inf)
    return Loss(QUADRATIC, y, lower, np.where(y > 0, np.inf, 0.0), 0.5 / C, 0.0)


def logistic(y: Float, C: Float) -> Loss:
    """C log(1 + exp(−yz)).

    Parameters
    ----------
    y : float array
        Labels −1 and +1.
    C : float array
        Price of an error of each sample.

    Returns
    -------
    Loss

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import logistic
    >>> logistic(y=np.array([1.0, -1.0]), C=np.array([1.0, 2.0])).lower
    array([ 0., -2.])
    """
    return hinge(y, C)._replace(kind=LOGISTIC)


def epsilon_insensitive(y: Float, C: Float, epsilon: float = 0.0) -> Loss:
    """C(|y − z| − ε)₊.

    Parameters
    ----------
    y : float array
        Targets.
    C : float array
        Price of an error of each sample.
    epsilon : float
        Errors up to this cost nothing.

    Returns
    -------
    Loss

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import epsilon_insensitive
    >>> epsilon_insensitive(y=np.array([0.5, 3.0]), C=np.array([1.0, 2.0]), epsilon=0.1).lower
    array([-1., -2.])
    """
    return Loss(QUADRATIC, y, -C, +C, np.zeros_like(y), float(epsilon))


def squared_epsilon_insensitive(y: Float, C: Float, epsilon: float = 0.0) -> Loss:
    """C(|y − z| − ε)₊².

    Parameters
    ----------
    y : float array
        Targets.
    C : float array
        Price of an error of each sample.
    epsilon : float
        Errors up to this cost nothing.

    Returns
    -------
    Loss

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import squared_epsilon_insensitive
    >>> y, C = np.array([0.5, 3.0]), np.array([1.0, 2.0])
    >>> loss = squared_epsilon_insensitive(y, C, epsilon=0.1)
    >>> loss.epsilon, loss.ridge
    (0.1, array([0.5 , 0.25]))
    """
    infinite = np.full_like(y, np.inf)
    return Loss(QUADRATIC, y, -infinite, infinite, 0.5 / C, float(epsilon))


def squared(y: Float, C: Float) -> Loss:
    """C(y − z)².

    Parameters
    ----------
    y : float array
        Targets.
    C : float array
        Price of an error of each sample.

    Returns
    -------
    Loss

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import squared
    >>> squared(y=np.array([0.5, 3.0]), C=np.array([1.0, 2.0])).quadratic
    True
    """
    return squared_epsilon_insensitive(y, C, 0.0)


CLASSIFICATION = {"hinge": hinge, "squared_hinge": squared_hinge, "logistic": logistic}
REGRESSION = {
    "epsilon_insensitive": epsilon_insensitive,
    "squared_epsilon_insensitive": squared_epsilon_insensitive,
    "squared": squared,
}
