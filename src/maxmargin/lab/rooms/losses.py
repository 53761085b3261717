"""Losses: values, subgradients and conjugates, by the library's own definitions.

Every loss of `solvers/linear/losses.py` is a maximum over its dual variable β,

    ℓ(z) = max_β −zβ − ℓ*(−β),    −β is a subgradient of ℓ at z where β attains it

so that z ↦ −zβ − ℓ*(−β) is a line below ℓ that touches it. The error count (0/1 loss) is drawn
beside them; it has no subgradient that would help.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...solvers.linear.certificate import best_answers, loss_values
from ...solvers.linear.losses import CLASSIFICATION, LOGISTIC, REGRESSION, Loss
from ...solvers.linear.primal.response import dual_value, respond
from . import fields, samples
from .fields import Float, Request, Room

ROOM = Room(
    "losses",
    "Losses",
    "A loss is the cost of an output z; its slope is the dual variable, "
    "and its conjugate is where the line of that slope meets the axis.",
    {"task": "classification", "C": 1.0, "z": 0.3},
)
FIELDS = ("task", "C", "epsilon", "target", "z")
TITLES = {
    "hinge": "hinge",
    "squared_hinge": "squared hinge",
    "logistic": "logistic",
    "epsilon_insensitive": "ε-insensitive",
    "squared_epsilon_insensitive": "squared ε-insensitive",
    "squared": "squared",
    "zero_one": "0/1",
}


def answer(request: Request) -> dict[str, Any]:
    """Curves of all losses of a task, and each loss at one output z."""
    samples.only(request, FIELDS)
    task = fields.choice(request, "task", "classification", ("classification", "regression"))
    C = fields.real(request, "C", 1.0, 0.01, 100.0)
    epsilon = fields.real(request, "epsilon", 0.5, 0.0, 10.0)
    usual = 1.0 if task == "classification" else 0.0
    target = fields.real(request, "target", usual, -5.0, 5.0)
    if task == "classification" and target not in (-1.0, 1.0):
        raise fields.RequestError(f"target must be a class, -1 or 1, got {target:g}")
    z = fields.real(request, "z", 0.3, -100.0, 100.0)
    grid = np.linspace(-4.0, 4.0, 241)
    losses = {
        name: loss_of(name, target, C, epsilon)
        for name in (CLASSIFICATION if task == "classification" else REGRESSION)
    }
    found: dict[str, Any] = fields.plain(
        {
            "task": task,
            "z": grid,
            "titles": {name: TITLES[name] for name in (*losses, "zero_one")},
            "values": {name: values_at(loss, grid) for name, loss in losses.items()}
            | ({"zero_one": C * (target * grid <= 0.0)} if task == "classification" else {}),
            "slopes": {name: slopes_at(loss, grid)[1] for name, loss in losses.items()},
            "conjugates": {name: conjugate_curve(loss) for name, loss in losses.items()},
            "at": {name: at_one(loss, z) for name, loss in losses.items()},
            "code": code_of(tuple(losses), target, C, epsilon, z),
        }
    )
    return found


def loss_of(name: str, target: float, C: float, epsilon: float) -> Loss:
    """The loss of one sample."""
    y, bound = np.array([target]), np.array([C])
    if name in CLASSIFICATION:
        return CLASSIFICATION[name](y, bound)
    if name == "squared":
        return REGRESSION[name](y, bound)
    made: Loss = REGRESSION[name](y, bound, epsilon)  # type: ignore[call-arg]
    return made


def repeated(loss: Loss, count: int) -> Loss:
    """The same loss for `count` outputs."""
    return loss.at(np.zeros(count, dtype=np.int64))


def values_at(loss: Loss, z: Float) -> Float:
    """ℓ(z)."""
    many = repeated(loss, z.size)
    return loss_values(many, many.target - z, np.zeros(z.size))[0]


def slopes_at(loss: Loss, z: Float) -> tuple[Float, Float]:
    """The smallest and the largest subgradient, which differ at kinks."""
    if loss.smooth:
        slope = -answers_at(loss, z)
        return slope, slope
    return -answers_at(loss, np.nextafter(z, -np.inf)), -answers_at(loss, np.nextafter(z, np.inf))


def answers_at(loss: Loss, z: Float) -> Float:
    """The β that attains ℓ(z)."""
    many = repeated(loss, z.size)
    if loss.kind != LOGISTIC:
        return best_answers(many, many.target - z)
    beta, bend = np.empty(z.size), np.empty(z.size)
    respond(many, z, np.zeros(z.size), 0.0, beta, bend)
    return beta


def conjugate_at(loss: Loss, beta: float) -> float | None:
    """ℓ*(−β); None where it is infinite, outside the box of β."""
    if not loss.lower[0] <= beta <= loss.upper[0]:
        return None
    return -float(dual_value(loss, np.array([beta])))


def conjugate_curve(loss: Loss) -> dict[str, Any]:
    """β ↦ ℓ*(−β) over the box, or over a part of it where it is unbounded."""
    low = float(loss.lower[0]) if np.isfinite(loss.lower[0]) else -3.0 / float(loss.ridge[0])
    high = float(loss.upper[0]) if np.isfinite(loss.upper[0]) else 3.0 / float(loss.ridge[0])
    beta = np.linspace(low, high, 120)
    return {"beta": beta, "value": [conjugate_at(loss, float(b)) for b in beta]}


def at_one(loss: Loss, z: float) -> dict[str, Any]:
    """The loss at one output: value, subgradients, β, conjugate, and the line that touches."""
    here = np.array([z])
    least, most = slopes_at(loss, here)
    beta = float(answers_at(loss, here)[0])
    conjugate = conjugate_at(loss, beta)
    slack = loss_values(loss, loss.target - here, np.array([beta]))[1]
    return {
        "value": values_at(loss, here)[0],
        "least_slope": least[0],
        "largest_slope": most[0],
        "beta": beta,
        "conjugate": conjugate,
        "slack": slack[0],
    }


def code_of(names: tuple[str, ...], target: float, C: float, epsilon: float, z: float) -> str:
    calls = ",\n    ".join(
        f"{name}(y, C, {epsilon!r})" if name.endswith("insensitive") else f"{name}(y, C)"
        for name in names
    )
    return f"""\
import numpy as np
from maxmargin.lab.rooms.losses import at_one
from maxmargin.solvers.linear.losses import {", ".join(names)}

y, C, z = np.array([{target!r}]), np.array([{C!r}]), {z!r}
for loss in (
    {calls},
):
    print(at_one(loss, z))
"""
