"""Active learning: what is asked for, when it ends, and what it is worth."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons

from maxmargin import SVC, OnlineSVC
from maxmargin.estimators.online import active as active_learning

X, Y = make_moons(400, noise=0.2, random_state=0)


class Oracle:
    """Gives labels, and keeps what it was asked for."""

    def __init__(self, y):
        self.y, self.batches = y, []

    def __call__(self, indices):
        self.batches.append(indices)
        return self.y[indices]

    @property
    def asked(self):
        return np.concatenate(self.batches)


def trained(**parameters):
    return OnlineSVC(C=10.0, gamma=1.0, **parameters).fit(X[:100], Y[:100])


# ---- query -------------------------------------------------------------------------------------


def test_margin_asks_for_those_nearest_to_the_boundary_first():
    model = trained(querying="margin")
    distance = np.abs(model.decision_function(X[100:]))
    assert np.array_equal(model.query(X[100:], 7), np.argsort(distance)[:7])


def test_of_several_classes_those_with_the_closest_rivals_are_asked_for():
    iris, names = load_iris(return_X_y=True)
    model = OnlineSVC().fit(iris[::3], names[::3])
    values = np.sort(model.decision_function(iris), axis=1)
    lead = values[:, -1] - values[:, -2]
    assert np.array_equal(model.query(iris, 5), np.argsort(lead, kind="stable")[:5])


def test_random_asks_for_other_samples_after_every_lesson():
    model = trained(querying="random")
    first = model.query(X, 50)
    assert np.unique(first).size == 50
    assert np.array_equal(first, model.query(X, 50))
    model.partial_fit(X[:1], Y[:1])
    assert not np.array_equal(first, model.query(X, 50))


def test_auto_asks_for_the_nearest_of_a_few_random_ones(monkeypatch):
    model = trained(querying="auto")
    looked = []
    doubts = active_learning.doubts
    monkeypatch.setattr(
        active_learning, "doubts", lambda m, X, i: looked.append(i) or doubts(m, X, i)
    )
    chosen, _ = active_learning.queried(model, X, np.arange(len(X)), 2, look=10, enough=6)
    looked = np.concatenate(looked)
    distance = np.abs(model.decision_function(X))
    assert looked.size < 400
    assert (distance[looked] < 1).sum() >= 2 * 6
    assert np.array_equal(chosen, looked[np.argsort(distance[looked])[:2]])


def test_auto_looks_at_all_where_few_are_inside_the_margin():
    model = trained(querying="auto")
    outside = X[np.abs(model.decision_function(X)) > 1]
    distance = np.abs(model.decision_function(outside))
    assert np.array_equal(model.query(outside, 3), np.argsort(distance)[:3])


@pytest.mark.parametrize("querying", ["margin", "random", "auto"])
def test_a_small_pool_is_asked_for_as_a_whole(querying):
    assert sorted(trained(querying=querying).query(X[:3], 10)) == [0, 1, 2]


def test_who_knows_nothing_asks_at_random():
    chosen = OnlineSVC().query(X, 20)
    assert np.unique(chosen).size == 20
    assert not np.array_equal(chosen, np.arange(20))


def test_none_cannot_be_asked_for():
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        trained().query(X, 0)


# ---- fit_active --------------------------------------------------------------------------------


@pytest.mark.parametrize("querying", ["margin", "random", "auto"])
def test_labels_are_asked_for_once_in_batches_up_to_the_limit(querying):
    oracle = Oracle(Y)
    model = OnlineSVC(gamma=1.0, querying=querying)
    model.fit_active(X, oracle, max_labels=95, batch_size=20)
    assert [batch.size for batch in oracle.batches] == [20, 20, 20, 20, 15]
    assert np.unique(oracle.asked).size == 95
    assert np.array_equal(model.label_curve_.asked, oracle.asked)
    assert model.label_curve_.labels.tolist() == [20, 40, 60, 80, 95]
    assert model.label_curve_.reason == "max_labels"
    assert set(model.support_) <= set(oracle.asked)


@pytest.mark.parametrize("querying", ["margin", "auto"])
def test_it_ends_when_no_sample_without_label_is_inside_the_margin(querying):
    far, names = make_blobs(500, centers=[[-5, 0], [5, 0]], random_state=0)
    model = OnlineSVC(kernel="linear", C=100.0, querying=querying)
    model.fit_active(far, names.__getitem__, batch_size=5)
    curve = model.label_curve_
    unknown = np.setdiff1d(np.arange(500), curve.asked)
    assert curve.reason == "margin empty"
    assert curve.labels[-1] < 100
    assert (np.abs(model.decision_function(far[unknown])) >= 1).all()
    assert model.score(far, names) == 1.0


def test_the_whole_pool_leads_to_the_batch_machine():
    model = OnlineSVC(C=10.0, gamma=1.0, querying="random").fit_active(X, Y.__getitem__)
    assert model.label_curve_.reason == "pool empty"
    proof = model.finish(X, Y).certificate_
    assert proof.dual == pytest.approx(SVC(C=10.0, gamma=1.0).fit(X, Y).certificate_.dual, rel=1e-3)


def test_accuracy_is_that_on_the_test_samples():
    model = OnlineSVC(C=10.0, gamma=1.0)
    model.fit_active(X[:300], Y.__getitem__, max_labels=60, test=(X[300:], Y[300:]))
    curve = model.label_curve_
    assert curve.accuracy.size == curve.labels.size
    assert curve.accuracy[-1] == model.score(X[300:], Y[300:])


def test_without_test_samples_accuracy_is_that_on_the_labelled_ones():
    model = OnlineSVC(C=10.0, gamma=1.0).fit_active(X, Y.__getitem__, max_labels=60)
    asked = model.label_curve_.asked
    assert model.label_curve_.accuracy[-1] == model.score(X[asked], Y[asked])


def test_classes_that_appear_later_are_taken_up():
    order = np.argsort(Y, kind="stable")
    rare = np.array(["a", "b", "c"])[np.where(np.arange(400) == 7, 2, Y)]
    model = OnlineSVC(gamma=1.0, querying="random")
    model.fit_active(X[order], rare[order].__getitem__, batch_size=10)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert len(model.machines_.machines) == 3


def test_a_stream_goes_on_after_the_pool():
    model = OnlineSVC(gamma=1.0).fit_active(X[:300], Y.__getitem__, max_labels=60)
    model.partial_fit(X[300:], Y[300:])
    assert np.array_equal(X[model.support_], model.support_vectors_)


def test_it_is_repeatable():
    models = [OnlineSVC(querying="auto").fit_active(X, Y.__getitem__, max_labels=80) for _ in "ab"]
    one, other = (model.label_curve_ for model in models)
    assert np.array_equal(one.asked, other.asked)
    assert np.array_equal(one.accuracy, other.accuracy)


def test_labels_of_one_class_are_refused():
    with pytest.raises(ValueError, match=r"labels of one class, .*nothing to classify"):
        OnlineSVC().fit_active(X, lambda indices: np.ones(indices.size), max_labels=30)


def test_an_oracle_must_answer_every_question():
    with pytest.raises(ValueError, match=r"one label for each of 10 indices.*\(3,\)"):
        OnlineSVC().fit_active(X, lambda _: [0, 1, 1])


@pytest.mark.parametrize("limits", [{"max_labels": 0}, {"batch_size": 0}])
def test_limits_must_allow_a_label(limits):
    with pytest.raises(ValueError, match="max_labels and batch_size must be at least 1"):
        OnlineSVC().fit_active(X, Y.__getitem__, **limits)


def test_a_fifth_of_the_labels_of_usps_is_enough(real_data):
    pool, names = real_data("usps", dtype=np.float32)
    test = real_data("usps", "test", np.float32)
    parameters = {"C": 10.0, "gamma": 2 / 256}
    full = OnlineSVC(epochs=2, **parameters).fit(pool, names).score(*test)
    model = OnlineSVC(**parameters)
    model.fit_active(pool, names.__getitem__, max_labels=names.size // 5, test=test)
    assert model.label_curve_.accuracy[-1] >= 0.995 * full
