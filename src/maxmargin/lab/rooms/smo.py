"""The main room: a support vector machine on points in the plane, solved while you watch.

Actions: `solve` gives the machine (from a warm start while a slider moves), `trace` every step of
one machine, `example` and `csv` points to begin with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dual import certify
from ...solvers import solve
from ...solvers.result import STATUSES, Solution
from ...solvers.smo.state import SELECTIONS, STEP_KINDS
from ...solvers.textbook import DetailedTrace, reason, watch
from .. import table
from ..examples import EXAMPLES, example
from ..machines import CLASSES, MOST_POINTS, Choice, Task, choice_of, points_of, tasks_of
from . import fields
from .fields import Float, Request, RequestError, Room

ROOM = Room(
    name="smo",
    title="SMO, step by step",
    sentence=(
        "Sequential minimal optimisation moves two variables at a time until no pair violates the "
        "optimality conditions. Follow every step of the solver, forwards and backwards."
    ),
    example={**example("moons"), "selection": "second_order"},
)
ACTIONS = ("trace", "solve", "example", "csv")
# Points whose steps are shown.
MOST_WATCHED = 600
LONGEST_CSV = 6_000_000


def answer(request: Request) -> dict[str, Any]:
    """Answer one of the actions; see the module."""
    action = fields.choice(request, "action", "trace", ACTIONS)
    if action == "example":
        return {"request": example(fields.choice(request, "example", "moons", EXAMPLES))}
    if action == "csv":
        return read_csv(request)
    points, choice = points_of(request), choice_of(request)
    tasks = tasks_of(points, choice)
    if action == "solve":
        return solved(request, points, choice, tasks)
    return traced(request, choice, tasks)


# ---- the machine itself ---------------------------------------------------------------------


def solved(request: Request, points: Float, choice: Choice, tasks: list[Task]) -> dict[str, Any]:
    """The trained machines, from a warm start if there is one."""
    start, tol = fields.numbers(request, "start", 6 * MOST_POINTS), _tol(request)
    sizes = np.cumsum([0, *(task.machine.problem.size for task in tasks)])
    if start is not None and start.size != sizes[-1]:
        start = None
    machines, alphas = [], []
    for task, low, high in zip(tasks, sizes, sizes[1:]):
        begun = None if start is None else start[low:high]
        solution = solve(task.machine.problem, task.gram, tol=tol, alpha=begun, max_seconds=10.0)
        machines.append(_described(task, solution))
        alphas.append(solution.alpha)
    return fields.record(
        machines=machines,
        alpha=np.concatenate(alphas),
        points=len(points),
        kernel=choice.kernel,
        code=_code(tasks[0], f"solution = solve(problem, gram, tol={tol!r})"),
    )


def _described(task: Task, solution: Solution) -> dict[str, Any]:
    problem = task.machine.problem
    proof = certify(problem, solution.alpha, task.gram)
    expansion = task.machine.read(solution.alpha, solution.bias)
    return {
        "classes": task.classes,
        "samples": task.samples,
        "coef": expansion.coef,
        "intercept": expansion.intercept,
        "status": solution.status,
        "meaning": STATUSES[solution.status],
        "steps": solution.steps,
        "newton_steps": solution.face_steps,
        "seconds": solution.seconds,
        "support": int(np.count_nonzero(expansion.coef)),
        "primal": proof.primal,
        "dual": proof.dual,
        "gap": proof.gap,
        "violation": proof.violation,
    }


# ---- every step of it -----------------------------------------------------------------------


def traced(request: Request, choice: Choice, tasks: list[Task]) -> dict[str, Any]:
    """Every step of one machine."""
    task = tasks[fields.whole(request, "task", 0, 0, len(tasks) - 1)]
    problem, n = task.machine.problem, task.machine.problem.samples
    if n > MOST_WATCHED:
        raise RequestError(
            f"single steps are shown for up to {MOST_WATCHED} points, got {n:,}: the machine "
            "itself is trained all the same"
        )
    options = watch_options(request, n)
    # 300,000 numbers in each of the arrays of a trace.
    most = min(2000, 300_000 // problem.size)
    K = np.asarray(task.gram.matrix(), dtype=np.float64)
    solution = watch(problem, K, alpha=True, max_steps=most, **options)
    trace = solution.trace
    assert isinstance(trace, DetailedTrace)
    assert trace.alpha is not None
    assert trace.samples is not None
    assert trace.rows_cached is not None
    gradients = np.array([problem.gradient(a, K @ problem.per_sample(a)) for a in trace.alpha])
    states = [_state(task, a, G) for a, G in zip(trace.alpha, gradients)]
    steps = _steps(task, K, trace, gradients, options["selection"])
    drawn = np.uint8(255 * (K - K.min()) / (np.ptp(K) or 1.0)) if n <= 400 else None
    arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return fields.record(
        machine=_described(task, solution),
        tasks=[one.classes for one in tasks],
        kernel=choice.kernel,
        copies=problem.copies,
        lower=problem.lower,
        upper=problem.upper,
        states=states,
        steps=steps,
        alpha=fields.packed(trace.alpha),
        gradient=fields.packed(gradients),
        samples_left=fields.packed(trace.samples, "uint8"),
        rows_cached=fields.packed(trace.rows_cached, "uint8"),
        gram=None if drawn is None else fields.packed(drawn, "uint8"),
        plan=str(solution.plan),
        more=solution.status == "step_limit",
        code=_code(
            task,
            f"solution = watch(problem, gram, max_steps={most}, {arguments})",
            "for row in solution.trace.rows():",
            "    print(row)",
        ),
    )


def watch_options(request: Request, n: int) -> dict[str, Any]:
    """The arguments of `watch` that a request chooses."""
    options: dict[str, Any] = {
        "selection": fields.choice(request, "selection", "second_order", SELECTIONS),
        "planning": fields.whole(request, "planning", 0, 0, 10),
        "face": fields.switch(request, "face", True),
        "shrinking": fields.switch(request, "shrinking", True),
        "tol": _tol(request),
    }
    rows = fields.whole(request, "cache_rows", 0, 0, MOST_WATCHED)
    if rows:
        # Shrinking halves the cache: it copies from one into another.
        share = 2 if options["shrinking"] else 1
        options |= {"driver": "rows", "cache_bytes": 8 * n * rows * share}
    return options


def _tol(request: Request) -> float:
    return fields.real(request, "tol", 1e-3, 1e-10, 1.0)


def _state(task: Task, alpha: Float, gradient: Float) -> dict[str, Any]:
    """What holds at a point, certified from scratch."""
    problem = task.machine.problem
    bias = problem.bias(alpha, gradient)
    proof = certify(problem, alpha, task.gram)
    rising, falling = problem.can_rise(alpha), problem.can_fall(alpha)
    coef = problem.per_sample(alpha)
    return {
        "dual": proof.dual,
        "primal": proof.primal,
        "gap": proof.gap,
        "violation": proof.violation,
        "intercept": task.machine.read(alpha, bias).intercept,
        "top": float(gradient[rising].max()) if rising.any() else None,
        "bottom": float(gradient[falling].min()) if falling.any() else None,
        "support": int(np.count_nonzero(coef)),
        "free": int(problem.free(alpha).sum()),
    }


def _steps(
    task: Task, K: Float, trace: DetailedTrace, gradients: Float, selection: str
) -> list[dict[str, Any]]:
    """Each step: what moved, how far, and why."""
    problem, found, last = task.machine.problem, [], None
    assert trace.alpha is not None
    for k in range(len(trace)):
        kind = STEP_KINDS[int(trace.kind[k])]
        step: dict[str, Any] = {
            "kind": kind,
            "evaluations": int(trace.kernel_evaluations[k]),
            "active": int(trace.active[k]),
        }
        pair = int(trace.i[k]), int(trace.j[k])
        if pair[0] < 0:
            step["moved"] = int(np.count_nonzero(trace.alpha[k + 1] != trace.alpha[k]))
            last = None
        else:
            why = reason(
                problem, K, trace.alpha[k], gradients[k], pair, selection=selection, last=last
            )
            step |= {
                "pair": pair,
                "before": trace.before[k],
                "after": trace.after[k],
                "ratio": trace.ratio[k],
                "newton": why.newton,
                "slope": why.slope,
                "curvature": why.curvature,
                "measure": why.measure,
                "candidates": [list(one) for one in why.candidates],
            }
            last = pair
        found.append(step)
    return found


def _code(task: Task, *lines: str) -> str:
    solver = "from maxmargin import solve"
    if "watch" in lines[0]:
        solver = "from maxmargin.solvers.textbook import watch"
    head = [line for line in task.lines[:3] if line]
    return "\n".join([*head, solver, *task.lines[3:], *lines, "print(solution)"]) + "\n"


# ---- points from a file ----------------------------------------------------------------------


def read_csv(request: Request) -> dict[str, Any]:
    """Points from the text of a CSV file, and what its columns are."""
    text = fields.text(request, "text", "", LONGEST_CSV)
    columns = table.read_columns(text)
    last = len(columns.names) - 1
    x, y, label = (
        None if request.get(name) is None else fields.whole(request, name, 0, 0, last)
        for name in ("x", "y", "label")
    )
    points, names, notes = table.points_from(columns, x, y, label, MOST_POINTS, CLASSES)
    return {
        "columns": table.described(columns),
        "points": points,
        "classes": names,
        "notes": notes,
    }
