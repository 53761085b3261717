"""Matrices of inputs for linear machines."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.solvers.linear import as_matrix
from maxmargin.solvers.linear.costs import COSTS


def test_heavy_columns_of_equal_norm_are_taken_in_their_order():
    X = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], size=(20, 300))
    norms = (X**2).sum(axis=0)
    heaviest = sorted(range(300), key=lambda column: -norms[column])[:50]
    np.testing.assert_array_equal(as_matrix(X).heavy_columns(50), X[:, heaviest])


@pytest.mark.parametrize("parts", [1, 4])
def test_a_dense_array_of_few_entries_is_compressed_to_those_of_scipy(parts):
    random = np.random.default_rng(0)
    rows = parts * COSTS.worth_a_part // 500
    X = np.where(random.random((rows, 500)) < 0.1, random.normal(size=(rows, 500)), 0.0)
    found, expected = as_matrix(X), sp.csr_array(X)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
