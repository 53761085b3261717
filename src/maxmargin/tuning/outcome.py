"""What a search found, as records and in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from .optimizers import Result

# Numbers and lists in the text of a kernel.
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d*(?:e[-+]?\d+)?|(?<![\w.])-?\d+e[-+]?\d+")
ROW = re.compile(r"[(\[][^()\[\]]*[)\]]")
# Cross-validation along C, judged by the error or by the area under the ROC curve.
PATH, PATH_BY_RANK = "path of C", "path of C by the area under ROC"
# Stages that improve on a first value.
DESCENDING = "iRprop+"
EARLY = {"time_limit": "the time limit", "stopped": "the callback", "interrupted": "Ctrl-C"}


class Stage(NamedTuple):
    """One stage of a strategy: what was done, the result, and its history.

    Attributes
    ----------
    what : str
    result : Result
    history : dict of arrays

    Examples
    --------
    >>> from maxmargin.tuning import Stage
    >>> Stage("coarse grid", result=None, history={}).what
    'coarse grid'
    """

    what: str
    result: Result
    history: dict[str, NDArray[Any]]

    def __repr__(self) -> str:
        """Without the history, which has an entry for each evaluation."""
        return f"Stage({self.what!r}, {self.result!r})"


class Outcome(NamedTuple):
    """What a strategy found.

    Attributes
    ----------
    point : Point or TubePoint
        Kernel and C; for a regression also ε.
    loss : {"hinge", "squared_hinge", "epsilon_insensitive"}
        The loss of the machine that the point belongs to.
    score : float
        The objective at that point, larger is better; NaN if the search ended before it was known.
    stages : list of Stage
    status : {"finished", "time_limit", "stopped", "interrupted"}
        Why the search ended: "stopped" by the callback, "interrupted" by Ctrl-C.

    Examples
    --------
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import Outcome, Point
    >>> Outcome(Point(Gaussian(0.5), C=10.0), "hinge", score=0.9, stages=[]).status
    'finished'
    """

    point: Any
    loss: str
    score: float
    stages: list[Stage]
    status: str = "finished"

    def __str__(self) -> str:
        lines = ["the search:", *course_in_words(self.stages, self.status)]
        return "\n".join([*lines, point_in_words(self.point)])


class Chosen(NamedTuple):
    """What `AutoSVC` or `AutoSVR` did and why.

    Attributes
    ----------
    strategy : str
    reason : str
    kernel : Kernel
        In the units of the original inputs.
    C : float
    score : float
        The objective of the strategy, larger is better; for a path of C the accuracy or the AUC.
    samples : int
        Number of samples that the search used.
    seconds : float
        Of the search.
    stages : list of Stage
    status : {"finished", "time_limit", "stopped", "interrupted"}
        Why the search ended: "stopped" by the callback, "interrupted" by Ctrl-C.
    epsilon : float or None
        Of a regression.
    """

    strategy: str
    reason: str
    kernel: Kernel
    C: float
    score: float
    samples: int
    seconds: float
    stages: list[Stage]
    status: str = "finished"
    epsilon: float | None = None

    def history(self) -> dict[str, NDArray[Any]]:
        """Every evaluation that is kept, as columns."""
        return table(self.stages)

    def __str__(self) -> str:
        lines = [f"strategy {self.strategy}: {self.reason}"]
        lines += course_in_words(self.stages, self.status)
        return "\n".join([*lines, point_in_words(self)])


def table(stages: list[Stage]) -> dict[str, NDArray[Any]]:
    """The histories of all stages, concatenated."""
    columns = ["evaluation", "seconds", "value"]
    names = [name for stage in stages for name in stage.history if name not in columns]
    columns += list(dict.fromkeys(names))
    lengths = [len(stage.history["value"]) for stage in stages]
    result: dict[str, NDArray[Any]] = {
        "stage": np.repeat([stage.what for stage in stages], lengths)
    }
    for column in columns:
        parts = [
            stage.history.get(column, np.full(length, np.nan))
            for stage, length in zip(stages, lengths)
        ]
        known = column in ("evaluation", "seconds", "value")
        result[column if known else f"param_{column}"] = np.concatenate(parts)
    return result


def course_in_words(stages: list[Stage], status: str) -> list[str]:
    """A line for each kind of stage, and one if the search ended early."""
    lines: list[str] = []
    least = np.inf
    for what, group in groupby(stages, named):
        own = list(group)
        lines.append(f"  {in_words(what, own, least)}")
        if is_path(what):
            least = min(least, *(stage.result.value for stage in own))
    if status in EARLY:
        lines.append(f"{EARLY[status]} ended the search early; the best point so far:")
    return lines


def point_in_words(point: Any) -> str:
    """C, ε of a regression, and the kernel."""
    epsilon = getattr(point, "epsilon", None)
    tube = "" if epsilon is None else f"epsilon = {epsilon:.4g}, "
    return f"C = {point.C:.4g}, {tube}{rounded(repr(point.kernel))}"


def named(stage: Stage) -> str:
    return stage.what


def is_path(what: str) -> bool:
    """Whether a stage is a path of C on all folds and samples of the search."""
    return what in (PATH, PATH_BY_RANK)


def in_words(what: str, stages: list[Stage], least: float = np.inf) -> str:
    """A line about the stages with one name; `least` is the smallest error of paths before."""
    results = [stage.result for stage in stages]
    evaluations = sum(result.evaluations for result in results)
    plural = "s" if evaluations != 1 else ""
    notes = [f"{evaluations:,} evaluation{plural} in {sum(r.seconds for r in results):.2g} s"]
    error, chosen = min(result.value for result in results), True
    if is_path(what):
        chosen = not error > least
        found = (
            f"largest {1.0 - error:.4g}" if what == PATH_BY_RANK else f"smallest error {error:.4g}"
        )
        notes.append(found if chosen else f"{found}, so the point before stays")
    elif what.startswith(DESCENDING):
        values = stages[0].history["value"]
        first = values[np.isfinite(values)][:1]
        notes += [from_to(f"{float(value):.4g}", f"{results[0].value:.4g}") for value in first]
    if skipped := sum(result.skipped for result in results):
        notes.append(f"{skipped} without a value were skipped")
    if len(stages) == 1 and chosen and results[0].at_limits:
        notes.append(limits_in_words(results[0].at_limits))
    kernels = f" for {len(stages)} kernels" if len(stages) > 1 else ""
    return f"{what}{kernels}: {'; '.join(notes)}"


def from_to(first: str, last: str) -> str:
    return f"from {first} to {last}" if first != last else f"nothing better than {first}"


def limits_in_words(coordinates: Sequence[str]) -> str:
    """The parameters whose best values are at a limit."""
    names = [name.removeprefix("log_") for name in coordinates]
    if len(names) == 1:
        return f"the best {names[0]} is the limit of the search"
    return f"the best {listed(names)} are limits of the search"


def listed(names: Sequence[str], most: int = 4) -> str:
    """The names, or the first few of many."""
    more = len(names) - most
    if more > 0:
        return f"{', '.join(names[:most])} and {more} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def rounded(text: str, most: int = 4) -> str:
    """A text with numbers to four digits, and only the first few of a long list."""
    text = NUMBER.sub(lambda number: f"{float(number[0]):.4g}", text)

    def shorter(row: re.Match[str]) -> str:
        numbers = row[0][1:-1].split(", ")
        if len(numbers) <= most:
            return row[0]
        first = ", ".join(numbers[:most])
        return f"{row[0][0]}{first}, … {len(numbers)} in all{row[0][-1]}"

    return ROW.sub(shorter, text)
