"""What the benchmarks of tuning rely on."""

import numpy as np
import pytest

from benchmarks import tuning_trials


def half(job):
    return {"error": job[1] / 2}


def test_trials_in_the_file_are_not_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(tuning_trials, "RESULTS", tmp_path)
    jobs = [("a", seed) for seed in range(3)]
    first = tuning_trials.run_trials(half, jobs, "numbers", processes=1)
    again = tuning_trials.run_trials(None, jobs, "numbers", processes=1)
    assert first == again
    assert [record["error"] for record in again] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("problem", tuning_trials.ARTIFICIAL)
def test_trials_have_fresh_test_samples(problem):
    X, y, new, labels = tuning_trials.artificial(problem, seed=3, train=50, test=60)
    assert (len(X), len(y), len(new), len(labels)) == (50, 50, 60, 60)
    assert not np.array_equal(X, new[:50])
