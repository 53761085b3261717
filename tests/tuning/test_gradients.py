"""Every gradient against central differences, for every kernel, at random points."""

import numpy as np
import pytest
from tuning.problems import KERNELS, assert_gradient, blobs, board

from maxmargin.kernels import CombinedOligo, Gaussian, Linear, MetricGaussian
from maxmargin.tuning import (
    FixedSplits,
    GaussianPrior,
    KernelPolarisation,
    KernelTargetAlignment,
    LogLikelihood,
    LogPosterior,
    Point,
    RadiusMargin,
    SpanBound,
    Split,
    folds,
)

WITH_PARAMETERS = pytest.mark.parametrize(
    "kernel", [KERNELS[name] for name in KERNELS if name != "linear"]
)
# Not semi-definite: its machines have no unique optimum to differentiate.
DEFINITE = pytest.mark.parametrize(
    "kernel", [KERNELS[name] for name in KERNELS if name != "sigmoid"]
)
SEEDS = pytest.mark.parametrize("seed", range(3))


def shaken(kernel, seed):
    """A kernel at a random place near the given one."""
    random = np.random.default_rng(seed)
    return kernel.moved(0.1 * random.standard_normal(len(kernel.parameter_names)))


@SEEDS
@WITH_PARAMETERS
@pytest.mark.parametrize("objective", [KernelTargetAlignment, KernelPolarisation])
def test_alignment(objective, kernel, seed):
    X, y = blobs(seed=seed)
    assert_gradient(objective(X, y), Point(shaken(kernel, seed), fixed=True))


@SEEDS
def test_alignment_of_three_classes(seed):
    X, _ = blobs(seed=seed)
    y = np.random.default_rng(seed).integers(3, size=len(X))
    assert_gradient(KernelTargetAlignment(X, y), Point(Gaussian([0.4, 1.0]), fixed=True))


@pytest.mark.parametrize("kept", [0, 4096])
def test_alignment_by_stripes_is_the_alignment_at_once(monkeypatch, kept):
    X, y = blobs(300)
    point = Point(Gaussian([0.3, 0.7]), fixed=True)
    whole = KernelTargetAlignment(X, y).evaluate(point)
    monkeypatch.setattr("maxmargin.tuning.objectives.alignment.STRIPE_SIZE", 20_000)
    monkeypatch.setattr("maxmargin.tuning.costs.LARGEST_MATRIX", kept)
    striped = KernelTargetAlignment(X, y).evaluate(point)
    np.testing.assert_allclose(striped.value, whole.value, rtol=1e-13)
    np.testing.assert_allclose(striped.gradient, whole.gradient, rtol=1e-10)


@SEEDS
@DEFINITE
@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
def test_likelihood_of_one_split(kernel, C, seed):
    X, y = blobs(seed=seed)
    splits = FixedSplits(folds(y.astype(float), 4, seed)[:1])
    assert_gradient(LogLikelihood(X, y, splits), Point(shaken(kernel, seed), C))


@DEFINITE
def test_likelihood_of_several_splits(kernel):
    X, y = blobs()
    splits = FixedSplits(folds(y.astype(float), 4, 0))
    assert_gradient(LogLikelihood(X, y, splits), Point(kernel, 2.0))


def test_likelihood_of_sequences():
    random = np.random.default_rng(0)
    X = ["".join(random.choice(list("ACGT"), 12)) for _ in range(40)]
    y = np.array([1 if x[3] in "AC" else -1 for x in X])
    splits = FixedSplits(folds(y.astype(float), 4, 0))
    assert_gradient(LogLikelihood(X, y, splits), Point(CombinedOligo((1.0, 2.0)), 1.0))


@SEEDS
def test_likelihood_without_free_vectors(seed):
    """A tiny C puts everything at its bound where the classes are of equal size."""
    X, y = blobs(seed=seed)
    train = np.concatenate([np.flatnonzero(y == label)[:12] for label in (-1, 1)])
    test = np.setdiff1d(np.arange(len(y)), train)
    objective = LogLikelihood(X, y, FixedSplits([Split(train, test)]))
    assert_gradient(objective, Point(Gaussian([0.4, 0.8]), C=1e-3))


@SEEDS
@pytest.mark.parametrize(
    "kernel", [Gaussian(0.4), Gaussian([0.3, 0.7]), MetricGaussian([[0.9, 0.2], [0.2, 0.6]])]
)
def test_posterior(kernel, seed):
    X, y = blobs(seed=seed)
    centre = Gaussian(0.1) if kernel.theta.size == 1 else Gaussian([0.1, 0.1])
    if isinstance(kernel, MetricGaussian):
        centre = MetricGaussian.isotropic(0.1, 2)
    prior = GaussianPrior(centre)
    splits = FixedSplits(folds(y.astype(float), 4, seed)[:1])
    assert_gradient(LogPosterior(LogLikelihood(X, y, splits), prior), Point(kernel, 2.0))


@SEEDS
@DEFINITE
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_span_bound(kernel, C, seed):
    X, y = blobs(seed=seed)
    assert_gradient(SpanBound(X, y), Point(shaken(kernel, seed), C), step=1e-5)


@SEEDS
@pytest.mark.parametrize("kernel", [Linear(), Gaussian([0.3, 0.7])])
@pytest.mark.parametrize("C", [0.2, 5.0])
def test_span_bound_by_refitting(kernel, C, seed):
    X, y = blobs(seed=seed)
    assert_gradient(SpanBound(X, y, refit=True), Point(kernel, C))


@SEEDS
def test_span_bound_without_free_vectors(seed):
    X, y = blobs(60, seed=seed)
    balanced = np.concatenate([np.flatnonzero(y == label)[:20] for label in (-1, 1)])
    assert_gradient(SpanBound(X[balanced], y[balanced]), Point(Gaussian([0.4, 0.8]), C=1e-3))


@SEEDS
@DEFINITE
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_radius_margin_of_the_squared_hinge(kernel, C, seed):
    X, y = blobs(seed=seed)
    assert_gradient(RadiusMargin(X, y), Point(shaken(kernel, seed), C))


@SEEDS
@pytest.mark.parametrize("name", ["radial", "diagonal", "full", "full of fixed size"])
def test_radius_margin_of_the_hard_margin(name, seed):
    X, y = board(seed=seed, noise=0.0)
    kernel = shaken(KERNELS[name], seed)
    assert_gradient(RadiusMargin(X, y), Point(kernel, np.inf, fixed=True))
