"""Small problems, kernels and central differences shared by the tests of tuning."""

import numpy as np

from maxmargin.data import chess_board, two_blobs
from maxmargin.kernels import Gaussian, Linear, MetricGaussian, Normalised, Polynomial, Sigmoid
from maxmargin.tuning import costs, course, strategies
from maxmargin.tuning.regression import strategies as regression

KERNELS = {
    "linear": Linear(),
    "polynomial": Polynomial(2, 0.5, 1.0),
    "radial": Gaussian(0.4),
    "diagonal": Gaussian([0.3, 0.7]),
    "full": MetricGaussian([[0.9, 0.2], [0.2, 0.6]]),
    "full of fixed size": MetricGaussian([[0.9, 0.2], [0.2, 0.6]], ["size"]),
    "sum": 0.5 * Gaussian(0.4) + 0.2 * Linear(),
    "product": Gaussian(0.2) * Polynomial(1, 0.3, 1.0),
    "normalised": Normalised(Polynomial(2, 0.5, 1.0)),
    "sigmoid": Sigmoid(0.05, -0.5),
}


def blobs(n=40, seed=0):
    return two_blobs(n, distance=1.5, random_state=seed)


def board(n=60, seed=0, noise=0.1):
    return chess_board(n, fields=2, noise=noise, random_state=seed)


def search_briefly(monkeypatch):
    """Search on coarser grids and without repeated folds, where what is found does not matter."""
    for module in (course, strategies, regression):
        for name in ("SCAN_GAMMA", "SCAN_C"):
            monkeypatch.setattr(module, name, getattr(module, name)[1::2])
    monkeypatch.setattr(costs, "REPEATS", 1)


def central_differences(objective, point, step=1e-6):
    """The derivative along each coordinate, by the values left and right of the point."""
    differences = []
    for i in range(len(point.names)):
        delta = np.zeros(len(point.names))
        delta[i] = step
        above, below = objective.value(point.moved(delta)), objective.value(point.moved(-delta))
        differences.append((above - below) / (2 * step))
    return np.array(differences)


def assert_gradient(objective, point, rtol=1e-5, step=1e-6):
    """The gradient is the central difference, up to the rounding of the values."""
    evaluation = objective.evaluate(point)
    differences = central_differences(objective, point, step)
    np.testing.assert_allclose(objective.value(point), evaluation.value, rtol=1e-9)
    rounding = 1e-13 * abs(evaluation.value) / step
    tolerance = rtol * np.abs(differences).max() + rounding
    np.testing.assert_allclose(evaluation.gradient, differences, rtol=0, atol=tolerance)
