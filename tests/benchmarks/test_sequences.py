"""The benchmark of sequence kernels: its peer computes the same, and its verdicts are right."""

import numpy as np

from benchmarks.sequences import Work, by_features, random_sequences, report, works
from maxmargin.kernels import Oligo


def test_peer_computes_the_same_matrix():
    X = random_sequences(30, 50)
    np.testing.assert_allclose(by_features(X, 1.27), Oligo(3, 1.27)(X), rtol=0, atol=1e-12)


def test_every_work_runs():
    X = random_sequences(5, 20)
    shapes = [np.shape(work.run()) for work in works(X)]
    assert shapes == [(5, 5)] * 4 + [(65,), (12,)]


def test_targets_are_judged(capsys):
    report([Work("quick", lambda: None, 1.0), Work("late", lambda: None, -1.0)], repeats=1)
    _, quick, late = capsys.readouterr().out.splitlines()
    assert quick.endswith("1   met")
    assert late.endswith("-1   MISSED")
