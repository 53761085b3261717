"""Checkpoints: a run goes on where it stood."""

import numpy as np
import pytest

from maxmargin import SVC, LinearSVC
from maxmargin.kernels import Gaussian
from maxmargin.models import (
    Checkpoint,
    HeldOut,
    Measure,
    ModelFileError,
    SearchTable,
    load_checkpoint,
    save,
    save_checkpoint,
)
from maxmargin.tuning import (
    Journal,
    RegressionTask,
    StageNotes,
    Task,
    gaussian_start,
    tuned,
    tuned_regression,
)
from maxmargin.tuning.start import halves

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 3))
Y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.7, "yes", "no")


def through_file(checkpoint, folder):
    save_checkpoint(checkpoint, folder / "run.checkpoint")
    return load_checkpoint(folder / "run.checkpoint")


def test_everything_comes_back(tmp_path):
    tested = HeldOut(np.array(["a", "b"]), np.array(["a", "a"]), np.array([0.5, -0.5]))
    table = SearchTable("tried", np.array(["grid"]), np.array([0.5]), {"log_C": np.array([1.0])})
    measures = (Measure("accuracy", 0.5, 0.1, np.nan),)
    given = Checkpoint(
        "abc", "all", {"kernel": Gaussian(0.5), "C": 2.0}, [], table, measures, tested
    )
    found = through_file(given, tmp_path)
    assert found.parameters == given.parameters
    assert found.search.summary == "tried"
    np.testing.assert_array_equal(found.search.parameters["log_C"], [1.0])
    np.testing.assert_array_equal(found.held_out.target, ["a", "b"])
    assert found.measures[0].low == 0.1
    assert np.isnan(found.measures[0].high)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_kernel_machine_goes_on_from_its_point(tmp_path):
    stopped = SVC(C=1e3, gamma=5.0, max_iter=20, solver="rows").fit(X, Y)
    state = Checkpoint("abc", "all", {"C": 1e3, "gamma": 5.0}, [stopped.solution_])
    machine = through_file(state, tmp_path).begun(SVC(solver="rows", max_iter=0, warm_start=True))
    assert machine.fit(X, Y).solution_.dual == pytest.approx(stopped.solution_.dual, rel=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_linear_machine_goes_on_from_its_point(tmp_path):
    done = LinearSVC(C=10.0).fit(X, Y)
    state = Checkpoint("abc", "all", {"C": 10.0}, [done.solution_])
    machine = through_file(state, tmp_path).begun(LinearSVC(warm_start=True))
    machine.fit(X, Y)
    assert machine.n_iter_ < done.n_iter_
    np.testing.assert_allclose(machine.coef_, done.coef_, rtol=1e-5)


@pytest.mark.parametrize("strategy", ["posterior", "span", "radius_margin", "cv-cma", "kta"])
def test_search_goes_on_from_a_file_to_the_same_point(tmp_path, strategy):
    task = Task(X, Y, gaussian_start(X, Y, "radial"), effort=0.05)
    whole, journal, calls = tuned(task, strategy), Journal(), []

    def stop(now):
        calls.append(now)
        return len(calls) == (3 if strategy == "radius_margin" else 50)

    assert tuned(task, strategy, journal=journal, callback=stop).status == "stopped"
    kept = through_file(Checkpoint("abc", "search", {}, journal=journal), tmp_path)
    assert kept.journal.seconds == journal.seconds
    found = tuned(task, strategy, journal=kept.journal)
    assert found.point == whole.point
    assert found.score == whole.score


def test_search_of_a_regression_goes_on_from_a_file_to_the_same_point(tmp_path):
    targets = X[:, 0] - X[:, 1] ** 2
    task = RegressionTask(X, targets, gaussian_start(X, halves(targets), "radial"))
    whole, journal = tuned_regression(task), Journal()
    first = tuned_regression(task, journal=journal, callback=lambda now: now.fraction > 0.7)
    assert first.status == "stopped"
    kept = through_file(Checkpoint("abc", "search", {}, journal=journal), tmp_path)
    assert tuned_regression(task, journal=kept.journal).point == whole.point


@pytest.mark.parametrize(
    ("journal", "message"),
    [
        ({"stages": []}, "journal of a Checkpoint is of a wrong type: dict"),
        (Journal([1]), "stages of a Journal is of a wrong type"),
        (Journal([StageNotes("a", np.zeros((1, 2), dtype=int))]), "rows of a StageNotes is of a"),
        (Journal([StageNotes("a", np.array([1.0]))]), "no search that could be resumed"),
        (Journal(seconds=-1.0), "no search that could be resumed"),
    ],
)
def test_search_that_cannot_go_on_is_refused(tmp_path, journal, message):
    save_checkpoint(Checkpoint("abc", "search", {}, journal=journal), tmp_path / "run.checkpoint")
    with pytest.raises(ModelFileError, match=message):
        load_checkpoint(tmp_path / "run.checkpoint")


def test_model_is_no_checkpoint(tmp_path):
    save(SVC().fit(X, Y), tmp_path / "model.mm")
    with pytest.raises(ModelFileError, match="is no checkpoint"):
        load_checkpoint(tmp_path / "model.mm")


@pytest.mark.parametrize("value", [np.nan, np.inf, -1e300])
@pytest.mark.parametrize("machine", [SVC(), LinearSVC()])
def test_point_that_is_not_finite_is_refused(machine, value, tmp_path):
    solution = machine.fit(X, Y).solution_
    getattr(solution, "alpha" if isinstance(machine, SVC) else "beta")[0] = value
    save_checkpoint(Checkpoint("abc", "all", {}, [solution]), tmp_path / "run.checkpoint")
    with pytest.raises(ModelFileError, match="no point to resume from"):
        load_checkpoint(tmp_path / "run.checkpoint")
