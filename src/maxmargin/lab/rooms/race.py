"""The race: two to four policies on the same problem, against steps or kernel values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...solvers import solve
from ...solvers.result import STATUSES
from ...solvers.smo.state import SELECTIONS
from ...solvers.textbook import DetailedTrace, watch
from ..examples import EXAMPLES, example
from ..machines import Task, choice_of, points_of, tasks_of
from . import fields
from .fields import Float, Request, RequestError, Room

ROOM = Room(
    name="race",
    title="Race",
    sentence=(
        "Two to four selection policies solve the same problem side by side. Fewer steps need not "
        "mean fewer kernel values, and Newton steps finish what pair steps only approach."
    ),
    example={
        **example("chess", 120),
        "racers": [
            {"selection": "second_order", "planning": 0, "face": False},
            {"selection": "mvp", "planning": 0, "face": False},
            {"selection": "second_order", "planning": 1, "face": False},
            {"selection": "second_order", "planning": 0, "face": True},
        ],
    },
)
ACTIONS = ("race", "example")
MOST_STEPS = 6000


def answer(request: Request) -> dict[str, Any]:
    """Let every racer run to its end, or to the most steps."""
    if fields.choice(request, "action", "race", ACTIONS) == "example":
        return {"request": example(fields.choice(request, "example", "chess", EXAMPLES))}
    points = points_of(request)
    if len(points) > 300:
        raise RequestError(f"a race takes up to 300 points, got {len(points):,}")
    task = tasks_of(points, choice_of(request))[0]
    tol = fields.real(request, "tol", 1e-3, 1e-10, 1.0)
    racers = racers_of(request)
    K = np.asarray(task.gram.matrix(), dtype=np.float64)
    best = solve(task.machine.problem, K, tol=min(tol, 1e-8), max_seconds=10.0)
    options = [{**racer, "tol": tol} for racer in racers]
    return fields.record(
        optimum=best.dual,
        samples=task.samples,
        classes=task.classes,
        copies=task.machine.problem.copies,
        racers=[_run(task, K, racer) for racer in options],
        code="\n".join(
            [
                *(line for line in task.lines[:3] if line),
                "from maxmargin.solvers.textbook import watch",
                *task.lines[3:],
                *(
                    f"print(watch(problem, gram, max_steps={MOST_STEPS}, {_arguments(racer)}))"
                    for racer in options
                ),
                "",
            ]
        ),
    )


def racers_of(request: Request) -> list[dict[str, Any]]:
    """The policies of a request, checked."""
    racers = request.get("racers", ROOM.example["racers"])
    if not isinstance(racers, list) or not 2 <= len(racers) <= 4:
        raise RequestError("racers must be a list of 2 to 4 policies")
    found = []
    for racer in racers:
        if not isinstance(racer, dict):
            raise RequestError("each of the racers must be an object")
        found.append(
            {
                "selection": fields.choice(racer, "selection", "second_order", SELECTIONS),
                "planning": fields.whole(racer, "planning", 0, 0, 10),
                "face": fields.switch(racer, "face", False),
            }
        )
    return found


def _run(task: Task, K: Float, options: dict[str, Any]) -> dict[str, Any]:
    problem = task.machine.problem
    solution = watch(problem, K, alpha=True, max_steps=MOST_STEPS, **options)
    trace = solution.trace
    assert isinstance(trace, DetailedTrace)
    assert trace.alpha is not None
    last = len(trace)
    # At most 250 points of the run, with the first and the last.
    kept = np.unique(np.linspace(0, last, min(250, last + 1)).round().astype(int))
    before, later = kept[:1], kept[1:] - 1
    start = trace.alpha[0]
    first = problem.gradient(start, K @ problem.per_sample(start))
    return {
        "status": solution.status,
        "meaning": STATUSES[solution.status],
        "steps": last,
        "evaluations": int(trace.kernel_evaluations[-1]) if last else 0,
        "newton_steps": trace.kinds()["face"],
        "dual": solution.dual,
        "gap": trace.gap[-1] if last else None,
        "at_step": kept,
        "at_evaluations": [0, *trace.kernel_evaluations[later].tolist()],
        "duals": [problem.value(start, first), *trace.dual[later].tolist()],
        "gaps": [None] * len(before) + trace.gap[later].tolist(),
        "intercepts": [
            task.machine.read(trace.alpha[k], _bias(task, K, trace.alpha[k])).intercept
            for k in kept
        ],
        "alpha": fields.packed(trace.alpha[kept]),
    }


def _bias(task: Task, K: Float, alpha: Float) -> Float:
    problem = task.machine.problem
    return problem.bias(alpha, problem.gradient(alpha, K @ problem.per_sample(alpha)))


def _arguments(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())
