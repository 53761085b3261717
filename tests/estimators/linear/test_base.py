"""What all linear machines share."""

import numpy as np

from maxmargin import LinearSVC
from maxmargin.estimators.linear import base


def test_outputs_in_blocks_of_rows_are_those_at_once(monkeypatch):
    X = np.random.default_rng(0).normal(size=(61, 2))
    model = LinearSVC().fit(X, X[:, 0] > 0)
    monkeypatch.setattr(base, "BLOCK_ENTRIES", 1)
    new = X[::-1] + 1.0
    # Before the expected outputs, which uninitialised memory might repeat.
    found = model.decision_function(new)
    expected = new @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
