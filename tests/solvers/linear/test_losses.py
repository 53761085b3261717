"""Losses of linear machines."""

import numpy as np
import pytest

from maxmargin.solvers.linear import CLASSIFICATION


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_scaled_losses_are_those_of_scaled_costs(name):
    rng = np.random.default_rng(0)
    y, C = np.tile([1.0, -1.0], 5), rng.uniform(0.5, 2.0, 10)
    scaled, expected = CLASSIFICATION[name](y, C).scaled(3.0), CLASSIFICATION[name](y, 3.0 * C)
    assert (scaled.kind, scaled.epsilon) == (expected.kind, expected.epsilon)
    for field in ("target", "lower", "upper", "ridge"):
        np.testing.assert_allclose(getattr(scaled, field), getattr(expected, field), rtol=1e-14)
