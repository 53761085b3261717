"""No online training hangs: limits, callbacks and Ctrl-C leave a feasible model that can go on."""

import signal
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

from maxmargin import OnlineSVC
from maxmargin.solvers.online import machine as online

X, Y = make_moons(400, noise=0.2, random_state=0)
IRIS = load_iris(return_X_y=True)
SQUARES = (X**2).sum(axis=1)
TABLE = np.exp(-(SQUARES[:, None] + SQUARES - 2 * X @ X.T))
PLACES = np.arange(400.0)[:, None]
early = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(online, "SIZES", online.SIZES._replace(chunk=16, expensive_chunk=16))


class Pressing:
    """The kernel of `X`, given indices of it, that presses Ctrl-C while it compares inputs with
    themselves for the at-th time, or those that begin with the first one given."""

    def __init__(self, at=None, first=None):
        self.at, self.first, self.calls = at, first, 0

    def __call__(self, A, B):
        if A is B:
            self.calls += 1
            if self.calls == self.at or A[0] == self.first:
                self.first = None
                signal.raise_signal(signal.SIGINT)
        return TABLE[np.ix_(A.ravel().astype(int), B.ravel().astype(int))]


def assert_feasible(model, C=1.0):
    for machine in model.machines_.machines:
        assert abs(machine.alpha.sum()) <= 1e-12 * np.abs(machine.alpha).sum()
        assert (machine.alpha * machine.labels >= 0).all()
        assert (np.abs(machine.alpha) <= C).all()
        assert np.unique(machine.number).size == machine.size


class Listener:
    """Keeps what it is told, and asks to stop when it has heard enough."""

    def __init__(self, enough=np.inf):
        self.heard, self.enough = [], enough

    def __call__(self, progress):
        self.heard.append(progress)
        return len(self.heard) >= self.enough


# ---- fit ---------------------------------------------------------------------------------------


def test_a_pass_that_changes_nothing_is_convergence():
    assert OnlineSVC(gamma=1.0).fit(X, Y).status_ == "epochs"
    assert OnlineSVC(gamma=1.0, epochs=200).fit(X, Y).status_ == "converged"


def test_callback_hears_of_every_chunk_and_of_the_time_left():
    listener = Listener()
    model = OnlineSVC(gamma=1.0, epochs=2, callback=listener).fit(X, Y)
    assert [progress.seen for progress in listener.heard] == [
        *range(16, 401, 16),
        *range(416, 801, 16),
    ]
    assert {progress.total for progress in listener.heard} == {800}
    last = listener.heard[-1]
    assert last.seconds_left == 0.0
    assert listener.heard[0].seconds_left == pytest.approx(49 * listener.heard[0].seconds)
    assert last.steps == model.n_iter_[0]
    assert last.dual == model.dual_[0]
    assert last.support == model.support_.size


def test_gap_told_is_that_of_the_support_set():
    listener = Listener()
    model = OnlineSVC(gamma=1.0, callback=listener).fit(X, Y)
    machine = model.machines_.machines[0]
    values = machine.kernel(machine.inputs) @ machine.alpha + machine.bias
    loss = machine.bound @ np.maximum(0.0, 1.0 - machine.labels * values)
    square = machine.alpha @ (values - machine.bias)
    assert listener.heard[-1].gap == pytest.approx(0.5 * square + loss - machine.dual, rel=1e-9)


def test_callback_stops_the_fit():
    listener = Listener(3)
    model = OnlineSVC(gamma=1.0, callback=listener)
    with pytest.warns(
        ConvergenceWarning, match="callback asked to stop. 48 of 400 examples"
    ) as told:
        model.fit(X, Y)
    assert told[0].filename == __file__
    assert model.status_ == "stopped"
    assert len(listener.heard) == 3
    assert_feasible(model)


def test_time_limit_ends_the_fit_after_a_chunk():
    model = OnlineSVC(gamma=1.0, max_seconds=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_seconds=1e-09. 16 of 400 examples"):
        model.fit(X, Y)
    assert model.status_ == "time_limit"
    assert model.predict(X).shape == Y.shape
    assert_feasible(model)


def test_time_that_is_up_with_the_last_chunk_is_no_early_end():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OnlineSVC(gamma=1.0, max_seconds=1e-9).fit(X[:16], Y[:16])
    assert model.status_ == "epochs"


@early
def test_all_machines_stop_at_the_same_example():
    # Inputs are centred before they are rounded, so the first 64 have to have the mean of all.
    half, labels = make_blobs(75, random_state=0)
    inputs, labels = np.stack([half, -half], axis=1).reshape(150, 2), np.repeat(labels, 2)
    model = OnlineSVC(callback=Listener(4), shuffle=False).fit(inputs, labels)
    assert model.status_ == ["stopped"] * 3
    whole = OnlineSVC(gamma=model.kernel_.gamma).partial_fit(
        inputs[:64], labels[:64], classes=[0, 1, 2]
    )
    for one, other in zip(model.machines_.machines, whole.machines_.machines):
        assert np.array_equal(one.number, other.number)
        assert one.alpha == pytest.approx(other.alpha, abs=1e-12)


def test_an_error_in_the_callback_leaves_the_model_as_it_was():
    model = OnlineSVC(gamma=1.0).fit(X, Y)
    before = model.decision_function(X)

    def fail(_):
        raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        model.set_params(callback=fail).fit(X[:50], Y[:50])
    assert np.array_equal(model.decision_function(X), before)


def test_a_fit_that_is_refused_leaves_the_model_as_it_was():
    model = OnlineSVC(gamma=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="greater than one"):
        model.fit(X[:5], np.ones(5))
    assert model.classes_.tolist() == [0, 1]
    assert model.n_seen_ == 400


def test_ctrl_c_ends_the_fit_and_keeps_the_model():
    model = OnlineSVC(kernel=Pressing(first=48), shuffle=False)
    with pytest.raises(KeyboardInterrupt, match="kept"):
        model.fit(PLACES, Y)
    assert model.status_ == "interrupted"
    assert model.support_.max() < 64
    assert_feasible(model)


def test_a_stream_goes_on_from_ctrl_c_as_if_nothing_had_happened():
    model = OnlineSVC(kernel=Pressing(first=48))
    with pytest.raises(KeyboardInterrupt, match="after 64 of 400 examples"):
        model.partial_fit(PLACES, Y)
    assert model.n_seen_ == 64
    model.partial_fit(PLACES[64:], Y[64:])
    never = OnlineSVC(kernel=Pressing()).partial_fit(PLACES, Y)
    assert np.array_equal(model.support_, never.support_)
    assert np.array_equal(model.dual_coef_, never.dual_coef_)


def test_numbers_of_several_machines_stay_true_after_ctrl_c():
    labels = np.arange(400) % 3
    model = OnlineSVC(kernel=Pressing(first=32))
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(PLACES, labels)
    model.partial_fit(PLACES[model.n_seen_ :], labels[model.n_seen_ :])
    assert np.array_equal(PLACES[model.support_], model.support_vectors_)


def test_scikit_learns_callbacks_hear_of_the_fit():
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks yet")
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = OnlineSVC(gamma=1.0).set_callbacks(monitor).fit(X, Y)
    assert monitor.get_logs().data[-1]["accuracy"] == model.score(X, Y)


@pytest.mark.parametrize("wrong", [{"max_seconds": 0}, {"callback": 1}, {"verbose": -1}])
def test_budgets_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} of OnlineSVC must be"):
        OnlineSVC(**wrong).fit(X, Y)


def test_a_file_holds_limits_but_no_callback(tmp_path):
    OnlineSVC(callback=Listener(), max_seconds=60.0).fit(X, Y).save(tmp_path / "model.online")
    other = OnlineSVC.load(tmp_path / "model.online")
    assert other.max_seconds == 60.0
    assert other.callback is None


# ---- fit_active --------------------------------------------------------------------------------


def test_callback_stops_asking():
    listener = Listener(10)
    model = OnlineSVC(gamma=1.0, callback=listener)
    with pytest.warns(ConvergenceWarning, match="callback asked to stop. 40 labels") as told:
        model.fit_active(X, Y.__getitem__, batch_size=10)
    assert told[0].filename == __file__
    assert model.status_ == model.label_curve_.reason == "stopped"
    assert model.label_curve_.labels.tolist() == [10, 20, 30, 40]
    assert listener.heard[-1].total is None
    assert_feasible(model)


@early
def test_time_limit_ends_asking():
    model = OnlineSVC(gamma=1.0, max_seconds=1e-9).fit_active(X, Y.__getitem__, batch_size=20)
    assert model.status_ == model.label_curve_.reason == "time_limit"
    assert model.label_curve_.labels.tolist() == [20]


def test_ctrl_c_during_a_question_keeps_what_the_answers_taught():
    asked = []

    def tired(indices):
        asked.extend(indices)
        if len(asked) > 50:
            raise KeyboardInterrupt
        return Y[indices]

    model = OnlineSVC(gamma=1.0)
    with pytest.raises(KeyboardInterrupt, match="kept"):
        model.fit_active(X, tired, batch_size=10)
    same = OnlineSVC(gamma=1.0).fit_active(X, Y.__getitem__, batch_size=10, max_labels=50)
    assert model.status_ == "interrupted"
    assert model.label_curve_.asked.tolist() == asked[:50]
    assert np.array_equal(model.decision_function(X), same.decision_function(X))


def test_ctrl_c_before_two_classes_are_known_leaves_no_model():
    def tired(_):
        raise KeyboardInterrupt

    model = OnlineSVC()
    with pytest.raises(KeyboardInterrupt):
        model.fit_active(X, tired)
    assert not hasattr(model, "machines_")


def test_ctrl_c_while_answers_are_learned_keeps_the_model():
    model = OnlineSVC(kernel=Pressing(at=9))
    with pytest.raises(KeyboardInterrupt, match="kept"):
        model.fit_active(PLACES, Y.__getitem__, batch_size=16)
    assert model.status_ == "interrupted"
    assert_feasible(model)


# ---- finish ------------------------------------------------------------------------------------


def hard():
    """What a pass leaves far from the optimum of its support set."""
    return OnlineSVC(C=1e5, gamma=10.0, selection="mvp").fit(
        *make_moons(1500, noise=0.4, random_state=0)
    )


@early
def test_finish_is_stopped_by_the_callback_for_all_machines():
    model = OnlineSVC(C=1e4, callback=lambda progress: hasattr(progress, "rows")).fit(*IRIS)
    steps = model.n_iter_
    model.finish()
    assert model.status_ == ["stopped"] * 3
    assert np.array_equal(model.n_iter_[1:], steps[1:])
    assert_feasible(model, 1e4)


def test_finish_goes_on_after_it_was_stopped():
    model = hard().set_params(callback=Listener(1))
    with pytest.warns(ConvergenceWarning, match="stopped.*Call finish again"):
        model.finish()
    assert model.status_ == "stopped"
    assert model.set_params(callback=None).finish().status_ == "converged"


def test_ctrl_c_in_finish_ends_it_for_all_machines():
    def press(_):
        signal.raise_signal(signal.SIGINT)

    model = OnlineSVC(C=1e4).fit(*IRIS)
    with pytest.raises(KeyboardInterrupt, match="kept"):
        model.set_params(callback=press).finish()
    # The first had converged when it was pressed.
    assert model.status_ == ["converged", "interrupted", "interrupted"]
    assert_feasible(model, 1e4)


def test_finish_takes_the_time_limit_of_the_machine():
    model = hard().set_params(max_seconds=1e-9)
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model.finish()
    assert model.status_ == "time_limit"


def test_finish_refuses_wrong_data_before_any_work():
    model = hard()
    steps = model.n_iter_
    with pytest.raises(ValueError, match=r"new classes \[7\]"):
        model.finish(X, np.full(400, 7))
    assert np.array_equal(model.n_iter_, steps)


def test_a_first_batch_without_weight_gives_a_model_that_knows_nothing():
    model = OnlineSVC(gamma=1.0).partial_fit(X, Y, sample_weight=np.zeros(400))
    assert np.array_equal(model.decision_function(X), np.zeros(400))
    assert model.support_vectors_.shape == (0, 2)
    model.partial_fit(X, Y)
    assert model.score(X, Y) > 0.9
