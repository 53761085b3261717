"""Probabilities: sigmoids fitted on left-out samples, coupled, and never at odds with predict."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from maxmargin import SVC, NuSVC
from maxmargin.estimators.kernel.training import probability as sigmoids_of
from maxmargin.estimators.kernel.training.probability import (
    Sigmoids,
    coupled,
    favouring,
    fitted_sigmoid,
    probabilities,
    stratified_folds,
)
from maxmargin.estimators.kernel.training.problems import Trainer


def noisy(samples=150, classes=2, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, samples)
    return random.normal(size=(samples, 2)) + y[:, None], y


@pytest.mark.parametrize("probability", [True, "platt"])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("make", [SVC, lambda **p: NuSVC(nu=0.3, **p)], ids=["SVC", "NuSVC"])
def test_largest_probability_is_that_of_the_predicted_class(
    make, classes, multi_class, probability
):
    X, y = noisy(classes=classes)
    model = make(probability=probability, multi_class=multi_class).fit(X, y)
    near = np.random.default_rng(1).uniform(-3, 3 + classes, size=(3000, 2))
    inputs = np.vstack([X, near])
    distribution = model.predict_proba(inputs)
    np.testing.assert_array_equal(model.classes_[distribution.argmax(1)], model.predict(inputs))
    assert (distribution >= 0).all()
    np.testing.assert_allclose(distribution.sum(axis=1), 1.0, atol=1e-12)


def test_probabilities_follow_ties_broken_by_decisions():
    X, y = load_iris(return_X_y=True)
    model = SVC(gamma=50.0, probability=True, break_ties=True).fit(X, y)
    far = np.random.default_rng(0).normal(scale=4.0, size=(2000, 4))
    np.testing.assert_array_equal(model.predict_proba(far).argmax(axis=1), model.predict(far))


def test_boundary_has_probability_one_half():
    X, y = noisy()
    model = SVC(probability=True, kernel="linear").fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    on_boundary = np.array([-b * w / (w @ w)])
    np.testing.assert_allclose(model.predict_proba(on_boundary), 0.5, atol=1e-12)
    np.testing.assert_array_equal(model.probB_, 0.0)
    assert (model.probA_ < 0).all()


def test_probability_is_the_sigmoid_of_the_decision():
    X, y = noisy()
    model = SVC(probability="platt").fit(X, y)
    decision = -model.decision_function(X)
    first = 1.0 / (1.0 + np.exp(model.probA_ * decision + model.probB_))
    away = np.abs(first - 0.5) > 0.1
    np.testing.assert_allclose(model.predict_proba(X)[away, 0], first[away], rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 4])
def test_same_random_state_gives_the_same_bits(classes):
    X, y = noisy(classes=classes)
    first = SVC(probability=True, random_state=5).fit(X, y).predict_proba(X)
    again = SVC(probability=True, random_state=5).fit(X, y).predict_proba(X)
    other = SVC(probability=True, random_state=6).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0


def test_no_random_state_is_repeatable_too():
    X, y = noisy()
    first, again = (SVC(probability=True).fit(X, y).probA_ for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("classes", [2, 3])
def test_order_of_the_samples_does_not_matter(classes):
    X, y = noisy(classes=classes)
    order = np.random.default_rng(2).permutation(len(y))
    straight = SVC(probability=True).fit(X, y).predict_proba(X)
    shuffled = SVC(probability=True).fit(X[order], y[order]).predict_proba(X)
    assert np.abs(straight - shuffled).max() < 1e-7


def test_probabilities_of_unseen_samples_are_better_than_confident_guesses():
    X, y = load_digits(return_X_y=True)
    model = SVC(probability=True, gamma=0.001).fit(X[:900], y[:900])
    loss = log_loss(y[900:], model.predict_proba(X[900:]))
    assert loss < 0.25
    assert loss < log_loss(y[900:], np.eye(10)[model.predict(X[900:])])


def test_folds_share_out_both_classes_and_depend_on_content_alone():
    random = np.random.default_rng(0)
    keys = random.integers(0, 2**63, 103).astype(np.uint64)
    labels = np.where(random.random(103) < 0.3, 1.0, -1.0)
    fold, count = stratified_folds(keys, labels, seed=3)
    assert count == 5
    for label in (-1.0, 1.0):
        sizes = np.bincount(fold[labels == label], minlength=5)
        assert np.ptp(sizes) <= 1
    order = random.permutation(103)
    np.testing.assert_array_equal(stratified_folds(keys[order], labels[order], 3)[0], fold[order])


def test_class_with_one_sample_has_probabilities():
    X, y = noisy(20)
    y[:] = 0
    y[3] = 1
    model = SVC(probability=True).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


def negative_log_likelihood(theta, decisions, labels, weight):
    above, below = weight[labels > 0].sum(), weight[labels < 0].sum()
    target = np.where(labels > 0, (above + 1) / (above + 2), 1 / (below + 2))
    z = theta[0] * decisions + (theta[1] if len(theta) > 1 else 0.0)
    p = 1 / (1 + np.exp(z))
    return -(weight * (target * np.log(p) + (1 - target) * np.log(1 - p))).sum()


@pytest.mark.parametrize("two_parameters", [False, True])
def test_sigmoid_has_the_largest_likelihood(two_parameters):
    random = np.random.default_rng(4)
    labels = np.repeat([1.0, -1.0], [30, 50])
    decisions = labels + random.normal(size=80) + 0.4
    weight = random.integers(1, 4, 80).astype(float)
    slope, offset = fitted_sigmoid(decisions, labels, weight, two_parameters)
    data = (decisions, labels, weight)
    if two_parameters:
        best = minimize(negative_log_likelihood, [-1.0, 0.0], args=data, tol=1e-12).x
        np.testing.assert_allclose([slope, offset], best, atol=1e-5)
    else:
        best = minimize_scalar(lambda s: negative_log_likelihood([s], *data)).x
        assert slope == pytest.approx(best, abs=1e-6)
        assert offset == 0.0


@pytest.mark.parametrize("two_parameters", [False, True])
@pytest.mark.parametrize("decisions", [[1.0, 2.0, -1.0], [-1.0, -2.0, 1.0], [0.0, 0.0, 0.0]])
def test_sigmoid_always_rises(decisions, two_parameters):
    labels = np.array([1.0, 1.0, -1.0])
    slope, _ = fitted_sigmoid(np.array(decisions), labels, np.ones(3), two_parameters)
    assert -np.inf < slope < 0


def test_coupling_gives_back_a_distribution_that_pairs_agree_on():
    p = np.array([0.5, 0.2, 0.2, 0.1])
    first = [p[i] / (p[i] + p[j]) for i in range(4) for j in range(i + 1, 4)]
    np.testing.assert_allclose(coupled(np.array([first])), [p], atol=1e-12)


def test_coupling_minimises_the_disagreement_of_pairs():
    random = np.random.default_rng(5)
    first = random.random((1, 6))
    r = np.zeros((4, 4))
    r[np.triu_indices(4, 1)] = first[0]
    r = r + np.tril(1 - r.T, -1)

    def disagreement(p):
        return sum(
            (r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(4) for j in range(4) if i != j
        )

    bounds, total = [(0, 1)] * 4, {"type": "eq", "fun": lambda p: p.sum() - 1}
    best = minimize(disagreement, np.full(4, 0.25), bounds=bounds, constraints=total, tol=1e-14)
    np.testing.assert_allclose(coupled(first)[0], best.x, atol=1e-5)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_favouring_is_the_nearest_distribution_with_the_winner_first(classes, seed):
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.ones(classes), size=4)
    p[0] = 1 / classes
    winners = random.integers(0, classes, 4)
    q = favouring(p.copy(), winners)
    np.testing.assert_array_equal(q.argmax(axis=1), winners)
    np.testing.assert_allclose(q.sum(axis=1), 1.0, atol=1e-12)
    for before, after, winner in zip(p, q, winners):
        # p − q is normal to the cone {q_winner ≥ q_k}: it pushes others down, and q is on the edge.
        push = before - after
        assert all(push[k] > -1e-12 for k in range(classes) if k != winner)
        edge = np.abs(after - after[winner]) < 1e-10
        assert all(edge[k] or abs(push[k]) < 1e-12 for k in range(classes))


def test_probabilities_against_the_rest_are_normalised_sigmoids():
    sigmoids = Sigmoids(np.full(3, -1.0), np.zeros(3))
    p = probabilities(np.array([[2.0, -1.0, 0.0]]), sigmoids, False, np.array([0]))
    expected = 1 / (1 + np.exp([-2.0, 1.0, 0.0]))
    np.testing.assert_allclose(p[0], expected / expected.sum(), rtol=1e-14)


def test_logarithms_are_those_of_the_probabilities():
    X, y = noisy(classes=3)
    model = SVC(probability=True).fit(X, y)
    expected = np.log(model.predict_proba(X))
    np.testing.assert_array_equal(model.predict_log_proba(X), expected)


def test_probabilities_must_be_asked_for_before_the_fit():
    X, y = noisy()
    model = SVC().fit(X, y)
    assert not hasattr(model, "predict_proba")
    model.probability = True
    with pytest.raises(NotFittedError, match="set probability=True and fit again"):
        model.predict_proba(X)


def test_small_pairs_solved_together_give_the_probabilities_of_single_fits(monkeypatch):
    X, y = load_iris(return_X_y=True)
    model = SVC(C=2.0, probability=True, tol=1e-9, gap=1e-9, random_state=0)
    together = model.fit(X, y).predict_proba(X)
    plain_fits, plain_fit = [], Trainer.plain_fit
    counted = lambda *given: plain_fits.append(1) or plain_fit(*given)  # noqa: E731
    monkeypatch.setattr(Trainer, "plain_fit", counted)
    model.fit(X, y)
    assert not plain_fits
    monkeypatch.setattr(sigmoids_of, "solved_together", lambda *_: None)
    alone = model.fit(X, y).predict_proba(X)
    assert len(plain_fits) == 3 * sigmoids_of.FOLDS
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_precomputed_kernels_of_several_classes_have_probabilities():
    X, y = noisy(classes=3)
    K = X @ X.T
    model = SVC(kernel="precomputed", probability=True).fit(K, y)
    np.testing.assert_array_equal(model.predict_proba(K).argmax(axis=1), model.predict(K))
