"""The benchmark's own primal, dual and gap are those of the certificate, and read every library."""

from dataclasses import asdict

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse

from benchmarks.contenders import OWN, PEERS
from benchmarks.problems import Problem
from benchmarks.recompute import Model, figures
from maxmargin.dual import certify, epsilon_svr, hinge, nu_svc, nu_svr, one_class
from maxmargin.kernels import Gaussian

GAMMA = 0.5
SAMPLES = np.random.default_rng(0).normal(size=(90, 3))
NOISE = np.random.default_rng(1).normal(size=90)
LABELS = np.where(SAMPLES[:, 0] + NOISE > 0, 1, -1)
CLASSES = np.digitize(SAMPLES[:, 0] + 0.5 * NOISE, [-0.7, 0.0, 0.7])


def tiny(estimator="SVC", **parameters):
    return Problem("tiny", 90, 3, {"gamma": GAMMA, **parameters}, estimator=estimator)


def fitted(problem, y, X=SAMPLES):
    """A model that is recognisably not at the optimum."""
    model = getattr(sklearn.svm, problem.estimator)(**problem.parameters, tol=0.1).fit(X, y)
    coef = model.dual_coef_.toarray() if sparse.issparse(X) else model.dual_coef_
    return Model(coef, model.support_, model.intercept_)


def spread(model):
    alpha = np.zeros(len(SAMPLES))
    alpha[model.support] = model.dual_coef[0]
    return alpha


def certificate(dual_machine, alpha, intercept, samples=slice(None)):
    gram = Gaussian(GAMMA).bind(SAMPLES[samples], np.float64)
    return certify(dual_machine.problem, alpha, gram, np.atleast_1d(intercept))


def assert_equal(found, certificates):
    assert found.primal == pytest.approx(sum(c.primal for c in certificates), rel=1e-12)
    assert found.dual == pytest.approx(sum(c.dual for c in certificates), rel=1e-12)
    worst = max(c.relative_gap for c in certificates)
    assert worst > 1e-4
    assert found.relative_gap == pytest.approx(worst, rel=1e-9)


def test_figures_of_classification_are_those_of_the_certificate():
    problem = tiny(C=2.0)
    model = fitted(problem, LABELS)
    proof = certificate(hinge(LABELS, 2.0), spread(model), model.intercept[0])
    assert_equal(figures(problem, SAMPLES, LABELS, model), [proof])


def test_figures_of_regression_are_those_of_the_certificate():
    problem = tiny("SVR", C=2.0, epsilon=0.1)
    model = fitted(problem, NOISE)
    alpha = spread(model)
    both = np.concatenate([np.maximum(alpha, 0), np.minimum(alpha, 0)])
    proof = certificate(epsilon_svr(NOISE, 2.0, 0.1), both, model.intercept[0])
    assert_equal(figures(problem, SAMPLES, NOISE, model), [proof])


def test_figures_of_novelty_detection_are_those_of_the_certificate():
    problem = tiny("OneClassSVM", nu=0.3)
    model = fitted(problem, None)
    proof = certificate(one_class(90, 0.3), spread(model), model.intercept[0])
    assert_equal(figures(problem, SAMPLES, None, model), [proof])


def test_figures_of_nu_classification_undo_the_division_by_the_margin():
    problem = tiny("NuSVC", nu=0.4)
    model = fitted(problem, LABELS)
    rho = 0.4 * 90 / np.abs(model.dual_coef).sum()
    biases = rho * (model.intercept[0] + np.array([-1.0, 1.0]))  # of the positives, the negatives
    proof = certificate(nu_svc(LABELS, 0.4), rho * spread(model), biases)
    assert_equal(figures(problem, SAMPLES, LABELS, model), [proof])


def test_figures_of_nu_regression_are_those_of_the_certificate_of_the_best_tube():
    problem = tiny("NuSVR", C=2.0, nu=0.3)
    model = fitted(problem, NOISE)
    alpha, b = spread(model), model.intercept[0]
    both = np.concatenate([np.maximum(alpha, 0), np.minimum(alpha, 0)])
    tubes = np.linspace(0.0, 2.0, 2001)
    proofs = [certificate(nu_svr(NOISE, 0.3, 2.0), both, [b + e, b - e]) for e in tubes]
    best = min(proofs, key=lambda proof: proof.primal)
    found = figures(problem, SAMPLES, NOISE, model)
    assert found.dual == pytest.approx(best.dual, rel=1e-12)
    assert found.primal == pytest.approx(best.primal, rel=1e-4)
    assert found.primal <= best.primal * (1 + 1e-12)
    assert found.relative_gap == pytest.approx(1 - found.dual / found.primal, rel=1e-9)


def test_figures_of_several_classes_are_sums_and_the_worst_gap():
    problem = tiny(C=2.0)
    model = fitted(problem, CLASSES)
    own, proofs = CLASSES[model.support], []
    for (i, j), b in zip([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], model.intercept):
        alpha = np.zeros(90)
        alpha[model.support[own == i]] = model.dual_coef[j - 1, own == i]
        alpha[model.support[own == j]] = model.dual_coef[i, own == j]
        pair = np.flatnonzero(np.isin(CLASSES, (i, j)))
        labels = np.where(CLASSES[pair] == i, 1, -1)
        proofs.append(certificate(hinge(labels, 2.0), alpha[pair], b, pair))
    assert_equal(figures(problem, SAMPLES, CLASSES, model), proofs)


@pytest.mark.parametrize("contender", [*OWN, *PEERS], ids=lambda contender: contender.name)
@pytest.mark.parametrize("y", [LABELS, CLASSES], ids=["two classes", "four classes"])
def test_models_of_every_library_are_read_alike(contender, y):
    if (why := contender.missing()) is not None:
        pytest.skip(why)
    problem = tiny(C=2.0)
    X = SAMPLES.astype(contender.dtype)
    model = contender.estimator(problem, tol=1e-6).fit(X, y)
    model = Model(model.dual_coef_, model.support_, model.intercept_)
    assert figures(problem, X, y, model).relative_gap < 1e-5


def test_figures_do_not_depend_on_the_form_of_the_inputs():
    problem = tiny(C=2.0)
    X = np.where(np.abs(SAMPLES) < 0.5, 0.0, SAMPLES)
    model = fitted(problem, LABELS, sparse.csr_matrix(X))
    dense, csr = (figures(problem, form, LABELS, model) for form in (X, sparse.csr_matrix(X)))
    # The mean is subtracted from dense inputs only.
    assert asdict(dense) == pytest.approx(asdict(csr), rel=1e-9)


def test_two_points_at_their_bounds_are_counted_and_valued_by_hand():
    C, k = 0.1, np.exp(-4 * GAMMA)
    problem = Problem("two points", 2, 1, {"C": C, "gamma": GAMMA})
    model = Model(np.array([[-C, C]]), np.array([0, 1]), np.array([0.0]))
    found = figures(problem, np.array([[-1.0], [1.0]]), np.array([-1, 1]), model)
    assert (found.support, found.bounded, found.kernel_entries) == (2, 2, 4)
    assert found.dual == pytest.approx(2 * C - C**2 * (1 - k), rel=1e-14)
    assert found.primal == pytest.approx(found.dual, rel=1e-14)
    assert found.infeasibility == 0.0


def test_coefficients_beyond_C_are_infeasible():
    problem = Problem("two points", 2, 1, {"C": 0.1, "gamma": GAMMA})
    model = Model(np.array([[-0.2, 0.2]]), np.array([0, 1]), np.array([0.0]))
    found = figures(problem, np.array([[-1.0], [1.0]]), np.array([-1, 1]), model)
    assert found.infeasibility == pytest.approx(0.1 / 0.4)


def test_support_vectors_of_one_pair_need_no_kernel_values_with_other_classes():
    problem, y = tiny(C=2.0), np.array([0, 0, 1, 1, 1, 2])
    # Class 0 has a coefficient against class 1 only, class 1 against 0, class 2 none at all.
    model = Model(np.array([[1.0, -1.0], [0.0, 0.0]]), np.array([0, 2]), np.zeros(3))
    assert figures(problem, SAMPLES[:6], y, model).kernel_entries == 2 * 5
