"""A cluster in this process, and one of processes that can be killed."""

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="module")
def client():
    """Two workers in threads: quick to start, and all that most tests need."""
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:
        yield client
