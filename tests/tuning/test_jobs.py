"""Where independent jobs go."""

import joblib
import pytest
from joblib.parallel import BACKENDS, ParallelBackendBase

from maxmargin.tuning.jobs import elsewhere


class Others(ParallelBackendBase):
    """A backend of another library."""

    def effective_n_jobs(self, n_jobs):
        return n_jobs

    def apply_async(self, func, callback=None):
        raise NotImplementedError


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_backends_of_joblib_itself_are_not_chosen(backend):
    assert not elsewhere()
    with joblib.parallel_config(backend=backend):
        assert not elsewhere()


def test_backends_of_other_libraries_are_chosen(monkeypatch):
    monkeypatch.setitem(BACKENDS, "others", Others)
    with joblib.parallel_config(backend="others"):
        assert elsewhere()
