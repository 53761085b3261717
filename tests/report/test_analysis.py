"""Baselines, figures by class, worst errors and importance say what a count by hand says."""

import numpy as np
import pytest

from maxmargin import SVC, SVR
from maxmargin.models import HeldOut
from maxmargin.report.analysis import (
    REMEDIES,
    baselines,
    by_class,
    importance,
    remedy,
    rounded,
    worst_errors,
)
from maxmargin.solvers import STATUSES

NONE = np.empty(0)
TARGET = np.array(["a", "a", "a", "b"])
SAID = np.array(["a", "a", "b", "b"])
DECISION = np.array([-3.0, -0.5, 2.0, 1.0])
TESTED = HeldOut(TARGET, SAID, DECISION, NONE)
CLASSES = np.array(["a", "b"])


def test_baseline_of_classes_is_the_most_frequent_one():
    lines = dict(baselines(TESTED, CLASSES).lines)
    assert lines["this model"] == "75.0 %"
    assert lines["always a"] == "75.0 %"
    assert lines["at random, in proportion"] == "62.5 %"


def test_baselines_of_numbers_are_median_and_mean():
    true, said = np.array([0.0, 0.0, 3.0]), np.array([0.0, 1.0, 3.0])
    model, median, mean = baselines(HeldOut(true, said, NONE, NONE), None).lines
    assert model[1:] == ("0.3333", "0.5774")
    assert median[1] == "1"
    assert mean[2] == f"{np.std(true):.4g}"


def test_classes_have_precision_recall_and_f1():
    first, second = by_class(TESTED, CLASSES).lines
    assert first == ("a", "100.0 %", "66.7 %", "80.0 %", "3")
    assert second == ("b", "50.0 %", "100.0 %", "66.7 %", "1")


def test_worst_errors_are_wrong_and_surest_first():
    (line,) = worst_errors(TESTED, CLASSES).lines
    assert line == ("3", "a", "b", "2")
    right = HeldOut(TARGET, TARGET, DECISION, NONE)
    assert worst_errors(right, CLASSES) is None


def test_of_several_errors_the_surest_come_first():
    target, said = np.array(list("aabbb")), np.array(list("bbaab"))
    by_margin = HeldOut(target, said, np.array([0.5, 3.0, -1.0, -2.0, 9.0]), NONE)
    assert [line[0] for line in worst_errors(by_margin, CLASSES).lines] == ["2", "4", "3", "1"]
    likely = np.array([0.6, 0.7, 0.1, 0.2, 1.0])
    by_probability = HeldOut(target, said, NONE, np.column_stack([1.0 - likely, likely]))
    lines = worst_errors(by_probability, CLASSES).lines
    assert [(line[0], line[3]) for line in lines] == [
        ("3", "90 %"), ("4", "80 %"), ("2", "70 %"), ("1", "60 %"),
    ]  # fmt: skip


def test_worst_errors_of_numbers_are_the_largest():
    true, said = np.array([0.0, 1.0, 2.0]), np.array([0.5, 1.0, 4.0])
    lines = worst_errors(HeldOut(true, said, NONE, NONE), None).lines
    assert lines[0] == ("3", "2", "4", "-2")


@pytest.mark.parametrize("estimator", [SVC(C=10.0), SVR(C=10.0)])
def test_feature_that_decides_comes_first(estimator):
    X = np.random.default_rng(0).normal(size=(200, 4))
    y = X[:, 2] if isinstance(estimator, SVR) else X[:, 2] > 0
    found = importance(estimator.fit(X, y), X, y, ["size", "shape", "colour", "age"])
    assert found.lines[0][0] == "colour"


def test_texts_have_no_importance():
    assert importance(None, np.array(["ACGT", "TTTT"]), None, None) is None


def test_every_end_but_the_good_one_has_a_remedy():
    known = set(REMEDIES) - {""}
    assert set(STATUSES) - {"converged", "target"} <= known
    assert remedy("no such status") == REMEDIES[""]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gaussian(gamma=(0.123456789, 2.0))", "Gaussian(gamma=(0.1235, 2.0))"),
        ("gamma=1.2345678901e-05", "gamma=1.235e-05"),
        ("Polynomial(degree=3)", "Polynomial(degree=3)"),
    ],
)
def test_long_numbers_are_rounded(text, expected):
    assert rounded(text) == expected
