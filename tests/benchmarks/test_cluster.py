"""What the benchmark of shards allows to be moved."""

from pathlib import Path
from types import SimpleNamespace

from benchmarks.cluster_data import Files
from benchmarks.cluster_runs import BESIDE_INPUTS, allowed_bytes

FILES = Files([Path("X.npy")], [Path("y.npy")], samples=100, features=10, itemsize=4)
ROW = 10 * 4


def progress(sent, active):
    return SimpleNamespace(sent=sent, active=active)


def test_every_sample_may_be_fetched_once_and_sent_once_for_each_worker():
    rounds = [progress(20, 20), progress(50, 40), progress(60, 30)]
    allowed = allowed_bytes(rounds, 2, FILES)
    beside = BESIDE_INPUTS
    assert allowed.tolist() == [
        2 * ((20 + 30) * ROW + beside * (50 + 20)),
        2 * ((30 + 10) * ROW + beside * (40 + 40)),
        2 * (10 * ROW + beside * (10 + 30)),
        2 * (30 * ROW + beside * (30 + 30)),
    ]
