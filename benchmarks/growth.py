"""How fit time grows with the number of samples: seconds ∝ samples^exponent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .measure import Bench, Comparison
from .problems import GROWTH, Problem


@dataclass(frozen=True)
class Curve:
    """Median seconds of the fits of one contender, by size, and the exponent fitted to them."""

    data: str
    contender: str
    samples: list[int]
    seconds: list[float]
    exponent: float | None


def growth(
    bench: Bench, known: dict[str, Comparison], series: dict[str, list[Problem]] = GROWTH
) -> list[Curve]:
    """Curves of all contenders; sizes in `known` (by name) are not measured again."""
    curves = []
    for data, problems in series.items():
        compared = [known.get(problem.name) or bench.compare(problem) for problem in problems]
        for worker in bench.workers:
            curves.append(_curve(data, worker.contender.name, compared))
    return [curve for curve in curves if curve.samples]


def exponent(samples: list[int], seconds: list[float]) -> float | None:
    """The slope of log seconds over log samples; None for fewer than two sizes."""
    if len(samples) < 2:
        return None
    return float(np.polyfit(np.log(samples), np.log(seconds), 1)[0])


def _curve(data: str, name: str, compared: list[Comparison]) -> Curve:
    points = [
        (comparison.problem.samples, row.fit)
        for comparison in compared
        for row in comparison.rows
        if row.contender.name == name and row.fit is not None
    ]
    samples, seconds = [n for n, _ in points], [s for _, s in points]
    return Curve(data, name, samples, seconds, exponent(samples, seconds))
