"""Fits on a local Dask cluster beside the same fit in this process.

    python -m benchmarks.distributed --samples 20000 --workers 2 --kills 2

Prints for a chess board and, where its data are found, for MNIST: seconds of both, rounds, bytes
moved, and both certificates. With kills, workers are killed at random moments of the last fit.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import threading
import time

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import maxmargin
from maxmargin.data import chess_board
from maxmargin.distributed import SVC


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--mnist", help="an .npz file with arrays X_train and y_train")
    given = parser.parse_args()
    problems = [("chess board", *chess_board(given.samples, random_state=0), 1e3, 0.5)]
    if given.mnist:
        with np.load(given.mnist) as file:
            X, y = file["X_train"], file["y_train"]
        X = X.reshape(len(X), -1)[: given.samples].astype(np.float32) / 255
        problems.append(("MNIST, 0-4 against 5-9", X, y[: given.samples] < 5, 10.0, 0.02))
    with (
        LocalCluster(
            n_workers=given.workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        for name, X, y, C, gamma in problems:
            compare(client, name, X, y, C, gamma, given)


def compare(client, name, X, y, C, gamma, given) -> None:
    rows = -(-len(X) // given.parts)
    inputs = da.from_array(X, chunks=(rows, X.shape[1]))
    labels = da.from_array(y, chunks=rows)
    few = min(len(X), 2000)
    SVC(C=C, gamma=gamma).fit(inputs[:few], labels[:few])  # compiles
    maxmargin.SVC(C=C, gamma=gamma).fit(X[:few], y[:few])
    began = time.perf_counter()
    single = maxmargin.SVC(C=C, gamma=gamma).fit(X, y)
    alone = time.perf_counter() - began
    began = time.perf_counter()
    model = SVC(C=C, gamma=gamma).fit(inputs, labels)
    together = time.perf_counter() - began
    print(
        f"{name}: {len(X):,} samples, {single.n_support_.sum():,} support vectors\n"
        f"  in process {alone:.1f} s, cluster {together:.1f} s, ratio {together / alone:.2f}\n"
        f"  {model.rounds_[0]} rounds, {model.moved_bytes_ / 1e6:.1f} MB moved, "
        f"{model.moved_bytes_ / model.rounds_[0] / given.workers / 1e6:.2f} MB a round and worker\n"
        f"  in process {single.certificate_}\n  cluster    {model.certificate_}"
    )
    for seed in range(given.kills):
        timer = threading.Timer(random.Random(seed).uniform(0, together), kill_one, [client])
        timer.start()
        killed = SVC(C=C, gamma=gamma).fit(inputs, labels)
        timer.join()
        same = abs(killed.certificate_.dual - model.certificate_.dual)
        print(f"  with a killed worker: {killed.status_}, dual differs by {same:.1e}")


def kill_one(client) -> None:
    os.kill(client.submit(os.getpid, pure=False).result(), signal.SIGKILL)


if __name__ == "__main__":
    main()
