"""The main room: a support vector machine on points in the plane, solved while you watch."""

from __future__ import annotations

from typing import Any

from ...dual import hinge
from ...kernels import Gaussian
from ...solvers import solve
from . import fields
from .fields import Request, Room

ROOM = Room(
    name="smo",
    title="SMO, step by step",
    sentence="Two variables move at a time until no pair violates the optimality conditions.",
    example={"points": [[-1.0, 0.0, -1], [1.0, 0.0, 1]], "C": 10.0, "gamma": 0.5},
)
MOST_POINTS = 2000


def answer(request: Request) -> dict[str, Any]:
    """Solve the machine of a request."""
    points = fields.table(request, "points", 3, MOST_POINTS, fewest=2)
    C = fields.real(request, "C", 10.0, 1e-3, 1e6)
    gamma = fields.real(request, "gamma", 0.5, 1e-4, 1e4)
    machine = hinge(points[:, 2], C=C)
    solution = solve(machine.problem, Gaussian(gamma).bind(points[:, :2]))
    return {"alpha": fields.plain(solution.alpha), "dual": solution.dual}
