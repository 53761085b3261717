"""The benchmark's verdicts: when a target is met, missed, or open."""

import pytest

from benchmarks import targets
from benchmarks.contenders import INTELEX, OWN, PEERS
from benchmarks.measure import Comparison, Row
from benchmarks.problems import MACHINES, PREDICTION, PROBLEMS
from benchmarks.recompute import Figures


def row(contender, fit=None, gap=1e-6, **more):
    quality = Figures(10, 5, 1.0, 1.0, gap, 0.0, 1000)
    return Row(contender, fits=[] if fit is None else [fit], figures=fit and quality, **more)


@pytest.mark.parametrize(
    ("name", "sklearn", "intelex"),
    [
        ("heart", 1, 1.5),
        ("german", 2, 2),
        ("banana", 4, 2),
        ("chess-board-10000-soft", 4, 2),
        ("cadata", 4, 2),
        ("mnist-10000", 15, 2),
        ("mnist-60000", 40, 3),
        ("chess-board-1000", 5, 10),
        ("chess-board-100000", 5, 10),
    ],
)
def test_target_of_each_kind_of_problem(name, sklearn, intelex):
    assert targets.target(PROBLEMS[name])[:2] == (sklearn, intelex)


def test_machines_beside_the_common_one_have_targets_of_their_own():
    assert all(targets.target(problem)[:2] == (2, 1.5) for problem in MACHINES)


def test_some_targets_ask_for_more_than_ratios():
    assert targets.target(PROBLEMS["mnist-60000"]).bound == 3
    assert targets.target(PROBLEMS["chess-board-1000"]).gap == 1e-6


def test_large_problems_of_many_features_have_no_target():
    assert targets.target(PROBLEMS["w8a"]) is None
    assert targets.verdicts(Comparison(PROBLEMS["w8a"], [row(OWN[0], 1.0)])) == []


def verdict(*rows, name="banana"):
    """Of banana: at least 4 times as fast as scikit-learn, twice as scikit-learn-intelex."""
    (found,) = targets.verdicts(Comparison(PROBLEMS[name], list(rows)))
    return found


def test_target_is_met_by_speed_at_no_larger_gap():
    assert verdict(row(OWN[0], 1.0), row(PEERS[0], 4.0), row(PEERS[1], 2.0)).met is True


def test_target_is_missed_by_too_little_speed():
    assert verdict(row(OWN[0], 1.0), row(PEERS[0], 3.9), row(PEERS[1], 2.0)).met is False


def test_target_is_missed_by_a_larger_gap():
    found = verdict(row(OWN[0], 1.0, gap=1e-5), row(PEERS[0], 9.0), row(PEERS[1], 9.0))
    assert found.met is False
    assert "larger than its 1e-06" in found.checks[0].words


def test_better_float_of_the_peer_counts():
    rows = row(OWN[0], 1.0), row(PEERS[0], 4.0), row(PEERS[1], 9.0), row(PEERS[2], 1.9)
    assert verdict(*rows).met is False


def test_better_float_of_ours_counts():
    found = verdict(row(OWN[0], 1.0), row(OWN[1], 0.5), row(PEERS[0], 2.0), row(PEERS[1], 1.0))
    assert found.met is True
    assert found.row.contender == OWN[1]


def test_absent_peer_leaves_the_target_open():
    assert verdict(row(OWN[0], 1.0), row(PEERS[0], 4.0)).met is None


def test_peer_ended_by_the_budget_proves_a_ratio_or_leaves_it_open():
    ended = row(PEERS[0], over_budget=900.0)
    assert verdict(row(OWN[0], 1.0), ended, row(PEERS[1], 2.0)).met is True
    assert verdict(row(OWN[0], 300.0), ended, row(PEERS[1], 600.0)).met is None


def test_ours_ended_by_the_budget_misses_the_target():
    ended = row(OWN[0], over_budget=900.0)
    assert verdict(ended, row(PEERS[0], 100.0), row(PEERS[1], 100.0)).met is False


def test_chess_board_asks_for_a_small_gap():
    peers = row(PEERS[0], 100.0, gap=5e-2), row(PEERS[1], 100.0, gap=5e-2)
    assert verdict(row(OWN[0], 1.0, gap=1e-7), *peers, name="chess-board-1000").met is True
    assert verdict(row(OWN[0], 1.0, gap=1e-5), *peers, name="chess-board-1000").met is False


def test_all_of_mnist_asks_for_three_times_the_bound():
    peers = row(PEERS[0], 100.0), row(PEERS[1], 100.0)
    assert verdict(row(OWN[0], 1.0, bound=0.4), *peers, name="mnist-60000").met is True
    assert verdict(row(OWN[0], 1.0, bound=0.3), *peers, name="mnist-60000").met is False


def test_prediction_is_compared_float_by_float():
    rows = [
        row(OWN[0], 1.0, predictions=[1.0]),
        row(OWN[1], 1.0, predictions=[0.6]),
        row(PEERS[0], 1.0, predictions=[31.0]),
        row(PEERS[1], 1.0, predictions=[1.1]),
        row(PEERS[2], 1.0, predictions=[0.5]),
    ]
    in_float64, in_float32 = targets.verdicts(Comparison(PREDICTION, rows))
    assert in_float64.met is True
    assert in_float32.met is False
    assert [check.subject for check in in_float32.checks] == [INTELEX]
