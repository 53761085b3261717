"""Losses, conjugates and violations of linear machines."""

import numpy as np

from maxmargin.solvers.linear import logistic
from maxmargin.solvers.linear.certificate import loss_values, violations


def test_without_its_violations_the_logistic_loss_meets_its_conjugate():
    rng = np.random.default_rng(0)
    y, C = np.tile([1.0, -1.0], 10), rng.uniform(0.5, 2.0, 20)
    residual, beta, loss = y - rng.normal(size=20), 0.3 * C * y, logistic(y, C)
    missing = violations(loss, residual, beta)
    assert (np.abs(missing) > 1e-3).all()
    assert loss_values(loss, residual, beta)[1].min() > 1e-6
    np.testing.assert_allclose(loss_values(loss, residual, beta + missing)[1], 0.0, atol=1e-14)
