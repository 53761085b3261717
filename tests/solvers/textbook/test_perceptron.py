"""The perceptron by hand."""

import numpy as np
import pytest

from maxmargin.solvers.textbook import kernel_perceptron, perceptron

X = np.array([[1.0, 0.0], [3.0, 1.0], [-1.0, 2.0]])
Y = np.array([1.0, -1.0, 1.0])


def by_hand(epochs):
    """w and b move at each sample that is not strictly on its side."""
    w, b, mistakes = np.zeros(2), 0.0, []
    for _ in range(epochs):
        for i in range(3):
            if Y[i] * (X[i] @ w + b) <= 0:
                w, b = w + Y[i] * X[i], b + Y[i]
                mistakes.append(i)
    return w, b, mistakes


@pytest.mark.parametrize("epochs", [1, 2, 50])
def test_mistakes_move_the_plane(epochs):
    w, b, mistakes = by_hand(epochs)
    found, dual = (
        perceptron(X, Y, max_epochs=epochs),
        kernel_perceptron(X @ X.T, Y, max_epochs=epochs),
    )
    assert found.trace == dual.trace == mistakes
    assert found.mistakes == dual.mistakes == len(mistakes)
    np.testing.assert_allclose(found.weights, w)
    assert found.intercept == dual.intercept == b
    np.testing.assert_array_equal(dual.weights, np.bincount(mistakes, minlength=3))
    assert found.status == dual.status == ("converged" if epochs == 50 else "step_limit")


def test_a_sample_on_the_plane_is_a_mistake():
    # After the first mistake w·x + b of the second is exactly 0.
    points, labels = [[2.0], [-0.5]], [1, -1]
    found = perceptron(points, labels)
    assert found.trace[:2] == [0, 1]
    table = np.array([[4.0, -1.0], [-1.0, 0.25]])
    assert kernel_perceptron(table, labels).trace == found.trace
