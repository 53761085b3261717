"""What a search found, in words."""

import numpy as np

from maxmargin.kernels import Gaussian
from maxmargin.tuning import Outcome, Point, Stage
from maxmargin.tuning.optimizers import Result

POINT = Point(Gaussian(0.123456), C=7.654321)
HISTORY = {"value": np.array([0.5, 0.75])}


def stage(what, value, at_limits=()):
    return Stage(what, Result(POINT, value, 2, 0.25, "converged", 0, at_limits), HISTORY)


def test_a_search_is_told_in_words_stage_by_stage():
    stages = [stage("iRprop+ on the alignment", 0.75), stage("path of C", 0.125)]
    assert str(Outcome(POINT, "hinge", 0.875, stages)).splitlines() == [
        "the search:",
        "  iRprop+ on the alignment: 2 evaluations in 0.25 s; from 0.5 to 0.75",
        "  path of C: 2 evaluations in 0.25 s; smallest error 0.125",
        "C = 7.654, Gaussian(gamma=0.1235)",
    ]


def test_an_early_end_and_limits_of_parameters_are_told():
    found = Outcome(POINT, "hinge", 0.875, [stage("path of C", 0.125, ("log_C",))], "time_limit")
    assert "; the best C is the limit of the search\n" in str(found)
    assert "\nthe time limit ended the search early; the best point so far:\n" in str(found)


def test_the_representation_leaves_out_the_history():
    assert "array" not in repr(Outcome(POINT, "hinge", 0.875, [stage("path of C", 0.125)]))
