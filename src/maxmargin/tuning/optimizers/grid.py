"""Exhaustive search: a list of points, or a grid of coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

import numpy as np
from numpy.typing import ArrayLike

from ..base import Evaluation, Limits, Objective, P
from ..jobs import in_jobs
from .base import Ended, Optimiser


class Choice(Optimiser[P]):
    """The best of some points, tried in order; ties go to the first.

    Parameters
    ----------
    points : sequence of Point
    n_jobs : int
        Evaluations at a time, in threads, or by joblib's backend where it is Dask's or Ray's.

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import Choice, KernelTargetAlignment, Point
    >>> points = [Point(Gaussian(gamma)) for gamma in (0.1, 1.0, 10.0)]
    >>> Choice(points).run(KernelTargetAlignment(*chess_board(200, random_state=0))).point.kernel
    Gaussian(gamma=10.0)
    """

    _endless = False

    def __init__(self, points: Sequence[P], *, n_jobs: int = 1) -> None:
        if not points:
            raise ValueError("points must have at least one entry, got none")
        self.points = list(points)
        self._prepare(self.points[0], None, n_jobs)

    def _prepare(self, start: P, limits: Limits | None, n_jobs: int) -> None:
        super().__init__(start, limits)
        if n_jobs < 1:
            raise ValueError(f"n_jobs must be at least 1, got {n_jobs}")
        self.n_jobs = n_jobs
        self.tried = 0

    def _from(self, place: int) -> Iterator[P]:
        """The points from an index onwards."""
        return iter(self.points[place:])

    def _iterate(self, objective: Objective[P], left: float) -> None:
        batch = list(islice(self._from(self.tried), int(min(self.n_jobs, left))))
        if not batch:
            raise Ended("exhausted")
        for point, value in zip(batch, self._values(objective, batch)):
            self.point = point
            self._noted(objective, point, Evaluation(value))
        self.tried += len(batch)

    def _values(self, objective: Objective[P], points: list[P]) -> list[float]:
        known = range(self.tried, min(self.tried + len(points), len(self.recalled)))
        values = [self._recalled(place).value for place in known]
        return values + self._computed(objective, points[len(values) :])

    def _computed(self, objective: Objective[P], points: list[P]) -> list[float]:
        return in_jobs(objective.value, points, len(points))


class Grid(Choice[P]):
    """All combinations of offsets from the start, one list for each coordinate.

    The first coordinate varies slowest. Ties go to the first point.

    Parameters
    ----------
    start : Point
    axes : sequence of arrays
        For each coordinate the offsets to try. A coordinate that is a logarithm makes an evenly
        spaced axis a logarithmic grid.
    limits : Limits, optional
    n_jobs : int
        Evaluations at a time, in threads, or by joblib's backend where it is Dask's or Ray's.

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

    def __init__(
        self,
        start: P,
        axes: Sequence[ArrayLike],
        limits: Limits | None = None,
        *,
        n_jobs: int = 1,
    ) -> None:
        self._prepare(start, limits, n_jobs)
        if len(axes) != self.size:
            raise ValueError(
                f"axes must have an entry for each of the coordinates {start.names}, "
                f"got {len(axes)}"
            )
        self.start = start
        self.axes = [np.atleast_1d(np.asarray(axis, dtype=np.float64)) for axis in axes]

    def _from(self, place: int) -> Iterator[P]:
        theta = self.start.theta
        for offsets in islice(product(*self.axes), place, None):
            yield self.start.moved(self.limits.shortened(theta, np.array(offsets)))
