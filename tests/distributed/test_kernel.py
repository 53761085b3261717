"""Kernel machines on Dask: the model and the certificate of one machine, from any collection."""

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

import maxmargin
from maxmargin.distributed import SVC, SVR, OneClassSVM
from maxmargin.distributed import backend as dask_backend
from maxmargin.distributed.backend import DaskSession, memory_of
from maxmargin.dual import certify, hinge
from maxmargin.solvers.sharded import driver as sharded_driver

DIGITS, LABELS = load_digits(return_X_y=True)
X, CODES = DIGITS[:700] / 16.0, LABELS[:700]
HALVES = np.where(CODES > 4, 1, 0)

pytestmark = pytest.mark.usefixtures("client")


@pytest.fixture(autouse=True)
def few_first(monkeypatch):
    """Begin with so few samples that several rounds are needed."""
    small = sharded_driver.RULES._replace(first=100, fewest_candidates=50)
    monkeypatch.setattr(sharded_driver, "RULES", small)


def spread(values, rows=190):
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


def test_svc_has_the_optimum_and_the_certificate_of_one_machine():
    model = SVC(C=2.0, gamma=0.05).fit(spread(X), spread(HALVES))
    single = maxmargin.SVC(C=2.0, gamma=0.05).fit(X, HALVES)
    assert model.status_ == "converged"
    assert model.rounds_[0] > 1
    assert model.certificate_.relative_gap <= 1e-4
    assert model.certificate_.dual == pytest.approx(single.certificate_.dual, rel=1e-4)
    problem = hinge(np.where(HALVES == 0, 1.0, -1.0), 2.0).problem
    alpha = np.zeros(len(X))
    alpha[model.support_] = -model.dual_coef_[0]
    gram = model.kernel_.bind(X, np.float64)
    shown = certify(problem, alpha, gram, -model.intercept_)
    assert shown.gap == pytest.approx(model.certificate_.gap, rel=1e-6)
    assert shown.dual == pytest.approx(model.certificate_.dual, rel=1e-12)
    assert np.array_equal(model.support_vectors_, X[model.support_])


def test_the_optimum_does_not_depend_on_what_workers_keep(client, monkeypatch):
    submitted, submit = [], DaskSession._submit

    def counted(self, function, *arguments):
        submitted.append(function.__name__)
        return submit(self, function, *arguments)

    monkeypatch.setattr(DaskSession, "_submit", counted)
    found, tasks = [], []
    row = 8 * len(X) / memory_of(client)
    for share in (0.0, 300 * row, 0.3):  # nothing, the rows of some members, those of all
        monkeypatch.setattr(dask_backend, "SHARE", share + X.nbytes / memory_of(client))
        submitted.clear()
        found.append(SVC(C=2.0, gamma=0.05, tol=1e-6).fit(spread(X), spread(HALVES)))
        tasks.append(submitted.count("rows_of"))
    assert tasks[0] == 0 < tasks[1] < tasks[2]
    for model in found[1:]:
        assert model.status_ == "converged"
        assert model.certificate_.dual == pytest.approx(found[0].certificate_.dual, rel=1e-6)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes_are_those_of_one_machine(multi_class):
    inside = CODES < 4
    settings = {"C": 2.0, "multi_class": multi_class, "class_weight": "balanced"}
    model = SVC(**settings).fit(spread(X[inside]), spread(CODES[inside]))
    single = maxmargin.SVC(**settings).fit(X[inside], CODES[inside])
    assert model.kernel_.gamma == pytest.approx(single.kernel_.gamma, rel=1e-12)
    for own, other in zip(model.certificate_, single.certificate_):
        assert own.dual == pytest.approx(other.dual, rel=1e-4)
    assert np.array_equal(model.predict(X), single.predict(X))
    assert np.allclose(model.decision_function(X), single.decision_function(X), atol=0.02)


def test_regression_and_novelty_detection_are_those_of_one_machine():
    targets = X[:, 20] + 2.0 * X[:, 30]
    model = SVR(C=2.0, epsilon=0.2).fit(spread(X), spread(targets))
    single = maxmargin.SVR(C=2.0, epsilon=0.2).fit(X, targets)
    assert model.certificate_.dual == pytest.approx(single.certificate_.dual, rel=1e-4)
    assert np.allclose(model.predict(X), single.predict(X), atol=0.01)
    model = OneClassSVM(nu=0.2).fit(spread(X))
    single = maxmargin.OneClassSVM(nu=0.2).fit(X)
    assert model.certificate_.dual == pytest.approx(single.certificate_.dual, rel=1e-4)
    assert model.offset_ == pytest.approx(single.offset_, rel=1e-3)


def test_sample_weights_are_those_of_one_machine():
    weight = np.random.default_rng(0).uniform(0.0, 2.0, len(X)).round()
    model = SVC(C=2.0).fit(spread(X), spread(HALVES), sample_weight=spread(weight))
    single = maxmargin.SVC(C=2.0).fit(X, HALVES, sample_weight=weight)
    assert model.kernel_.gamma == pytest.approx(single.kernel_.gamma, rel=1e-12)
    assert model.certificate_.dual == pytest.approx(single.certificate_.dual, rel=1e-4)
    assert (weight[model.support_] > 0).all()


def test_data_frames_keep_names_and_text_labels():
    table = pd.DataFrame(X, columns=[f"pixel {k}" for k in range(64)])
    table["half"] = np.where(HALVES, "upper", "lower")
    frame = dd.from_pandas(table, npartitions=3)
    model = SVC(C=2.0, gamma=0.05).fit(frame.drop(columns="half"), frame["half"])
    assert list(model.classes_) == ["lower", "upper"]
    assert model.feature_names_in_[0] == "pixel 0"
    predicted = model.predict(frame.drop(columns="half"))
    assert isinstance(predicted, dd.Series)
    own = model.predict(table.drop(columns="half"))
    assert np.array_equal(predicted.compute().to_numpy().astype(str), own)


@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_lists_of_files_are_read_by_workers(tmp_path, kind):
    files, targets = [], []
    for k, rows in enumerate(np.array_split(np.arange(len(X)), 3)):
        files.append(tmp_path / f"{k}.{kind}")
        if kind == "npy":
            targets.append(tmp_path / f"y{k}.npy")
            np.save(files[-1], X[rows].astype(np.float32))
            np.save(targets[-1], HALVES[rows])
        else:
            table = pd.DataFrame(X[rows], columns=list(map(str, range(64))))
            table.assign(half=HALVES[rows]).to_parquet(files[-1])
    model = SVC(C=2.0, gamma=0.05).fit(files, targets if kind == "npy" else "half")
    single = maxmargin.SVC(C=2.0, gamma=0.05).fit(X, HALVES)
    assert model.certificate_.dual == pytest.approx(single.certificate_.dual, rel=1e-4)


def test_answers_on_collections_are_lazy_and_those_on_arrays():
    inside = CODES < 3
    model = SVC(C=2.0).fit(spread(X[inside]), spread(CODES[inside]))
    for name in ("predict", "decision_function"):
        lazy = getattr(model, name)(spread(X))
        assert isinstance(lazy, da.Array)
        assert lazy.shape == getattr(model, name)(X).shape
        assert np.allclose(lazy.compute(), getattr(model, name)(X))


def test_the_model_of_one_machine_knows_nothing_of_dask():
    model = SVC(C=2.0).fit(spread(X), spread(HALVES))
    single = model.single_machine()
    assert type(single) is maxmargin.SVC
    assert np.array_equal(single.predict(X), model.predict(X))
    assert single.certificate_ == model.certificate_
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))


def test_a_clone_shares_the_client(client):
    model = SVC(client=client, C=3.0)
    assert clone(model).client is client
    assert clone(model).C == 3.0


def test_a_checkpoint_goes_on_and_refuses_other_parameters(tmp_path):
    path = tmp_path / "fit.npz"
    settings = {"C": 2.0, "gamma": 0.05, "checkpoint": path}
    with pytest.warns(Warning, match="early"):
        begun = SVC(**settings, max_iter=2).fit(spread(X), spread(HALVES))
    assert begun.status_ == "step_limit"
    ended = SVC(**settings).fit(spread(X), spread(HALVES))
    assert ended.status_ == "converged"
    assert ended.certificate_.dual >= begun.certificate_.dual
    # The last round is all that is left to do once a fit has ended.
    assert SVC(**settings).fit(spread(X), spread(HALVES)).rounds_ == [1]
    with pytest.raises(ValueError, match="other parameters"):
        SVC(**{**settings, "C": 3.0}).fit(spread(X), spread(HALVES))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "precomputed"}, "kernel of SVC"),
        ({"probability": True}, "probability of SVC"),
        ({"C": np.inf}, "C of SVC must be finite"),
    ],
)
def test_what_shards_do_not_allow_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        SVC(**settings).fit(spread(X), spread(HALVES))


def test_bad_samples_are_refused():
    holes = X.copy()
    holes[3, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SVC().fit(spread(holes), spread(HALVES))
    with pytest.raises(ValueError, match="greater than one"):
        SVC().fit(spread(X), spread(np.zeros(len(X), dtype=int)))
    with pytest.raises(ValueError, match="one entry a sample"):
        SVC().fit(spread(X), spread(HALVES[:-1]))
