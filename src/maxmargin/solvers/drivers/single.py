"""A single small problem: rows, pair steps, Newton steps and the end in one compiled call.

The loop computes rows on demand from the points of a Gaussian, or works on the whole matrix; there
is nothing to shrink, to cache or to report in between.
"""

from __future__ import annotations

import time

import numpy as np

from ...dual.batch import Parts
from ...dual.certificate import Certificate, certificate_and_bias
from ...dual.problem import DualProblem, Float, Int
from ...kernels.base import Array
from ...runtime.buffers import buffer
from ...runtime.lapack import POTRF
from ..plan import Plan
from ..result import Solution
from ..rows.lru import FullRows
from ..rows.on_demand import bring
from ..smo import state as r
from ..smo.schedule import blank_memory, run_to_end

# A problem that needs more steps than this is solved by another driver.
MOST_STEPS = 10_000
# If the gap is too large, the tolerance is multiplied by the first factor, down to the second
# fraction of its initial value.
NEXT_AIM, LEAST_AIM = 0.05, 1e-6
# Curvatures below this fraction of the largest entry are treated as rounding.
DOUBLE_RESOLUTION = 1e-12


def usual_control(tol: float, scale: float = 1.0) -> r.Control:
    """The usual steps in float64 and polishing at the end, for entries up to `scale`."""
    return r.Control(
        selection=r.SECOND_ORDER,
        planning=0,
        overstep=1.0,
        tol=tol,
        scale=scale,
        floor=DOUBLE_RESOLUTION * scale,
        target=np.inf,
        faces=r.FACES,
        ending=r.POLISH,
        potrf=POTRF,
    )


def solve_single(
    problem: DualProblem,
    points: Array | None,
    matrix: Array | None,
    plan: Plan,
    tol: float,
    gap: float = np.inf,
) -> tuple[Solution, Certificate]:
    """Solution and certificate of a small problem for which `plan.single` has a plan. If its pair
    steps do not converge soon, the status is "step_limit".

    Either the points of a Gaussian are given, one column each (`Gram.transposed_points`), or the
    Gram matrix.

    If its duality gap is a larger part of the dual value than `gap`, it goes on with a smaller
    tolerance.
    """
    began, size = time.perf_counter(), problem.size
    alpha, sums, gradient = np.zeros((3, size))
    aim, totals = tol, np.zeros(r.LEDGER, dtype=np.int64)
    while True:
        if matrix is None:
            assert points is not None
            store, diagonal = rows_on_demand(points), np.ones(size)
        else:
            store, diagonal = FullRows(matrix).store, np.diagonal(matrix)
        notes = run_single(problem, store, diagonal, aim, alpha, sums)
        totals[r.ENDED], totals[r.STEPS :] = notes[r.ENDED], totals[r.STEPS :] + notes[r.STEPS :]
        certificate, bias = certificate_and_bias(problem, alpha, sums, gradient=gradient)
        ended = totals[r.ENDED] != r.CONVERGED or totals[r.BENT] or aim <= LEAST_AIM * tol
        if ended or not certificate.gap > gap * abs(certificate.dual):
            break
        aim *= NEXT_AIM
    event, steps, face_steps, bent, computed = totals.tolist()
    status, violation = "step_limit", certificate.violation
    if event == r.CONVERGED and violation <= tol:
        status = "stationary" if bent else "converged"
    solution = Solution(
        alpha=alpha,
        gradient=gradient,
        bias=bias,
        dual=certificate.dual,
        violation=violation,
        status=status,
        steps=steps,
        face_steps=face_steps,
        planned_steps=0,
        kernel_evaluations=(computed if matrix is None else size) * size,
        row_hits=max(0, 2 * steps - computed),
        row_misses=computed,
        seconds=time.perf_counter() - began,
        plan=plan,
    )
    return solution, certificate


def rows_on_demand(source: Array, among: Int | None = None) -> r.RowStore:
    """No rows yet: the loop computes them from points, one column each, or takes them from the
    matrix of more samples, at the places `among`."""
    size = source.shape[1] if among is None else among.size
    return r.RowStore(
        buffer((size, size), np.float64),
        np.full(size, -1),
        np.zeros(size, np.int64),
        source,
        np.empty(0, np.int64) if among is None else among,
        np.array([0, size]),
    )


def run_single(
    problem: DualProblem | Parts,
    rows: r.RowStore,
    diagonal: Float,
    tol: float,
    alpha: Float,
    sums: Float,
) -> Int:
    """Run a problem with one group to convergence, from α with Kα = `sums`, both of which are
    updated. Returns its entries of a ledger."""
    size, (memory, state, counters) = alpha.size, blank_memory(0, 1)
    linear, lower, upper, ridge = problem.linear, problem.lower, problem.upper, problem.ridge
    gradient = linear - sums - ridge * alpha
    state.dual = 0.5 * float(alpha @ (linear + gradient))
    v = r.Variables(
        alpha,
        gradient,
        lower,
        upper,
        ridge,
        diagonal + ridge,
        np.zeros(size, np.int64),
        np.where(alpha < upper, 0.0, -np.inf)[None],
        np.where(alpha > lower, 0.0, np.inf)[None],
        np.empty(size, np.float32),
        np.zeros(size),
        lower,
        upper,
    )
    control = usual_control(tol, float(np.abs(diagonal).max(initial=0.0)) or 1.0)
    if rows.count[1] and alpha.any():
        bring(rows, np.flatnonzero(alpha))
    event, _, _ = run_to_end(v, rows, size, control, MOST_STEPS, memory, None)
    stored = np.flatnonzero(rows.slot >= 0)
    by_slot = np.zeros(stored.size)
    by_slot[rows.slot[stored]] = alpha[stored]
    np.dot(by_slot, rows.values[: stored.size], out=sums)
    entries = event, counters.steps, counters.face_rounds, counters.negative_steps, rows.count[0]
    return np.array(entries, dtype=np.int64)
