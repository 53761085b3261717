"""Workers that are killed in the middle of a fit cost time, and nothing else."""

import os
import signal

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import maxmargin
from maxmargin.data import chess_board
from maxmargin.distributed import SVC
from maxmargin.solvers.sharded import driver as sharded_driver

X, Y = chess_board(3000, random_state=1)


@pytest.fixture
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_killed_workers_do_not_change_the_result(client, monkeypatch):
    small = sharded_driver.RULES._replace(first=200, fewest_candidates=100)
    monkeypatch.setattr(sharded_driver, "RULES", small)
    killed = []

    def kill_one_after_each_of_two_rounds(progress):
        if progress.rounds in (1, 2) and len(killed) < progress.rounds:
            pid = client.submit(os.getpid, pure=False).result()
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    inputs, labels = da.from_array(X, chunks=(800, 2)), da.from_array(Y, chunks=800)
    machine = {"C": 10.0, "gamma": 2.0}
    model = SVC(**machine, callback=kill_one_after_each_of_two_rounds).fit(inputs, labels)
    single = maxmargin.SVC(**machine).fit(X, Y)
    assert len(killed) == 2
    assert model.status_ == "converged"
    assert model.certificate_.relative_gap <= 1e-4
    assert model.certificate_.dual == pytest.approx(single.certificate_.dual, rel=1e-4)
    assert np.mean(model.predict(X) == single.predict(X)) > 0.999
