"""Checkpoints: the state from which a training run resumes after it was stopped or killed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..archive import Contents, ModelFileError, read_archive, write_archive
from ..solvers import Solution
from ..solvers.linear import LinearSolution
from ..tuning import Journal, StageNotes
from .records import RECORDS
from .training import HeldOut, Measure, SearchTable
from .values import Decoder, Encoder

STAGES = ("search", "test", "all")
# Exceptions caused by invalid files.
ERRORS = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a training run.

    Attributes
    ----------
    fingerprint : str
        Of the data and all settings.
    stage : {"search", "test", "all"}
        Whether parameters are searched for; else whether the machine being trained is the one for
        the test, without the held-out samples, or the one of all samples.
    parameters : dict
        Of that machine, as found by the search.
    solutions : list
        Where its fit stands, a `Solution` or `LinearSolution` for each problem; empty at its
        beginning.
    search : SearchTable or None
    measures : tuple of Measure
        Once the test is done.
    held_out : HeldOut or None
    seconds : float
        Spent so far.
    journal : Journal or None
        What an unfinished search has computed.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.models import Checkpoint
    >>> Checkpoint("c0ffee", "all", {"C": 10.0}).begun(SVC()).C
    10.0
    """

    fingerprint: str
    stage: str
    parameters: dict[str, Any]
    solutions: list[Any] = field(default_factory=list)
    search: SearchTable | None = None
    measures: tuple[Measure, ...] = ()
    held_out: HeldOut | None = None
    seconds: float = 0.0
    journal: Journal | None = None

    def begun(self, machine: Any) -> Any:
        """The machine with the parameters found, ready to resume its fit."""
        machine.set_params(**self.parameters)
        if self.solutions:
            multiple = len(self.solutions) > 1
            machine.solution_ = self.solutions if multiple else self.solutions[0]
            price = float(getattr(machine, "C", 1.0))
            place = "_penalty_" if isinstance(self.solutions[0], Solution) else "_cost_"
            setattr(machine, place, price)
        return machine


RECORDS.update({"Checkpoint": Checkpoint, "Journal": Journal, "StageNotes": StageNotes})


def save_checkpoint(checkpoint: Checkpoint, path: str | os.PathLike[str]) -> None:
    """Write a checkpoint, replacing an existing file atomically.

    Parameters
    ----------
    checkpoint : Checkpoint
    path : path

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from maxmargin.models import Checkpoint, load_checkpoint, save_checkpoint
    >>> path = pathlib.Path(tempfile.mkdtemp(), "run.checkpoint")
    >>> save_checkpoint(Checkpoint("c0ffee", "all", {"C": 10.0}), path)
    >>> load_checkpoint(path).parameters
    {'C': 10.0}
    """
    encoder = Encoder(resumable=True)
    write_archive(path, Contents(encoder.encode("checkpoint", checkpoint), encoder.arrays))


def load_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Read a checkpoint; `ModelFileError` if it is damaged or not a checkpoint.

    Parameters
    ----------
    path : path

    Returns
    -------
    Checkpoint

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from maxmargin.models import Checkpoint, load_checkpoint, save_checkpoint
    >>> path = pathlib.Path(tempfile.mkdtemp(), "run.checkpoint")
    >>> save_checkpoint(Checkpoint("c0ffee", "all", {"C": 10.0}), path)
    >>> load_checkpoint(path).parameters
    {'C': 10.0}
    """
    contents = read_archive(path)
    try:
        decoder = Decoder(contents.arrays)
        checkpoint = decoder.decode(contents.values)
        decoder.check_complete()
    except ERRORS as error:
        raise ModelFileError(f"{os.fspath(path)} is no checkpoint: {error}") from error
    if not isinstance(checkpoint, Checkpoint) or checkpoint.stage not in STAGES:
        raise ModelFileError(f"{os.fspath(path)} is no checkpoint")
    if not 0.0 <= checkpoint.seconds < np.inf or not _readable(checkpoint.journal):
        raise ModelFileError(f"{os.fspath(path)} holds no search that could be resumed")
    if not all(map(_has_point, checkpoint.solutions)):
        raise ModelFileError(f"{os.fspath(path)} holds no point to resume from")
    return checkpoint


def _has_point(solution: Any) -> bool:
    """Whether a fit can resume from a solution."""
    match solution:
        case Solution():
            parts: tuple[Any, ...] = (solution.alpha,)
        case LinearSolution():
            parts = (solution.w, solution.beta, solution.b)
        case _:
            return False
    # Squares of larger numbers may overflow.
    return all(bool((np.abs(part) < 1e100).all()) for part in parts)


def _readable(journal: Journal | None) -> bool:
    """Whether a search can resume from a journal, or there is none."""
    if journal is None:
        return True
    return 0.0 <= journal.seconds < np.inf and all(n.rows.ndim == 2 for n in journal.stages)
