"""Every policy chooses the pair that a search over all pairs finds."""

import numpy as np
import pytest

from maxmargin.dual import epsilon_svr, hinge, nu_svc, squared_hinge
from maxmargin.solvers.smo.state import CLIPPED, FREE, PLANNED
from maxmargin.solvers.textbook.pairs.selection import (
    FLOOR,
    POLICIES,
    Past,
    allowed,
    clipped_gain,
    newton_gain,
)
from maxmargin.solvers.textbook.record import Recorder

SEEDS = pytest.mark.parametrize("seed", range(8))
NAMES = pytest.mark.parametrize("name", ["hinge", "squared_hinge", "nu_svc", "epsilon_svr"])


def visited(name, seed):
    """A state with variables at both bounds and between them, and its history of pairs."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(10, 2))
    y = np.where(np.arange(10) % 2, 1.0, -1.0)
    machine = {
        "hinge": lambda: hinge(y, random.uniform(0.3, 1.5, 10)),
        "squared_hinge": lambda: squared_hinge(y, 0.7),
        "nu_svc": lambda: nu_svc(y, 0.5),
        "epsilon_svr": lambda: epsilon_svr(X[:, 0] + X[:, 1] ** 2, 0.6, 0.1),
    }[name]()
    run = Recorder(machine.problem, X @ X.T + 0.3 * np.eye(10))
    pairs = []
    while len(pairs) < 14:
        i, j = random.choice(run.problem.size, 2, replace=False)
        reach = run.reach(i, j)
        if run.problem.group[i] == run.problem.group[j] and reach > 0:
            run.move_pair(i, j, random.choice([0.2, 0.6, 1.0]) * min(reach, 0.5), FREE, 1.0)
            pairs.append((int(i), int(j)))
    return run, pairs


def violating(run):
    """All pairs (i, j) of a group with G_i > G_j, where α_i may rise and α_j fall."""
    p, G = run.problem, run.gradient
    return [
        (i, j)
        for i in range(p.size)
        for j in range(p.size)
        if p.group[i] == p.group[j] and G[i] > G[j]
        if run.alpha[i] < p.upper[i] and run.alpha[j] > p.lower[j]
    ]


def gain(run, pair, limit=np.inf):
    """What the best step of at most some length along the pair adds to the dual value."""
    p, (i, j) = run.problem, pair
    Q = np.tile(run.K.matrix, (p.copies, p.copies)) + np.diag(p.ridge)
    slope, bend = run.gradient[i] - run.gradient[j], Q[i, i] + Q[j, j] - 2 * Q[i, j]
    bend = max(bend, FLOOR)  # 0 where both variables are of one sample
    step = min(slope / bend, limit)
    return slope * step - 0.5 * bend * step**2


def clipped(run, pair):
    i, j = pair
    reach = min(run.problem.upper[i] - run.alpha[i], run.alpha[j] - run.problem.lower[j])
    return gain(run, pair, reach)


def slope(run, pair):
    return run.gradient[pair[0]] - run.gradient[pair[1]]


def best(run, pairs, score):
    return max(pairs, key=lambda pair: score(run, pair))


def chosen(name, run, past):
    return POLICIES[name](run, past)


@NAMES
@SEEDS
def test_gains_are_those_of_the_best_steps(name, seed):
    run, _ = visited(name, seed)
    pairs = violating(run)
    assert pairs
    for pair in pairs:
        assert newton_gain(run, *pair) == pytest.approx(gain(run, pair))
        assert clipped_gain(run, *pair) == pytest.approx(clipped(run, pair))
        assert newton_gain(run, *pair[::-1]) == clipped_gain(run, *pair[::-1]) == 0.0
        assert allowed(run, *pair)
    size = run.problem.size
    for i in range(size):
        for j in range(size):
            rises = run.alpha[i] < run.problem.upper[i]
            assert allowed(run, i, j) == (rises and run.alpha[j] > run.problem.lower[j])


@NAMES
@SEEDS
def test_policies_find_the_best_of_all_pairs(name, seed):
    run, pairs = visited(name, seed)
    every, past = violating(run), Past(pairs, FREE, 1.0)
    worst = best(run, every, slope)
    assert chosen("mvp", run, past) == worst
    partners = [pair for pair in every if pair[0] == worst[0]]
    second = best(run, partners, gain)
    assert chosen("second_order", run, past) == chosen("planning", run, past) == second

    def first_order(run, pair):
        p, (i, j) = run.problem, pair
        return slope(run, pair) * min(p.upper[i] - run.alpha[i], run.alpha[j] - p.lower[j], 1e300)

    assert chosen("rate_certifying", run, past) == best(run, every, first_order)
    for policy, recent in (
        ("max_gain", 1),
        ("max_gain_ten_recent", 10),
        ("max_gain_whole_cache", 0),
    ):
        rows = {a for pair in pairs[-recent:] for a in pair}
        related = [pair for pair in every if rows & set(pair)]
        found = chosen(policy, run, past)
        if related:
            assert clipped(run, found) == pytest.approx(max(clipped(run, pair) for pair in related))
            assert found in related
        else:
            assert found is None


@NAMES
@SEEDS
def test_candidates_of_two_steps_ago_win_where_they_gain_more(name, seed):
    run, pairs = visited(name, seed)
    every = violating(run)
    for older in every:
        history = [older, pairs[0]]
        for kind, ratio, policy, score in (
            (FREE, 1.0, "modified_second_order", gain),
            (PLANNED, 1.5, "planning", gain),
            (PLANNED, 0.05, "planning", clipped),
        ):
            past = Past(history, kind, ratio)
            worst = best(run, every, slope)
            partners = [pair for pair in every if pair[0] == worst[0]]
            expected = best(run, [*partners, older], score)
            assert chosen(policy, run, past) == expected
            # The order in which it was written down does not matter.
            turned = past._replace(pairs=[older[::-1], pairs[0]])
            assert chosen(policy, run, turned) == expected


@SEEDS
def test_one_row_alternates_between_both_of_the_last_set(seed):
    run, pairs = visited("hinge", seed)
    for length in (len(pairs), len(pairs) - 1):
        history = pairs[len(pairs) - length :]
        kept = history[-1][length % 2]
        related = [pair for pair in violating(run) if kept in pair]
        found = chosen("max_gain_one_row", run, Past(history, FREE, 1.0))
        if related:
            assert kept in found
            assert clipped(run, found) == pytest.approx(max(clipped(run, p) for p in related))


def test_without_history_maximum_gain_begins_as_second_order():
    run, _ = visited("hinge", 0)
    past = Past([], CLIPPED, 1.0)
    expected = chosen("second_order", run, past)
    for policy in POLICIES:
        if policy.startswith("max_gain") or policy in ("planning", "modified_second_order"):
            assert chosen(policy, run, past) == expected


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_an_optimal_point_has_no_pair(policy):
    y = np.array([1.0, -1.0])
    run = Recorder(hinge(y, 9.0).problem, np.eye(2), alpha=np.array([1.0, -1.0]))
    assert chosen(policy, run, Past([(0, 1), (0, 1)], FREE, 1.0)) is None
