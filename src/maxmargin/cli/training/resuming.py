"""Checkpoints of a command: found, written, resumed by the same command on the same data."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ... import __version__
from ...estimators.progress import LINE_EVERY
from ...models import Checkpoint, ModelFileError, load_checkpoint, save_checkpoint
from ...tuning import Journal, JournalError, SearchProgress, StageNotes
from ..errors import Stopped
from ..options import MachineOptions
from ..screen import Screen

# Seconds between two checkpoints of a search.
KEEP_EVERY = 2.0


def fingerprint_of(X: Any, y: Any, options: MachineOptions, **more: Any) -> str:
    """A digest of the data and of all settings but the time limit, which identifies equal runs."""
    digest = hashlib.sha256()
    settings = {**asdict(options), **more, "version": __version__}
    settings.pop("max_seconds")
    digest.update(json.dumps(settings).encode())
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    for part in (*parts, *(() if y is None else (y,))):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


class Keeper:
    """The checkpoint of a run.

    Parameters
    ----------
    path : Path
    fingerprint : str
        Of the run; a checkpoint is resumed only by an equal run.
    screen : Screen
    fresh : bool
        Whether to ignore an existing checkpoint.
    check : callable, optional
        Raises ValueError or TypeError for a checkpoint that the run could not resume from.

    Attributes
    ----------
    found : Checkpoint or None
        Where an equal run stopped.
    lost : str
        Why the last attempt to write the checkpoint failed, or empty.
    """

    def __init__(
        self,
        path: Path,
        fingerprint: str,
        screen: Screen,
        fresh: bool = False,
        check: Callable[[Checkpoint], None] | None = None,
    ) -> None:
        self.path, self.fingerprint, self.screen, self.check = path, fingerprint, screen, check
        self.began = time.perf_counter()
        self.lost = ""
        self.found = None if fresh else self._found()

    def _found(self) -> Checkpoint | None:
        if not self.path.exists():
            return None
        try:
            checkpoint = load_checkpoint(self.path)
        except ModelFileError as error:
            self.screen.say("checkpoint", f"not used: {error}")
            return None
        if checkpoint.fingerprint != self.fingerprint:
            self.screen.say("checkpoint", f"{self.path} belongs to other data or options: not used")
            return None
        try:
            if self.check is not None:
                self.check(checkpoint)
        except (ValueError, TypeError) as error:
            self.screen.say("checkpoint", f"not used: {error}")
            return None
        self.screen.say("checkpoint", f"resuming from {self.path}")
        return checkpoint

    def give_up(self, reason: Exception) -> None:
        """Start from scratch, because the checkpoint cannot be used."""
        self.found = None
        self.screen.say("checkpoint", f"not used: {reason}")

    def seconds(self) -> float:
        """Seconds spent so far, earlier runs included."""
        before = self.found.seconds if self.found else 0.0
        return before + time.perf_counter() - self.began

    def keep(self, state: Checkpoint) -> None:
        """Write the checkpoint; if that fails, the run continues without."""
        try:
            save_checkpoint(replace(state, seconds=self.seconds()), self.path)
            self.lost = ""
        except OSError as error:
            reason = f"{self.path} cannot be written: {error.strerror or error}"
            if reason != self.lost:
                self.screen.say("checkpoint", reason)
            self.lost = reason

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)

    def stopped(self) -> Stopped:
        """What to raise after Ctrl-C, once the checkpoint is written."""
        if self.lost:
            return Stopped(f"interrupted; {self.lost}, so nothing was saved")
        return Stopped(
            f"interrupted; progress is saved in {self.path}: run the same command to resume"
        )


class Course:
    """A search with progress bar and checkpoints.

    Parameters
    ----------
    keeper : Keeper
    tell : callable
        Takes the completed fraction and a note.

    Attributes
    ----------
    journal : Journal
        Of the search, continued from the checkpoint.
    """

    def __init__(self, keeper: Keeper, tell: Callable[[float, str], None]) -> None:
        self.keeper, self.tell = keeper, tell
        kept = keeper.found.journal if keeper.found else None
        self.journal = Journal() if kept is None else kept
        self.shown, self.saved = -np.inf, time.perf_counter()

    def heard(self, now: SearchProgress) -> bool:
        """A callback of a search that never stops it."""
        method = now.stage.partition(" on ")[0]
        self.show(now.fraction, f"{method} {now.evaluations:,}/{now.most:,}")
        return False

    def show(self, fraction: float, note: str) -> None:
        now = time.perf_counter()
        if now - self.shown > LINE_EVERY:
            self.shown = now
            self.tell(fraction, note)
        if now - self.saved > KEEP_EVERY:
            self.saved = now
            self.keep()

    def keep(self) -> None:
        journal = self.journal
        self.keeper.keep(Checkpoint(self.keeper.fingerprint, "search", {}, journal=journal))

    def scores(self, place: int, what: str) -> list[float]:
        """Of the points of a stage that an earlier run tried."""
        rows = self.journal.notes(place, what).rows
        if rows.size and rows.shape[1] != 1:
            raise JournalError(f"journal has {rows.shape[1]} scores of a point in {what!r}")
        return [float(score) for score in rows.ravel()]

    def note(self, place: int, what: str, scores: list[float]) -> None:
        self.journal.note(place, StageNotes(what, np.array(scores, dtype=np.float64)[:, None]))
