"""Checks that the pages of chapters 2 to 5 and 9 to 11 rest on."""

import json

import numpy as np
import pytest

from maxmargin.kernels import Gaussian
from maxmargin.tuning import KernelPolarisation, Point, RadiusMargin
from reproduction import chapter04, chapter05, chapter09, chapter10, chapter11
from reproduction.items import Verdict, items, printed
from reproduction.runs import Run

ILLUSTRATIONS = (
    "figure-2.1",
    "figure-3.1",
    "figure-3.2",
    "figure-4.1",
    "figure-4.2",
    "figure-5.1",
    "figure-13.2",
    "lecture-losses",
    "lecture-lagrange",
    "lecture-box",
    "lecture-margins",
    "lecture-coordinates",
    "lecture-tree",
)


@pytest.mark.parametrize("key", ILLUSTRATIONS)
def test_illustrations_hold_with_another_seed(key, tmp_path):
    item = items()[key]
    results = json.loads(json.dumps(item.compute(Run(key, 1, first_seed=5, folder=tmp_path))))
    assert item.show(results, printed(key)).verdict is Verdict.REPRODUCED


def test_wrong_step_of_the_sub_problem_is_noticed(tmp_path):
    results = chapter04.two_variables(Run("x", 1, folder=tmp_path))
    results["clipped"]["step"] += 0.1
    assert chapter04.show_two_variables(results, {}).verdict is Verdict.DIFFERS


@pytest.fixture
def samples():
    random = np.random.default_rng(0)
    X = random.standard_normal((30, 2))
    return X, np.where(X[:, 0] + 0.5 * random.standard_normal(30) > 0, 1, -1)


@pytest.mark.parametrize("selection", ["mvp", "second order"])
def test_newton_gains_are_at_least_the_bound_of_lemma_5_2(samples, selection):
    problem = chapter05.machine(*samples, Gaussian(0.5), 1.0)
    found = chapter05.trace(problem, selection)
    bound = chapter05.sigma(problem, selection) * np.array(found["violations"]) ** 2
    assert (np.array(found["gains"]) >= bound * (1 - 1e-9)).all()
    assert found["gaps"][-1] < 1e-6 * found["f"]
    assert (np.diff(found["gaps"]) <= 1e-12).all()


def test_copies_of_samples_make_a_problem_degenerate(samples):
    X, y = samples
    alone = chapter05.machine(X, y, Gaussian(0.5), 1.0)
    twice = chapter05.machine(np.repeat(X, 2, axis=0), np.repeat(y, 2), Gaussian(0.5), 1.0)
    assert not any(chapter05.degeneracy(alone))
    assert chapter05.degeneracy(twice).dimension > 0


def test_optimum_at_a_bound_by_chance_is_degenerate():
    """Two samples at distance 2 have α = 1/2 each: with C = 1/2 both are at the bound."""
    X, y = np.array([[-1.0], [1.0]]), np.array([-1, 1])

    def kernel(A):
        return A @ A.T

    assert chapter05.degeneracy(chapter05.machine(X, y, kernel, 0.5)).at_bounds == 2
    assert not any(chapter05.degeneracy(chapter05.machine(X, y, kernel, 0.6)))


def test_plateaus_count_once_as_local_minima():
    values = np.array([[0.0, 1, 2, 1], [0, 3, 2, 3], [5, 5, 5, 0]])
    assert chapter09.local_minima(values) == 3
    assert chapter09.local_minima(np.ones((3, 3))) == 1


def test_slopes_of_the_theorems_are_those_of_differences():
    X, y = chapter09.closest_pair_example(0, equal=False)
    gamma, h = 2.0, 1e-5

    def difference(objective):
        low, high = (
            objective.value(Point(Gaussian(gamma * np.exp(s * h)), np.inf, fixed=True))
            for s in (-1, 1)
        )
        return (high - low) / (2 * h)

    quotient, polarisation = chapter09.slopes(X, y, gamma)
    assert quotient == pytest.approx(difference(RadiusMargin(X, y)), rel=1e-4)
    assert polarisation == pytest.approx(difference(KernelPolarisation(X, y)), rel=1e-4)


def test_fixed_size_keeps_support_vectors_few(monkeypatch):
    monkeypatch.setattr(chapter10, "SAMPLES", 120)
    monkeypatch.setattr(chapter10, "TEST", 500)
    monkeypatch.setattr(chapter10, "MARKS", (0, 20))
    free, fixed = (chapter10.descent(case, 0) for case in ("E", "D"))
    assert free["quotient"][-1] < free["quotient"][0]
    assert fixed["support"][-1] < free["support"][-1]


def test_walk_ends_at_the_mean_of_a_skewed_slope(tmp_path, monkeypatch):
    monkeypatch.setattr(chapter11, "EVALUATIONS", 30_000)
    results = chapter11.skewed_slope(Run("x", 1, folder=tmp_path))
    page = chapter11.show_skewed_slope(results, printed("figure-11.3"))
    assert page.verdict is Verdict.REPRODUCED
    assert page.reason.endswith("where its mean vanishes.")
