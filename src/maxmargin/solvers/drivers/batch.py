"""Batches of small problems on subsets of the same samples, solved in a few compiled calls."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from ...dual.batch import (
    BIAS,
    DUAL,
    FACTS,
    GAP,
    INFEASIBILITY,
    VIOLATION,
    Parts,
    certify_parts,
)
from ...dual.certificate import Certificate, gap_and_infeasibility, gradient_and_value
from ...dual.problem import Float, Int, meeting
from ...kernels.base import Array
from ...runtime.buffers import buffer
from ...runtime.parallel import in_turn, own_threads
from ..costs import THREADED_BATCH
from ..result import Solution
from ..rows.lru import FullRows
from ..smo import state as r
from ..smo.batch import run_batch
from ..smo.schedule import blank_memory
from .single import (
    LEAST_AIM,
    MOST_STEPS,
    NEXT_AIM,
    rows_on_demand,
    run_single,
    usual_control,
)


def solve_batch(
    parts: Parts, tol: float, evaluations: int = 0, gap: float = np.inf
) -> list[tuple[Solution, Certificate, Float]]:
    """Solution, certificate and bias of small problems in float64. Problems whose pair steps do not
    converge soon have status "step_limit". `evaluations` were made to prepare the samples.

    Problems whose duality gap is a larger part of the dual value than `gap` go on with a smaller
    tolerance.
    """
    began = time.perf_counter()
    ends = [0, *parts.ends.tolist()]
    alpha, sums, gradient = np.zeros((3, ends[-1]))
    ledger, facts = np.zeros((len(ends) - 1, r.LEDGER)), np.empty((len(ends) - 1, FACTS))
    optimise(parts, tol, alpha, sums, gradient, ledger, facts)
    aim, open_ones = tol, with_gap_above(gap, range(len(ledger)), ledger, facts)
    while open_ones and aim > LEAST_AIM * tol:
        aim *= NEXT_AIM
        rest, inside = parts.only(open_ones)
        arrays = [values[inside] for values in (alpha, sums, gradient)]
        notes = [np.zeros((len(open_ones), r.LEDGER)), np.empty((len(open_ones), FACTS))]
        optimise(rest, aim, *arrays, *notes)
        alpha[inside], sums[inside], gradient[inside] = arrays
        notes[0][:, r.STEPS :] += ledger[open_ones, r.STEPS :]
        ledger[open_ones], facts[open_ones] = notes
        open_ones = with_gap_above(gap, open_ones, ledger, facts)
    sizes = [stop - start for start, stop in pairwise(ends)]
    if parts.points.size:
        spent = [int(row) * size for row, size in zip(ledger[:, r.ROWS], sizes)]
    else:
        spent = [evaluations] * len(sizes)
    seconds = (time.perf_counter() - began) / len(sizes)
    return [
        read(alpha[start:stop], gradient[start:stop], entries, fact, cost, tol, seconds)
        for (start, stop), entries, fact, cost in zip(
            pairwise(ends), ledger.tolist(), facts.tolist(), spent
        )
    ]


def with_gap_above(gap: float, numbers: Iterable[int], ledger: Float, facts: Float) -> list[int]:
    """Those of the given problems that have converged with a gap above this fraction of the dual
    value."""
    converged = (ledger[:, r.ENDED] == r.CONVERGED) & (ledger[:, r.BENT] == 0)
    too_large = converged & (facts[:, GAP] > gap * np.abs(facts[:, DUAL]))
    return [k for k in numbers if too_large[k]]


def optimise(
    parts: Parts,
    tol: float,
    alpha: Float,
    sums: Float,
    gradient: Float,
    ledger: Float,
    facts: Float,
) -> None:
    """Run all problems to convergence, starting from their α with Kα = `sums`; the results go to
    `ledger` and `facts`."""
    ends = [0, *parts.ends.tolist()]
    sizes = [stop - start for start, stop in pairwise(ends)]
    if len(sizes) == 1:
        solve_one(parts, tol, alpha, sums, gradient, ledger[0], facts[0])
        return
    control = usual_control(tol)
    many = sum(size * size for size in sizes) >= THREADED_BATCH
    threads = min(own_threads(), len(sizes)) if many else 1
    # At least four calls a thread, of at most 64 problems: Ctrl-C is checked between calls.
    step = min(64, -(-len(sizes) // (4 * threads if threads > 1 else 1)))
    starts = iter(range(0, len(sizes), step))
    # A problem on all samples in their order uses the matrix directly and needs no row buffer.
    rest = [e - s for s, e in pairwise(ends) if not is_all_of(parts.matrix, parts.places[s:e])]
    most = max(rest, default=0)

    def some_problems(_thread: int) -> None:
        (memory, _, _), values = blank_memory(0, 1), buffer((most, most), np.float64)
        for start in starts:  # shared by all threads
            stop = min(start + step, len(sizes))
            own, here = parts.some(start, stop), slice(ends[start], ends[stop])
            batch = r.Batch(own, alpha[here], sums[here], ledger[start:stop])
            run_batch(batch, values, control, MOST_STEPS, memory)
            certify_parts(own, alpha[here], sums[here], gradient[here], facts[start:stop])

    in_turn(some_problems, range(threads))


def is_all_of(matrix: Array, places: Int) -> bool:
    """Whether these places are all samples of the matrix, in their order."""
    return len(matrix) == places.size and bool((places == np.arange(places.size)).all())


def solve_one(
    parts: Parts,
    tol: float,
    alpha: Float,
    sums: Float,
    gradient: Float,
    entries: Float,
    fact: Float,
) -> None:
    """`run_batch` and `certify_parts` for a batch of one problem, without compiling these two."""
    places = parts.places
    if parts.points.size:
        source = parts.points.take(places, axis=1)  # indexing would give it another layout
        rows, diagonal = rows_on_demand(source), np.ones(places.size)
    else:
        diagonal = np.diagonal(parts.matrix)[places]
        whole = is_all_of(parts.matrix, places)
        rows = FullRows(parts.matrix).store if whole else rows_on_demand(parts.matrix, places)
    entries[:] = run_single(parts, rows, diagonal, tol, alpha, sums)
    bias, group = np.zeros(1), np.zeros(places.size, np.int64)
    fact[DUAL] = gradient_and_value(parts.linear, parts.ridge, alpha, sums, gradient)
    fact[VIOLATION] = meeting(alpha, gradient, parts.lower, parts.upper, group, bias)
    fact[BIAS] = bias[0]
    fact[GAP], fact[INFEASIBILITY] = gap_and_infeasibility(
        parts.linear, parts.lower, parts.upper, parts.ridge, group, np.zeros(1), alpha, sums, bias
    )


def read(
    alpha: Float,
    gradient: Float,
    entries: list[float],
    fact: list[float],
    evaluations: int,
    tol: float,
    seconds: float,
) -> tuple[Solution, Certificate, Float]:
    """Solution, certificate and bias of one problem, read from `ledger` and `facts`."""
    status, bias = "step_limit", np.array([fact[BIAS]])
    if entries[r.ENDED] == r.CONVERGED and fact[VIOLATION] <= tol:
        status = "stationary" if entries[r.BENT] else "converged"
    steps, rows = int(entries[r.STEPS]), int(entries[r.ROWS])
    solution = Solution(
        alpha=alpha,
        gradient=gradient,
        bias=bias,
        dual=fact[DUAL],
        violation=fact[VIOLATION],
        status=status,
        steps=steps,
        face_steps=int(entries[r.ROUNDS]),
        planned_steps=0,
        kernel_evaluations=evaluations,
        row_hits=max(0, 2 * steps - rows),
        row_misses=rows,
        seconds=seconds,
    )
    certificate = Certificate(
        primal=fact[DUAL] + fact[GAP],
        dual=fact[DUAL],
        gap=fact[GAP],
        violation=fact[VIOLATION],
        infeasibility=fact[INFEASIBILITY],
    )
    return solution, certificate, bias
