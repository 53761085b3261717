"""What `AutoSVC` chose, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from ..kernels import Kernel
from .course import Stage
from .search import table

# Names and numbers of a row that are printed; how they look in the text of a kernel.
MOST_LISTED = 4
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d*(?:e[-+]?\d+)?|(?<![\w.])-?\d+e[-+]?\d+")
ROW = re.compile(r"[(\[][^()\[\]]*[)\]]")
EARLY = {"time_limit": "the time limit", "stopped": "the callback", "interrupted": "Ctrl-C"}


class Chosen(NamedTuple):
    """What `AutoSVC` did and why.

    Attributes
    ----------
    strategy : str
    reason : str
    kernel : Kernel
        In the units of the inputs as given.
    C : float
    score : float
        The objective of the strategy, large being good.
    samples : int
        How many samples the search used.
    seconds : float
        Of the search.
    stages : list of Stage
    status : {"finished", "time_limit", "stopped", "interrupted"}
        Why the search ended: "stopped" is by the callback, "interrupted" by Ctrl-C.
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

    def history(self) -> dict[str, NDArray[Any]]:
        """Every evaluation that is kept, as columns."""
        return table(self.stages)

    def __str__(self) -> str:
        lines = [f"strategy {self.strategy}: {self.reason}"]
        for stage in self.stages:
            r = stage.result
            notes = [f"{r.evaluations} evaluations in {r.seconds:.2g} s", f"value {r.value:.4g}"]
            if r.skipped:
                notes.append(f"{r.skipped} without a value were stepped around")
            if r.at_limits:
                notes.append(f"{listed(r.at_limits)} at the limit of the search")
            lines.append(f"  {stage.what}: {'; '.join(notes)}")
        if self.status in EARLY:
            lines.append(f"{EARLY[self.status]} ended the search before its end; the best so far:")
        lines.append(f"C = {self.C:.4g}, {rounded(repr(self.kernel))}")
        return "\n".join(lines)


def listed(names: Sequence[str]) -> str:
    """The names, the first of them where there are many."""
    more = len(names) - MOST_LISTED
    text = ", ".join(names[:MOST_LISTED])
    return f"{text} and {more} more" if more > 0 else text


def rounded(text: str) -> str:
    """A text with its numbers to four digits, and only the first of a row of many."""
    text = NUMBER.sub(lambda number: f"{float(number[0]):.4g}", text)

    def shorter(row: re.Match[str]) -> str:
        numbers = row[0][1:-1].split(", ")
        if len(numbers) <= MOST_LISTED:
            return row[0]
        first = ", ".join(numbers[:MOST_LISTED])
        return f"{row[0][0]}{first}, … {len(numbers)} in all{row[0][-1]}"

    return ROW.sub(shorter, text)
