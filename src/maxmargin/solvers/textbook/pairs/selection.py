"""Which pair moves next: the policies of the documents, as functions of the state.

A policy returns (i, j), where α_i increases and α_j decreases, or None if it finds no pair that
violates optimality. The gain of a pair is

    g̃ = slope² / (2·curvature)   (Newton step)      g   (the step clipped at the box)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ...smo.step import PLANNING_ETA
from ..record import PLANNED, Recorder

Pair = tuple[int, int]
# Smaller curvatures are treated as this.
FLOOR = 1e-12


class Past(NamedTuple):
    """What a policy may know about previous steps.

    Attributes
    ----------
    pairs : list of pairs
        Newest last.
    kind : int
        Of the last step.
    ratio : float
        The last step in units of its Newton step.
    """

    pairs: list[Pair]
    kind: int
    ratio: float


Policy = Callable[[Recorder, Past], Pair | None]


def newton_gain(run: Recorder, i: int, j: int) -> float:
    """g̃ of the pair, 0 if it is not an ascent direction."""
    slope = run.gradient[i] - run.gradient[j]
    return float(0.5 * slope * slope / max(run.curvature(i, j), FLOOR)) if slope > 0 else 0.0


def clipped_gain(run: Recorder, i: int, j: int) -> float:
    """g of the pair."""
    slope, bend = run.gradient[i] - run.gradient[j], run.curvature(i, j)
    if not slope > 0:
        return 0.0
    step = min(run.reach(i, j), slope / max(bend, FLOOR))
    return float(step * (slope - 0.5 * bend * step))


def maximum_violating_pair(run: Recorder, past: Past) -> Pair | None:
    """The largest gradient that may rise and the smallest that may fall (Keerthi et al. 2001)."""
    del past
    best: tuple[float, Pair] | None = None
    for group in range(run.problem.totals.size):
        inside = run.problem.group == group
        up, down = np.flatnonzero(run.can_rise & inside), np.flatnonzero(run.can_fall & inside)
        if not (up.size and down.size):
            continue
        i = int(up[np.argmax(run.gradient[up])])
        j = int(down[np.argmin(run.gradient[down])])
        slope = float(run.gradient[i] - run.gradient[j])
        if slope > 0 and (best is None or slope > best[0]):
            best = slope, (i, j)
    return None if best is None else best[1]


def second_order(
    run: Recorder, past: Past, gain: Callable[[Recorder, int, int], float] = newton_gain
) -> Pair | None:
    """i of the maximum violating pair, and j with the largest gain (4.7; Fan et al.)."""
    first = maximum_violating_pair(run, past)
    if first is None:
        return None
    i = first[0]
    same = run.problem.group == run.problem.group[i]
    partners = run.can_fall & same & (run.gradient < run.gradient[i])
    return best_of(run, ((i, int(j)) for j in np.flatnonzero(partners)), gain)


def modified_second_order(run: Recorder, past: Past) -> Pair | None:
    """The selection of Algorithm 7.2 without planning: the working set of two steps ago is also a
    candidate (the ablation of 7.2.2)."""
    return with_candidate(run, past, second_order(run, past), newton_gain)


def planning_selection(run: Recorder, past: Past) -> Pair | None:
    """Algorithm 7.2: after a planned step its partner is also a candidate, by g̃ or, if the planned
    step alone may have lost, by g."""
    if past.kind != PLANNED:
        return second_order(run, past)
    # A planned step this close to the Newton step gains by itself.
    gain = newton_gain if abs(past.ratio - 1.0) <= PLANNING_ETA else clipped_gain
    return with_candidate(run, past, second_order(run, past, gain), gain)


def with_candidate(
    run: Recorder,
    past: Past,
    chosen: Pair | None,
    gain: Callable[[Recorder, int, int], float],
) -> Pair | None:
    if chosen is None or len(past.pairs) < 2:
        return chosen
    older = past.pairs[-2]
    return best_of(run, [chosen, *(p for p in (older, older[::-1]) if allowed(run, *p))], gain)


def rate_certifying(run: Recorder, past: Past) -> Pair | None:
    """The pair of the largest first-order gain (G_i − G_j)·(longest step), which certifies a rate
    of convergence (4.2.1; Hush and Scovel 2003). Boxes must be finite."""
    del past
    rise = np.minimum(run.problem.upper - run.alpha, 1e300)
    fall = np.minimum(run.alpha - run.problem.lower, 1e300)
    slope = run.gradient[:, None] - run.gradient
    same = run.problem.group[:, None] == run.problem.group
    gains = np.where(same & (slope > 0), slope * np.minimum(rise[:, None], fall), 0.0)
    i, j = divmod(int(np.argmax(gains)), gains.shape[1])
    return (i, j) if gains[i, j] > 0 else None


def related_pairs(run: Recorder, past: Past) -> Pair | None:
    """Maximum gain (6.1) over the pairs with a variable of the last working set."""
    return _of_rows(run, past, _distinct(past.pairs[-1:]))


def one_row(run: Recorder, past: Past) -> Pair | None:
    """Maximum gain with one element fixed, alternating between both of the last set (6.1.3)."""
    if not past.pairs:
        return second_order(run, past)
    last = past.pairs[-1]
    # The element that is new stays, so that each is used twice in a row.
    kept = last[len(past.pairs) % 2]
    return _of_rows(run, past, [kept])


def ten_recent(run: Recorder, past: Past) -> Pair | None:
    """Maximum gain over the pairs with a variable of the ten most recent sets (6.1.3)."""
    return _of_rows(run, past, _distinct(past.pairs[-10:]))


def whole_cache(run: Recorder, past: Past) -> Pair | None:
    """Maximum gain over the pairs with a row that was ever computed (6.1.3)."""
    return _of_rows(run, past, _distinct(past.pairs))


def _distinct(pairs: list[Pair]) -> list[int]:
    return sorted({a for pair in pairs for a in pair})


def _of_rows(run: Recorder, past: Past, rows: list[int]) -> Pair | None:
    """The pair of the largest gain with one of these variables, found by vectors."""
    if not rows:
        return second_order(run, past)
    p, G, alpha = run.problem, run.gradient, run.alpha
    best: tuple[float, Pair | None] = 0.0, None
    diagonal = np.diagonal(run.K.matrix)
    everywhere = p.of_samples(diagonal) + p.ridge
    for a in rows:
        bend = everywhere[a] + everywhere - 2.0 * run.q_row(a)
        bend[a] = 1.0
        for sign in (1.0, -1.0):  # a rises, then a falls
            slope = sign * (G[a] - G)
            own = p.upper[a] - alpha[a] if sign > 0 else alpha[a] - p.lower[a]
            other = alpha - p.lower if sign > 0 else p.upper - alpha
            reach = np.minimum(own, other)
            usable = (slope > 0) & (reach > 0) & (p.group == p.group[a])
            usable[a] = False
            step = np.minimum(reach, slope / np.maximum(bend, FLOOR))
            gains = np.where(usable, step * (slope - 0.5 * bend * step), 0.0)
            n = int(np.argmax(gains))
            if gains[n] > best[0]:
                best = float(gains[n]), (a, n) if sign > 0 else (n, a)
    return best[1]


def best_of(
    run: Recorder, pairs: Iterable[Pair], gain: Callable[[Recorder, int, int], float]
) -> Pair | None:
    best: tuple[float, Pair | None] = 0.0, None
    for pair in pairs:
        value = gain(run, *pair)
        if value > best[0]:
            best = value, pair
    return best[1]


def allowed(run: Recorder, i: int, j: int) -> bool:
    """Whether α_i may rise and α_j fall."""
    return bool(run.can_rise[i] and run.can_fall[j])


POLICIES: dict[str, Policy] = {
    "mvp": maximum_violating_pair,
    "second_order": second_order,
    "modified_second_order": modified_second_order,
    "planning": planning_selection,
    "rate_certifying": rate_certifying,
    "max_gain": related_pairs,
    "max_gain_one_row": one_row,
    "max_gain_ten_recent": ten_recent,
    "max_gain_whole_cache": whole_cache,
}
