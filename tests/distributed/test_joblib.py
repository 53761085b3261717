"""The choice of parameters through joblib's Dask backend: the result of threads, from workers."""

import joblib
import numpy as np
import pytest

from maxmargin import AutoSVC
from maxmargin.data import chess_board
from maxmargin.kernels import Gaussian
from maxmargin.tuning import SVCSearch, cross_validate_C, jobs

X, Y = chess_board(120, noise=0.1, random_state=0)

pytestmark = pytest.mark.usefixtures("client")


@pytest.fixture
def sent(monkeypatch):
    """The number of jobs that went to joblib's backend."""
    batches = []

    def counted(n_jobs):
        parallel = joblib.Parallel(n_jobs=n_jobs)

        def work(tasks):
            tasks = list(tasks)
            batches.append(len(tasks))
            return parallel(tasks)

        return work

    monkeypatch.setattr(jobs, "Parallel", counted)
    return batches


def test_cross_validation_of_C_is_that_of_threads(sent):
    settings = {"C": np.logspace(-1, 2, 4), "splits": 3, "n_jobs": 2}
    with joblib.parallel_config(backend="dask"):
        there = cross_validate_C(Gaussian(2.0), X, Y, **settings)
    assert sent == [3]
    here = cross_validate_C(Gaussian(2.0), X, Y, **settings)
    assert sent == [3]
    assert np.array_equal(there.errors, here.errors)


@pytest.mark.parametrize(
    "make", [lambda: SVCSearch(strategy="grid", n_jobs=2, cv=3), lambda: AutoSVC(n_jobs=2)]
)
def test_searches_find_what_threads_find(sent, make):
    with joblib.parallel_config(backend="dask"):
        there = make().fit(X, Y)
    assert sum(sent) > 1
    here = make().fit(X, Y)
    assert np.array_equal(there.decision_function(X), here.decision_function(X))


def test_without_another_backend_jobs_run_in_threads(sent):
    assert jobs.in_jobs(abs, [-1, 2, -3], 2) == [1, 2, 3]
    assert sent == []
