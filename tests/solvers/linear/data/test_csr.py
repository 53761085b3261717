"""Compiled functions on matrices in CSR form."""

import numpy as np
from scipy import sparse

from maxmargin.solvers.linear.data.csr import dense_columns


def test_chosen_columns_are_copied_to_their_places():
    dense = np.array([[0.0, 2.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 5.0, 4.0]])
    X = sparse.csr_array(dense)
    out = np.zeros((3, 2), dtype=np.float32)
    dense_columns(X.indptr, X.indices, X.data, np.array([1, -1, -1, 0]), out)
    np.testing.assert_array_equal(out, dense[:, [3, 0]])
