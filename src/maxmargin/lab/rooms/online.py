"""LASVM on a stream of points: process, reprocess, remove, and the point it would ask for next.

For every point of the stream the compiled loop of `OnlineSVC` processes it and then reprocesses
some pairs of the support set. A run with r reprocess steps begins as one with r − 1 does, so the
machine as it was before the point learns it again with 0, 1, … of them: one frame each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...estimators.online.svc import OnlineSVC
from ...kernels import Gaussian, Kernel, Linear
from ...solvers.online.machine import OnlineMachine, OnlineSettings
from . import fields, samples
from .fields import Float, Request, RequestError, Room
from .samples import Samples

ROOM = Room(
    "online",
    "LASVM on a stream",
    "Each point is processed once, against a partner from the support set; reprocess steps inside "
    "the set follow, and points that are no longer needed are removed.",
    {"example": "moons", "size": 60, "mode": "clicks", "C": 10.0, "gamma": 1.0},
)
OPTIONS = ("mode", "asked", "kernel", "gamma", "C", "reprocess", "selection", "budget", "querying")
FIELDS = (*samples.FIELDS, *OPTIONS)
MOST_POINTS = 120


def answer(request: Request) -> dict[str, Any]:
    """Frames of the stream and, in mode "active", the point whose label is requested next.

    In mode "clicks" the stream is the points in their order. In mode "active" the points are a
    pool whose labels are unknown, and the stream is the points with the indices `asked`.
    """
    samples.only(request, FIELDS)
    given = samples.samples_of(request, fewest=0, most=MOST_POINTS, usual=60)
    active = fields.choice(request, "mode", "clicks", ("clicks", "active")) == "active"
    order = asked_of(request, given.y.size) if active else list(range(given.y.size))
    budget = None
    if request.get("budget") is not None:
        budget = fields.whole(request, "budget", 2, 2, MOST_POINTS)
    gamma = fields.real(request, "gamma", 1.0, 1e-3, 1e3)
    model = OnlineSVC(
        C=fields.real(request, "C", 10.0, 1e-3, 1e4),
        kernel=fields.choice(request, "kernel", "rbf", ("rbf", "linear")),
        gamma=gamma,
        reprocess=fields.whole(request, "reprocess", 1, 0, 5),
        selection=fields.choice(request, "selection", "second_order", ("second_order", "mvp")),
        budget=budget,
        querying=fields.choice(request, "querying", "margin", ("margin", "random")),
    )
    kernel = Gaussian(gamma) if model.kernel == "rbf" else Linear()
    stream = Samples(given.X[order], given.y[order])
    result: dict[str, Any] = {
        "points": given.rows(),
        "order": order,
        "kernel": model.kernel,
        "gamma": gamma,
        "C": model.C,
        "frames": frames_of(stream, kernel, model),
        "query": None,
        "values": None,
        "accuracies": None,
        "code": code_of(given, order, model, active),
    }
    accuracies = []
    for x, label in zip(stream.X, stream.y):
        model.partial_fit([x], [label], classes=[-1.0, 1.0])
        if active:
            accuracies.append(model.score(given.X, given.y))
    if active:
        result |= {**asking(model, given, order), "accuracies": accuracies}
    found: dict[str, Any] = fields.plain(result)
    return found


def asked_of(request: Request, most: int) -> list[int]:
    numbers = fields.numbers(request, "asked", MOST_POINTS)
    asked = [] if numbers is None else [int(value) for value in numbers]
    if numbers is not None and (asked != numbers.tolist() or len(set(asked)) < len(asked)):
        raise RequestError("asked must hold whole numbers, each once")
    if any(not 0 <= index < most for index in asked):
        raise RequestError(f"asked must hold indices of the {most} points, got {asked}")
    return asked


def asking(model: OnlineSVC, pool: Samples, order: list[int]) -> dict[str, Any]:
    """The point of the pool whose label is requested next, and the outputs for all points."""
    left = np.setdiff1d(np.arange(pool.y.size), order)
    query = left[model.query(pool.X[left])[0]] if left.size else None
    return {"query": query, "values": model.decision_function(pool.X) if order else None}


def frames_of(stream: Samples, kernel: Kernel, model: OnlineSVC) -> list[dict[str, Any]]:
    """The machine before anything, and after each part of the work on each point."""
    turns = [settings_of(model, turn, None) for turn in range(model.reprocess + 1)]
    whole = settings_of(model, model.reprocess, model.budget)
    machine = OnlineMachine(kernel, whole)
    frames = [snapshot("start", None, machine, machine)]
    for example, label in enumerate(stream.y):
        before = machine
        kinds = ["process", *["reprocess"] * model.reprocess]
        for kind, settings in zip(kinds, turns):
            after = taught(machine, settings, stream.X[example], label, example, model.C)
            frames.append(snapshot(kind, example, before, after))
            before = after
        if model.budget is not None and before.size > model.budget:
            after = taught(machine, whole, stream.X[example], label, example, model.C)
            frames.append(snapshot("evict", example, before, after))
            before = after
        machine = OnlineMachine.restored(kernel, whole, before.dtype, before.state())
    return frames


def settings_of(model: OnlineSVC, reprocess: int, budget: int | None) -> OnlineSettings:
    return OnlineSettings(model.selection, reprocess, model.tol, budget)


def taught(
    machine: OnlineMachine, settings: OnlineSettings, x: Float, label: float, number: int, C: float
) -> OnlineMachine:
    """A copy of the machine that has learned one point."""
    copy = OnlineMachine.restored(machine.kernel, settings, machine.dtype, machine.state())
    copy.learn(x[None, :], np.array([label]), np.array([C]), np.array([number]))
    return copy


def snapshot(
    kind: str, example: int | None, before: OnlineMachine, after: OnlineMachine
) -> dict[str, Any]:
    """The support set, and what changed since the machine before."""
    old = dict(zip(before.number.tolist(), before.alpha.tolist()))
    new = dict(zip(after.number.tolist(), after.alpha.tolist()))
    moved = [k for k in sorted({*old, *new}) if old.get(k, 0.0) != new.get(k, 0.0)]
    return {
        "kind": kind,
        "example": example,
        "members": after.number,
        "alpha": after.alpha,
        "gradient": after.gradient,
        "bias": after.bias,
        "dual": after.dual,
        "violation": after.violation,
        "gap": after.gap,
        "moved": [[k, old.get(k, 0.0), new.get(k, 0.0)] for k in moved],
        "inserted": sorted(set(new) - set(old)),
        "removed": sorted(set(old) - set(new)),
        "steps": after.steps,
    }


def code_of(points: Samples, order: list[int], model: OnlineSVC, active: bool) -> str:
    query = """\
rest = np.setdiff1d(np.arange(len(y)), order)
if len(rest):
    print("asks for point", rest[model.query(X[rest])[0]])
"""
    return f"""\
import numpy as np
from maxmargin import OnlineSVC

{samples.code_of(points)}\
order = np.array({order}, dtype=int)
model = OnlineSVC(
    C={model.C!r},
    kernel={model.kernel!r},
    gamma={model.gamma!r},
    reprocess={model.reprocess},
    selection={model.selection!r},
    budget={model.budget},
    querying={model.querying!r},
)
for i in order:
    model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1.0, 1.0])
if len(order):
    print("support vectors:", order[model.support_])
    print("coefficients:", model.dual_coef_[0], " b =", model.intercept_[0])
{query if active else ""}"""
