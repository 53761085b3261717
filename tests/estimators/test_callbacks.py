"""scikit-learn's callback protocol, where the installed version has one."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from maxmargin import SVC

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks yet")


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


class Recorder:
    """A callback of scikit-learn's protocol that writes down what it hears."""

    def __init__(self, stop=False):
        self.heard, self.stop = [], stop

    def setup(self, estimator, context):  # noqa: ARG002
        self.heard.append(("setup", context.task_name))

    def teardown(self, estimator, context):  # noqa: ARG002
        self.heard.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context):  # noqa: ARG002
        self.heard.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):  # noqa: ARG002
        self.heard.append(("end", context.task_name))
        if context.task_name == "fit":
            self.fitted = fitted_estimator
        return self.stop


def test_callbacks_of_scikit_learn_hear_of_the_fit_and_its_problems(iris):
    X, y = iris
    recorder = Recorder()
    model = SVC().set_callbacks(recorder).fit(X, y)
    heard = recorder.heard
    assert heard[:2] == [("setup", "fit"), ("begin", "fit")]
    assert heard[-2:] == [("end", "fit"), ("teardown", "fit")]
    for name in model.certificate_.names:
        assert heard.index(("begin", name)) < heard.index(("end", name))
    assert ("end", "progress") in heard
    np.testing.assert_array_equal(recorder.fitted.predict(X), model.predict(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_callbacks_of_scikit_learn_stop_the_fit(iris):
    X, y = iris
    model = SVC(C=1e4).set_callbacks(Recorder(stop=True)).fit(X, y)
    assert set(model.status_) == {"stopped"}


def test_callbacks_are_torn_down_when_the_fit_fails(iris):
    X, y = iris
    recorder = Recorder()
    model = SVC(callback=lambda _: 1 / 0).set_callbacks(recorder)
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y)
    assert recorder.heard[-1] == ("teardown", "fit")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_progress_bar_and_scores_of_scikit_learn(iris, n_jobs):
    X, y = iris
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = SVC(n_jobs=n_jobs).set_callbacks(callback.ProgressBar(), monitor).fit(X, y)
    scores = monitor.get_logs().data
    assert scores[-1]["accuracy"] == model.score(X, y)
