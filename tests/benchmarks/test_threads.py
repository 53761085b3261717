"""Fits on one core and on all."""

import json
import os
from collections import Counter

import pytest

from benchmarks import threads
from benchmarks.contenders import OWN, PEERS
from benchmarks.problems import Problem
from benchmarks.threads import Gain, bound_to, gains, table_of, write
from benchmarks.workers import BudgetUsed

TINY = Problem("tiny", 90, 3, {"gamma": 0.5})


def test_gain_and_parallel_share_are_those_of_amdahl():
    row = Gain("board", "maxmargin-float64", 4, alone=10.0, together=4.0)
    assert row.gain == 2.5
    assert 1.0 / (1.0 - row.share + row.share / 4) == pytest.approx(2.5)
    assert "2.50      80 %" in table_of([row])


def test_cores_are_bound_for_a_while(monkeypatch):
    now = [{0, 1, 2}]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: now[-1], raising=False)
    bind = lambda _, cores: now.append(set(cores))  # noqa: E731
    monkeypatch.setattr(os, "sched_setaffinity", bind, raising=False)
    with bound_to([1]):
        assert now[-1] == {1}
    assert now[-1] == {0, 1, 2}


def test_contenders_fit_in_turns_on_one_core_and_on_all(monkeypatch):
    asked, placed = [], []

    class Quick:
        def __init__(self, _):
            self.cores = None

        def ask(self, request, *_, **__):
            if request == "prepare":
                self.cores = placed[-1]
            asked.append((request, self.cores))
            return Fit(1.0 / self.cores)

        def close(self):
            asked.append(("close", self.cores))

    class Fit(float):
        seconds = property(float)

    class Bound:
        def __init__(self, cores):
            placed.append(len(cores))

        __enter__ = __exit__ = lambda *_: None

    monkeypatch.setattr(threads, "Worker", Quick)
    monkeypatch.setattr(threads, "bound_to", Bound)
    monkeypatch.setattr(threads, "missing", lambda _: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    [row] = gains([OWN[0], PEERS[0]], [TINY], repeats=3)
    assert (row.contender, row.cores, row.gain, row.share) == (OWN[0].name, 4, 4.0, 1.0)
    assert asked[2:6] == [("fit", 1), ("fit", 4)] * 2
    assert Counter(asked)[("close", 4)] == 1


def test_the_file_has_what_was_measured(tmp_path):
    write([Gain("board", "maxmargin-float64", 2, 3.0, 2.0)], {"cores": 2}, tmp_path)
    [row] = json.loads((tmp_path / "threads.json").read_text())["threads"]
    assert (row["alone"], row["together"]) == (3.0, 2.0)


def test_what_takes_too_long_is_named_as_such(monkeypatch):
    class Slow:
        def __init__(self, _):
            pass

        def ask(self, *_, **__):
            raise BudgetUsed

        def close(self):
            pass

    said = []
    monkeypatch.setattr(threads, "Worker", Slow)
    monkeypatch.setattr(threads, "missing", lambda _: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None, raising=False)
    assert list(gains([OWN[0]], [TINY], say=said.append)) == []
    assert said[-1] == f"tiny: {OWN[0].name} is left out: over budget"
