"""Process and reprocess: steps of the dual problem on a support set that changes."""

import pickle
import signal

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.dual import certify, hinge
from maxmargin.kernels import FromFunction, Gaussian, Linear, Oligo
from maxmargin.solvers.online import machine as online
from maxmargin.solvers.online.machine import OnlineMachine, OnlineSettings

KERNEL = Gaussian(0.7)


@st.composite
def streams(draw):
    """Inputs on a small grid, so that many are equal, with any labels and weights."""
    size = draw(st.integers(1, 40))
    numbers = st.lists(st.integers(-2, 2), min_size=2 * size, max_size=2 * size)
    X = np.array(draw(numbers), dtype=float).reshape(size, 2)
    labels = draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=size, max_size=size))
    weight = draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 3.0]), min_size=size, max_size=size))
    C = draw(st.sampled_from([0.01, 1.0, 1000.0]))
    return X, np.array(labels), C * np.array(weight)


def problems(size=60, seed=0, features=2):
    random = np.random.default_rng(seed)
    X = random.normal(size=(size, features))
    labels = np.where(X[:, 0] * X[:, 1] + 0.3 * random.normal(size=size) > 0, 1.0, -1.0)
    return X, labels, np.full(size, 10.0)


def trained(X, labels, bound, passes=1, kernel=KERNEL, dtype=np.float64, **settings):
    machine = OnlineMachine(kernel, OnlineSettings(**settings), dtype)
    place = np.full(len(labels), -1)
    for _ in range(passes):
        machine.learn(X, labels, bound, place=place)
    return machine


def assert_consistent(machine, X, labels, bound):
    """Feasible, and all that is remembered is what it would be when computed anew."""
    alpha, chosen = machine.alpha, machine.number
    # Coefficients that have been as large as their bounds, and have all but cancelled since, keep
    # the rounding of then.
    assert abs(alpha.sum()) <= 1e-12 * np.abs(alpha).sum() + 1e-16 * bound[chosen].sum()
    assert (alpha * labels[chosen] >= 0).all()
    assert (np.abs(alpha) <= bound[chosen]).all()
    assert np.unique(chosen).size == chosen.size
    assert np.array_equal(machine.inputs, X[chosen])
    K = machine.kernel(X[chosen]) if chosen.size else np.empty((0, 0))
    n = machine.size
    assert machine.support.rows[:n, :n] == pytest.approx(K, abs=1e-12)
    assert machine.gradient == pytest.approx(
        labels[chosen] - K @ alpha, abs=1e-10 * (1.0 + np.abs(alpha).sum())
    )


@given(streams(), st.sampled_from(["second_order", "mvp"]), st.integers(1, 7))
def test_every_call_leaves_a_feasible_point_and_no_lower_dual(stream, selection, batch):
    X, labels, bound = stream
    machine = OnlineMachine(KERNEL, OnlineSettings(selection))
    before = 0.0
    for start in range(0, len(X), batch):
        part = slice(start, start + batch)
        machine.learn(X[part], labels[part], bound[part], np.arange(len(X))[part])
        assert_consistent(machine, X, labels, bound)
        assert machine.dual >= before - 1e-10 * (1.0 + np.abs(machine.alpha).sum())
        before = machine.dual


@settings(max_examples=50)
@given(streams(), st.integers(2, 5))
def test_budget_is_kept_and_the_point_stays_feasible(stream, budget):
    X, labels, bound = stream
    machine = OnlineMachine(KERNEL, OnlineSettings(budget=budget))
    for k in range(len(X)):
        machine.learn(X[[k]], labels[[k]], bound[[k]], np.array([k]))
        assert machine.size <= budget
    assert_consistent(machine, X, labels, bound)


@given(streams(), st.sampled_from(["second_order", "mvp"]))
def test_many_passes_reach_the_optimum(stream, selection):
    X, labels, bound = stream
    if np.unique(labels[bound > 0]).size < 2:
        return
    machine = trained(X, labels, bound, 30, selection=selection, reprocess=50, tol=1e-8)
    alpha = np.zeros(len(X))
    alpha[machine.number] = machine.alpha
    proof = certify(hinge(labels, bound).problem, alpha, KERNEL.bind(X))
    assert proof.gap <= 1e-8 * bound.sum() + 1e-6 * proof.dual


@pytest.mark.parametrize("selection", ["second_order", "mvp"])
def test_later_passes_move_members_at_either_bound_and_free_ones(selection):
    X, labels, bound = problems(200)
    machine = trained(X, labels, bound, 40, selection=selection, reprocess=0)
    assert_consistent(machine, X, labels, bound)
    optimum = naive.solve_dual(hinge(labels, bound).problem, KERNEL(X)).value
    assert machine.dual == pytest.approx(optimum, rel=1e-3)


@pytest.mark.parametrize(("selection", "partner"), [("mvp", 0), ("second_order", 2)])
def test_an_example_is_paired_as_the_policy_says(selection, partner):
    """Members 0 and 2 violate alike; 2 is near to the example, so that a step gains more."""
    table = np.eye(4)
    table[2, 3] = table[3, 2] = 0.9
    kernel = FromFunction(lambda A, B: table[np.ix_(A, B)])
    machine = OnlineMachine(kernel, OnlineSettings(selection, reprocess=0))
    labels, bound = np.array([-1.0, 1.0, -1.0, 1.0]), np.full(4, 0.5)
    machine.learn(np.arange(3), labels[:3], bound[:3])
    assert machine.alpha == pytest.approx([-0.25, 0.5, -0.25])
    assert machine.gradient == pytest.approx([-0.75, 0.5, -0.75])
    machine.learn(np.array([3]), labels[3:], bound[3:], np.array([3]))
    assert machine.alpha[3] > 0
    moved = machine.alpha[:3] != [-0.25, 0.5, -0.25]
    assert np.flatnonzero(moved).tolist() == [partner]


def test_an_example_that_violates_nothing_is_forgotten():
    machine = OnlineMachine(Linear(), OnlineSettings())
    machine.learn(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), np.ones(2))
    machine.learn(np.array([[5.0]]), np.array([1.0]), np.ones(1), np.array([2]))
    assert machine.number.tolist() == [0, 1]


def test_members_that_no_pair_improves_leave():
    """The outer pair comes first; once the inner pair is in, it is useless."""
    X, labels = np.array([[-3.0], [3.0], [-1.0], [1.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
    machine = OnlineMachine(Linear(), OnlineSettings(reprocess=10))
    machine.learn(X[:2], labels[:2], np.full(2, 10.0), np.array([0, 1]))
    assert sorted(machine.number) == [0, 1]
    machine.learn(X[2:], labels[2:], np.full(2, 10.0), np.array([2, 3]))
    assert sorted(machine.number) == [2, 3]
    assert machine.dual == pytest.approx(0.5)


def useless(machine):
    """Members at zero that no pair of the support set can improve and no threshold depends on."""
    g, zero = machine.gradient, machine.alpha == 0
    lower, upper = machine.support.lower[: machine.size], machine.support.upper[: machine.size]
    top = g[machine.alpha < upper].max(initial=-np.inf)
    bottom = g[machine.alpha > lower].min(initial=np.inf)
    if np.isinf(top) or np.isinf(bottom):
        return np.zeros(machine.size, dtype=bool)
    rising = machine.labels > 0
    return zero & np.where(rising, (g <= bottom) & (g < top), (g >= top) & (g > bottom))


@settings(max_examples=100, deadline=None)
@given(streams(), st.sampled_from(["second_order", "mvp"]), st.integers(1, 3))
def test_exactly_the_useless_members_leave(stream, selection, reprocess):
    """After every example none of them is left, and members that are not useless stay."""
    X, labels, bound = stream
    machine = OnlineMachine(KERNEL, OnlineSettings(selection, reprocess=reprocess))
    for i in np.flatnonzero(bound > 0):
        before = dict(zip(machine.number.tolist(), machine.alpha.tolist()))
        steps = machine.steps
        here = slice(i, i + 1)
        machine.learn(X[here], labels[here], bound[here], np.array([i]))
        assert not useless(machine).any()
        if machine.steps == steps:
            # Nothing has moved, so nobody who was needed before has become useless.
            assert set(before) <= set(machine.number.tolist())


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_member_on_which_the_threshold_depends_stays(sign):
    """Both classes at their bounds are content with any b from -1 to 1. The third example, at zero,
    narrows that to b = ±1: without it the function would be wrong about it."""
    machine = OnlineMachine(Linear(), OnlineSettings(reprocess=3))
    X, labels = np.zeros((3, 1)), sign * np.array([1.0, -1.0, 1.0])
    machine.learn(X, labels, np.ones(3))
    assert machine.number.tolist() == [0, 1, 2]
    assert machine.alpha.tolist() == [sign, -sign, 0.0]
    assert machine.bias == sign
    machine.finish(1e-3)
    assert machine.bias == sign


def test_a_large_support_set_is_met_by_fewer_examples_at_a_time():
    """The clock is looked at after each chunk, which takes about as long whatever the set."""
    X = np.zeros((1000, 50))
    sizes = [online.chunk_size(KERNEL, X, members) for members in (0, 1000, 10_000, 100_000)]
    assert sizes[0] == online.SIZES.chunk
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] * 100_000 * 80 <= online.SIZES.chunk_work
    assert online.chunk_size(KERNEL, X, 10**9) == 1
    assert online.chunk_size(Oligo(), ["ACGT"], 100_000) == 1


def test_examples_of_the_only_class_wait_for_the_other_one():
    X = np.arange(300.0)[:, None] / 100
    machine = OnlineMachine(KERNEL, OnlineSettings())
    machine.learn(X, np.ones(300), np.ones(300))
    assert machine.size == online.SIZES.waiting
    assert machine.bias == 1.0
    machine.learn(X[:1] - 1.0, -np.ones(1), np.ones(1), np.array([300]))
    assert machine.dual > 0


def known_by_index(X):
    """The kernel of X with values that do not depend on the batch they are computed in."""
    K = KERNEL(X)
    return FromFunction(lambda A, B: K[np.ix_(A, B)])


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_a_stream_is_learned_alike_in_batches_of_any_size(batch):
    X, labels, bound = problems(700)
    kernel, indices = known_by_index(X), np.arange(700)
    ahead = trained(indices, labels, bound, kernel=kernel)
    single = OnlineMachine(kernel, OnlineSettings())
    for start in range(0, 700, batch):
        part = indices[start : start + batch]
        single.learn(part, labels[part], bound[part], part)
    assert np.array_equal(ahead.number, single.number)
    assert np.array_equal(ahead.alpha, single.alpha)


def test_the_order_asked_for_is_the_order_of_the_stream():
    X, labels, bound = problems()
    kernel, order = known_by_index(X), np.random.default_rng(1).permutation(60)
    one, other = (OnlineMachine(kernel, OnlineSettings()) for _ in range(2))
    one.learn(np.arange(60), labels, bound, order=order)
    other.learn(order, labels[order], bound[order], order)
    assert np.array_equal(one.alpha, other.alpha)
    assert np.array_equal(one.number, other.number)


def test_bias_has_the_least_loss_on_the_support_set():
    X, labels, bound = problems(150, seed=3)
    machine = trained(X, labels, bound)

    def loss(bias):
        return machine.bound @ np.maximum(0.0, machine.labels * (machine.gradient - bias))

    around = machine.bias + np.linspace(-2.0, 2.0, 4001)
    assert loss(machine.bias) <= min(map(loss, around)) + 1e-9


def test_finish_is_optimal_on_the_support_set_and_leaves_no_zero():
    X, labels, bound = problems(200)
    machine = trained(X, labels, bound)
    dual, before = machine.dual, machine.number.copy()
    solution = machine.finish(1e-6)
    assert solution.status == "converged"
    assert machine.dual >= dual
    assert machine.violation <= 1e-6
    assert (machine.alpha != 0).all()
    assert set(machine.number) <= set(before)
    assert_consistent(machine, X, labels, bound)


def test_finish_waits_for_the_second_class():
    machine = trained(np.zeros((2, 1)), np.ones(2), np.ones(2))
    assert machine.finish(1e-3) is None


def test_finish_is_as_exact_with_single_precision_rows():
    X, labels, bound = problems(200)
    X = X.astype(np.float32)
    single = trained(X, labels, bound, 20, dtype=np.float32)
    double = trained(X.astype(np.float64), labels, bound, 20)
    single.finish(1e-8)
    double.finish(1e-8)
    assert single.dual == pytest.approx(double.dual, rel=1e-9)


def test_learning_goes_on_after_finish():
    X, labels, bound = problems(200)
    machine = trained(X[:100], labels[:100], bound[:100])
    machine.finish(1e-6)
    machine.learn(X[100:], labels[100:], bound[100:], np.arange(100, 200))
    assert_consistent(machine, X, labels, bound)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("features", [3, 60])
def test_sparse_inputs_are_learned_as_dense_ones(container, features):
    X, labels, bound = problems(120, features=features)
    X[:, 2:] *= np.random.default_rng(0).random((120, features - 2)) < 0.05
    dense, compressed = (trained(A, labels, bound, 20) for A in (X, container(X)))
    assert isinstance(compressed.inputs, container)
    assert np.array_equal(compressed.inputs.toarray(), X[compressed.number])
    for machine in (dense, compressed):
        machine.finish(1e-9)
    assert compressed.dual == pytest.approx(dense.dual, rel=1e-9)
    assert np.array_equal(np.sort(compressed.number), np.sort(dense.number))


def test_contradictions_are_found_where_all_members_are_at_their_bounds():
    """Alone, neither of the last two violates anything; together they do."""
    X, labels, bound = np.zeros((4, 1)), np.array([-1.0, 1.0, 1.0, -1.0]), np.full(4, 1e-3)
    machine = OnlineMachine(KERNEL, OnlineSettings())
    machine.learn(X, labels, bound)
    assert machine.alpha == pytest.approx(1e-3 * machine.labels)
    assert machine.size == 4


def test_sequences_are_learned_as_their_gram_matrix_says():
    random = np.random.default_rng(0)
    X = ["".join(random.choice(list("ACGT"), 12)) for _ in range(60)]
    labels = np.array([1.0 if "AC" in x else -1.0 for x in X])
    kernel, bound = Oligo(k=2, sigma=1.0), np.full(60, 5.0)
    machine = trained(X, labels, bound, 30, kernel=kernel, reprocess=5)
    optimum = naive.solve_dual(hinge(labels, bound).problem, kernel(X)).value
    assert machine.dual == pytest.approx(optimum, rel=1e-4)
    assert machine.inputs == [X[number] for number in machine.number]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("way", ["state", "pickle"])
def test_a_restored_machine_goes_on_to_the_last_bit(dtype, way):
    X, labels, bound = problems(700, features=5)
    X = X.astype(dtype)
    machine = trained(X[:400], labels[:400], bound[:400], dtype=dtype)
    if way == "state":
        settings = machine.settings
        other = OnlineMachine.restored(machine.kernel, settings, dtype, machine.state())
    else:
        other = pickle.loads(pickle.dumps(machine))
    for one in (machine, other):
        one.learn(X[400:], labels[400:], bound[400:], np.arange(400, 700))
    for one, two in zip(machine.state()[:-2], other.state()[:-2]):
        assert np.array_equal(one, two)
    assert np.array_equal(machine.inputs, other.inputs)


def test_a_machine_that_has_seen_nothing_is_restored():
    machine = pickle.loads(pickle.dumps(OnlineMachine(KERNEL, OnlineSettings())))
    machine.learn(*problems())
    assert machine.dual > 0


def test_ctrl_c_comes_between_chunks(monkeypatch):
    X, labels, bound = problems(64)
    monkeypatch.setattr(online, "SIZES", online.SIZES._replace(expensive_chunk=16))
    calls = []

    def pressing(A, B):
        calls.append(len(A))
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)
        return KERNEL(A, B)

    machine = OnlineMachine(FromFunction(pressing), OnlineSettings())
    with pytest.raises(KeyboardInterrupt, match="kept"):
        machine.learn(X, labels, bound)
    calls.extend(range(10))
    assert 0 < machine.size < 64
    assert_consistent(machine, X, labels, bound)
