"""Workers that die, are added or are slow cost time, and nothing else."""

import os
import signal
import sys
import time
from pathlib import Path

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed import utils as dask_utils
from preloading import fork_server

import maxmargin
from maxmargin.data import chess_board
from maxmargin.distributed import SVC, LinearSVC
from maxmargin.distributed import backend as dask_backend
from maxmargin.distributed import sums as dask_sums
from maxmargin.solvers.sharded import driver as sharded_driver

X, Y = chess_board(2000, random_state=1)
MACHINE = {"C": 10.0, "gamma": 2.0}
LIMIT = 800 * 2**20

# Workers do not import the tests: they are sent the functions themselves.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def monkeypatch_of_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def cluster(monkeypatch_of_module):
    settings = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": LIMIT}
    # By default a worker is given up for good that is absent 15 s after it was killed, even if it
    # was back meanwhile and is killed by the next test.
    patient = {"distributed.deploy.lost-worker-timeout": "1 hour"}
    if fork_server() is not None:
        # Workers that were killed are back in a moment; Dask would preload less.
        patient["distributed.worker.multiprocessing-method"] = "forkserver"
        monkeypatch_of_module.setattr(dask_utils, "_forkserver_preload_set", True)
    with dask.config.set(patient), LocalCluster(n_workers=2, **settings) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(autouse=True)
def few_first(monkeypatch):
    small = sharded_driver.RULES._replace(first=200, first_share=0.1, fewest_candidates=100)
    monkeypatch.setattr(sharded_driver, "RULES", small)


@pytest.fixture(scope="module")
def single():
    return maxmargin.SVC(**MACHINE).fit(X, Y)


def spread(values, rows=500):
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


def same_certificate(model, single):
    assert model.status_ == "converged"
    assert model.certificate_.relative_gap <= 1e-4
    assert model.certificate_.dual == pytest.approx(single.certificate_.dual, rel=1e-4)
    assert np.mean(model.predict(X) == single.predict(X)) > 0.999


def first_to(path):
    """Whether this is the first call with a path, of all processes."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def killed_within(path, function, *arguments):
    if first_to(path):
        os.kill(os.getpid(), signal.SIGKILL)
    return function(*arguments)


def over_memory_within(path, function, *arguments):
    if first_to(path):
        taken = np.ones(LIMIT // 8)
        time.sleep(60)
        taken.sum()
    return function(*arguments)


def slow(path, function, *arguments):
    if first_to(path):
        time.sleep(1.0)
    return function(*arguments)


def disturb(monkeypatch, kind, name, fate, path, skipped=0):
    """Let fate strike within a task of this name, after so many others."""
    submit, seen = kind._submit, []

    def disturbed(self, function, *arguments):
        if function.__name__ == name:
            seen.append(name)
            if len(seen) == skipped + 1:
                return submit(self, fate, str(path), function, *arguments)
        return submit(self, function, *arguments)

    monkeypatch.setattr(kind, "_submit", disturbed)


@pytest.mark.parametrize(
    ("name", "skipped"),
    [
        ("sampled", 0),
        ("same", 0),
        ("advanced", 0),
        ("advanced", 5),
        ("rows_of", 5),
        ("proposal_of", 2),
        ("gap_part", 1),
    ],
    ids=["block", "inputs", "rebuild", "apply", "kernel", "propose", "certify"],
)
def test_a_worker_killed_within_a_task_changes_nothing(
    client, single, monkeypatch, tmp_path, name, skipped
):
    path = tmp_path / "killed"
    if name == "rows_of":  # kept for kernels that are not interpolated, as of more features
        monkeypatch.setattr(dask_backend, "interpolation_at", lambda *_: None)
    disturb(monkeypatch, dask_backend.DaskSession, name, killed_within, path, skipped)
    model = SVC(client=client, **MACHINE).fit(spread(X), spread(Y))
    assert path.exists()
    same_certificate(model, single)


def test_a_worker_over_its_memory_limit_changes_nothing(client, single, monkeypatch, tmp_path):
    path = tmp_path / "over"
    disturb(monkeypatch, dask_backend.DaskSession, "advanced", over_memory_within, path, 5)
    model = SVC(client=client, **MACHINE).fit(spread(X), spread(Y))
    assert path.exists()
    same_certificate(model, single)


def test_an_added_and_a_slow_worker_change_nothing(cluster, client, single, monkeypatch, tmp_path):
    path, seen = tmp_path / "slow", []
    disturb(monkeypatch, dask_backend.DaskSession, "advanced", slow, path, 5)

    def add_one(progress):
        seen.append(progress.workers)
        if progress.rounds == 1 and len(cluster.workers) == 2:
            cluster.scale(3)
            client.wait_for_workers(3, timeout=60)

    model = SVC(client=client, callback=add_one, **MACHINE).fit(spread(X), spread(Y))
    assert path.exists()
    assert max(seen) == 3
    same_certificate(model, single)


def test_without_workers_a_fit_warns_and_goes_on_when_one_is_added(single, monkeypatch):
    monkeypatch.setattr(dask_backend, "LONELY_AFTER", 0.3)
    settings = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}

    with (
        LocalCluster(n_workers=1, **settings) as lonely,
        Client(lonely, set_as_default=False) as client,
    ):

        def lose_all(progress):
            if progress.rounds == 1 and lonely.workers:
                lonely.scale(0)
                client.sync(lonely._correct_state)

        def add_one(message, *_, **__):
            warned.append(str(message))
            lonely.scale(1)

        warned = []
        monkeypatch.setattr(dask_backend.warnings, "warn", add_one)
        model = SVC(client=client, callback=lose_all, **MACHINE).fit(spread(X), spread(Y))
    assert "has no workers" in warned[0]
    same_certificate(model, single)


@pytest.mark.parametrize(
    ("loss", "name"), [("squared_hinge", "evaluated_sums"), ("hinge", "from_center")]
)
def test_linear_machines_survive_a_killed_worker(client, monkeypatch, tmp_path, loss, name):
    path = tmp_path / "killed"
    disturb(monkeypatch, dask_sums.DaskSums, name, killed_within, path, 9)
    labels = (X @ [1.0, 2.0] + np.sin(9.0 * X[:, 0]) > 6.0).astype(int)
    model = LinearSVC(client=client, loss=loss).fit(spread(X), spread(labels))
    assert path.exists()
    assert model.certificate_.relative_gap <= model.tol
    one = maxmargin.LinearSVC(loss=loss).fit(X, labels)
    assert model.certificate_.primal == pytest.approx(one.certificate_.primal, rel=3e-6)


def test_a_lost_scheduler_is_an_error_and_the_checkpoint_goes_on(client, single, tmp_path):
    path = tmp_path / "fit.npz"
    settings = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    other = LocalCluster(n_workers=1, **settings)

    def lose_it(progress):
        if progress.rounds == 2:
            other.close()

    with Client(other, set_as_default=False) as lost:
        model = SVC(client=lost, callback=lose_it, checkpoint=path, **MACHINE)
        with pytest.raises(dask_backend.LostCluster, match="checkpoint"):
            model.fit(spread(X), spread(Y))
    assert Path(path).exists()
    resumed = SVC(client=client, checkpoint=path, **MACHINE).fit(spread(X), spread(Y))
    same_certificate(resumed, single)
