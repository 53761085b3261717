"""CMA-ES: search by values alone, for objectives without a gradient (the `cma` package)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import Float, Limits, Objective, P
from .base import Ended, Optimiser


class CMA(Optimiser[P]):
    """Covariance matrix adaptation evolution strategy (Hansen and Ostermeier, 2001).

    An iteration evaluates a population of max(5, ⌊3 log n⌋ + 4) points, as in section 12.1.

    Parameters
    ----------
    start : Point
        The mean of the first population.
    step : float
        Its standard deviation.
    limits : Limits, optional
    population : int, optional
    random_state : int

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import CMA, Evaluation, Objective, Vector
    >>> class Bowl(Objective):
    ...     def evaluate(self, point):
    ...         return Evaluation(float(point.theta @ point.theta))
    >>> result = CMA(Vector(np.array([1.0, -2.0])), step=0.5).run(Bowl(), evaluations=400)
    >>> bool(result.value < 1e-6)
    True
    """

    def __init__(
        self,
        start: P,
        step: float = 1.0,
        limits: Limits | None = None,
        *,
        population: int | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(start, limits)
        if not step > 0:
            raise ValueError(f"step must be positive, got {step}")
        self.start = start
        self.population = population or population_size(self.size)
        self._strategy = self._made(step, random_state)
        self._waiting: list[Float] = []
        self._asked: list[Float] = []
        self._values: list[float] = []

    def _made(self, step: float, random_state: int) -> Any:
        try:
            import cma
        except ImportError as error:
            raise ImportError("CMA needs the package cma: pip install cma") from error
        theta = self.start.theta
        low, high = self.limits.low - theta, self.limits.high - theta
        bounds = [[float(x) if np.isfinite(x) else None for x in bound] for bound in (low, high)]
        options = {
            "popsize": self.population,
            # Leave the global generator, which belongs to the caller, alone.
            "randn": np.random.RandomState(random_state).randn,
            "seed": np.nan,
            "verbose": -9,
            "bounds": bounds,
            # The budget ends the search, not a plateau: error counts are piecewise constant.
            "tolfun": 0,
            "tolfunhist": 0,
            "tolflatfitness": np.inf,
            "tolstagnation": np.inf,
        }
        return cma.CMAEvolutionStrategy(np.zeros(self.size), step, options)

    def _iterate(self, objective: Objective[P], left: float) -> None:
        """One evaluation; the strategy is told when its population is complete."""
        if not self._waiting:
            if self._strategy.stop():
                raise Ended("converged")
            self._asked = [np.asarray(x) for x in self._strategy.ask()]
            self._waiting, self._values = list(self._asked), []
        del left
        offset = self._waiting.pop(0)
        self.point = self.start.moved(offset)
        self._values.append(self._evaluated(objective, self.point, gradient=False).value)
        if not self._waiting:
            self._strategy.tell(self._asked, _penalised(np.array(self._values)))

    @property
    def mean(self) -> P:
        """The mean of the population, which depends less on luck than its best point."""
        return self.start.moved(np.asarray(self._strategy.result.xfavorite))


def population_size(size: int) -> int:
    return max(5, int(3 * np.log(size)) + 4)


def _penalised(values: Float) -> list[float]:
    """Replace values that are not finite by one worse than all that are."""
    finite = np.isfinite(values)
    worst = float(np.abs(values[finite]).max()) if finite.any() else 0.0
    return list(np.where(finite, values, 2.0 * worst + 1.0))
