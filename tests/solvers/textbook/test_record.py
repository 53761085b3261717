"""What the textbook solvers keep between steps."""

import numpy as np

from maxmargin.dual import hinge
from maxmargin.solvers.textbook.record import Recorder


def test_projected_gradient_is_zero_where_it_points_out_of_the_box():
    run = Recorder(hinge(np.array([1.0, 1.0, -1.0, -1.0]), 1.0).problem, np.eye(4))
    # α = 0: the first two may rise only, the last two fall only.
    run.gradient = np.array([0.25, -0.25, 0.25, -0.25])
    np.testing.assert_array_equal(run.projected_gradient(), [0.25, 0.0, 0.0, -0.25])
