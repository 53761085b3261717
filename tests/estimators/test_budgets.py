"""Nothing hangs: limits, callbacks, Ctrl-C, and going on from where a fit ended."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from clock import Overrun, Stopwatch
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.data import chess_board

ALL = [SVC, NuSVC, SVR, NuSVR, OneClassSVM]


def blobs(samples=80, classes=2, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, samples)
    return random.normal(size=(samples, 3)) + 0.7 * y[:, None], y


def hard(samples=2500):
    """A problem that takes many seconds, and a million steps."""
    X, y = chess_board(samples, random_state=0)
    return SVC(gamma=0.01, C=1e6), X, y


@pytest.mark.parametrize("make", ALL)
def test_max_iter_limits_the_steps_and_the_warning_states_the_gap(make):
    X, y = blobs()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2.*duality gap is still .* tol=0.001"):
        model = make(max_iter=2).fit(X, y)
    assert np.all(model.n_iter_ == 2)
    assert model.fit_status_ == 1
    assert model.status_ == "step_limit"
    assert model.certificate_.gap > 0


@pytest.mark.parametrize("make", ALL)
def test_optimum_is_reached_without_warning(make, recwarn):
    X, y = blobs()
    model = make().fit(X, y)
    assert not recwarn
    assert model.fit_status_ == 0
    assert model.status_ == "converged"
    assert model.certificate_.relative_gap < 1e-9


def test_warning_names_the_worst_of_several_problems():
    X, y = blobs(classes=3)
    with pytest.warns(ConvergenceWarning, match=r"3 of 3 problems, worst \d vs \d"):
        model = SVC(max_iter=1).fit(X, y)
    assert model.status_ == ["step_limit"] * 3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("limit", [0.2, 0.5])
def test_max_seconds_is_kept(limit):
    model, X, y = hard()
    model.set_params(max_seconds=limit)
    model.set_params(max_iter=10).fit(X, y)
    model.set_params(max_iter=-1)
    for _ in range(2):  # the first compiles what has to be compiled
        with Overrun(limit) as over:
            model.fit(X, y)
        assert model.status_ == "time_limit"
    assert over.seconds < 0.25


def test_problems_share_the_time():
    X, _ = chess_board(3000, random_state=0)
    y = np.random.default_rng(0).integers(0, 3, 3000)
    watch = Stopwatch()
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        SVC(gamma=0.01, C=1e6, max_iter=5000).fit(X, y)  # compiling takes seconds
    model = SVC(gamma=0.01, C=1e6, max_seconds=0.6 * watch.delay)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model.fit(X, y)
    assert all(solution.steps > 0 for solution in model.solution_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("limit", [1e-6, 0.02])
def test_there_is_a_model_with_probabilities_however_short_the_time(classes, limit):
    X, y = blobs(800, classes)
    model = SVC(max_seconds=limit, probability=True).fit(X, y)
    distribution = model.predict_proba(X)
    assert np.isfinite(distribution).all()
    np.testing.assert_array_equal(distribution.argmax(axis=1), model.predict(X))


def test_callback_sees_progress_and_stops_the_fit():
    model, X, y = hard()
    seen = []

    def three_times(progress):
        seen.append(progress)
        return len(seen) == 3

    with pytest.warns(ConvergenceWarning, match="the callback asked to stop"):
        model.set_params(callback=three_times).fit(X, y)
    assert model.status_ == "stopped"
    assert len(seen) == 3
    assert seen[0].steps < seen[1].steps < seen[2].steps == model.n_iter_[0]
    assert seen[2].violation > 0
    assert seen[2].gap > 0
    assert seen[2].support > 0


def test_callback_that_stops_one_problem_stops_all():
    X, y = blobs(200, classes=3)
    with pytest.warns(ConvergenceWarning, match="callback"):
        model = SVC(C=1e4, callback=lambda _: True).fit(X, y)
    assert model.status_ == ["stopped"] * 3
    np.testing.assert_array_equal(model.n_iter_[1:], 0)
    assert model.predict(X).shape == y.shape


def test_error_in_the_callback_is_raised():
    X, y = blobs()

    def fail(_):
        raise RuntimeError("not today")

    with pytest.raises(RuntimeError, match="not today"):
        SVC(callback=fail).fit(X, y)


def optimum(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", ALL)
def test_warm_start_goes_on_to_the_same_optimum(make):
    X, y = blobs(200)
    begun = make(max_iter=20, warm_start=True).fit(X, y)
    assert begun.fit_status_ == 1
    resumed = begun.set_params(max_iter=-1).fit(X, y)
    direct = make().fit(X, y)
    assert resumed.fit_status_ == 0
    assert np.abs(optimum(resumed, X) - optimum(direct, X)).max() < 1e-7


@pytest.mark.parametrize("make", ALL)
def test_warm_start_at_the_optimum_takes_no_step(make):
    X, y = blobs(200)
    model = make(warm_start=True).fit(X, y)
    values = optimum(model, X)
    model.fit(X, y)
    assert np.all(model.n_iter_ == 0)
    assert np.abs(optimum(model, X) - values).max() < 1e-9


@pytest.mark.parametrize("changed", [{"C": 3.0}, {"C": 0.1}, {"gamma": 0.7}, {"kernel": "linear"}])
@pytest.mark.parametrize("make", [SVC, SVR])
def test_warm_start_after_a_change_finds_the_new_optimum(make, changed):
    X, y = blobs(200)
    warm = make(warm_start=True).fit(X, y).set_params(**changed).fit(X, y)
    cold = make(**changed).fit(X, y)
    assert np.abs(optimum(warm, X) - optimum(cold, X)).max() < 1e-7


def test_warm_start_after_a_small_change_of_C_is_cheaper():
    X, y = blobs(400)
    warm = SVC(warm_start=True).fit(X, y).set_params(C=1.1).fit(X, y)
    assert warm.n_iter_[0] < 0.5 * SVC(C=1.1).fit(X, y).n_iter_[0]


def test_warm_start_on_other_data_begins_anew():
    X, y = blobs(200)
    model = SVC(warm_start=True).fit(X, y).fit(X[:150], y[:150])
    other = SVC().fit(X[:150], y[:150])
    assert np.abs(optimum(model, X) - optimum(other, X)).max() < 1e-7


def test_warm_start_of_several_classes():
    X, y = blobs(200, classes=4)
    model = SVC(warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(model.n_iter_, 0)


INTERRUPTED = """
import sys, threading, time
import numpy as np
from maxmargin import SVC
from maxmargin.data import chess_board

X, y = chess_board({samples}, random_state=0)
y = {labels}
warm = SVC(gamma=0.5, C=1e6, max_iter=5, n_jobs={jobs})
import warnings; warnings.simplefilter("ignore")
warm.fit(X, y)

told = threading.Lock()

def going(progress):
    if progress.steps > 100 and told.acquire(blocking=False):
        print("going", flush=True)
    time.sleep(0.02)  # or the fit is over before anyone can press Ctrl-C

model = SVC(gamma=0.5, C=1e6, warm_start=True, n_jobs={jobs}, callback=going)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    sys.exit("the fit ended before it was interrupted")
print(model.status_, flush=True)
assert np.isfinite(model.decision_function(X)).all()
model.callback = None
resumed = model.fit(X, y)
direct = SVC(gamma=0.5, C=1e6).fit(X, y)
proven = max(resumed.certificate_.relative_gap, direct.certificate_.relative_gap)
difference = np.abs(resumed.decision_function(X) - direct.decision_function(X)).max()
print(resumed.fit_status_, proven, difference, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to one process on Windows")
@pytest.mark.parametrize(
    ("labels", "jobs"),
    [("y", 1), ("y + 3 * (X[:, 0] > 2)", 2)],
    ids=["one problem", "six in threads"],
)
def test_sigint_is_honoured_at_once_and_the_fit_can_go_on(labels, jobs):
    script = textwrap.dedent(INTERRUPTED).format(samples=3000, labels=labels, jobs=jobs)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "going\n", process.stderr.read()
    watch = Stopwatch(process.pid)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n", process.stderr.read()
    assert watch.seconds < 0.5
    status, result = process.stdout.read().splitlines()
    assert process.wait(timeout=120) == 0, process.stderr.read()
    assert "interrupted" in status
    fit_status, proven, difference = result.split()
    assert fit_status == "0"
    assert float(proven) < 1e-6
    assert float(difference) < 1e-4
