"""Exhaustive search on a grid of coordinates, which are logarithms of positive parameters."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product

import numpy as np
from numpy.typing import ArrayLike

from ..base import Evaluation, Limits, Objective, P
from .base import Ended, Optimiser


class Grid(Optimiser[P]):
    """All combinations of offsets from the start, one list for each coordinate.

    The first coordinate varies slowest. The best point is the first of the best.

    Parameters
    ----------
    start : Point
    axes : sequence of arrays
        For each coordinate the offsets to try. A coordinate that is a logarithm makes an evenly
        spaced axis a logarithmic grid.
    limits : Limits, optional
    n_jobs : int
        Evaluations at a time, in threads.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import Evaluation, Grid, Objective, Vector
    >>> class Bowl(Objective):
    ...     def evaluate(self, point):
    ...         return Evaluation(float(point.theta @ point.theta), 2 * point.theta)
    >>> optimiser = Grid(Vector(np.array([1.0, -2.0])), axes=[np.linspace(-2, 2, 5)] * 2)
    >>> result = optimiser.run(Bowl())
    >>> result.status, result.evaluations, result.point.theta
    ('exhausted', 25, array([0., 0.]))
    """

    _endless = False

    def __init__(
        self,
        start: P,
        axes: Sequence[ArrayLike],
        limits: Limits | None = None,
        *,
        n_jobs: int = 1,
    ) -> None:
        super().__init__(start, limits)
        if len(axes) != self.size:
            raise ValueError(
                f"axes must have an entry for each of the coordinates {start.names}, "
                f"got {len(axes)}"
            )
        if n_jobs < 1:
            raise ValueError(f"n_jobs must be at least 1, got {n_jobs}")
        self.start = start
        self.axes = [np.atleast_1d(np.asarray(axis, dtype=np.float64)) for axis in axes]
        self.n_jobs = n_jobs
        self.tried = 0

    def _iterate(self, objective: Objective[P], left: float) -> None:
        batch = list(islice(product(*self.axes), self.tried, self.tried + self.n_jobs))
        batch = batch[: int(min(left, len(batch)))]
        if not batch:
            raise Ended("exhausted")
        theta = self.start.theta
        points = [
            self.start.moved(self.limits.shortened(theta, np.array(offsets))) for offsets in batch
        ]
        for point, value in zip(points, self._values(objective, points)):
            self.point = point
            self._noted(objective, point, Evaluation(value))
        self.tried += len(batch)

    def _values(self, objective: Objective[P], points: list[P]) -> list[float]:
        if len(points) == 1:
            return [objective.value(points[0])]
        with ThreadPoolExecutor(len(points)) as pool:
            return list(pool.map(objective.value, points))
