"""Figures of quality, their intervals and their words."""

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from maxmargin.dual import Certificate
from maxmargin.models import HeldOut, Measure
from maxmargin.report.measures import (
    area_under_roc,
    mean_share,
    of_classes,
    of_numbers,
    resampled,
    share,
    square_error,
)
from maxmargin.report.words import gap_in_words, measure_in_words, percent

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(("hits", "count"), [(0, 10), (3, 10), (10, 10), (970, 1000)])
def test_interval_of_a_share_is_wilsons(hits, count):
    expected = stats.binomtest(hits, count).proportion_ci(method="wilson")
    found = share("accuracy", hits, count)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_interval_covers_the_truth_as_often_as_it_says():
    covered = 0
    for _ in range(200):
        target = RANDOM.normal(size=80)
        predicted = target + RANDOM.normal(scale=0.5, size=80)
        error = resampled("root mean square error", square_error, target, predicted)
        covered += error.low <= 0.5 <= error.high
    assert covered / 200 > 0.88


def test_bootstrap_interval_of_a_mean_is_that_of_95_percent():
    random = np.random.default_rng(0)
    ratios = []
    for _ in range(40):
        sample = random.normal(size=400)
        found = resampled("mean", np.mean, sample)
        normal = 2 * 1.96 * sample.std() / np.sqrt(sample.size)
        ratios.append((found.high - found.low) / normal)
    # An interval of 90 % has 0.84 of this length, one of 98 % has 1.19.
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.03)


def test_area_is_that_of_scikit_learn_with_ties():
    positive = RANDOM.integers(2, size=100)
    decision = RANDOM.integers(6, size=100) + positive
    expected = metrics.roc_auc_score(positive, decision)
    assert area_under_roc(positive, decision) == pytest.approx(expected)


def test_numbers_are_measured_as_scikit_learn_does():
    target, predicted = RANDOM.normal(size=(2, 50))
    found = [measure.value for measure in of_numbers(HeldOut(target, predicted))]
    scores = metrics.r2_score, metrics.mean_absolute_error, metrics.root_mean_squared_error
    assert found == pytest.approx([score(target, predicted) for score in scores])


def test_classes_are_measured_by_accuracy_balance_and_area():
    classes = np.array(["no", "yes"])
    target = np.array(["no"] * 8 + ["yes"] * 2)
    predicted = np.array(["no"] * 8 + ["yes", "no"])
    decision = np.array([-2.0, -1, -3, -1, -2, -1, -2, -0.5, 1.0, -0.75])
    found = {m.name: m.value for m in of_classes(HeldOut(target, predicted, decision), classes)}
    assert found == {
        "accuracy": 0.9,
        "balanced accuracy": 0.75,
        "area under ROC": pytest.approx(15 / 16),
    }


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0.0, "at the best possible objective, to all digits of float64"),
        (3e-6, "at most 0.0003 % above the best possible objective"),
        (0.0123, "at most 1.3 % above the best possible objective"),
        (0.5, "at most 50 % above the best possible objective"),
        (np.inf, "not proven to be close to the optimum"),
    ],
)
def test_certificate_in_words(gap, words):
    assert gap_in_words(Certificate(1.0, 1.0 - gap, gap, 0.0, 0.0)) == words


@pytest.mark.parametrize("value", [1.01e-9, 3.3e-5, 0.00123, 0.0999, 1.01, 12.3, 99.1])
def test_percent_is_never_rounded_down(value):
    shown = float(percent(value))
    assert value <= shown <= 1.1 * value


def test_share_below_one_never_reads_as_hundred():
    said = measure_in_words(Measure("accuracy", 0.9997, 0.9994, 0.99985))
    assert said == "accuracy 99.97 % (99.94 – 99.98)"
    assert (
        measure_in_words(Measure("accuracy", 1.0, 0.95, 1.0)) == "accuracy 100.0 % (95.0 – 100.0)"
    )


def test_an_r2_or_area_below_one_never_reads_as_one():
    said = measure_in_words(Measure("R²", 0.9999996, 0.99999912, 0.9999999))
    assert said == "R² 0.9999996 (0.999999 – 0.9999999)"
    said = measure_in_words(Measure("area under ROC", 0.99996, 0.9998, 1.0))
    assert said == "area under ROC 0.99996 (0.9998 – 1)"
    assert measure_in_words(Measure("mean absolute error", 0.99999, 0.9, 1.1)) == (
        "mean absolute error 1 (0.9 – 1.1)"
    )


def test_a_share_without_an_error_reads_as_hundred_without_more_digits():
    assert measure_in_words(share("accuracy", 30, 30)) == "accuracy 100.0 % (88.6 – 100.0)"


def test_interval_of_the_balanced_accuracy_covers_the_truth_with_a_rare_class():
    recall, sizes = np.array([0.95, 0.6]), np.array([60, 8])
    random, covered = np.random.default_rng(1), 0
    for _ in range(1000):
        found = mean_share("balanced accuracy", random.binomial(sizes, recall), sizes)
        covered += found.low <= recall.mean() <= found.high
    assert 0.93 < covered / 1000 < 0.99


def test_balanced_accuracy_of_a_missed_class_is_not_taken_for_perfect():
    """Resamples that lack the rare class are right throughout."""
    target = np.array(["no"] * 28 + ["yes"] * 2)
    predicted = np.full(30, "no")
    balanced = of_classes(HeldOut(target, predicted), np.array(["no", "yes"]))[1]
    assert balanced.value == 0.5
    assert balanced.low < 0.5
    assert balanced.high < 0.9


def test_figures_without_an_error_have_an_interval():
    target = np.array([0, 1] * 10)
    held_out = HeldOut(target, target, target - 0.5, np.empty(0))
    for measure in of_classes(held_out, np.array([0, 1])):
        assert measure.value == measure.high == 1.0
        assert 0.5 < measure.low < 0.9


def test_measure_in_words():
    assert measure_in_words(Measure("accuracy", 0.972, 0.951, 0.984)) == (
        "accuracy 97.2 % (95.1 – 98.4)"
    )
    assert measure_in_words(Measure("R²", 0.5, np.nan, np.nan)) == "R² 0.5"


def test_small_gap_is_told_without_powers_of_ten():
    assert percent(4e-5) == "0.00004"
    assert percent(1.23e-8) == "0.000000013"
