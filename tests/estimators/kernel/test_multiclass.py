"""Several classes: pairs and one against the rest, shared Gram blocks, threads."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from maxmargin import SVC, NuSVC
from maxmargin.dual import hinge
from maxmargin.estimators.kernel.multiclass import packed, pairs, scores, unpacked, votes
from maxmargin.kernels import Gaussian, Linear
from maxmargin.solvers import costs


def digits(samples=400):
    X, y = load_digits(return_X_y=True)
    return X[:samples] / 16.0, y[:samples]


def test_pairs_are_in_the_order_of_their_classes():
    assert pairs(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_unpacking_undoes_packing():
    random = np.random.default_rng(0)
    codes = random.integers(0, 4, 30)
    coef = []
    for i, j in pairs(4):
        values = random.normal(size=30) * (random.random(30) < 0.5)
        coef.append(np.where((codes == i) | (codes == j), values, 0.0))
    dual_coef, support, n_support = packed(coef, codes, 4)
    assert dual_coef.shape == (3, support.size)
    np.testing.assert_array_equal(unpacked(dual_coef, n_support), np.array(coef)[:, support])


def test_each_pair_is_the_machine_of_its_two_classes():
    X, y = load_iris(return_X_y=True)
    together = SVC(gamma=0.5, decision_function_shape="ovo").fit(X, y).decision_function(X)
    for column, (i, j) in enumerate(pairs(3)):
        both = (y == i) | (y == j)
        alone = SVC(gamma=0.5).fit(X[both], y[both]).decision_function(X)
        assert np.abs(together[:, column] + alone).max() < 1e-9


def test_each_class_against_the_rest_is_a_machine_of_its_own():
    X, y = load_iris(return_X_y=True)
    model = SVC(gamma=0.5, multi_class="ovr").fit(X, y)
    decisions = model.decision_function(X)
    assert model.dual_coef_.shape == (3, model.support_.size)
    for c in range(3):
        alone = SVC(gamma=0.5).fit(X, y == c).decision_function(X)
        assert np.abs(decisions[:, c] - alone).max() < 1e-9
    np.testing.assert_array_equal(model.predict(X), np.argmax(decisions, axis=1))


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_weights_of_features_give_the_decisions(multi_class):
    X, y = digits()
    model = SVC(kernel="linear", multi_class=multi_class, decision_function_shape="ovo").fit(X, y)
    assert model.coef_.shape == (45 if multi_class == "ovo" else 10, 64)
    np.testing.assert_allclose(
        X @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-10
    )


def test_votes_are_pairs_won_and_a_draw_is_won_by_the_second():
    decisions = np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [0.0, 1.0, -1.0]])
    np.testing.assert_array_equal(votes(decisions, 3), [[2, 1, 0], [0, 1, 2], [1, 1, 1]])


def test_scores_order_classes_by_votes_and_then_by_decisions():
    decisions = np.random.default_rng(0).normal(scale=10.0, size=(1000, 6))
    won = votes(decisions, 4)
    assert np.abs(scores(decisions, 4) - won).max() < 1 / 3
    assert scores(np.array([[3.0, -1.0, 0.5]]), 3).argmax() == 0


def test_certificates_are_one_for_each_pair_and_name_the_worst():
    X, y = load_iris(return_X_y=True)
    model = SVC().fit(X, y)
    assert len(model.certificate_) == 3
    assert model.certificate_.names == ("0 vs 1", "0 vs 2", "1 vs 2")
    assert model.certificate_.violation == max(c.violation for c in model.certificate_)
    assert repr(model.certificate_).startswith("Certificates of 3 problems, worst of ")
    assert "relative gap" in repr(model.certificate_)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("make", [SVC, lambda **p: NuSVC(nu=0.1, **p)], ids=["SVC", "NuSVC"])
def test_threads_change_nothing(make, multi_class):
    X, y = digits()
    one = make(multi_class=multi_class, probability=True).fit(X, y)
    many = make(multi_class=multi_class, probability=True, n_jobs=4).fit(X, y)
    np.testing.assert_array_equal(one.support_, many.support_)
    assert np.abs(one.dual_coef_ - many.dual_coef_).max() < 1e-7
    assert np.abs(one.predict_proba(X) - many.predict_proba(X)).max() < 1e-7


class Counting(Gaussian):
    """A kernel that counts the entries it computes."""

    entries = 0

    def _fill(self, left, right, out):
        type(self).entries += out.size
        super()._fill(left, right, out)


@pytest.mark.parametrize("composed", [False, True])
def test_pairs_share_what_they_can(composed):
    """Vectors one matrix, computed at once; others, whose values are expensive, no entry twice."""
    X, y = digits(600)
    sizes = np.bincount(y)
    Counting.entries = 0
    kernel = Counting(0.5) + Linear() if composed else Counting(0.5)
    model = SVC(kernel=kernel).fit(X, y)
    between = (sizes.sum() ** 2 - (sizes**2).sum()) // 2
    most = between + (sizes**2).sum() if composed else sizes.sum() ** 2
    assert 0 < Counting.entries <= most
    assert most < sum((sizes[i] + sizes[j]) ** 2 for i, j in pairs(10)) / (3 if composed else 1.5)
    assert model.fit_status_ == 0


def test_pairs_that_do_not_fit_into_memory_are_solved_all_the_same(monkeypatch):
    X, y = digits()
    expected = SVC(gamma=0.5).fit(X, y).decision_function(X)
    monkeypatch.setattr(costs, "GENEROUS", 0)
    model = SVC(gamma=0.5, cache_size=0.02, solver="rows").fit(X, y)
    assert np.abs(model.decision_function(X) - expected).max() < 1e-7


def test_labels_may_be_strings_and_numbers_with_gaps():
    X, y = load_iris(return_X_y=True)
    codes = SVC().fit(X, y).predict(X)
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)
    np.testing.assert_array_equal(SVC().fit(X, names[y]).predict(X), names[codes])
    np.testing.assert_array_equal(SVC().fit(X, 10 * y - 7).predict(X), 10 * codes - 7)


def test_nu_too_large_for_some_pairs_is_a_fraction_there_with_a_warning():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [40, 40, 10])
    X = random.normal(size=(90, 2)) + y[:, None]
    with pytest.warns(UserWarning, match=r"nu=0.5 is more than .* 0 vs 2, 1 vs 2"):
        model = NuSVC().fit(X, y)
    alone = NuSVC(nu=0.5 * 2 * 10 / 50, gamma=model.kernel_.gamma).fit(X[y != 1], y[y != 1])
    column = NuSVC(decision_function_shape="ovo").set_params(gamma=model.kernel_.gamma)
    with pytest.warns(UserWarning, match="nu=0.5"):
        decisions = column.fit(X, y).decision_function(X)[:, 1]
    assert np.abs(decisions + alone.decision_function(X)).max() < 1e-7


def test_nu_too_large_for_two_classes_is_an_error():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 8])
    with pytest.raises(ValueError, match="specified nu is infeasible"):
        NuSVC().fit(random.normal(size=(48, 2)), y)


def test_class_weights_of_one_change_nothing_for_nu():
    X, y = load_iris(return_X_y=True)
    plain = NuSVC(nu=0.2).fit(X, y)
    weighted = NuSVC(nu=0.2, class_weight={0: 1.0}).fit(X, y)
    assert np.abs(plain.decision_function(X) - weighted.decision_function(X)).max() < 1e-7


def test_class_weights_multiply_the_price_that_nu_stands_for():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    plain = NuSVC(nu=0.3).fit(X, y)
    price = np.abs(plain.dual_coef_).max()
    weighted = NuSVC(nu=0.3, class_weight={1: 3.0}).fit(X, y)
    expected = SVC(C=price, class_weight={1: 3.0}).fit(X, y)
    assert np.abs(weighted.decision_function(X) - expected.decision_function(X)).max() < 1e-7


def test_certificate_of_a_pair_is_that_of_its_problem():
    X, y = load_iris(return_X_y=True)
    model = SVC(gamma=0.5, C=2.0).fit(X, y)
    both = y != 2
    problem = hinge(np.where(y[both] == 0, 1.0, -1.0), 2.0).problem
    K = Gaussian(0.5)(X[both], X[both])
    coef = np.zeros(len(X))
    columns = np.flatnonzero(y[model.support_] != 2)
    coef[model.support_[columns]] = model.dual_coef_[0, columns]
    alpha = coef[both]
    assert model.certificate_[0].dual == pytest.approx(
        problem.linear @ alpha - 0.5 * alpha @ K @ alpha, rel=1e-12
    )
