"""Intercepts of inputs far from 0, with all digits that a float has."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from maxmargin import NuSVC
from maxmargin.estimators.conditioning import intercept_at_origin

FORMS = {
    "dense": np.asarray,
    "single": lambda X: X.astype(np.float32),
    "sparse": sparse.csr_array,
}


def weights(coef, X):
    """Σ_i coef_i x_i in fractions."""
    X = X.toarray() if sparse.issparse(X) else X
    rows = [[Fraction(float(a)) * Fraction(float(x)) for x in row] for a, row in zip(coef, X)]
    return [sum(column) for column in zip(*rows)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1e-60, 1.0, 1e60])
def test_intercept_has_all_digits_where_its_terms_are_far_larger(form, size):
    rng = np.random.default_rng(0)
    # As float32, inputs of 1e60 would be infinite.
    size = min(max(size, 1e-20), 1e20) if form == "single" else size
    X = size * rng.normal(size=(37, 3))
    X[:, 0], X[:, 2] = 1e14 * size, X[:, 2] + 1e9 * size
    X = FORMS[form](X)
    # Of few digits, so that their sum is exactly 0.
    coef = rng.integers(-1000, 1000, size=37) / 2.0**10
    coef[5] = 0.0
    coef[-1] -= coef.sum()
    coef /= 2.0 ** (2 * round(np.log2(size)))
    centre = np.asarray(X.mean(axis=0), dtype=np.float64)
    if form == "sparse":
        centre[1] = 0.0
    w = weights(coef, X)
    expected = Fraction(0.5) - sum(v * Fraction(c) for v, c in zip(w, centre))
    found = intercept_at_origin(0.5, coef, X, centre)
    assert w[0] == 0
    assert float(found) == float(expected)
    assert abs(found - expected) <= 1e-20 * abs(float(expected))


def test_kernel_values_that_vanish_are_called_too_small():
    X = np.array([[2e-77], [-3e-78]])
    model = NuSVC(kernel="poly", gamma=0.135, degree=2, nu=0.45)
    with pytest.raises(ValueError, match=r"are too small for float64.*Scale the inputs"):
        model.fit(X, [-1, 1])
