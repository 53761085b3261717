"""Progress of a search, and the journal from which an equal search can resume.

A journal holds the values (and gradients) of all evaluations, stage by stage, and the state that
objectives pass from one evaluation to the next. Optimisers are deterministic: replaying these
values restores their state to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from .base import Evaluation, Float, Objective, Point


class SearchProgress(NamedTuple):
    """Progress of a search.

    Attributes
    ----------
    stage : str
        The current stage.
    evaluations, most : int
        Evaluations of this stage, so far and at most.
    fraction : float
        The completed fraction of the search, between 0 and 1: of its evaluations or of its time
        limit, whichever ends it first. A search may end before it reaches 1.
    value, best : float
        The objective of this stage at the last point, and at the best so far.
    seconds : float
        Since the search began, earlier runs included.

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.tuning import Task, gaussian_start, tuned
    >>> X, y = chess_board(100, random_state=0)
    >>> seen = []
    >>> outcome = tuned(Task(X, y, gaussian_start(X, y, "radial")), "kta", callback=seen.append)
    >>> seen[0].stage, seen[0].evaluations, 0.0 < seen[-1].fraction <= 1.0
    ('coarse grid', 1, True)
    """

    stage: str
    evaluations: int
    most: int
    fraction: float
    value: float
    best: float
    seconds: float


class JournalError(ValueError):
    """A journal that is damaged or belongs to another search.

    Examples
    --------
    >>> from maxmargin.tuning import Journal, JournalError, StageNotes
    >>> journal = Journal([StageNotes("coarse grid")])
    >>> try:
    ...     journal.notes(0, "path of C")
    ... except JournalError as error:
    ...     print(str(error)[:45])
    journal must be of an equal search, got one w
    """


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search.

    Parameters
    ----------
    found : Outcome or Chosen
        The best so far.

    Examples
    --------
    >>> from maxmargin.tuning import SearchInterrupted
    >>> try:
    ...     raise SearchInterrupted(found="the best so far")
    ... except KeyboardInterrupt as interrupt:
    ...     print(interrupt.found)
    the best so far
    """

    def __init__(self, found: Any) -> None:
        super().__init__("the search was interrupted; the best point so far is kept")
        self.found = found


@dataclass(frozen=True, eq=False)
class StageNotes:
    """One stage in a journal.

    Attributes
    ----------
    what : str
    rows : float array
        For each evaluation seconds, value and gradient; for a path of C the errors of each fold,
        NaN where unknown.
    status : str
        Why the stage ended; empty if it did not.
    state : dict
        The state that the objective passes to its next evaluation.

    Examples
    --------
    >>> from maxmargin.tuning import StageNotes
    >>> notes = StageNotes("coarse grid")
    >>> notes.rows.shape, notes.status
    ((0, 0), '')
    """

    what: str
    rows: Float = field(default_factory=lambda: np.empty((0, 0)))
    status: str = ""
    state: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Journal:
    """A record of a search, from which an equal search resumes.

    Pass a new one to `tuned` or `AutoSVC.search`. If Ctrl-C, a callback or a time limit ends the
    search, pass it to the same search again. With one thread the result equals that of a search
    without interruption.

    Attributes
    ----------
    stages : list of StageNotes
    seconds : float
        Spent so far.

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.tuning import Journal, Task, gaussian_start, tuned
    >>> X, y = chess_board(200, random_state=0)
    >>> task, journal = Task(X, y, gaussian_start(X, y, "radial")), Journal()
    >>> first = tuned(task, "kta", journal=journal, callback=lambda now: now.fraction > 0.1)
    >>> first.status
    'stopped'
    >>> tuned(task, "kta", journal=journal).point == tuned(task, "kta").point
    True
    """

    stages: list[StageNotes] = field(default_factory=list)
    seconds: float = 0.0

    def notes(self, place: int, what: str) -> StageNotes:
        """The notes of a stage; one ended by a time limit is resumed if no other stage followed."""
        if place >= len(self.stages):
            return StageNotes(what)
        notes = self.stages[place]
        if notes.what != what:
            raise JournalError(
                f"journal must be of an equal search, got one whose stage {place + 1} is "
                f"{notes.what!r} instead of {what!r}: begin with a new Journal"
            )
        if notes.status == "seconds" and not any(len(s.rows) for s in self.stages[place + 1 :]):
            return replace(notes, status="")
        return notes

    def note(self, place: int, notes: StageNotes) -> None:
        """Replace the notes of a stage."""
        self.stages[place : place + 1] = [notes]


@contextmanager
def recalling(what: str) -> Iterator[None]:
    """Turn errors while resuming from a journal into `JournalError`."""
    try:
        yield
    except JournalError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise JournalError(
            f"journal cannot be resumed in its stage {what!r} ({error}): begin with a new Journal"
        ) from error


class Interrupted(Exception):
    """Ctrl-C was pressed; the current evaluation is invalid."""


class Guarded(Objective[Point]):
    """An objective whose evaluations are discarded after Ctrl-C, because solvers then end early.

    Parameters
    ----------
    objective : Objective
    interrupt : Interrupt
    """

    def __init__(self, objective: Objective[Point], interrupt: Any) -> None:
        self.objective, self.interrupt = objective, interrupt
        self.maximise, self.noisy = objective.maximise, objective.noisy
        self.differentiable = objective.differentiable

    def evaluate(self, point: Point) -> Evaluation:
        evaluation = self.objective.evaluate(point)
        self._refuse()
        return evaluation

    def value(self, point: Point) -> float:
        value = self.objective.value(point)
        self._refuse()
        return value

    def _refuse(self) -> None:
        if self.interrupt.pressed:
            raise Interrupted
