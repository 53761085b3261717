"""Model selection: an objective over log C and log γ, and the path of an optimiser on it.

The action "landscape" evaluates the objective on a grid, "walk" runs an optimiser of
`maxmargin.tuning` from a start, "both" does both. NoisyRprop sees new random splits at every
evaluation; its landscape is that of fixed folds, the mean that it cannot see.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels import Gaussian
from ...tuning import (
    CMA,
    CrossValidationError,
    FixedSplits,
    Grid,
    IRpropPlus,
    KernelTargetAlignment,
    Limits,
    LogLikelihood,
    NoisyRprop,
    Objective,
    Optimiser,
    Point,
    RadiusMargin,
    RandomSplits,
    Rprop,
    SpanBound,
    folds,
)
from . import fields, samples
from .fields import Float, Request, RequestError, Room
from .samples import Samples

ROOM = Room(
    "tuning",
    "Model selection",
    "An objective estimates how good C and γ are; gradient methods follow its slope, "
    "while a grid evaluates it everywhere.",
    {"example": "xor", "size": 60, "objective": "likelihood", "optimiser": "irprop"},
)
OPTIONS = ("action", "objective", "optimiser", "log_C", "log_gamma", "evaluations", "resolution")
FIELDS = (*samples.FIELDS, *OPTIONS)
OBJECTIVES = {
    "likelihood": "held-out log-likelihood (5 folds)",
    "cross_validation": "cross-validation error (5 folds)",
    "span": "span bound",
    "radius_margin": "radius–margin quotient (squared hinge)",
    "alignment": "kernel target alignment",
}
OPTIMISERS = {
    "irprop": "iRprop⁺",
    "rprop": "Rprop",
    "noisy": "NoisyRprop",
    "cma": "CMA-ES",
    "grid": "Grid",
}
# Decimal logarithms of C and γ, and first step sizes of optimisers (in natural logarithms).
RANGE_C, RANGE_GAMMA = (-2.0, 4.0), (-2.0, 2.0)
STEPS = {"irprop": 0.3, "rprop": 0.3, "noisy": 0.1, "cma": 1.0}
FOLDS = 5


def answer(request: Request) -> dict[str, Any]:
    """A landscape, a walk, or both."""
    samples.only(request, FIELDS)
    points = samples.both_classes(samples.samples_of(request, fewest=10, most=120, usual=60))
    if min((points.y > 0).sum(), (points.y < 0).sum()) < FOLDS:
        raise RequestError(f"points must have at least {FOLDS} of each class, one for each fold")
    name = fields.choice(request, "objective", "likelihood", tuple(OBJECTIVES))
    action = fields.choice(request, "action", "both", ("both", "landscape", "walk"))
    result = {"points": points.rows(), "objective": name, "title": OBJECTIVES[name]}
    if action != "landscape":
        result |= walk(points, name, request)
    if action != "walk":
        result |= landscape(points, name, request)
    found: dict[str, Any] = fields.plain(result)
    return found


def objective_of(name: str, points: Samples, noisy: bool = False) -> Objective[Point]:
    """The objective by name; where `noisy`, with new splits at every evaluation."""
    X, y = points
    if noisy:
        return LogLikelihood(X, y, RandomSplits(y, 0.8, 0, stratified=True))
    if name == "likelihood":
        return LogLikelihood(X, y, FixedSplits(folds(y, FOLDS, 0)))
    if name == "cross_validation":
        return CrossValidationError(X, y, FOLDS)
    kinds: dict[str, Any] = {
        "span": SpanBound,
        "radius_margin": RadiusMargin,
        "alignment": KernelTargetAlignment,
    }
    objective: Objective[Point] = kinds[name](X, y)
    return objective


def landscape(points: Samples, name: str, request: Request) -> dict[str, Any]:
    """The objective on a grid: a row for each γ, a column for each C."""
    resolution = fields.whole(request, "resolution", 21, 3, 31)
    log_C = np.linspace(*RANGE_C, resolution)
    log_gamma = np.linspace(*RANGE_GAMMA, resolution)
    objective = objective_of(name, points)
    values = [
        [objective.value(Point(Gaussian(float(10.0**g)), C=float(10.0**c))) for c in log_C]
        for g in log_gamma
    ]
    return {
        "log_C": log_C,
        "log_gamma": log_gamma,
        "values": np.array(values),
        "maximise": objective.maximise,
    }


def walk(points: Samples, name: str, request: Request) -> dict[str, Any]:
    """The points that an optimiser evaluated, in decimal logarithms."""
    kind = fields.choice(request, "optimiser", "irprop", tuple(OPTIMISERS))
    start = (
        fields.real(request, "log_C", 0.0, *RANGE_C),
        fields.real(request, "log_gamma", -1.0, *RANGE_GAMMA),
    )
    evaluations = fields.whole(request, "evaluations", 60, 1, 400)
    if kind == "noisy" and name != "likelihood":
        raise RequestError(
            "optimiser noisy (NoisyRprop) is for the noisy log-likelihood: choose that objective"
        )
    objective = objective_of(name, points, noisy=kind == "noisy")
    if kind in ("irprop", "rprop") and not objective.differentiable:
        raise RequestError(
            f"optimiser {kind} needs a gradient, and the {OBJECTIVES[name]} has none: "
            "choose cma or grid"
        )
    try:
        optimiser = optimiser_of(kind, *start)
    except ImportError as error:
        raise RequestError(str(error)) from None
    optimiser.record = []
    result = optimiser.run(objective, evaluations=evaluations)
    rows = [row_of(theta, note) for theta, note in zip(optimiser.history.thetas, optimiser.record)]
    C, gamma = float(result.point.C), float(result.point.kernel.gamma)
    return {
        "optimiser": kind,
        "path": rows,
        "best": {"C": C, "gamma": gamma, "value": result.value},
        "status": result.status,
        "evaluations": result.evaluations,
        "noisy": objective.noisy,
        "maximise": objective.maximise,
        "code": code_of(points, name, kind, start, evaluations),
    }


def row_of(theta: Float, note: Float) -> dict[str, Any]:
    """One evaluation: where, the value, and the gradient in (log γ, log C) where there is one."""
    log_gamma, log_C = theta / math.log(10.0)
    gradient = note[2:] if note.size > 2 else None
    return {"log_C": log_C, "log_gamma": log_gamma, "value": note[1], "gradient": gradient}


def optimiser_of(kind: str, log_C: float, log_gamma: float) -> Optimiser[Point]:
    """An optimiser of `maxmargin.tuning` at its start."""
    start = Point(Gaussian(10.0**log_gamma), C=10.0**log_C)
    ends = np.log(10.0) * np.array([RANGE_GAMMA, RANGE_C])
    limits = Limits(ends[:, 0], ends[:, 1])
    if kind == "grid":
        axes = [np.linspace(low, high, 6) - at for (low, high), at in zip(ends, start.theta)]
        return Grid(start, axes, limits)
    kinds: dict[str, Any] = {"irprop": IRpropPlus, "rprop": Rprop, "noisy": NoisyRprop, "cma": CMA}
    options = {"smallest": 1e-4} if kind in ("irprop", "rprop") else {}
    optimiser: Optimiser[Point] = kinds[kind](start, STEPS[kind], limits, **options)
    return optimiser


OBJECTIVE_LINES = {
    "likelihood": "LogLikelihood(X, y, FixedSplits(folds(y, 5, 0)))",
    "cross_validation": "CrossValidationError(X, y, 5)",
    "span": "SpanBound(X, y)",
    "radius_margin": "RadiusMargin(X, y)",
    "alignment": "KernelTargetAlignment(X, y)",
}
OPTIMISER_LINES = {
    "irprop": "IRpropPlus(start, 0.3, limits, smallest=1e-4)",
    "rprop": "Rprop(start, 0.3, limits, smallest=1e-4)",
    "noisy": "NoisyRprop(start, 0.1, limits)",
    "cma": "CMA(start, 1.0, limits)",
    "grid": "Grid(start, [np.linspace(*e, 6) - at for e, at in zip(ends, start.theta)], limits)",
}


def code_of(
    points: Samples, name: str, kind: str, start: tuple[float, float], evaluations: int
) -> str:
    objective = OBJECTIVE_LINES[name]
    if kind == "noisy":
        objective = "LogLikelihood(X, y, RandomSplits(y, 0.8, 0, stratified=True))"
    return f"""\
import numpy as np
from maxmargin.kernels import Gaussian
from maxmargin.tuning import *

{samples.code_of(points)}\
ends = np.log(10.0) * np.array([{list(RANGE_GAMMA)}, {list(RANGE_C)}])
limits = Limits(ends[:, 0], ends[:, 1])
start = Point(Gaussian(10.0 ** {start[1]!r}), C=10.0 ** {start[0]!r})
objective = {objective}
optimiser = {OPTIMISER_LINES[kind]}
result = optimiser.run(objective, evaluations={evaluations})
print("C =", result.point.C, " gamma =", result.point.kernel.gamma)
print("value =", result.value, " after", result.evaluations, "evaluations:", result.status)
"""
