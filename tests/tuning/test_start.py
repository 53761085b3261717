"""Where searches begin: the median heuristic, subsamples, and limits of a kernel's coordinates."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.kernels import Gaussian, Linear, MetricGaussian, Polynomial
from maxmargin.tuning import gaussian_start, median_gamma
from maxmargin.tuning import start as starting
from maxmargin.tuning.start import (
    feature_variance,
    halves,
    kernel_limits,
    semi_definite,
    subsample,
    widened,
)


def gamma_of(X, y):
    """1/(2m²) over all pairs of different classes, in a loop."""
    pairs = [(a, b) for a in range(len(X)) for b in range(a) if y[a] != y[b]]
    return 0.5 / np.median([np.linalg.norm(X[a] - X[b]) for a, b in pairs]) ** 2


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_gamma_is_that_of_the_median_distance_between_classes(form):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 3)), random.integers(3, size=30)
    assert median_gamma(form(X), y) == pytest.approx(gamma_of(X, y))
    one = random.normal(size=(9, 2))
    assert median_gamma(form(one), np.zeros(9)) == pytest.approx(gamma_of(one, np.arange(9)))


def test_coincident_samples_leave_the_median_to_the_others():
    X = np.array([[0.0], [0.0], [0.0], [0.0], [0.5]])
    assert median_gamma(X, [0, 1, 0, 1, 1]) == 2.0
    assert median_gamma(np.zeros((4, 1)), [0, 1, 0, 1]) == 0.5
    # A few that coincide are part of the median.
    assert median_gamma(np.array([[0.0], [0.0], [1.0], [3.0]]), [0, 1, 1, 1]) == 0.5


def test_large_sets_are_represented_by_samples_drawn_with_the_seed(monkeypatch):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(50, 2)), random.integers(2, size=50)
    monkeypatch.setattr(starting, "SUBSAMPLE", 50)
    assert median_gamma(X, y) == pytest.approx(gamma_of(X, y))
    monkeypatch.setattr(starting, "SUBSAMPLE", 20)
    assert median_gamma(X, y) == median_gamma(X, y, random_state=0)
    seeds = {median_gamma(X, y, random_state=seed) for seed in range(4)}
    assert len(seeds) == 4
    assert all(0.5 < found / gamma_of(X, y) < 2 for found in seeds)
    monkeypatch.setattr(starting, "SUBSAMPLE", 2)
    apart = np.array([[0.0], [10.0], [30.0]])
    assert all(
        median_gamma(apart, [0, 1, 2], seed) <= 0.005 for seed in range(20)
    )  # no sample twice


def test_targets_are_halved_at_their_median():
    assert halves([3.0, 1.0, 2.0, 9.0]).tolist() == [True, False, False, True]
    assert halves([3.0, 1.0, 2.0]).tolist() == [True, False, False]


def test_the_start_has_the_metric_asked_for():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(20, 3)), random.integers(2, size=20)
    expected = Gaussian(gamma_of(X, y))(X)
    for metric in ("radial", "diagonal", "full"):
        np.testing.assert_allclose(gaussian_start(X, y, metric)(X), expected)
    sizes = [gaussian_start(X, y, metric).theta.size for metric in ("radial", "diagonal")]
    assert sizes == [1, 3]
    with pytest.raises(ValueError, match="metric must be"):
        gaussian_start(X, y, "wide")


def test_a_widened_kernel_has_its_gammas_multiplied():
    X = np.random.default_rng(0).normal(size=(6, 2))
    for kernel in (Gaussian(0.3), Gaussian((0.3, 0.5)), MetricGaussian.isotropic(0.3, 2)):
        np.testing.assert_allclose(widened(kernel, 4.0)(X), kernel(X) ** 4)
    assert widened(Linear(), 4.0) is None
    assert widened(MetricGaussian.isotropic(0.3, 2, freeze=("size",)), 4.0) is None


def test_a_subsample_keeps_the_shares_of_the_classes():
    codes = np.array([0] * 60 + [1] * 30 + [2] * 10)
    chosen = subsample(codes, 20, seed=0)
    assert np.bincount(codes[chosen]).tolist() == [12, 6, 2]
    assert (np.diff(chosen) > 0).all()
    assert subsample(codes, 20, seed=1).tolist() != chosen.tolist()
    rare = np.array([0] * 98 + [1] * 2)
    assert np.bincount(rare[subsample(rare, 10, seed=0)]).tolist() == [10, 2]
    assert subsample(codes, 100, seed=0).tolist() == list(range(100))


def test_coordinates_stay_within_reach_and_semi_definite():
    low, high = kernel_limits(Gaussian(0.5))
    np.testing.assert_allclose([low, high], [[np.log(0.5) - 12.0], [np.log(0.5) + 12.0]])
    kernel = Gaussian(0.5)
    assert semi_definite(kernel) is kernel
    mended = semi_definite(Polynomial(3, 0.5, coef0=-0.25))
    np.testing.assert_allclose(mended.theta, [np.log(0.5), 0.0])
    assert kernel_limits(Polynomial(3, 0.5, coef0=2.0))[0].tolist() == [np.log(0.5) - 12.0, 0.0]


def test_variance_in_feature_space_is_the_mean_squared_distance_from_the_centre(monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert feature_variance(Linear(), X) == pytest.approx(X.var(axis=0).sum())
    assert feature_variance(Linear(), np.ones((4, 2))) == 1.0
    monkeypatch.setattr(starting, "VARIANCE_SAMPLES", 10)
    assert feature_variance(Linear(), X) == pytest.approx(X[:10].var(axis=0).sum())
