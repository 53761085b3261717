"""One problem, all contenders in turn: A B C, A B C, A B C."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf
from statistics import median
from typing import Any, NamedTuple

from .contenders import OURS, Contender
from .problems import Problem, load, missing
from .recompute import Figures, figures
from .workers import BudgetUsed, Failed, Fit, Memory, Worker

Say = Callable[[str], object]
# Seconds that every run may take.
SHORTEST = 60.0


class Settings(NamedTuple):
    """How long and how often.

    Attributes
    ----------
    repeats : int
        Runs of each contender, of which the median counts.
    long : float
        A run of more seconds is the only one.
    budget : float
        A run of more seconds is ended.
    patience : float
        A peer's run of so many times our seconds is ended, though not within `SHORTEST`.
    """

    repeats: int = 3
    long: float = 60.0
    budget: float = 900.0
    patience: float = 100.0


@dataclass
class Row:
    """What was measured of one contender on one problem.

    Attributes
    ----------
    fits, predictions : list of float
        Seconds of every run.
    over_budget : float or None
        The budget, where it ended a fit.
    bound : float or None
        Seconds that the matrix products of the support vectors' Gram rows alone take.
    memory : Memory or None
    note : str
        Why figures are missing, or what is special about them.
    """

    contender: Contender
    fits: list[float] = field(default_factory=list)
    predictions: list[float] = field(default_factory=list)
    over_budget: float | None = None
    finished: bool | None = None
    figures: Figures | None = None
    bound: float | None = None
    memory: Memory | None = None
    note: str = ""

    @property
    def fit(self) -> float | None:
        """Median seconds of a fit."""
        return median(self.fits) if self.fits else None

    @property
    def predict(self) -> float | None:
        return median(self.predictions) if self.predictions else None

    @property
    def at_least(self) -> float | None:
        """Seconds that a fit takes at least: the measured ones, or the budget it used up."""
        return self.over_budget if self.fit is None else self.fit


@dataclass
class Comparison:
    """All rows of one problem; `skipped` says why there are none."""

    problem: Problem
    rows: list[Row] = field(default_factory=list)
    skipped: str = ""

    def of(self, library: str) -> list[Row]:
        """The rows of a library that have something to compare."""
        return [r for r in self.rows if r.contender.library == library and r.at_least is not None]

    def fastest(self, library: str = OURS) -> Row | None:
        """The row of a library in its better float."""
        return min(self.of(library), key=_speed, default=None)


class Bench:
    """The contenders' processes, kept from problem to problem."""

    def __init__(
        self,
        contenders: Iterable[Contender],
        settings: Settings,
        rates: dict[str, float],
        say: Say,
    ) -> None:
        self.settings, self.rates = settings, rates
        self.workers = [Worker(contender) for contender in contenders]
        self.say = say

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.close()

    def compare(self, problem: Problem, memory: bool = False) -> Comparison:
        if (why := missing(problem)) is not None:
            return Comparison(problem, skipped=why)
        turns = [_Turn(worker, problem, self.settings, self.say) for worker in self.workers]
        for turn in turns:
            turn.prepare()
        for _ in range(self.settings.repeats):
            for turn in turns:
                turn.run(self._budget(turn, turns))
        if memory:
            for turn in turns:
                turn.measure_memory()
        for turn in turns:
            turn.recompute(self.rates)
        return Comparison(problem, [turn.row for turn in turns])

    def _budget(self, turn: _Turn, turns: list[_Turn]) -> float:
        """Seconds for a run: a peer's ends where it is clear how much longer it takes than ours."""
        ours = [t.row.fit for t in turns if t.is_ours and t.row.fit is not None]
        if turn.is_ours or not ours:
            return self.settings.budget
        return min(self.settings.budget, max(SHORTEST, self.settings.patience * min(ours)))


class _Turn:
    """The runs of one contender on one problem."""

    def __init__(self, worker: Worker, problem: Problem, settings: Settings, say: Say) -> None:
        self.worker, self.problem, self.settings, self.say = worker, problem, settings, say
        self.row = Row(worker.contender)
        self.runs: list[Fit] = []
        self.over = False

    @property
    def is_ours(self) -> bool:
        return self.worker.contender.library == OURS

    def prepare(self) -> None:
        self._answer("prepare", self.problem)

    def run(self, budget: float) -> None:
        """Fit in so many seconds and predict, unless the turns of this contender are over."""
        if self.over or (fit := self._answer("fit", budget=budget)) is None:
            return
        self._count(fit)
        if (seconds := self._answer("predict")) is not None:
            self.row.predictions.append(seconds)

    def _answer(self, request: str, *arguments: Any, budget: float | None = None) -> Any:
        """None where there is none; then this was the last turn, and the row says why."""
        budget = self.settings.budget if budget is None else budget
        try:
            return self.worker.ask(request, *arguments, budget=budget)
        except BudgetUsed:
            if request == "fit":
                self.row.over_budget = budget
            self._end(f"{request} ended after {budget:g} s")
        except Failed as error:
            self._end(str(error))
        return None

    def _count(self, fit: Fit) -> None:
        self.runs.append(fit)
        self.row.fits.append(fit.seconds)
        self.row.finished = fit.finished
        self.row.note = fit.remark
        self.say(f"{self.problem.name:>24}  {self.worker.contender.name:<18} {fit.seconds:10.4f} s")
        if len(self.runs) == 1 < self.settings.repeats and fit.seconds > self.settings.long:
            self._end(f"one run only: longer than {self.settings.long:g} s")

    def _end(self, note: str) -> None:
        self.over = True
        self.row.note = "; ".join(filter(None, (self.row.note, note)))
        self.say(f"{self.problem.name:>24}  {self.worker.contender.name:<18} {note}")

    def measure_memory(self) -> None:
        """In a process that has done nothing but warm up; not of peers that take long."""
        if not self.runs or (self.over and not self.is_ours):
            return
        fresh = Worker(self.worker.contender)
        try:
            fresh.ask("prepare", self.problem, budget=self.settings.budget)
            self.row.memory = fresh.ask("memory", budget=self.settings.budget)
        except (BudgetUsed, Failed):
            self._end("no memory measured")
        finally:
            fresh.close()

    def recompute(self, rates: dict[str, float]) -> None:
        """Figures of the run with the median time, from the inputs this contender was given."""
        if not self.runs:
            return
        typical = sorted(self.runs, key=lambda run: run.seconds)[len(self.runs) // 2]
        X, y, _ = load(self.problem, self.worker.contender.dtype)
        self.row.figures = figures(self.problem, X, y, typical.model)
        if not self.problem.csr:
            operations = 2.0 * self.row.figures.kernel_entries * self.problem.features
            self.row.bound = operations / rates[self.worker.contender.dtype]


def _speed(row: Row) -> float:
    return inf if row.at_least is None else row.at_least
