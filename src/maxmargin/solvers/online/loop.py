"""The compiled loop of online learning: process and reprocess on a support set that changes.

For every example of a stream, with S the support set, G = y − Kα and ψ the violation on S:

    process      fix the example in the pair, choose its partner in S, take the step; an example
                 that finds no violating partner is forgotten
    reprocess    choose a pair inside S, take the step; then variables at zero that no pair of S
                 can improve leave

Where all of S is at its bounds, S is content with any threshold b in an interval, and two examples
that contradict each other may each be content with a part of it. Then the pair would be missed
forever, so an example that narrows the interval stays as well, at zero.

References: sections 8.1 and 8.2 of the thesis; Bordes et al. (2005).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dual.problem import Float, Int
from ...kernels.base import Array
from ...runtime.jit import borrowing, inlined, largest
from ..smo import state as r
from ..smo.selection import curvature, extremes_of, locate, locate_score
from ..smo.step import move_pair, set_penalties, update_gradient

# Slots of the counters that outlive a call.
SIZE, ZEROS, STEPS, INSERTED, REMOVED, EVICTED, COUNTERS = range(7)
ABSENT = -1


class Support(NamedTuple):
    """The support set, in the first places of arrays with room for more."""

    alpha: Float
    gradient: Float
    lower: Float
    upper: Float
    ridge: Float
    diagonal: Float
    group: Int
    rise: Float
    fall: Float
    scores: NDArray[np.float32]
    number: Int  # which example of the stream it is
    column: Int  # where the block of the current examples has it
    rows: Array  # the Gram matrix of the set


class Examples(NamedTuple):
    """Successive examples of a stream, with their kernel values.

    `block` has a row for each example and a column for each member of the support set at the
    beginning, then for each of the examples.
    """

    label: Float
    bound: Float  # C times weight; 0 is absence
    diagonal: Float
    number: Int
    block: Array


class OnlineControl(NamedTuple):
    """What the loop is told."""

    selection: int
    reprocess: int  # steps inside the support set after each example
    tol: float
    scale: float  # largest k(x, x) so far: the unit of curvature
    floor: float  # smallest curvature believed
    budget: int  # largest support set
    waiting: int  # most examples kept while there is nothing to pair them with


@inlined
def extremes(s: Support, size: int) -> tuple[float, float]:
    """Largest gradient that may rise and smallest that may fall, of so many."""
    v = in_use(s, size)
    return extremes_of(v.gradient, v.rise[0], v.fall[0])


@inlined
def in_use(s: Support, n: int) -> r.Variables:
    """The first n places, as the variables of a problem with one group."""
    return r.Variables(
        s.alpha[:n],
        s.gradient[:n],
        s.lower[:n],
        s.upper[:n],
        s.ridge[:n],
        s.diagonal[:n],
        s.group[:n],
        s.rise[:n].reshape((1, n)),
        s.fall[:n].reshape((1, n)),
        s.scores[:n],
        s.ridge[:n],  # no ridges and no kinks: zeros
        s.lower[:n],
        s.upper[:n],
    )


@inlined
def partner(
    v: r.Variables,
    row: Array,
    q: float,
    g: float,
    rising: bool,
    extreme: float,
    control: OnlineControl,
) -> int:
    """Whom a variable of gradient g and k(x, x) = q, rising or falling, is paired with."""
    penalty = v.fall[0] if rising else v.rise[0]
    gradient, diagonal, scores = v.gradient, v.diagonal, v.scores
    if control.selection == r.MVP:
        return locate(gradient, penalty, extreme)
    slope_unit, bend_unit, floor = 1.0 / (g - extreme), 1.0 / control.scale, control.floor
    zero = np.float32(0.0)
    best = np.float32(-1.0)
    for a in range(gradient.size):
        slope = largest(np.float32((g - (gradient[a] + penalty[a])) * slope_unit), zero)
        bend = np.float32(largest(q + diagonal[a] - 2.0 * row[a], floor) * bend_unit)
        score = np.float32(slope * slope / bend)
        scores[a] = score
        best = largest(best, score)
    if not best > zero:
        return locate(gradient, penalty, extreme)
    return locate_score(scores, best)


@inlined
def take_step(
    s: Support,
    n: int,
    i: int,
    j: int,
    control: OnlineControl,
    counters: Int,
    tops: Float,
    bottoms: Float,
) -> None:
    """The truncated Newton step of i up and j down; a curvature that is rounding may be as large
    as the floor, so that a longer step could lose."""
    v = in_use(s, n)
    row_i, row_j = s.rows[i, :n], s.rows[j, :n]
    bend = max(curvature(v, row_i, i, j, n), control.floor)
    step = min(v.upper[i] - v.alpha[i], v.alpha[j] - v.lower[j])
    step = min(step, (v.gradient[i] - v.gradient[j]) / bend)
    counters[ZEROS] -= (v.alpha[i] == 0.0) + (v.alpha[j] == 0.0)
    move_pair(v, i, j, step)
    counters[ZEROS] += (v.alpha[i] == 0.0) + (v.alpha[j] == 0.0)
    counters[STEPS] += 1
    update_gradient(v, row_i, row_j, i, j, step, n, tops, bottoms)


@inlined
def insert(
    s: Support, examples: Examples, k: int, row: Array, g: float, place: Int, counters: Int
) -> None:
    """Example k, with that kernel row and gradient, becomes the last member of the set."""
    n = counters[SIZE]
    bound = examples.bound[k]
    s.alpha[n], s.gradient[n] = 0.0, g
    s.lower[n] = 0.0 if examples.label[k] > 0.0 else -bound
    s.upper[n] = bound if examples.label[k] > 0.0 else 0.0
    s.diagonal[n] = examples.diagonal[k]
    s.number[n] = examples.number[k]
    s.column[n] = examples.block.shape[1] - examples.block.shape[0] + k
    for a in range(n):
        s.rows[n, a] = row[a]
        s.rows[a, n] = row[a]
    s.rows[n, n] = examples.diagonal[k]
    set_penalties(in_use(s, n + 1), n)
    if place.size:
        place[examples.number[k]] = n
    counters[SIZE] = n + 1
    counters[ZEROS] += 1
    counters[INSERTED] += 1


@inlined
def drop(s: Support, a: int, place: Int, counters: Int) -> None:
    """Member a, whose coefficient is zero, leaves; the last one takes its place."""
    last = counters[SIZE] - 1
    if place.size:
        place[s.number[a]] = ABSENT
    if a != last:
        s.alpha[a], s.gradient[a] = s.alpha[last], s.gradient[last]
        s.lower[a], s.upper[a] = s.lower[last], s.upper[last]
        s.diagonal[a] = s.diagonal[last]
        s.rise[a], s.fall[a] = s.rise[last], s.fall[last]
        s.number[a], s.column[a] = s.number[last], s.column[last]
        for b in range(last):
            s.rows[b, a] = s.rows[last, b]
        for b in range(last):
            s.rows[a, b] = s.rows[last, b]
        s.rows[a, a] = s.rows[last, last]
        if place.size:
            place[s.number[a]] = a
    counters[SIZE] = last
    counters[ZEROS] -= 1
    counters[REMOVED] += 1


@inlined
def prune(s: Support, place: Int, counters: Int, tops: Float, bottoms: Float) -> None:
    """Those at zero leave that no pair of the set can improve and no threshold depends on."""
    top, bottom = tops[0], bottoms[0]
    if counters[ZEROS] == 0 or np.isinf(top) or np.isinf(bottom):
        return
    before = counters[SIZE]
    for a in range(before - 1, -1, -1):
        if s.alpha[a] == 0.0:
            g = s.gradient[a]
            if (g <= bottom and g < top) if s.upper[a] > 0.0 else (g >= top and g > bottom):
                drop(s, a, place, counters)
    if counters[SIZE] < before:
        tops[0], bottoms[0] = extremes(s, counters[SIZE])


@inlined
def pair_of_member(
    s: Support, n: int, a: int, control: OnlineControl, tops: Float, bottoms: Float
) -> tuple[int, int]:
    """(i, j) with a member a in it, in the better of its directions; (-1, -1) if none violates."""
    v = in_use(s, n)
    row, q, g = s.rows[a, :n], s.diagonal[a], s.gradient[a]
    best, i, j = 0.0, -1, -1
    for direction in range(2):
        rising = direction == 0
        sign = 1.0 if rising else -1.0
        extreme = bottoms[0] if rising else tops[0]
        barred = v.rise[0, a] if rising else v.fall[0, a]
        if barred != 0.0 or sign * (g - extreme) <= control.tol:
            continue
        b = partner(v, row, q, g, rising, extreme, control)
        gain = sign * (g - v.gradient[b])
        if control.selection != r.MVP:
            gain *= gain / max(curvature(v, row, a, b, n), control.floor)
        if gain > best:
            best, i, j = gain, a if rising else b, b if rising else a
    return i, j


@inlined
def gathered(s: Support, n: int, block_row: Array, alpha: Float, row: Array) -> float:
    """Kernel row of an example over the support set, and Σ α k with it."""
    total = 0.0
    for a in range(n):
        value = block_row[s.column[a]]
        row[a] = value
        total += alpha[a] * value
    return total


@inlined
def pair_of_newcomer(
    s: Support,
    examples: Examples,
    k: int,
    row: Array,
    place: Int,
    control: OnlineControl,
    counters: Int,
    tops: Float,
    bottoms: Float,
) -> tuple[int, int]:
    """(i, j) with example k in it, now a member; (-1, -1) if it violates nothing."""
    n = counters[SIZE]
    label, rising = examples.label[k], examples.label[k] > 0.0
    g = label - gathered(s, n, examples.block[k], s.alpha, row)
    extreme, opposite = (bottoms[0], tops[0]) if rising else (tops[0], bottoms[0])
    content = label * (g - extreme) <= control.tol
    alone = np.isinf(extreme) and n < control.waiting
    narrows = label * (g - opposite) > control.tol
    if content and not (alone or narrows):
        return -1, -1
    b = -1
    if not content:
        b = partner(in_use(s, n), row, examples.diagonal[k], g, rising, extreme, control)
    insert(s, examples, k, row, g, place, counters)
    if content:
        tops[0], bottoms[0] = extremes(s, n + 1)
        return -1, -1
    return (n, b) if rising else (b, n)


@inlined
def process_or_reprocess(
    s: Support,
    examples: Examples,
    k: int,
    turn: int,
    row: Array,
    place: Int,
    control: OnlineControl,
    counters: Int,
    tops: Float,
    bottoms: Float,
) -> None:
    """In turn 0 a step with example k in the pair, if one of its pairs violates; later a step of
    the pair chosen inside the set, and the removal of those it has made useless."""
    member, i, j = ABSENT, -1, -1
    if turn == 0:
        if place.size:
            member = place[examples.number[k]]
        if member == ABSENT:
            i, j = pair_of_newcomer(s, examples, k, row, place, control, counters, tops, bottoms)
    elif tops[0] - bottoms[0] > control.tol:
        v = in_use(s, counters[SIZE])
        member = locate(v.gradient, v.rise[0], tops[0])
    if member != ABSENT:
        i, j = pair_of_member(s, counters[SIZE], member, control, tops, bottoms)
    if i >= 0:
        take_step(s, counters[SIZE], i, j, control, counters, tops, bottoms)
    if turn > 0:
        prune(s, place, counters, tops, bottoms)


@inlined
def heir(s: Support, n: int, a: int, most: float) -> tuple[int, float]:
    """Who takes over the coefficient of a, and what that moves w by, squared, if below `most`:
    the most alike of those with room for all of it."""
    whole, rises = abs(s.alpha[a]), s.alpha[a] > 0.0
    best, chosen = most / (whole * whole), -1
    for b in range(n):
        slack = s.upper[b] - s.alpha[b] if rises else s.alpha[b] - s.lower[b]
        distance = s.diagonal[a] + s.diagonal[b] - 2.0 * s.rows[a, b]
        if distance < best and slack >= whole and b != a:
            best, chosen = distance, b
    return chosen, best * whole * whole


@inlined
def least_useful(s: Support, n: int) -> tuple[int, int]:
    """The member, never the last of its class, and its heir, whose exchange moves w least."""
    positive = 0
    for a in range(n):
        positive += s.upper[a] > 0.0
    least, leaving, taking = np.inf, -1, -1
    for a in range(n):
        if (positive if s.upper[a] > 0.0 else n - positive) <= 1:
            continue
        if s.alpha[a] == 0.0:
            return a, -1
        b, move = heir(s, n, a, least)
        if b >= 0:
            least, leaving, taking = move, a, b
    return leaving, taking


@inlined
def evict(s: Support, place: Int, counters: Int, tops: Float, bottoms: Float) -> None:
    """The least useful member leaves, its coefficient goes to its heir."""
    n = counters[SIZE]
    a, b = least_useful(s, n)
    if b >= 0:
        i, j = (b, a) if s.alpha[a] > 0.0 else (a, b)
        step = abs(s.alpha[a])
        counters[ZEROS] -= s.alpha[b] == 0.0
        v = in_use(s, n)
        move_pair(v, i, j, step)
        counters[ZEROS] += 1 + (s.alpha[b] == 0.0)
        update_gradient(v, s.rows[i, :n], s.rows[j, :n], i, j, step, n, tops, bottoms)
    drop(s, a, place, counters)
    counters[EVICTED] += 1
    tops[0], bottoms[0] = extremes(s, counters[SIZE])


@borrowing
def learn_examples(
    s: Support,
    examples: Examples,
    place: Int,
    control: OnlineControl,
    counters: Int,
    row: Array,
    tops: Float,
    bottoms: Float,
) -> None:
    """Process each example once, in order, each followed by reprocess steps.

    `place` says for every number of an example where in the support set it is; empty where no
    example comes twice. `row`, `tops` and `bottoms` are scratch.
    """
    tops[0], bottoms[0] = extremes(s, counters[SIZE])
    for k in range(examples.label.size):
        if examples.bound[k] > 0.0:
            for turn in range(1 + control.reprocess):
                process_or_reprocess(
                    s, examples, k, turn, row, place, control, counters, tops, bottoms
                )
            while counters[SIZE] > control.budget:
                evict(s, place, counters, tops, bottoms)
