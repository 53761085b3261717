"""What one shard answers, against the whole problem recomputed from its samples."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.dual import epsilon_svr, hinge, one_class, squared_hinge
from maxmargin.kernels import FromFunction, Gaussian
from maxmargin.kernels.vector import chebyshev
from maxmargin.solvers.sharded import inputs, shard
from maxmargin.solvers.sharded.records import Members
from maxmargin.solvers.sharded.shard import Part, ShardTask

KERNEL = FromFunction(lambda A, B: (1.0 + A @ B.T) ** 2)
N = 14
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 2))
Y = np.where(RANDOM.random(N) < 0.5, 3.0, 8.0)
WEIGHT = RANDOM.uniform(0.5, 2.0, N)
TARGETS = X[:, 0] - 0.5
K = KERNEL(X, X)
MACHINES = ["hinge", "squared_hinge", "epsilon_svr", "one_class"]


def posed(name):
    """A task, its part, and the problem that it has to set up."""
    if name == "epsilon_svr":
        task = ShardTask(KERNEL, name, 0.4, 0.1, offset=0.25)
        return task, Part(X, TARGETS, WEIGHT), epsilon_svr(TARGETS - 0.25, 0.4 * WEIGHT, 0.1)
    if name == "one_class":
        return ShardTask(KERNEL, name), Part(X, None, WEIGHT), one_class(WEIGHT, 0.5)
    task = ShardTask(KERNEL, name, 0.3, positive=(8.0,), factors=((3.0, 2.0), (8.0, 1.0)))
    made = {"hinge": hinge, "squared_hinge": squared_hinge}[name]
    C = 0.3 * WEIGHT * np.where(Y == 3.0, 2.0, 1.0)
    return task, Part(X, Y, WEIGHT), made(np.where(Y == 8.0, 1.0, -1.0), C)


def members_of(problem):
    """Some members with α strictly inside the box or at its end."""
    places = np.array([1, 4, 9])
    low, high = (a.reshape(problem.copies, -1)[:, places] for a in (problem.lower, problem.upper))
    part = np.array([0.5, 1.0, 0.2]) * np.arange(1, 1 + problem.copies)[:, None] / problem.copies
    ends = np.where(high > 0, np.minimum(high, 0.7), np.maximum(low, -0.7))
    return Members(places, part * ends)


def point(problem, members):
    alpha = np.zeros((problem.copies, N))
    alpha[:, members.places] = members.alpha
    alpha = alpha.ravel()
    return alpha, problem.gradient(alpha, K @ problem.per_sample(alpha))


def gap_of(problem, alpha, gradient, bias, steps=4001):
    """Σ over variables of the largest that a single one could add at the bias, on a fine grid."""
    total, error = 0.0, gradient + problem.ridge * alpha - bias
    for a in range(problem.size):
        low, high = max(problem.lower[a], -20.0), min(problem.upper[a], 20.0)
        grid = np.linspace(low, high, steps)
        value = error[a] * grid - 0.5 * problem.ridge[a] * grid**2
        own = error[a] * alpha[a] - 0.5 * problem.ridge[a] * alpha[a] ** 2
        total += value.max() - own
    return total


@pytest.mark.parametrize("name", MACHINES)
def test_a_part_poses_the_variables_of_its_samples(name):
    task, part, machine = posed(name)
    problem = task.posed(part).problem
    for field in ("linear", "lower", "upper", "ridge", "group", "samples"):
        found, expected = getattr(problem, field), getattr(machine.problem, field)
        if name == "one_class":  # weights decide its box, and ν only the sum
            expected = {"upper": WEIGHT}.get(field, expected)
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("most", [2, 100])
def test_an_answer_is_that_of_the_whole_problem(name, most):
    task, part, _ = posed(name)
    problem, bias = task.posed(part).problem, np.array([0.3])
    members = members_of(problem)
    alpha, gradient = point(problem, members)
    delta = members.alpha.sum(axis=0)
    step = shard.advanced(
        part, None, task, members, [X[members.places]], [delta], np.float64, bias, most
    )
    np.testing.assert_allclose(step.state.values, K[:, members.places] @ delta, atol=1e-12)
    told = step.proposal
    rises, falls = alpha < problem.upper, alpha > problem.lower
    assert told.highest == pytest.approx([gradient[rises].max(initial=-np.inf)])
    assert told.lowest == pytest.approx([gradient[falls].min(initial=np.inf)])
    shape = problem.copies, N
    np.testing.assert_allclose(told.gradient, gradient.reshape(shape)[:, members.places])
    assert told.gap == pytest.approx(gap_of(problem, alpha, gradient, bias[0]), rel=1e-4)
    pull = gradient - bias[0]
    violation = np.maximum(np.where(rises, pull, 0), np.where(falls, -pull, 0))
    violation = np.maximum(violation, 0.0).reshape(shape).max(axis=0)
    violation[members.places] = 0.0
    best = np.sort(np.argsort(-violation)[: min(most, np.count_nonzero(violation))])
    assert told.taken.places.tolist() == best.tolist()
    np.testing.assert_allclose(told.violation, violation[best])
    np.testing.assert_array_equal(told.taken.X, X[best])
    np.testing.assert_array_equal(told.taken.upper, problem.upper.reshape(shape)[:, best])
    gap = shard.gap_part(part, step.state, task, members, bias)
    assert gap == pytest.approx(told.gap)


def test_states_follow_changes_of_alpha_block_by_block():
    task, part, machine = posed("hinge")
    problem, bias = machine.problem, np.zeros(1)
    members = members_of(problem)
    first = shard.advanced(
        part, None, task, members, [X[:3]], [np.array([0.1, 0.0, 0.2])], np.float64, bias, 5
    )
    blocks, deltas = [X[:3], X[3:5]], [np.zeros(3), np.array([-0.4, 0.5])]
    second = shard.advanced(part, first.state, task, members, blocks, deltas, np.float64, bias, 5)
    np.testing.assert_allclose(first.state.values, K[:, [0, 2]] @ [0.1, 0.2])
    expected = K[:, [0, 2, 3, 4]] @ [0.1, 0.2, -0.4, 0.5]
    np.testing.assert_allclose(second.state.values, expected)
    assert first.proposal.drift == 0.0
    assert second.proposal.drift == pytest.approx(np.abs(K[:, [3, 4]] @ [-0.4, 0.5]).max())


@pytest.mark.parametrize("leash", [np.inf, 0.1])
def test_known_kernel_values_change_a_state_like_the_inputs(leash):
    task, part, machine = posed("hinge")
    members, bias, delta = members_of(machine.problem), np.full(1, 0.9), np.array([-0.4, 0.0, 0.5])
    first = shard.advanced(part, None, task, members, [X[:3]], [delta], np.float64, bias, 5)
    rows = shard.kernel_rows(part, task, X[3:6], np.float32)
    np.testing.assert_allclose(rows, K[3:6], rtol=1e-5)
    rest = (np.float64, bias, 5, leash)
    direct = shard.advanced(part, first.state, task, members, [X[3:6]], [delta], *rest)
    known = shard.advanced(part, first.state, task, members, [], [], *rest, [(rows, delta)])
    np.testing.assert_allclose(known.state.values, direct.state.values, rtol=1e-5)
    if np.isinf(leash):
        assert known.state.near is direct.state.near is None
    else:
        np.testing.assert_array_equal(known.state.near, direct.state.near)
        away = np.setdiff1d(np.arange(N), known.state.near)
        assert away.size
        np.testing.assert_array_equal(known.state.values[away], first.state.values[away])


@pytest.mark.parametrize("name", ["hinge", "epsilon_svr"])
def test_samples_beyond_the_leash_are_set_aside_and_nothing_is_said_of_them(name):
    task, part, machine = posed(name)
    problem, bias = machine.problem, np.array([0.9])
    members, delta = members_of(problem), np.array([0.2, -0.1, 0.3])
    call = (part, task, members, [X[members.places]], [delta], np.float64, bias, 100)
    before = shard.advanced(call[0], None, *call[1:])
    # α of others is 0: how far a variable is from where a step would help.
    slack = np.full(N, np.inf)
    for a in range(problem.size):
        pull = problem.linear[a] - before.state.values[a % N] - bias[0]
        if problem.upper[a] > 0:
            slack[a % N] = min(slack[a % N], -pull)
        if problem.lower[a] < 0:
            slack[a % N] = min(slack[a % N], pull)
    leash = float(np.median(slack))
    near = (slack <= leash) | np.isin(np.arange(N), members.places)
    after = shard.advanced(call[0], before.state, *call[1:], leash)
    assert after.state.near.tolist() == np.flatnonzero(near).tolist()
    grown = K[:, members.places] @ delta
    np.testing.assert_allclose(after.state.values, grown + np.where(near, grown, 0.0))
    alpha, _ = point(problem, members)
    gradient = problem.gradient(alpha, after.state.values)
    known = np.tile(near, problem.copies)
    rises, falls = (alpha < problem.upper) & known, (alpha > problem.lower) & known
    assert after.proposal.highest == pytest.approx([gradient[rises].max()])
    assert after.proposal.lowest == pytest.approx([gradient[falls].min()])
    assert near[after.proposal.taken.places].all()
    assert after.proposal.drift == pytest.approx(np.abs(grown[near]).max())
    # Those that were set aside stay there, however long the leash becomes.
    later = shard.advanced(call[0], after.state, *call[1:], 1e9)
    assert later.state.near.tolist() == after.state.near.tolist()


def test_interpolated_sums_leave_no_sample_aside(monkeypatch):
    task = ShardTask(Gaussian(0.5), "hinge", 0.3, positive=(8.0,))
    members, deltas = Members(np.array([1]), np.array([[0.2]])), [np.full(9, 0.1), np.ones(4)]
    call = (task, members, [X[:9], X[9:13]], deltas, np.float64, np.zeros(1), 5)
    assert shard.interpolation_at(task.kernel, X) is not None
    monkeypatch.setattr(chebyshev, "COEFFICIENTS_A_VALUE", 1e9)
    step = shard.advanced(Part(X, Y), None, *call)
    step = shard.advanced(Part(X, Y), step.state, *call, 0.0)
    assert step.state.near is None
    change = task.kernel(X, X[:13]) @ np.concatenate(deltas)
    np.testing.assert_allclose(step.state.values, 2 * change, rtol=1e-13)


def test_nothing_is_set_aside_for_a_few():
    task, part, _ = posed("hinge")
    members = Members(np.arange(N - 1), np.zeros((1, N - 1)))
    call = (task, members, [], [], np.float64, np.zeros(1), 5)
    first = shard.advanced(part, None, *call)
    assert shard.advanced(part, first.state, *call, 0.0).state.near is None


@pytest.mark.parametrize(("share", "least", "size"), [(0.45, 2, 7), (0.01, 6, 6), (5.0, 1, 14)])
def test_a_sample_has_both_classes_in_their_shares(share, least, size):
    task, part, machine = posed("hinge")
    found = shard.sampled(part, task, share, least, 3)
    assert size <= found.places.size <= size + 1  # each class is rounded up
    assert (np.diff(found.places) > 0).all()
    positive = np.mean(found.y == 8.0)
    assert abs(positive - np.mean(Y == 8.0)) <= 1.0 / size
    np.testing.assert_array_equal(found.X, X[found.rows])
    np.testing.assert_array_equal(found.linear[0], machine.problem.linear[found.places])
    if size < N:
        assert shard.sampled(part, task, share, least, 4).places.tolist() != found.places.tolist()


def test_a_rare_class_has_a_quarter_of_a_sample_if_it_has_so_many():
    y = np.where(np.arange(100) < 10, 8.0, 3.0)
    part = Part(np.zeros((100, 2)), y, None)
    task = ShardTask(KERNEL, "hinge", positive=(8.0,))
    assert np.count_nonzero(shard.sampled(part, task, 0.2, 1, 0).y == 8.0) == 5
    assert np.count_nonzero(shard.sampled(part, task, 0.8, 1, 0).y == 8.0) == 10


def test_samples_without_weight_are_never_drawn():
    weight = np.where(np.arange(N) % 2, 1.0, 0.0)
    task = ShardTask(KERNEL, "hinge", positive=(8.0,))
    assert (shard.sampled(Part(X, Y, weight), task, 1.0, N, 0).places % 2 == 1).all()


def test_other_classes_are_left_out_and_rows_are_those_of_the_part():
    y = Y.copy()
    y[[2, 5]] = 11.0
    task = ShardTask(KERNEL, "hinge", 0.3, positive=(8.0,), negative=(3.0,))
    part = Part(X, y, WEIGHT)
    assert task.posed(part).rows.tolist() == [k for k in range(N) if k not in (2, 5)]
    found = shard.fetched(part, task, np.array([1, 3, 6]))
    assert found.places.tolist() == [1, 2, 4]
    assert found.rows.tolist() == [1, 3, 6]
    np.testing.assert_array_equal(found.X, X[[1, 3, 6]])
    np.testing.assert_allclose(np.abs(found.lower + found.upper)[0], 0.3 * WEIGHT[[1, 3, 6]])
    some = found.at(np.array([True, False, True]))
    assert some.rows.tolist() == [1, 6]
    np.testing.assert_array_equal(some.linear, found.linear[:, [0, 2]])
    np.testing.assert_array_equal(some.X, X[[1, 6]])


@pytest.mark.parametrize("copies", [1, 2])
def test_a_part_without_samples_of_the_problem_says_nothing(copies):
    if copies == 2:
        task, part = ShardTask(KERNEL, "epsilon_svr"), Part(X[:0], TARGETS[:0])
    else:
        task = ShardTask(KERNEL, "hinge", positive=(1.0,), negative=(2.0,))
        part = Part(X, Y, WEIGHT)
    members = Members(np.empty(0, np.int64), np.empty((copies, 0)))
    told = shard.advanced(
        part, None, task, members, [X], [np.ones(N)], np.float64, np.zeros(1), 5
    ).proposal
    assert (told.highest, told.lowest, told.gap) == (-np.inf, np.inf, 0.0)
    assert told.gradient.shape == told.taken.linear.shape == (copies, 0)
    assert shard.sampled(part, task, 1.0, 5, 0).places.size == 0


def test_sums_in_blocks_are_sums(monkeypatch):
    monkeypatch.setattr(shard, "BLOCK_ENTRIES", 12)
    coef = RANDOM.normal(size=N)
    np.testing.assert_allclose(shard.kernel_sums(KERNEL, X[:9], X, coef, np.float64), K[:9] @ coef)


def test_bytes_are_those_of_all_arrays():
    matrix = sparse.csr_array(np.eye(3))
    parts = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    assert inputs.in_bytes(matrix) == parts
    assert inputs.in_bytes([np.zeros(3), (np.zeros(2, np.float32), 1.0)]) == 24 + 8 + 8


def test_inputs_of_several_shards_are_joined_in_their_own_form():
    np.testing.assert_array_equal(inputs.stacked([X[:2], X[:0], X[2:]]), X)
    assert inputs.stacked([X[:0], X]) is X
    assert inputs.stacked([["a"], [], ["b", "c"]]) == ["a", "b", "c"]
    joined = inputs.stacked([sparse.csr_array(X[:2]), sparse.csr_array(X[2:])])
    np.testing.assert_array_equal(joined.toarray(), X)
