"""C="auto" of linear machines."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from maxmargin import LinearSVC, LinearSVR, LogisticRegression
from maxmargin.estimators.linear.auto_strength import STEPS, unit
from maxmargin.models import load, save

CELLS = load_breast_cancer(return_X_y=True)
SUGAR = load_diabetes(return_X_y=True)
MODELS = [
    (LinearSVC(C="auto"), CELLS),
    (LogisticRegression(C="auto"), CELLS),
    (LinearSVR(C="auto"), SUGAR),
    (LinearSVR(C="auto", loss="squared_epsilon_insensitive"), SUGAR),
]
EVERY = pytest.mark.parametrize(("model", "data"), MODELS, ids=range(len(MODELS)))


@EVERY
def test_chosen_C_is_as_good_as_that_of_a_grid_search(model, data):
    X, y = data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    fitted = clone(model).fit(X, y)
    classes = not isinstance(model, LinearSVR)
    folds = (StratifiedKFold if classes else KFold)(5, shuffle=True, random_state=0)
    grid = GridSearchCV(
        clone(model).set_params(C=1.0),
        {"C": unit(model, X, y) * STEPS},
        cv=folds,
        scoring="accuracy" if classes else "neg_mean_squared_error",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grid.fit(X, y)
    place = np.argmin(np.abs(np.log(grid.cv_results_["param_C"].astype(float) / fitted.C_)))
    scores = grid.cv_results_["mean_test_score"]
    assert scores[place] >= scores.max() - 0.005 * abs(scores.max())


@EVERY
def test_result_is_the_certified_machine_of_that_C(model, data):
    X, y = data[0][:120], data[1][:120]
    fitted = clone(model).fit(X, y)
    plain = clone(model).set_params(C=fitted.C_).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, plain.coef_, rtol=1e-6, atol=1e-9)
    assert fitted.certificate_.relative_gap <= 1e-6
    assert not hasattr(plain, "C_")


@EVERY
def test_scale_of_the_features_does_not_matter(model, data):
    X, y = data[0][:100, :4], data[1][:100]
    one, two = clone(model).fit(X, y), clone(model).fit(8.0 * X, y)
    assert pytest.approx(one.C_ / 64.0) == two.C_


def test_sparse_inputs_choose_the_same():
    X, y = CELLS[0][:100], CELLS[1][:100]
    dense, thin = LinearSVC(C="auto").fit(X, y), LinearSVC(C="auto").fit(sparse.csr_array(X), y)
    assert pytest.approx(dense.C_) == thin.C_


def test_model_is_saved_with_its_choice(tmp_path):
    model = LinearSVC(C="auto").fit(CELLS[0][:60], CELLS[1][:60])
    save(model, tmp_path / "model.mm")
    again = load(tmp_path / "model.mm").estimator
    assert again.C_ == model.C_
    assert again.C == "auto"


def test_few_samples_take_the_unit():
    X, y = np.array([[1.0], [-1.0]]), [0, 1]
    assert LinearSVC(C="auto").fit(X, y).C_ == 1.0


@pytest.mark.parametrize("C", ["best", -1.0, None])
def test_other_texts_are_refused(C):
    with pytest.raises(ValueError, match=r"C of LinearSVC must be a number in .*, or 'auto'"):
        LinearSVC(C=C).fit(*CELLS)
