"""The building blocks of tuning: points, limits, evaluations and objectives.

A *point* has coordinates and can be moved; a `Point` is a kernel and a C. An *objective* has a
value at a point and, where it exists, a gradient in the point's coordinates. *Optimisers* move
points and need to know nothing else about them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..kernels.base import Kernel

Float = NDArray[np.float64]


class Movable(Protocol):
    """Anything with coordinates that can be moved along them."""

    @property
    def theta(self) -> Float:
        """The coordinates."""

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each coordinate."""

    def moved(self, delta: Float) -> Self:
        """The point at theta + delta; on a manifold, to first order."""


P = TypeVar("P", bound=Movable)


@dataclass(frozen=True)
class Point:
    """A kernel and the C of a machine, with coordinates (kernel.theta, log C).

    Parameters
    ----------
    kernel : Kernel
    C : float
    fixed : bool
        Whether C is held fixed and is not a coordinate. Then it may be infinite.

    Examples
    --------
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import Point
    >>> point = Point(Gaussian(0.5), C=10.0)
    >>> point.names
    ('log_gamma', 'log_C')
    >>> point.moved([0.0, 1.0]).C.__round__(4)
    27.1828
    """

    kernel: Kernel
    C: float = 1.0
    fixed: bool = False

    def __post_init__(self) -> None:
        if not self.C > 0:
            raise ValueError(f"C must be positive, got {self.C}")
        if not self.fixed and np.isinf(self.C):
            raise ValueError("C must be finite where it is tuned, got infinity: give fixed=True")

    @property
    def theta(self) -> Float:
        own = [] if self.fixed else [np.log(self.C)]
        return np.concatenate([self.kernel.theta, own])

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.kernel.parameter_names, *(() if self.fixed else ("log_C",)))

    def moved(self, delta: Any) -> Point:
        """The point at theta + delta."""
        delta = np.asarray(delta, dtype=np.float64)
        if self.fixed:
            return Point(self.kernel.moved(delta), self.C, True)
        return Point(self.kernel.moved(delta[:-1]), self.C * float(np.exp(delta[-1])))

    def gradient(self, kernel_gradient: Float, log_C_gradient: float) -> Float:
        """The gradient in the coordinates of this point."""
        own = [] if self.fixed else [log_C_gradient]
        return np.concatenate([kernel_gradient, own])


@dataclass(frozen=True)
class TubePoint:
    """Kernel, C and ε of a regression.

    The coordinates are those of the kernel, then log C and log ε.

    Parameters
    ----------
    kernel : Kernel
    C, epsilon : float

    Examples
    --------
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import TubePoint
    >>> TubePoint(Gaussian(0.5), C=10.0, epsilon=0.1).names
    ('log_gamma', 'log_C', 'log_epsilon')
    """

    kernel: Kernel
    C: float
    epsilon: float

    def __post_init__(self) -> None:
        for name in ("C", "epsilon"):
            value = getattr(self, name)
            if not (value > 0 and np.isfinite(value)):
                raise ValueError(f"{name} must be positive and finite, got {value}")

    @property
    def theta(self) -> Float:
        return np.concatenate([self.kernel.theta, np.log([self.C, self.epsilon])])

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.kernel.parameter_names, "log_C", "log_epsilon")

    def moved(self, delta: Any) -> TubePoint:
        """The point at theta + delta."""
        delta = np.asarray(delta, dtype=np.float64)
        C, epsilon = np.array([self.C, self.epsilon]) * np.exp(delta[-2:])
        return TubePoint(self.kernel.moved(delta[:-2]), float(C), float(epsilon))

    def gradient(self, kernel_gradient: Float, log_C: float, log_epsilon: float) -> Float:
        """The gradient in the coordinates of this point."""
        return np.concatenate([kernel_gradient, [log_C, log_epsilon]])


@dataclass(frozen=True, eq=False)
class Vector:
    """A point of ℝⁿ.

    Parameters
    ----------
    theta : float array
        The coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import Vector
    >>> point = Vector(np.array([1.0, -2.0])).moved(np.array([0.5, 0.0]))
    >>> point.names, point.theta
    (('x[0]', 'x[1]'), array([ 1.5, -2. ]))
    """

    theta: Float

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"x[{i}]" for i in range(self.theta.size))

    def moved(self, delta: Float) -> Vector:
        """The point at theta + delta."""
        return Vector(self.theta + delta)


@dataclass(frozen=True, eq=False)
class Limits:
    """low ≤ theta ≤ high, coordinate by coordinate.

    Parameters
    ----------
    low, high : float arrays
        Infinite for no limit.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import Limits
    >>> limits = Limits(np.array([-1.0, -np.inf]), np.array([1.0, np.inf]))
    >>> limits.shortened(theta=np.array([0.9, 0.0]), delta=np.array([0.5, 5.0]))
    array([0.1, 5. ])
    """

    low: Float
    high: Float

    def __post_init__(self) -> None:
        low, high = np.asarray(self.low), np.asarray(self.high)
        if low.shape != high.shape or low.ndim != 1 or not (low <= high).all():
            raise ValueError(f"low must not exceed high, got {low} and {high}")

    @classmethod
    def none(cls, size: int) -> Limits:
        return cls(np.full(size, -np.inf), np.full(size, np.inf))

    @classmethod
    def around(cls, point: Movable, reach: float | Float) -> Limits:
        """Limits at distance `reach` from a point."""
        return cls(point.theta - reach, point.theta + reach)

    def shortened(self, theta: Float, delta: Float) -> Float:
        """The part of a step that stays inside."""
        return np.clip(theta + delta, self.low, self.high) - theta

    def reached(self, point: Movable) -> tuple[str, ...]:
        """Names of the coordinates that are at a limit."""
        theta = point.theta
        span = np.maximum(np.abs(theta), 1.0)
        at = (theta <= self.low + 1e-9 * span) | (theta >= self.high - 1e-9 * span)
        return tuple(name for name, is_at in zip(point.names, at) if is_at)


class Evaluation(NamedTuple):
    """The value of an objective at a point and, if it has one, its gradient.

    Attributes
    ----------
    value : float
        NaN where nothing could be computed.
    gradient : float array or None
        In the coordinates of the point.

    Examples
    --------
    >>> from maxmargin.tuning import Evaluation
    >>> Evaluation(0.25).finite, Evaluation(float("nan")).finite
    (True, False)
    """

    value: float
    gradient: Float | None = None

    @property
    def finite(self) -> bool:
        gradient = self.gradient
        return bool(np.isfinite(self.value) and (gradient is None or np.isfinite(gradient).all()))


class Objective(ABC, Generic[P]):
    """A function of a point to be minimised, or maximised if `maximise` is set.

    To add one, implement `value`, or `evaluate` if it has a gradient. If nothing can be computed at
    a point, return NaN rather than raise: optimisers avoid such points.

    Examples
    --------
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import Evaluation, Objective, Point
    >>> class Width(Objective):
    ...     differentiable = False
    ...
    ...     def evaluate(self, point):
    ...         return Evaluation(abs(float(point.kernel.theta[0]) - 0.6931))
    >>> round(Width().value(Point(Gaussian(2.0))), 3)
    0.0
    """

    maximise: bool = False
    # Whether two evaluations at one point differ.
    noisy: bool = False
    differentiable: bool = True

    @abstractmethod
    def evaluate(self, point: P) -> Evaluation:
        """The value and, where the objective is differentiable, the gradient."""

    def value(self, point: P) -> float:
        """The value alone."""
        return self.evaluate(point).value

    def state(self) -> dict[str, Any]:
        """State passed from one evaluation to the next: solver starts, random generators."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state returned by `state`."""


@dataclass
class History:
    """Evaluations in order, thinned out so that there are never more than `capacity`.

    Attributes
    ----------
    evaluations : list of int
        The number of each evaluation, from 1.
    seconds : list of float
        When each ended, since the optimiser started.
    values : list of float
    thetas : list of float arrays
        Coordinates of the point evaluated.
    capacity : int
        Most evaluations that are kept.
    stride : int
        Only every so many of the evaluations is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import History
    >>> history = History()
    >>> history.add(1, seconds=0.1, value=0.5, theta=np.array([2.0]))
    >>> history.table(("log_C",))["log_C"]
    array([2.])
    """

    capacity: int = 10_000
    evaluations: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    thetas: list[Float] = field(default_factory=list)
    stride: int = 1

    def add(self, evaluation: int, seconds: float, value: float, theta: Float) -> None:
        """Append an evaluation, unless it falls between two that are kept."""
        if evaluation % self.stride:
            return
        if len(self.values) >= self.capacity:
            self.stride *= 2
            for name in ("evaluations", "seconds", "values", "thetas"):
                setattr(self, name, getattr(self, name)[1::2])
            if evaluation % self.stride:
                return
        self.evaluations.append(evaluation)
        self.seconds.append(seconds)
        self.values.append(value)
        self.thetas.append(theta)

    def __len__(self) -> int:
        return len(self.values)

    def table(self, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
        """Columns: evaluation, seconds, value, and one for each coordinate."""
        thetas = np.array(self.thetas).reshape(len(self), len(names))
        columns = {name: thetas[:, i] for i, name in enumerate(names)}
        return {
            "evaluation": np.array(self.evaluations),
            "seconds": np.array(self.seconds),
            "value": np.array(self.values),
            **columns,
        }
