"""Searches while they run: who hears of them, how they are stopped, and how they go on."""

import os
import signal
from functools import cache

import numpy as np
import pytest
from clock import Stopwatch
from tuning.problems import blobs, board

from maxmargin import AutoSVC, SVCSearch
from maxmargin.tuning import (
    STRATEGIES,
    Journal,
    SearchInterrupted,
    StageNotes,
    Task,
    gaussian_start,
    tuned,
)
from maxmargin.tuning import course as module

EVERY = pytest.mark.parametrize("strategy", STRATEGIES)
EFFORT = {"posterior": 0.01, "likelihood": 0.01, "cv-cma": 0.05}


def task(strategy, **options):
    X, y = board(60)
    return Task(X, y, gaussian_start(X, y, "diagonal"), effort=EFFORT.get(strategy, 1.0), **options)


def three_classes(strategy):
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 15)
    X = random.standard_normal((45, 2)) + np.repeat([[0, 0], [2, 0], [0, 2]], 15, axis=0)
    return Task(X, y, gaussian_start(X, y, "radial"), effort=EFFORT.get(strategy, 1.0))


@cache
def undisturbed(strategy):
    """The outcome of a search that nobody stops."""
    return tuned(task(strategy), strategy)


def stop_after(calls):
    """A callback that says so at its n-th call."""
    left = [calls]

    def callback(_):
        left[0] -= 1
        return left[0] <= 0

    return callback


def press_after(calls):
    """A callback that presses Ctrl-C at its n-th call."""
    stop = stop_after(calls)

    def callback(now):
        if stop(now):
            os.kill(os.getpid(), signal.SIGINT)

    return callback


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal, also where the shell that runs the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def heard(strategy, **options):
    seen = []
    tuned(task(strategy, **options), strategy, callback=seen.append)
    return seen


@EVERY
def test_fraction_rises_and_stays_below_one(strategy):
    fractions = np.array([now.fraction for now in heard(strategy)])
    assert (np.diff(fractions) >= 0).all()
    assert 0 < fractions[0] < 0.2
    assert fractions[-1] <= 1


def test_fraction_of_a_search_by_votes_is_one_at_its_end_alone(monkeypatch):
    monkeypatch.setattr("maxmargin.tuning.costs.MOST_PAIRS", 0)
    seen = []
    tuned(three_classes("cv-posterior"), "cv-posterior", callback=seen.append)
    fractions = np.array([now.fraction for now in seen])
    assert (np.diff(fractions) >= 0).all()
    assert (fractions[:-1] < 1.0).all()
    assert fractions[-1] == 1.0


def test_every_stage_is_told_of():
    stages = dict.fromkeys(now.stage for now in heard("kta"))
    assert list(stages) == ["coarse grid", "iRprop+ on the kernel target alignment", "path of C"]


def test_best_error_of_a_path_is_no_worse_than_that_of_its_last_C():
    path = [now for now in heard("kta") if now.stage == "path of C" and np.isfinite(now.value)]
    assert path
    assert all(now.best <= now.value for now in path if now.evaluations <= path[0].evaluations)
    assert min(now.best for now in path) < max(now.value for now in path)


def test_evaluations_count_up_to_the_budget_of_a_stage():
    scan = [now for now in heard("kta") if now.stage == "coarse grid"]
    assert [now.evaluations for now in scan] == list(range(1, 9))
    assert {now.most for now in scan} == {8}


def test_best_is_the_best_value_so_far():
    walk = [now for now in heard("kta") if now.stage.startswith("iRprop")]
    values = np.array([now.value for now in walk])
    np.testing.assert_array_equal([now.best for now in walk], np.maximum.accumulate(values))


def test_fraction_follows_the_time_limit_where_that_ends_first():
    X, y = board(60)
    seen = []
    long = Task(X, y, gaussian_start(X, y, "radial"), max_seconds=0.5)
    tuned(long, "posterior", callback=seen.append)
    assert seen[-1].fraction == pytest.approx(min(1.0, seen[-1].seconds / 0.5), abs=0.01)


@EVERY
@pytest.mark.parametrize("calls", [1, 30, 52])
def test_callback_stops_with_the_best_so_far(strategy, calls):
    outcome = tuned(task(strategy), strategy, callback=stop_after(calls))
    assert outcome.status == "stopped"
    assert outcome.point.C > 0
    evaluations = sum(stage.result.evaluations for stage in outcome.stages)
    assert evaluations <= calls


def test_search_to_its_end_is_finished():
    assert tuned(task("kta"), "kta").status == "finished"


def test_time_limit_is_told():
    assert tuned(task("posterior", max_seconds=0.05), "posterior").status == "time_limit"


@EVERY
@pytest.mark.parametrize("calls", [3, 40, 65])
def test_stopped_search_goes_on_to_the_same_point(strategy, calls):
    whole, journal = undisturbed(strategy), Journal()
    tuned(task(strategy), strategy, journal=journal, callback=stop_after(calls))
    assert_same(tuned(task(strategy), strategy, journal=journal), whole)


@EVERY
def test_search_of_three_classes_goes_on_to_the_same_point(strategy):
    whole, journal = tuned(three_classes(strategy), strategy), Journal()
    tuned(three_classes(strategy), strategy, journal=journal, callback=stop_after(55))
    assert_same(tuned(three_classes(strategy), strategy, journal=journal), whole)


@EVERY
def test_search_stopped_many_times_goes_on_to_the_same_point(strategy):
    whole, journal = undisturbed(strategy), Journal()
    for _ in range(4):
        tuned(task(strategy), strategy, journal=journal, callback=stop_after(17))
    assert_same(tuned(task(strategy), strategy, journal=journal), whole)


def assert_same(outcome, expected):
    assert outcome.status == "finished"
    assert outcome.point == expected.point
    assert outcome.score == expected.score
    assert [stage.what for stage in outcome.stages] == [stage.what for stage in expected.stages]
    for stage, other in zip(outcome.stages, expected.stages):
        assert stage.result.evaluations == other.result.evaluations
        assert stage.result.status == other.result.status
        np.testing.assert_array_equal(stage.history["value"], other.history["value"])


@pytest.mark.parametrize("strategy", ["kta", "grid"])
def test_search_that_is_finished_computes_nothing_again(strategy, monkeypatch):
    journal = Journal()
    first = tuned(task(strategy), strategy, journal=journal)
    monkeypatch.setattr("maxmargin.tuning.objectives.alignment.KernelTargetAlignment.value", None)
    monkeypatch.setattr("maxmargin.tuning.paths.shared", None)
    assert tuned(task(strategy), strategy, journal=journal).point == first.point


def test_journal_of_a_search_without_time_goes_on():
    journal = Journal()
    assert tuned(task("kta", max_seconds=0.0), "kta", journal=journal).status == "time_limit"
    assert_same(tuned(task("kta"), "kta", journal=journal), undisturbed("kta"))


def test_seconds_of_earlier_runs_count():
    journal = Journal()
    tuned(task("kta"), "kta", journal=journal, callback=stop_after(20))
    journal.seconds = 100.0
    seen, watch = [], Stopwatch()
    tuned(task("kta"), "kta", journal=journal, callback=seen.append)
    assert 100 < seen[0].seconds < 100 + watch.wall


def test_journal_of_another_search_is_refused():
    journal = Journal([StageNotes("path of C")])
    with pytest.raises(ValueError, match="journal must be of an equal search"):
        tuned(task("kta"), "kta", journal=journal)


@pytest.mark.usefixtures("ctrl_c")
@EVERY
def test_ctrl_c_ends_the_search_and_it_goes_on_to_the_same_point(strategy, monkeypatch):
    monkeypatch.setattr(module, "KEEP_EVERY", 0.0)
    whole, journal = undisturbed(strategy), Journal()
    with pytest.raises(SearchInterrupted) as interrupted:
        tuned(task(strategy), strategy, journal=journal, callback=press_after(40))
    assert interrupted.value.found.status == "interrupted"
    assert interrupted.value.found.point.C > 0
    assert_same(tuned(task(strategy), strategy, journal=journal), whole)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_between_two_notes_costs_only_what_came_after_the_first(monkeypatch):
    whole, journal = undisturbed("posterior"), Journal()
    monkeypatch.setattr(module, "KEEP_EVERY", 1e9)
    with pytest.raises(SearchInterrupted):
        tuned(task("posterior"), "posterior", journal=journal, callback=press_after(60))
    assert [notes.what for notes in journal.stages] == ["coarse grid"]
    assert_same(tuned(task("posterior"), "posterior", journal=journal), whole)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("model", [AutoSVC, SVCSearch])
def test_ctrl_c_leaves_what_was_found_and_fits_nothing(model):
    search = model(strategy="kta", callback=press_after(10))
    with pytest.raises(KeyboardInterrupt):
        search.fit(*blobs(40))
    assert search.search_.status == "interrupted"
    with pytest.raises(ValueError, match="not fitted"):
        search.predict(blobs(40)[0])


@pytest.mark.parametrize("model", [AutoSVC, SVCSearch])
def test_estimator_that_is_stopped_fits_the_best_so_far(model):
    X, y = blobs(40)
    search = model(strategy="kta", callback=stop_after(10)).fit(X, y)
    assert search.search_.status == "stopped"
    assert search.score(X, y) > 0.8


def test_what_stopped_auto_is_printed():
    search = AutoSVC(strategy="kta", callback=stop_after(10)).fit(*blobs(40))
    assert "the callback ended the search early" in str(search.search_)


def test_auto_search_is_that_of_its_fit():
    X, y = blobs(40)
    auto = AutoSVC(strategy="kta")
    assert auto.search(X, y).kernel == auto.fit(X, y).search_.kernel


@pytest.mark.parametrize("model", [AutoSVC, SVCSearch])
def test_callback_must_be_callable(model):
    with pytest.raises(ValueError, match="callback"):
        model(callback="loud").fit(*blobs(40))
