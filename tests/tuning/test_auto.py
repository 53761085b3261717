"""AutoSVC and SVCSearch: scikit-learn's contract, reports, failure modes."""

import pickle
import warnings

import numpy as np
import pytest
from clock import Overrun
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tuning.problems import blobs, board, search_briefly

from maxmargin import SVC, AutoSVC, SVCSearch
from maxmargin.data import chess_board
from maxmargin.kernels import CombinedOligo, Gaussian, Linear, Polynomial
from maxmargin.tuning import folds, gaussian_start
from maxmargin.tuning.auto.classifier import effort, misrankings
from maxmargin.tuning.auto.correction import Correction, held_out, pays
from maxmargin.tuning.auto.scaling import divided, in_units, standard_deviations
from maxmargin.tuning.outcome import listed, rounded
from maxmargin.tuning.start import subsample


@parametrize_with_checks([AutoSVC(), SVCSearch(strategy="kta")])
def test_estimator_keeps_the_contract_of_scikit_learn(estimator, check, monkeypatch):
    search_briefly(monkeypatch)
    check(estimator)


def test_auto_learns_a_chess_board():
    X, y = chess_board(200, random_state=0)
    model = AutoSVC().fit(X, y)
    assert model.score(*chess_board(5000, random_state=1)) > 0.87
    assert model.search_.strategy == "cv-posterior"


def test_auto_ends_as_a_certified_svc():
    X, y = board(60)
    model = AutoSVC().fit(X, y)
    plain = SVC(C=model.C_, kernel=model.kernel_).fit(X, y)
    assert model.certificate_.relative_gap < 1e-9
    assert isinstance(model.svc_, SVC)
    np.testing.assert_allclose(model.dual_coef_, plain.dual_coef_)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("metric", ["radial", "diagonal", "full"])
def test_scale_of_the_inputs_does_not_matter(metric):
    X, y = blobs(60)
    stretched = X * [1e4, 1e-3] + [5.0, -2.0]
    one, two = (AutoSVC(metric=metric, strategy="kta").fit(data, y) for data in (X, stretched))
    assert pytest.approx(two.C_, rel=1e-6) == one.C_
    np.testing.assert_allclose(
        one.decision_function(X), two.decision_function(stretched), atol=1e-3
    )


def test_without_scaling_the_kernel_is_radial():
    X, y = blobs(60)
    model = AutoSVC(scale=False, strategy="kta").fit(X, y)
    assert model.kernel_.radial


def test_more_samples_bring_more_starts():
    few, many = AutoSVC().search(*board(60)), AutoSVC().search(*board(600))
    assert [stage.what for stage in few.stages] == [
        "coarse grid on the log-posterior",
        "iRprop+ on the log-posterior",
    ]
    assert [stage.what for stage in many.stages] == [
        "coarse grid on the log-posterior",
        "coarse grid",
        "iRprop+ on the kernel target alignment",
        "path of C",
        "better of two starts",
        "iRprop+ on the log-posterior",
    ]


def test_many_samples_end_with_cross_validation_of_two_kernels(monkeypatch):
    monkeypatch.setattr("maxmargin.tuning.costs.SCAN_SAMPLES", 60)
    monkeypatch.setattr("maxmargin.tuning.costs.WALK_SAMPLES", 100)
    chosen = AutoSVC().search(*board(300))
    errors = [stage.result.value for stage in chosen.stages if stage.what == "path of C"]
    assert len(errors) == 2
    assert chosen.score == 1.0 - min(errors)


def test_many_classes_are_tuned_by_their_votes():
    random = np.random.default_rng(0)
    centres = random.uniform(-4, 4, (8, 2))
    y = np.arange(160) % 8
    X = centres[y] + 0.4 * random.standard_normal((160, 2))
    model = AutoSVC().fit(X, y)
    coarse, fine = str(model.search_).splitlines()[1:3]
    # Errors on some of the folds are not compared with those on all of them.
    assert coarse.startswith("  path of C on 2 of 5 folds for 8 kernels: ")
    assert "error" not in coarse
    assert fine.startswith("  path of C for 3 kernels: ")
    assert "smallest error" in fine
    last = [stage.result for stage in model.search_.stages if stage.what == "path of C"]
    assert min(result.value for result in last) == pytest.approx(1.0 - model.search_.score)
    assert model.score(centres[y] + 0.4 * random.standard_normal((160, 2)), y) > 0.8


def test_large_sets_are_searched_on_a_part(monkeypatch):
    monkeypatch.setattr("maxmargin.tuning.costs.SEARCH_SAMPLES", 100)
    model = AutoSVC(strategy="kta").fit(*board(300))
    assert 95 <= model.search_.samples <= 105
    assert "of them" in model.search_.reason


class FixedLosses:
    """A machine whose held-out losses are a function of C; it counts its fits."""

    def __init__(self, loss):
        self.loss, self.tried, self.status_ = loss, [], "converged"

    def set_params(self, C=None, **others):
        del others
        self.C = C
        return self

    def fit(self, X, y):
        assert len(X) == len(y)
        self.tried.append(self.C)
        return self

    def losses(self, model, X, y):
        assert model is self
        assert len(X) == len(y)
        noise = np.random.default_rng(0).standard_normal(len(y))
        return np.log10(self.C / self.loss) ** 2 + 1.0 + noise


def corrected_C(best, start=1.0, **given):
    X, codes = np.zeros((500, 1)), np.arange(500) % 2
    machine = FixedLosses(best)
    data = held_out(X, codes, codes, None, 0)
    walk = Correction(machine, data, machine.losses, **given)
    return walk, walk.walk(start), machine.tried


@pytest.mark.parametrize(("best", "steps"), [(1.0, 0), (1e-1, -2), (10.0, 2), (1e-9, -3), (1e9, 3)])
def test_C_is_corrected_as_far_as_it_pays(best, steps):
    walk, C, tried = corrected_C(best)
    assert pytest.approx(10.0 ** (0.5 * steps)) == C
    assert walk.status == "finished"
    assert tried[0] == 1.0
    assert len(tried) <= 5
    told = walk.stage(Linear(), C)
    assert told.result.value == pytest.approx(min(told.history["value"]))


def test_equally_good_C_leave_that_of_the_search():
    """The change must exceed its standard error."""
    random = np.random.default_rng(0)
    assert not pays(random.standard_normal(100) - 0.01)
    assert pays(random.standard_normal(100) - 0.5)
    assert not pays(np.zeros(10))


def test_correction_for_the_area_under_roc_weighs_misrankings():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 2)).round(1), np.repeat(["a", "b"], [45, 15])
    model = SVC().fit(X, y)
    losses = misrankings(model, X, y)
    expected = 1.0 - roc_auc_score(y, model.decision_function(X))
    assert losses[:45].mean() == pytest.approx(expected)
    assert losses[45:].mean() == pytest.approx(expected)


def test_area_under_roc_is_what_many_samples_are_corrected_for(monkeypatch):
    monkeypatch.setattr("maxmargin.tuning.costs.SEARCH_SAMPLES", 60)
    X, y = chess_board(400, random_state=0)
    model = AutoSVC(strategy="kta", scoring="roc_auc").fit(X, y)
    values = model.search_.stages[-1].history["value"]
    # 80 samples are held out, 40 of each class: counts of errors would be multiples of 1/80.
    assert not np.allclose(values * 80, np.round(values * 80))


def test_logarithms_of_probabilities():
    model = AutoSVC(strategy="kta").fit(*board(60))
    np.testing.assert_array_equal(
        model.predict_log_proba(board(60)[0]), np.log(model.predict_proba(board(60)[0]))
    )


def test_correction_keeps_to_its_time_and_to_the_callback():
    walk, C, tried = corrected_C(10.0, seconds=0.0)
    assert (walk.status, C, tried) == ("time_limit", 1.0, [])
    walk, C, tried = corrected_C(10.0, callback=lambda now: now.evaluations == 2)
    assert (walk.status, C, len(tried)) == ("stopped", 1.0, 2)


def test_C_of_a_subsample_is_corrected_on_all_samples(monkeypatch):
    monkeypatch.setattr("maxmargin.tuning.costs.SEARCH_SAMPLES", 60)
    X, y = chess_board(800, random_state=0)
    model = AutoSVC(strategy="kta").fit(X, y)
    (told,) = [s for s in model.search_.stages if s.what == "path of C on 800 samples"]
    assert told.result.point.C == model.C_ == model.svc_.C
    assert "path of C on 800 samples: " in str(model.search_)
    before = model.search_.stages[-2].result.point.C
    assert 3 <= told.result.evaluations <= 7
    values = dict(zip(told.history["log_C"].round(6), told.history["value"]))
    assert told.result.value <= values[np.log(before).round(6)]
    assert model.certificate_.relative_gap < 1e-6


def test_search_says_what_was_done():
    model = AutoSVC().fit(*board(60))
    report = str(model.search_)
    assert "posterior" in report
    assert "iRprop+" in report
    assert "small data set (60 samples), thorough search" in report
    history = model.search_.history()
    assert len(history["value"]) == len(history["param_log_C"]) > 48


def test_time_limit_is_kept():
    X, y = board(400)
    AutoSVC(max_seconds=0.5).fit(X, y)
    with Overrun(1.0) as over:
        AutoSVC(max_seconds=1.0).fit(X, y)
    assert over.seconds < 0.5


@pytest.mark.parametrize("make", [AutoSVC, SVCSearch])
def test_three_classes_with_names(make):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = make().fit(X, names)
    assert set(model.classes_) == set(names)
    assert model.score(X, names) > 0.94


def test_probabilities_agree_with_predictions():
    X, y = blobs(80)
    model = AutoSVC(probability=True).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))


def test_probabilities_come_without_a_flag_and_can_be_refused():
    X, y = blobs(60)
    assert AutoSVC(strategy="kta").fit(X, y).predict_proba(X).shape == (60, 2)
    assert not hasattr(AutoSVC(probability=False), "predict_proba")


def test_probabilities_of_many_samples_are_fitted_when_first_asked_for(monkeypatch):
    X, y = blobs(60)
    expected = AutoSVC(strategy="kta").fit(X, y).predict_proba(X)
    monkeypatch.setattr("maxmargin.tuning.costs.PROBABILITY_SAMPLES", 50)
    model = AutoSVC(strategy="kta").fit(X, y)
    assert not model.svc_.probability
    stored = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-4)
    assert model._kept is None
    with pytest.raises(AttributeError, match="fit with probability=True"):
        stored.predict_proba(X)


def test_frames_are_predicted_without_a_warning():
    pandas = pytest.importorskip("pandas")
    X, y = blobs(40)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AutoSVC(strategy="kta").fit(frame, y)
        model.predict(frame), model.decision_function(frame), model.predict_proba(frame)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a"]])


@pytest.mark.parametrize("y", [np.arange(60) // 2 * 1.0, np.linspace(0, 1, 60)])
def test_measurements_are_refused_with_the_remedy(y):
    with pytest.raises(ValueError, match="use AutoSVR"):
        AutoSVC().fit(blobs(60)[0], y)


def imbalanced(n, seed):
    random = np.random.default_rng(seed)
    y = (np.arange(n) % 12 == 0).astype(int)
    return random.standard_normal((n, 2)) + 1.3 * y[:, None], y


@pytest.mark.parametrize("strategy", ["auto", "kta", "grid"])
def test_balanced_classes_weigh_the_same(strategy):
    X, y = imbalanced(240, 0)
    new, labels = imbalanced(2400, 1)
    plain = AutoSVC(strategy=strategy).fit(X, y)
    even = AutoSVC(strategy=strategy, class_weight="balanced").fit(X, y)
    recall = [np.mean(model.predict(new)[labels == 1] == 1) for model in (plain, even)]
    assert recall[1] > recall[0] + 0.2
    assert even.svc_.class_weight == "balanced"


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc"])
def test_classes_of_any_size_are_as_important_where_the_score_is_balanced(scoring):
    y = np.repeat(["a", "b", "c"], [5, 10, 25])
    codes = np.unique(y, return_inverse=True)[1]
    _, importance = AutoSVC(scoring=scoring)._weights(codes, y)
    assert np.bincount(codes, importance) == pytest.approx([40 / 3] * 3)


def test_area_under_the_curve_is_what_its_path_maximises():
    X, y = imbalanced(240, 0)
    chosen = AutoSVC(strategy="kta", scoring="roc_auc").search(X, y)
    kernel, C = chosen.kernel, chosen.C
    splits = folds(y.astype(float), 5, 0)
    scores = []
    for train, test in splits:
        model = SVC(C=C, kernel=kernel).fit(X[train], y[train])
        scores.append(roc_auc_score(y[test], model.decision_function(X[test])))
    assert chosen.score == pytest.approx(np.mean(scores), abs=2e-3)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (AutoSVC(class_weight="balanced", strategy="span"), "class weights"),
        (AutoSVC(scoring="roc_auc"), "two classes, got 3"),
        (AutoSVC(scoring="f1"), "scoring of AutoSVC must be one of"),
    ],
)
def test_scorings_that_do_not_fit_are_refused(model, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


def test_sparse_inputs_give_the_model_of_dense_ones():
    X, y = blobs(60)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = AutoSVC(strategy="kta").fit(X, y)
    thin = AutoSVC(strategy="kta").fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_array(X)), dense.decision_function(X), atol=1e-6
    )


def test_linear_kernels_compete_on_text():
    random = np.random.default_rng(0)
    words = sparse.random_array((120, 2000), density=0.02, rng=random, format="csr")
    y = (np.asarray(words[:, :40].sum(axis=1)).ravel() > 0.4).astype(int)
    model = AutoSVC().fit(words, y)
    assert model.search_.strategy == "kernels"
    assert model.search_.stages[0].result.point.kernel == Linear()
    assert model.score(words, y) > 0.6


FAILURE_MODES = {
    "five points": (np.array([[0.0, 1], [1, 0], [2, 2], [3, 1], [2, 0]]), [1, 1, 0, 0, 1]),
    "two points": (np.array([[0.0], [1.0]]), [0, 1]),
    "one of a class": (np.arange(20.0)[:, None], [0] * 19 + [1]),
    "constant features": (np.column_stack([np.arange(20.0), np.full(20, 7.0)]), [0, 1] * 10),
    "all features constant": (np.ones((20, 2)), [0, 1] * 10),
    "separable": (np.arange(20.0)[:, None], [0] * 10 + [1] * 10),
    "random labels": (np.arange(40.0)[:, None], [0, 1, 1, 0] * 10),
    "huge values": (1e60 * np.arange(20.0)[:, None], [0] * 10 + [1] * 10),
    "duplicates": (np.repeat(np.arange(5.0), 8)[:, None], [0, 1] * 20),
}


@pytest.mark.parametrize(
    ("strategy", "mode"),
    [
        (strategy, mode)
        for strategy in ("auto", "cv-posterior", "kta", "posterior", "span", "cv-cma", "grid")
        for mode in FAILURE_MODES
        if not (
            strategy.endswith("posterior") and mode == "two points"
        )  # two samples cannot be split
    ],
)
def test_difficult_data_end_in_a_model(strategy, mode):
    X, y = FAILURE_MODES[mode]
    model = AutoSVC(strategy=strategy, max_seconds=0.5).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.C_)


def test_search_has_the_attributes_of_a_search():
    X, y = board(80)
    search = SVCSearch(SVC(probability=True), strategy="kta").fit(X, y)
    assert set(search.best_params_) == {"C", "kernel", "loss"}
    assert search.best_params_["C"] == search.best_estimator_.C
    assert 0.5 < search.best_score_ <= 1.0
    assert {"stage", "value", "param_log_gamma", "param_log_C"} <= set(search.cv_results_)
    assert len({len(column) for column in search.cv_results_.values()}) == 1
    assert search.predict_proba(X).shape == (80, 2)
    assert search.refit_time_ > 0


def test_search_runs_inside_a_pipeline_and_under_cross_validation():
    X, y = board(120, noise=0.0)
    pipeline = make_pipeline(StandardScaler(), SVCSearch(SVC(), strategy="kta"))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.8


def test_search_keeps_what_the_estimator_was_given():
    X, y = blobs(60)
    search = SVCSearch(SVC(tol=1e-5, loss="squared_hinge"), strategy="radius_margin").fit(X, y)
    assert search.best_estimator_.tol == 1e-5
    assert search.best_estimator_.loss == "squared_hinge"


def test_radius_margin_leaves_the_hinge_loss_its_own_C():
    X, y = blobs(60)
    search = SVCSearch(SVC(), strategy="radius_margin").fit(X, y)
    assert search.best_estimator_.loss == "hinge"
    assert search.search_.stages[-1].what == "path of C"


def test_search_starts_from_a_given_kernel():
    X, y = blobs(60)
    search = SVCSearch(SVC(kernel=Polynomial(2, 0.1, 1.0)), strategy="span").fit(X, y)
    assert isinstance(search.best_params_["kernel"], Polynomial)
    assert search.best_params_["kernel"].degree == 2


def test_search_tunes_kernels_of_sequences():
    random = np.random.default_rng(0)
    X = ["".join(random.choice(list("ACGT"), 12)) for _ in range(60)]
    y = np.array([x[3] in "AC" for x in X])
    search = SVCSearch(SVC(kernel=CombinedOligo((1.0, 1.0))), strategy="kta").fit(X, y)
    assert isinstance(search.best_params_["kernel"], CombinedOligo)
    assert search.score(X, y) > 0.7


def test_search_chooses_C_for_a_gram_matrix():
    X, y = board(80)
    K = Gaussian(3.0)(X)
    search = SVCSearch(SVC(kernel="precomputed"), strategy="kta").fit(K, y)
    assert search.best_estimator_.kernel == "precomputed"
    assert search.score(K, y) > 0.8


def test_gram_matrix_cannot_be_differentiated():
    with pytest.raises(ValueError, match="must evaluate the kernel at inputs"):
        SVCSearch(SVC(kernel="precomputed"), strategy="span").fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (AutoSVC(metric="square"), "metric of AutoSVC must be one of"),
        (AutoSVC(strategy="luck"), "strategy of AutoSVC must be one of"),
        (AutoSVC(max_seconds=-1), "max_seconds of AutoSVC must be a number"),
        (SVCSearch(SVC(), strategy="luck"), "strategy of SVCSearch must be one of"),
        (SVCSearch(Gaussian(1.0)), "estimator of SVCSearch must be an SVC"),
        (SVCSearch(SVC(), cv=1), "cv of SVCSearch must be a whole number"),
    ],
)
def test_unfit_parameters_are_refused(model, complaint):
    with pytest.raises(ValueError, match=complaint):
        model.fit(*blobs(20))


def test_models_survive_cloning_and_pickling():
    X, y = blobs(40)
    model = pickle.loads(pickle.dumps(clone(AutoSVC(strategy="kta")).fit(X, y)))
    search = pickle.loads(pickle.dumps(clone(SVCSearch(SVC())).fit(X, y)))
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(search.decision_function(X)).all()


def test_nothing_warns_on_plain_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AutoSVC(strategy="kta").fit(*blobs(60))


def test_effort_shrinks_with_samples_and_features_and_grows_no_further_than_the_thesis():
    assert effort("posterior", 2, 50, 2) == effort("posterior", 2, 200, 2) == 1.0
    assert effort("posterior", 2, 450, 2) == pytest.approx(
        15_000 * (2 / 4.5) ** 1.5 / 14_142, rel=1e-3
    )
    assert effort("posterior", 21, 200, 20) < 0.4
    assert effort("posterior", 9, 200, 120) == pytest.approx(0.5 * effort("posterior", 9, 200, 30))
    assert effort("kta", 21, 10_000, 20) == 1.0


def test_constant_features_keep_their_scale():
    X = np.column_stack([np.arange(5.0), np.full(5, 3.3), np.zeros(5)])
    np.testing.assert_allclose(standard_deviations(X), [np.sqrt(2.0), 1.0, 1.0])
    np.testing.assert_allclose(standard_deviations(sparse.csr_array(X)), [np.sqrt(2.0), 1.0, 1.0])


@pytest.mark.parametrize("metric", ["radial", "diagonal", "full"])
def test_kernel_in_units_is_the_kernel_of_divided_inputs(metric):
    X, y = blobs(30)
    scales = np.array([20.0, 0.1])
    kernel = gaussian_start(divided(X, scales), y, metric)
    kernel = kernel.moved(0.3 * np.arange(len(kernel.theta)))
    np.testing.assert_allclose(
        in_units(kernel, scales)(X), kernel(divided(X, scales)), rtol=1e-7, atol=1e-12
    )


def test_subsample_keeps_the_shares_of_the_classes():
    codes = np.repeat([0, 1, 2], [700, 290, 10])
    chosen = subsample(codes, 100, 0)
    assert np.bincount(codes[chosen]).tolist() == [70, 29, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gaussian(gamma=0.008696429005389979)", "Gaussian(gamma=0.008696)"),
        ("Gaussian(gamma=(1.10632, 4.7795623e-08))", "Gaussian(gamma=(1.106, 4.78e-08))"),
        ("[[1.0, 2.55555], [-3e-07, 4.0]]", "[[1, 2.556], [-3e-07, 4]]"),
        ("Polynomial(2, 0.123456, 1.0)", "Polynomial(2, 0.1235, 1)"),
        ("(1.0, 2.0, 3.0, 4.0, 5.0)", "(1, 2, 3, 4, … 5 in all)"),
    ],
)
def test_kernels_are_printed_short(text, expected):
    assert rounded(text) == expected


def test_many_names_are_counted():
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcdefg")) == "a, b, c, d and 3 more"
