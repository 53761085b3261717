"""Model selection as chapters 12 and 13 do it: strategies, starts, trials, comparison tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import Any

import numpy as np
from scipy.stats import binom

from maxmargin import SVC, AutoSVC
from maxmargin.tuning import Point, Task, gaussian_start, tuned
from maxmargin.tuning.course import Search
from maxmargin.tuning.strategies import STRATEGIES as BY_NAME
from maxmargin.tuning.strategies import run_to_its_end

from .items import Json, Table, Verdict
from .statistics import comparison_sign, summary

# The thesis's five strategies, in its order and by its names.
STRATEGIES = {
    "cv-cma": "5-fold-CV",
    "kta": "KTA",
    "span": "span-bound",
    "likelihood": "likelihood",
    "posterior": "posterior",
}
# Parts of the thesis's iterations that are done unless FULL: searches that take thousands of them
# are shortened, more so where a kernel has many parameters.
SHORTENED = {
    "radial": {"cv-cma": 0.2, "likelihood": 0.05, "posterior": 0.05},
    "diagonal": {"cv-cma": 0.1, "likelihood": 0.025, "posterior": 0.025},
}
AUTO = "AutoSVC"
# With fewer trials than this the printed deviation stands in for that of ours.
FEWEST = 3
# Trials that "reproduced" takes.
ENOUGH = 5


def shortened(metric: str) -> str:
    """What a run that is not full does less of."""
    parts = SHORTENED[metric]
    return (
        f"{metric} kernel: CMA-ES ends after {100 * parts['cv-cma']:.0f} √n populations (thesis: "
        f"100 √n), NoisyRprop after {10_000 * parts['likelihood']:,.0f} √n evaluations (10,000 √n)"
    )


class SingleStart(Search):
    """A search without the coarse grid: it starts where Jaakkola's heuristic puts the kernel."""

    def scan(self, objective: Any, tune_C: bool = True, what: str = "single start") -> Point:
        del objective, what
        return Point(self.task.kernel, self.unit_C if tune_C else 1.0, not tune_C)


def chosen_point(task: Task, strategy: str, start: str) -> Point:
    """Kernel and C by a strategy, from a coarse grid or from a single start."""
    if start == "grid":
        found: Point = tuned(task, strategy).point
    else:
        outcome = run_to_its_end(lambda stop: BY_NAME[strategy](SingleStart(task, stop)))
        found = outcome.point
    return found


def error_on_test(
    data: tuple[Any, Any, Any, Any], strategy: str, start: str, metric: str, seed: int, full: bool
) -> float:
    """The share of test samples that the machine of a strategy gets wrong."""
    X, y, new, labels = data
    if strategy == AUTO:
        model: Any = AutoSVC(random_state=seed).fit(X, y)
    else:
        effort = 1.0 if full else SHORTENED[metric].get(strategy, 1.0)
        kernel = gaussian_start(X, y, metric)
        task = Task(X, y, kernel, random_state=seed, effort=effort)
        point = chosen_point(task, strategy, start)
        model = SVC(C=point.C, kernel=point.kernel).fit(X, y)
    return float(np.mean(model.predict(new) != labels))


def comparison_table(
    errors: Mapping[str, Sequence[float]], printed: Mapping[str, Json], caption: str
) -> Table:
    """Mean and deviation beside those printed, and the signs of row against column."""
    names = list(errors)
    rows = []
    for name in names:
        own = summary(errors[name])
        was = printed.get(name, {})
        signs = [
            "" if other == name else comparison_sign(errors[name], errors[other]) for other in names
        ]
        theirs = list(was.get("signs", ()))
        if theirs:
            theirs.insert(names.index(name), "")
        rows.append(
            [
                f"{STRATEGIES.get(name, name)} ({names.index(name) + 1})",
                was.get("error"),
                was.get("deviation"),
                own["mean"],
                own["deviation"],
                own["median"],
                " ".join(f"`{sign or '–'}`" for sign in theirs) or None,
                " ".join(f"`{sign or '–'}`" for sign in signs),
            ]
        )
    columns = " ".join(f"({k + 1})" for k in range(len(names)))
    header = [
        "strategy",
        "printed",
        "± printed",
        "ours",
        "± ours",
        "median",
        "signs printed",
        f"signs, ours {columns}",
    ]
    return Table(header, rows, caption)


def standard_errors_apart(values: Sequence[float], printed: Json, trials: int = 100) -> float:
    """Our mean minus the printed one, in standard errors of their difference; positive is worse."""
    own = summary(values)
    deviation = own["deviation"] if own["count"] >= FEWEST else printed["deviation"]
    spread = np.hypot(deviation / np.sqrt(own["count"]), printed["deviation"] / np.sqrt(trials))
    # Printed means have three digits.
    return float((own["mean"] - printed["error"]) / max(spread, 5e-4))


def agreement(
    errors: Mapping[str, Mapping[str, Sequence[float]]], printed: Mapping[str, Json]
) -> dict[str, int]:
    """How many mean errors are within two standard errors, lower, or higher than printed."""
    counts = {"within": 0, "lower": 0, "higher": 0}
    for name, own in errors.items():
        for strategy in STRATEGIES:
            apart = standard_errors_apart(own[strategy], printed[name][strategy])
            kind = "within" if abs(apart) <= 2.0 else "lower" if apart < 0 else "higher"
            counts[kind] += 1
    return counts


def ranks_agree(
    errors: Mapping[str, Mapping[str, Sequence[float]]], printed: Mapping[str, Json]
) -> tuple[int, int]:
    """Significant printed comparisons whose direction our means share, and how many there are."""
    agreeing = total = 0
    for name, own in errors.items():
        for row in STRATEGIES:
            others = [other for other in STRATEGIES if other != row]
            for other, sign in zip(others, printed[name][row]["signs"]):
                if sign.startswith("<"):
                    total += 1
                    agreeing += bool(np.mean(own[row]) < np.mean(own[other]))
    return agreeing, total


def judged(counts: Mapping[str, int], agreeing: int, total: int, trials: int) -> Verdict:
    """Numbers agree where no more means are outside two standard errors than chance puts there;
    the pattern agrees where four fifths of the significant comparisons have their direction."""
    cells = sum(counts.values())
    numbers = cells - counts["within"] <= binom.ppf(0.95, cells, 0.05)
    pattern = agreeing >= 0.8 * total
    if numbers and pattern and trials >= ENOUGH:
        return Verdict.REPRODUCED
    return Verdict.PATTERN if numbers or pattern else Verdict.DIFFERS


JUDGED = (
    "The verdict: *reproduced* where no more means are outside two standard errors than chance "
    "puts there (at level 0.05) and four fifths of the printed significant comparisons have the "
    "same direction here, in at least five trials; *pattern reproduced* where one of both holds."
)


def power_note(trials: int) -> str:
    """What so few trials can show."""
    smallest = 1.0 / comb(2 * trials, trials)
    text = (
        f"Trials a side: {trials}. The smallest p of the one-sided Mann–Whitney test is then "
        f"{smallest:.2g}; a sign `<` needs less than 0.05."
    )
    if trials < FEWEST:
        text += " So few trials have no standard deviation to speak of: the printed one is taken."
    return text
