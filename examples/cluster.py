"""A kernel machine on a Dask cluster, one of whose workers is killed on purpose.

    pip install 'maxmargin[distributed]'
    python examples/cluster.py

The fit ends with the certificate that it would have had anyway.
"""

import os
import signal

import dask.array as da
from distributed import Client, LocalCluster

from maxmargin.data import chess_board
from maxmargin.distributed import SVC

SAMPLES, PARTS = 6000, 4


def main():
    X, y = chess_board(SAMPLES, random_state=0)
    rows = SAMPLES // PARTS
    inputs, labels = da.from_array(X, chunks=(rows, 2)), da.from_array(y, chunks=rows)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        model = SVC(C=100.0, gamma=0.5, callback=Killer(client)).fit(inputs, labels)
        print(model.certificate_)
        print(f"{model.n_support_.sum()} support vectors after {model.rounds_[0]} rounds")
        accuracy = (model.predict(inputs) == labels).mean().compute()
        print(f"Training accuracy: {100 * accuracy:.1f} %")


class Killer:
    """Shows the rounds, and kills a worker after the first one."""

    def __init__(self, client):
        self.client, self.rounds = client, 0

    def __call__(self, progress):
        if progress.rounds == self.rounds:
            return
        self.rounds = progress.rounds
        print(
            f"round {progress.rounds}: violation {progress.violation:.1e}, "
            f"{progress.support} support vectors, {progress.moved / 1e6:.1f} MB moved, "
            f"{progress.workers} workers"
        )
        if self.rounds == 1:
            worker = self.client.submit(os.getpid, pure=False).result()
            os.kill(worker, signal.SIGKILL)
            print(f"killed the worker with process id {worker}")


if __name__ == "__main__":
    main()
