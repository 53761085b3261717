"""A kernel that faces fixed points writes the same blocks as a call does."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.kernels import Gaussian, Linear, Polynomial, Sigmoid

KERNELS = [Linear(), Gaussian(0.4), Polynomial(3, 0.5, 1.0), Sigmoid(0.1, 0.2)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_are_those_of_a_call(kernel, form, dtype):
    rng = np.random.default_rng(0)
    A, B = (rng.normal(size=(n, 30)) * (rng.random((n, 30)) < 0.05) for n in (7, 5))
    A, B = A.astype(dtype), B.astype(dtype)
    write = kernel.evaluator(form(B), dtype)
    for part in (slice(0, 3), slice(3, 7)):
        block = np.empty((part.stop - part.start, 5), dtype=dtype)
        write(form(A[part]), block)
        np.testing.assert_allclose(block, kernel(A[part], B), rtol=1e-5, atol=1e-6)


def test_other_features_are_refused():
    write = Gaussian(1.0).evaluator(np.ones((2, 3)), np.float64)
    with pytest.raises(ValueError, match="same number of features, got 4 and 3"):
        write(np.ones((1, 4)), np.empty((1, 2)))
