"""What is aimed at: how much faster than the peers, at no larger a gap, how near the bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from .contenders import INTELEX, OURS, SKLEARN
from .measure import Comparison, Row
from .problems import MACHINES, PREDICTION, Problem

# Rounding in the recomputation: relative gaps below this are equal.
SAME_GAP = 1e-10


class Target(NamedTuple):
    """Least ratios of a peer's seconds to ours, and what else is asked of us.

    Attributes
    ----------
    sklearn, intelex : float
        Against scikit-learn, and against scikit-learn-intelex in its better float.
    gap : float
        Our largest relative gap. It must also be no larger than the peer's.
    bound : float
        Our largest multiple of the seconds that the matrix products alone take.
    """

    sklearn: float
    intelex: float
    gap: float = inf
    bound: float = inf


PREDICTION_TARGET = Target(30, 1)


def target(problem: Problem) -> Target | None:
    """The row of the table of targets that a problem belongs to, if any."""
    match problem.name:
        case "mnist-10000":
            return Target(15, 2)
        case "mnist-60000":
            return Target(40, 3, bound=3)
    if problem.dataset == "chess-board" and problem.parameters["C"] == 1e6:
        return Target(5, 10, gap=1e-6)
    if problem in MACHINES:
        return Target(2, 1.5)
    if problem.samples < 1_000:
        return Target(1, 1.5)
    if problem.samples < 5_000:
        return Target(2, 2)
    return Target(4, 2) if problem.features < 100 else None


@dataclass(frozen=True)
class Check:
    """One demand and what became of it.

    Attributes
    ----------
    subject : str
        The library compared with, "gap" or "bound".
    wanted : float
    got : float or None
    met : bool or None
        None where it stays open: nothing was measured, or a budget ended the peer too early.
    words : str
    """

    subject: str
    wanted: float
    got: float | None
    met: bool | None
    words: str


@dataclass(frozen=True)
class Verdict:
    """The checks of one of our rows."""

    row: Row
    checks: tuple[Check, ...]

    @property
    def met(self) -> bool | None:
        """False if any check fails, None if none does but some are open."""
        outcomes = [check.met for check in self.checks]
        if False in outcomes:
            return False
        return None if None in outcomes else True


def verdicts(comparison: Comparison) -> list[Verdict]:
    """Whether the targets are met; empty where there is none.

    Of fits it is the verdict of one float, the one that does better: it is the user's choice, as
    it is with scikit-learn-intelex. Prediction is judged in each float, against the same float.
    """
    if comparison.problem == PREDICTION:
        return [
            Verdict(row, tuple(_prediction_checks(row, comparison))) for row in comparison.of(OURS)
        ]
    aim = target(comparison.problem)
    if aim is None or not comparison.of(OURS):
        return []
    found = [Verdict(row, tuple(_checks(row, aim, comparison))) for row in comparison.of(OURS)]
    return [min(found, key=_shortfall)]


def _shortfall(verdict: Verdict) -> tuple[int, int, float]:
    outcomes = [check.met for check in verdict.checks]
    return outcomes.count(False), outcomes.count(None), verdict.row.at_least or inf


def _checks(row: Row, aim: Target, comparison: Comparison) -> Iterator[Check]:
    for library, wanted in ((SKLEARN, aim.sklearn), (INTELEX, aim.intelex)):
        peer = comparison.fastest(library)
        yield _no_larger_gap(row, peer, _faster(library, wanted, row, peer))
    gap = None if row.figures is None else row.figures.relative_gap
    multiple = row.fit / row.bound if row.fit and row.bound else None
    for subject, limit, got in (("gap", aim.gap, gap), ("bound", aim.bound, multiple)):
        if limit < inf:
            words = "not measured" if got is None else f"{got:.2g}, at most {limit:g}"
            yield Check(subject, limit, got, got is not None and got <= limit, words)


def _faster(library: str, wanted: float, row: Row, peer: Row | None) -> Check:
    if peer is None or peer.at_least is None:
        return Check(library, wanted, None, None, "not measured")
    if row.fit is None:
        known = peer.fit is not None
        words = "ours over the budget" if known else "both over the budget"
        return Check(library, wanted, None, False if known else None, words)
    ratio = peer.at_least / row.fit
    if peer.fit is None:
        words = f"> {ratio:.3g}, at least {wanted:g}"
        return Check(library, wanted, ratio, True if ratio >= wanted else None, words)
    return Check(library, wanted, ratio, ratio >= wanted, f"{ratio:.3g}, at least {wanted:g}")


def _no_larger_gap(row: Row, peer: Row | None, check: Check) -> Check:
    if peer is None or peer.figures is None or row.figures is None:
        return check
    ours, theirs = row.figures.relative_gap, peer.figures.relative_gap
    if ours <= max(theirs, SAME_GAP):
        return check
    words = f"{check.words}; gap {ours:.0e} larger than its {theirs:.0e}"
    return Check(check.subject, check.wanted, check.got, False, words)


def _prediction_checks(row: Row, comparison: Comparison) -> Iterator[Check]:
    """Like float against like float; scikit-learn has float64 only."""
    aim = PREDICTION_TARGET
    for library, wanted in ((SKLEARN, aim.sklearn), (INTELEX, aim.intelex)):
        peers = [p for p in comparison.of(library) if p.contender.dtype == row.contender.dtype]
        if library == SKLEARN and row.contender.dtype != "float64":
            continue
        if not peers or peers[0].predict is None or row.predict is None:
            yield Check(library, wanted, None, None, "not measured")
            continue
        ratio = peers[0].predict / row.predict
        words = f"{ratio:.3g}, at least {wanted:g}"
        yield Check(library, wanted, ratio, ratio >= wanted, words)
