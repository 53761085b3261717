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


def test_a_second_path_that_is_worse_is_not_taken_and_says_so():
    stages = [stage("path of C", 0.125), stage("iRprop+ on the alignment", 0.75)]
    worse = [*stages, stage("path of C", 0.25, ("log_C",))]
    said = str(Outcome(POINT, "hinge", 0.875, worse)).splitlines()[3]
    assert said.endswith("; smallest error 0.25, so the point before stays")
    better = [*stages, stage("path of C", 0.0625)]
    assert str(Outcome(POINT, "hinge", 0.875, better)).splitlines()[3].endswith("error 0.0625")


def test_a_walk_without_gain_does_not_go_from_a_value_to_itself():
    said = str(Outcome(POINT, "hinge", 0.5, [stage("iRprop+ on the alignment", 0.50001)]))
    assert "; nothing better than 0.5\n" in said


def test_one_evaluation_and_two_limits_are_told_in_grammar():
    limits = stage("path of C", 0.5, ("log_gamma", "log_C"))
    said = str(Outcome(POINT, "hinge", 0.5, [limits]))
    assert "; the best gamma and C are limits of the search\n" in said
    single = Stage("coarse grid", Result(POINT, 0.5, 1, 0.25, "exhausted", 0, ()), HISTORY)
    assert "coarse grid: 1 evaluation in" in str(Outcome(POINT, "hinge", 0.5, [single]))


def test_a_path_judged_by_the_area_under_roc_tells_the_area():
    said = str(Outcome(POINT, "hinge", 0.75, [stage("path of C by the area under ROC", 0.25)]))
    assert "path of C by the area under ROC: 2 evaluations in 0.25 s; largest 0.75\n" in said


def test_the_representation_leaves_out_the_history():
    assert "array" not in repr(Outcome(POINT, "hinge", 0.875, [stage("path of C", 0.125)]))
