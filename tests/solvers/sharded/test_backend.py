"""Parts in this process: how they are read, and what a session counts."""

import numpy as np

from maxmargin.kernels import FromFunction
from maxmargin.solvers.sharded import LocalBackend, ShardTask
from maxmargin.solvers.sharded.inputs import in_bytes
from maxmargin.solvers.sharded.records import Members

KERNEL = FromFunction(lambda A, B: A @ B.T)
TASK = ShardTask(KERNEL, "hinge", positive=(1.0,))
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(11, 2))
Y = np.where(np.arange(11) % 3, 1.0, -1.0)


def opened(rows=4, pause=lambda: None):
    return LocalBackend.of_arrays(X, Y, rows=rows).session(TASK, pause)


def test_parts_of_arrays_are_their_rows_in_order():
    weight = np.arange(11.0)
    parts = [read() for read in LocalBackend.of_arrays(X, Y, weight, rows=4).parts]
    assert [len(part.X) for part in parts] == [4, 4, 3]
    for name, whole in (("X", X), ("y", Y), ("weight", weight)):
        np.testing.assert_array_equal(np.concatenate([getattr(p, name) for p in parts]), whole)
    bare = LocalBackend.of_arrays(X, rows=11).parts[0]()
    assert (bare.y, bare.weight) == (None, None)


def test_other_numbers_are_read_as_float64_and_maps_into_memory(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert not isinstance(LocalBackend.of_arrays(mapped, Y).parts[0]().X, np.memmap)
    for dtype, expected in ((np.int32, np.float64), (np.float32, np.float32)):
        part = LocalBackend.of_arrays((10 * X).astype(dtype), Y).parts[0]()
        assert part.X.dtype == expected
        np.testing.assert_array_equal(part.X, (10 * X).astype(dtype))


def test_parts_of_a_source_are_its_chunks():
    class Source:
        edges = np.array([0, 5, 11])

        def read(self, k):
            return X[self.edges[k] : self.edges[k + 1]]

    parts = [read() for read in LocalBackend.of_chunks(Source(), Y, -Y).parts]
    assert [len(part.X) for part in parts] == [len(part.y) for part in parts] == [5, 6]
    for part in parts:
        np.testing.assert_array_equal(part.weight, -part.y)
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), Y)


def test_samples_and_bytes_that_travel_are_counted():
    session = opened()
    assert (session.sent, session.moved, session.workers) == (0, 0, 1)
    taken = session.sample(0.5, 2, 0)
    drawn = sum(some.places.size for some in taken)
    assert session.sent == drawn > 0
    session.send(X[:3])
    assert (session.sent, session.moved) == (drawn + 3, X[:3].nbytes)
    session.restart(X[:5])
    assert (session.sent, session.moved) == (drawn + 8, X[:8].nbytes)
    assert [len(block) for block in session.blocks] == [5]
    members = [Members(np.empty(0, np.int64), np.empty((1, 0)))] * 3
    deltas = [np.ones(5)]
    told = session.advance(members, deltas, np.float64, np.zeros(1), 9, np.inf)
    assert session.moved == X[:8].nbytes + 40 + sum(in_bytes(proposal) for proposal in told)


def test_shards_draw_different_samples_and_fetch_what_is_asked_for():
    session = LocalBackend.of_arrays(np.vstack([X, X]), np.append(Y, Y), rows=11).session(
        TASK, lambda: None
    )
    first, second = session.sample(0.5, 2, 0)
    assert first.places.tolist() != second.places.tolist()
    got = session.fetch([np.array([3, 4]), np.array([10])])
    np.testing.assert_array_equal(got[0].X, X[[3, 4]])
    np.testing.assert_array_equal(got[1].X, X[[10]])


def test_a_pass_that_is_interrupted_changes_nothing():
    calls = []

    def pause():
        calls.append(None)
        if len(calls) == 5:
            raise KeyboardInterrupt

    session = opened(pause=pause)
    session.send(X)
    members = [Members(np.empty(0, np.int64), np.empty((1, 0)))] * 3
    call = (members, [np.ones(11)], np.float64, np.zeros(1), 9, np.inf)
    session.advance(*call)
    before, moved = session.states, session.moved
    try:
        session.advance(*call)
    except KeyboardInterrupt:
        assert session.states is before
        assert session.moved == moved
    assert len(calls) == 5
    gaps = session.gaps(members, np.zeros(1))
    values = X @ X.T @ np.ones(11)
    losses = np.maximum(0.0, 1.0 - Y * values)
    np.testing.assert_allclose(gaps, np.add.reduceat(losses, [0, 4, 8]))
