"""Priors on kernel and C, and the log-posterior (9.2.3, 12.1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ...kernels.base import Kernel
from ...kernels.vector.metric import Chart, MetricGaussian
from ..base import Evaluation, Objective, Point


class Prior(ABC):
    """The logarithm of a density of kernel and C, up to a constant, with its gradient.

    Examples
    --------
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import GaussianPrior, Point, Prior
    >>> prior: Prior = GaussianPrior(Gaussian(1.0), width=2.0)
    >>> value, gradient = prior.evaluate(Point(Gaussian(2.0), C=1.0))
    >>> round(value, 4), gradient.round(4)
    (-0.0601, array([-0.1733,  0.    ]))
    """

    @abstractmethod
    def evaluate(self, point: Point) -> Evaluation:
        """log P and its gradient in the coordinates of the point."""


class GaussianPrior(Prior):
    """Gaussian in the coordinates of the kernel, flat in log C::

        log P = −Σ_i (theta_i − centre_i)² / (2·width²)

    For a Gaussian kernel the coordinates are log γ, one or one for each feature. For a full metric
    B the sum is ‖log B² − log B₀²‖² with B₀ a multiple of 1, which is the same for a diagonal B.

    Parameters
    ----------
    centre : Kernel
        The kernel with the highest density, of the same kind as the tuned one.
    width : float

    Examples
    --------
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import GaussianPrior, Point
    >>> prior = GaussianPrior(Gaussian(0.5))
    >>> prior.evaluate(Point(Gaussian(0.5), C=1.0)).value
    -0.0
    """

    def __init__(self, centre: Kernel, width: float = 2.0) -> None:
        if not width > 0:
            raise ValueError(f"width must be positive, got {width}")
        self.centre, self.width = centre, width
        self._theta = centre.theta
        if isinstance(centre, MetricGaussian):
            level = float(centre.metric[0, 0])
            if not np.allclose(centre.metric, level * np.eye(len(centre.metric))):
                raise ValueError("centre must have a metric that is a multiple of 1")
            self._level = 2.0 * np.log(level)

    def evaluate(self, point: Point) -> Evaluation:
        kernel = point.kernel
        if isinstance(kernel, MetricGaussian):
            values, vectors = np.linalg.eigh(kernel.metric)
            away = 2.0 * np.log(values) - self._level
            slope = Chart(kernel).gradient(vectors * (-2.0 * away / values) @ vectors.T)
        else:
            away = kernel.theta - self._theta
            slope = -away
        value = -0.5 * float(away @ away) / self.width**2
        return Evaluation(value, point.gradient(slope / self.width**2, 0.0))


class LogPosterior(Objective[Point]):
    """Log-likelihood of the held-out samples plus the logarithm of a prior (9.2.3), to be
    maximised.

    If no vector is bounded, the likelihood does not depend on C. The derivative in log C is then
    set to a small negative value, which leads sign-based optimisers off the plateau (12.1). If the
    likelihood of a split depends on no parameter, because all or too few of its samples are
    classified correctly, C stays where it is.

    Parameters
    ----------
    likelihood : LogLikelihood
    prior : Prior
        For example a `GaussianPrior` around `median_gamma`.
    nudge : float
        The size of that value.

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import GaussianPrior, LogLikelihood, LogPosterior, Point, median_gamma
    >>> X, y = chess_board(200, random_state=0)
    >>> start = Gaussian(median_gamma(X, y))
    >>> objective = LogPosterior(LogLikelihood(X, y, random_state=0), GaussianPrior(start))
    >>> value, gradient = objective.evaluate(Point(start, C=1.0))
    """

    maximise = True

    def __init__(self, likelihood: Objective[Point], prior: Prior, nudge: float = 1e-8) -> None:
        self.likelihood, self.prior, self.nudge = likelihood, prior, nudge
        self.noisy = likelihood.noisy

    def evaluate(self, point: Point) -> Evaluation:
        likelihood, prior = self.likelihood.evaluate(point), self.prior.evaluate(point)
        assert likelihood.gradient is not None
        assert prior.gradient is not None
        gradient = likelihood.gradient + prior.gradient
        if not point.fixed and gradient[-1] == 0.0 and likelihood.gradient.any():
            gradient[-1] = -self.nudge
        return Evaluation(likelihood.value + prior.value, gradient)

    def state(self) -> dict[str, Any]:
        return self.likelihood.state()

    def restore(self, state: dict[str, Any]) -> None:
        self.likelihood.restore(state)
