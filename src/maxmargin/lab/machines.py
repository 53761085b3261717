"""From a request to a dual problem: points in the plane, a machine, a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..dual import (
    Machine,
    epsilon_svr,
    hard_margin,
    hinge,
    least_squares,
    one_class,
    squared_hinge,
)
from ..kernels import Gaussian, Gram, Kernel, Linear, Polynomial, Precomputed
from .rooms import fields
from .rooms.fields import Float, Request, RequestError

MACHINES = ("hinge", "squared_hinge", "hard_margin", "epsilon_svr", "one_class", "ridge")
# The second coordinate of a point is the target.
REGRESSIONS = ("epsilon_svr", "ridge")
KERNELS = ("gaussian", "linear", "polynomial", "linear_plus_identity")
CLASSES = 3
MOST_POINTS = 2000


class Choice(NamedTuple):
    """Machine and kernel with their parameters."""

    machine: str
    kernel: str
    C: float
    gamma: float
    degree: int
    epsilon: float
    nu: float


@dataclass(frozen=True, eq=False)
class Task:
    """One machine to train.

    Attributes
    ----------
    classes : (int, int) or None
        Which classes are told apart: the second one is positive.
    samples : int array
        The points it is about.
    X : float array
    machine : Machine
    gram : Gram
    lines : list of str
        Python that makes `problem` and `gram`.
    """

    classes: tuple[int, int] | None
    samples: Any
    X: Float
    machine: Machine
    gram: Gram
    lines: list[str]


def choice_of(request: Request) -> Choice:
    return Choice(
        machine=fields.choice(request, "machine", "hinge", MACHINES),
        kernel=fields.choice(request, "kernel", "gaussian", KERNELS),
        C=fields.real(request, "C", 10.0, 1e-3, 1e6),
        gamma=fields.real(request, "gamma", 1.0, 1e-4, 1e4),
        degree=fields.whole(request, "degree", 3, 1, 12),
        epsilon=fields.real(request, "epsilon", 0.1, 0.0, 1e3),
        nu=fields.real(request, "nu", 0.2, 1e-3, 1.0),
    )


def points_of(request: Request) -> Float:
    """Rows of two coordinates and a class 0, 1 or 2."""
    points = fields.table(request, "points", 3, MOST_POINTS, fewest=1, largest=1e4)
    labels = points[:, 2]
    if not np.isin(labels, np.arange(CLASSES)).all():
        raise RequestError("the class of a point must be 0, 1 or 2")
    return points


def tasks_of(points: Float, choice: Choice) -> list[Task]:
    """One task, or for three classes one for each pair of them."""
    everything = np.arange(len(points))
    if choice.machine in REGRESSIONS or choice.machine == "one_class":
        return [_task(points, None, everything, choice)]
    present = np.unique(points[:, 2]).astype(int).tolist()
    if len(present) < 2:
        raise RequestError("a classifier needs points of two classes: put down one of another")
    pairs = [(a, b) for k, a in enumerate(present) for b in present[k + 1 :]]
    return [
        _task(points, pair, np.flatnonzero(np.isin(points[:, 2], pair)), choice) for pair in pairs
    ]


def _task(points: Float, classes: tuple[int, int] | None, samples: Any, choice: Choice) -> Task:
    chosen = points[samples]
    regression = choice.machine in REGRESSIONS
    # The same bits as the code shown: products depend on the order in memory.
    X = np.ascontiguousarray(chosen[:, :1] if regression else chosen[:, :2])
    if regression:
        y: Float = chosen[:, 1]
    elif classes is None:
        y = np.ones(len(chosen))
    else:
        y = np.where(chosen[:, 2] == classes[1], 1.0, -1.0)
    machine, made = _machine(y, choice)
    gram, bound = _gram(X, choice)
    lines = [
        "import numpy as np",
        "from maxmargin.dual import " + made.partition("(")[0],
        bound[0],
        "",
        f"X = np.array({X.tolist()})",
        f"y = np.array({y.tolist()})",
        f"problem = {made}.problem",
        f"gram = {bound[1]}",
    ]
    return Task(classes, samples, X, machine, gram, lines)


def _machine(y: Float, choice: Choice) -> tuple[Machine, str]:
    C, epsilon, nu = choice.C, choice.epsilon, choice.nu
    if choice.machine == "hinge":
        return hinge(y, C), f"hinge(y, C={C!r})"
    if choice.machine == "squared_hinge":
        return squared_hinge(y, C), f"squared_hinge(y, C={C!r})"
    if choice.machine == "hard_margin":
        return hard_margin(y), "hard_margin(y)"
    if choice.machine == "epsilon_svr":
        return epsilon_svr(y, C, epsilon), f"epsilon_svr(y, C={C!r}, epsilon={epsilon!r})"
    if choice.machine == "one_class":
        return one_class(y.size, nu), f"one_class(len(y), nu={nu!r})"
    return least_squares(y, C), f"least_squares(y, C={C!r})"


def _gram(X: Float, choice: Choice) -> tuple[Gram, tuple[str, str]]:
    if choice.kernel == "linear_plus_identity":
        matrix = X @ X.T + np.eye(len(X))
        return Precomputed().bind(matrix), ("", "X @ X.T + np.eye(len(X))")
    kernel, made = _kernel(choice)
    name = made.partition("(")[0]
    return kernel.bind(X, np.float64), (
        f"from maxmargin.kernels import {name}",
        f"{made}.bind(X, np.float64)",
    )


def _kernel(choice: Choice) -> tuple[Kernel, str]:
    if choice.kernel == "linear":
        return Linear(), "Linear()"
    gamma, degree = choice.gamma, choice.degree
    if choice.kernel == "polynomial":
        made = f"Polynomial(degree={degree}, gamma={gamma!r}, coef0=1.0)"
        return Polynomial(degree=degree, gamma=gamma, coef0=1.0), made
    return Gaussian(gamma), f"Gaussian({gamma!r})"
