"""Matrices of inputs for linear machines."""

import numpy as np

from maxmargin.solvers.linear import as_matrix


def test_heavy_columns_of_equal_norm_are_taken_in_their_order():
    X = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], size=(20, 300))
    norms = (X**2).sum(axis=0)
    heaviest = sorted(range(300), key=lambda column: -norms[column])[:50]
    np.testing.assert_array_equal(as_matrix(X).heavy_columns(50), X[:, heaviest])
