"""Dual coordinate descent, sample by sample: the compiled sweep of the library, one row at a time.

`CoordinateDescent` sweeps over all active samples in one compiled call. Here the same sweep gets
one sample per call, in the same order, so that every number is a number of that run:
`fit_linear(…, solver="coordinate")` takes the same steps to the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...solvers.linear import Intercept, hinge, squared_hinge
from ...solvers.linear.data.matrix import as_matrix
from ...solvers.linear.dual.coordinate import CoordinateDescent, Switches
from ...solvers.linear.records import LinearProblem
from . import fields, samples
from .fields import Request, Room
from .samples import Samples

ROOM = Room(
    "coordinate",
    "Coordinate descent",
    "One dual variable at a time is set to its optimum, and w changes with it; "
    "samples pushed against a bound are left out for a while.",
    {"example": "blobs", "size": 30, "C": 1.0},
)
OPTIONS = ("loss", "C", "order", "shrinking", "stop", "tol", "intercept", "epochs", "random_state")
FIELDS = (*samples.FIELDS, *OPTIONS)
LOSSES = {"hinge": hinge, "squared_hinge": squared_hinge}
INTERCEPTS = {"none": Intercept(False), "penalised": Intercept(True, 1.0)}


def answer(request: Request) -> dict[str, Any]:
    """Steps and epochs of a run."""
    samples.only(request, FIELDS)
    points = samples.samples_of(request, fewest=1, most=100, usual=30)
    loss = fields.choice(request, "loss", "hinge", tuple(LOSSES))
    intercept = fields.choice(request, "intercept", "penalised", tuple(INTERCEPTS))
    C = fields.real(request, "C", 1.0, 1e-4, 1e4)
    tol = fields.real(request, "tol", 1e-3, 1e-9, 1.0)
    epochs = fields.whole(request, "epochs", 50, 1, 100)
    switches = Switches(
        fields.choice(request, "order", "permutation", ("permutation", "cyclic")),
        fields.switch(request, "shrinking", True),
        fields.choice(request, "stop", "range", ("range", "step")),
        fields.whole(request, "random_state", 0, 0, 10**6),
    )
    bounds = np.full(points.y.size, C)
    problem = LinearProblem(
        as_matrix(points.X), LOSSES[loss](points.y, bounds), INTERCEPTS[intercept]
    )
    run = Watched(problem, switches)
    status = run.to_the_end(tol, epochs)
    found: dict[str, Any] = fields.plain(
        {
            "points": points.rows(),
            "C": C,
            "loss": loss,
            "bound": C if loss == "hinge" else None,
            "status": status,
            "start": run.start,
            "steps": run.steps,
            "epochs": run.epochs,
            "beta": run.beta,
            "code": code_of(points, loss, C, switches, tol, intercept, epochs),
        }
    )
    return found


class Watched(CoordinateDescent):
    """The method, with a record of each step and of each epoch."""

    def __init__(self, problem: LinearProblem, switches: Switches) -> None:
        super().__init__(problem, None, switches)
        self.steps: list[dict[str, Any]] = []
        self.epochs: list[dict[str, Any]] = []
        primal, gap = self.measure()
        self.start = {"w": self.w.copy(), "b": self.b, "primal": primal, "gap": gap}

    def to_the_end(self, tol: float, epochs: int) -> str:
        """Epochs until the rule of `run_coordinate` holds for all samples; the status."""
        while len(self.epochs) < epochs:
            self.epoch(look=True)
            reached = (self.change if self.switches.stop == "step" else self.range) < tol
            primal, gap = self.measure()
            self.epochs.append(
                {
                    "last": len(self.steps),
                    "change": self.change,
                    "range": self.range,
                    "active": self.count,
                    "primal": primal,
                    "gap": gap,
                    "all_active_again": bool(reached and not self.whole),
                }
            )
            if reached and self.whole:
                return "converged"
            if len(self.steps) >= 4000:
                return "step_limit"
            if reached:
                self.reactivate_all()
        return "epoch_limit"

    def _sweep(self) -> tuple[float, float]:
        """As the compiled sweep: who leaves changes places with the last of those that stay."""
        low, high, k = np.inf, -np.inf, 0
        while k < self.count:
            least, most, stays = self._step(self.order[k : k + 1].copy())
            if stays:
                k += 1
                low, high = min(low, least), max(high, most)
            else:
                self.count -= 1
                last = self.count
                self.order[k], self.order[last] = self.order[last], self.order[k]
        return low, high

    def _step(self, own: np.ndarray) -> tuple[float, float, bool]:
        """One sample; the projected gradient met, twice, and whether it stays."""
        i, matrix = int(own[0]), self.problem.matrix
        before, w = float(self.beta[i]), self.w.copy()
        self.b, count, least, most = matrix.sweep(
            self.problem.loss,
            matrix.squared_norms,
            self.beta,
            self.w,
            self.b,
            self.kappa,
            own,
            1,
            self.least,
            self.most,
            self.switches.shrinking,
        )
        primal, gap = self.measure()
        self.steps.append(
            {
                "sample": i,
                "shrunk": count == 0,
                "gradient": least if count else None,
                "before": before,
                "after": float(self.beta[i]),
                "w": self.w.copy(),
                "b": self.b,
                "turned": float(np.linalg.norm(self.w - w)),
                "active": self.count - (count == 0),
                "primal": primal,
                "gap": gap,
            }
        )
        return least, most, bool(count)


def code_of(
    points: Samples,
    loss: str,
    C: float,
    switches: Switches,
    tol: float,
    intercept: str,
    epochs: int,
) -> str:
    return f"""\
import numpy as np
from maxmargin.solvers.linear import Intercept, fit_linear, {loss}

{samples.code_of(points)}\
solution = fit_linear(
    X,
    {loss}(y, np.full(len(y), {C!r})),
    intercept={INTERCEPTS[intercept]!r},
    solver="coordinate",
    order={switches.order!r},
    shrinking={switches.shrinking},
    stop={switches.stop!r},
    tol={tol!r},
    max_steps={epochs},
    random_state={switches.random_state},
    trace=True,
)
print("w =", solution.w, " b =", solution.b, " status:", solution.status)
print("change of w per epoch:", solution.trace.change)
print(solution.certificate)
"""
