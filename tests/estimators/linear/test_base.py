"""What all linear machines share."""

import numpy as np

from maxmargin import LinearSVC
from maxmargin.estimators.linear import base


def test_outputs_in_blocks_of_rows_are_those_at_once(monkeypatch):
    X = np.random.default_rng(0).normal(size=(61, 2))
    model = LinearSVC().fit(X, X[:, 0] > 0)
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 1)
    expected = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-12)
