"""What is fitted from summaries of parts, and how many problems at a time."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.estimators.kernel.training import sharded
from maxmargin.estimators.kernel.training.sharded import gamma_of
from maxmargin.solvers.sharded.summary import Summary

RANDOM = np.random.default_rng(0)
X, WEIGHT = RANDOM.normal(2.0, 3.0, size=(20, 4)), RANDOM.uniform(size=20)


def summary_of(X, weight):
    nothing = np.zeros(0)
    return Summary(
        samples=len(X),
        features=X.shape[1],
        weight=weight.sum(),
        labels=nothing,
        label_weights=nothing,
        total=float(weight @ X.sum(axis=1)),
        squares=float(weight @ (X * X).sum(axis=1)),
        least=0.0,
        most=0.0,
        largest=float(np.abs(X).max()),
        nbytes=X.nbytes,
    )


def test_gamma_follows_the_weighted_variance_of_all_parts():
    parts = [summary_of(X[part], WEIGHT[part]) for part in (slice(7), slice(7, None))]
    mean = np.average(X, weights=np.tile(WEIGHT[:, None], 4))
    variance = np.average((X - mean) ** 2, weights=np.tile(WEIGHT[:, None], 4))
    assert gamma_of("scale", parts) == pytest.approx(1.0 / (4 * variance))
    assert gamma_of("auto", parts) == 0.25
    assert gamma_of(0.3, parts) == 0.3


def test_gamma_of_constant_inputs_is_1():
    constant = np.full((20, 4), 0.1)
    assert gamma_of("scale", [summary_of(constant, WEIGHT)] * 2) == 1.0


@pytest.mark.parametrize("together", [1, 2])
def test_no_more_problems_are_solved_at_a_time_than_the_backend_can(together, monkeypatch):
    running: list[int] = []
    at_a_time: list[int] = []

    def solving(*_):
        running.append(1)
        at_a_time.append(len(running))
        time.sleep(0.05)
        running.pop()
        return SimpleNamespace(solution=SimpleNamespace(status="converged"))

    monkeypatch.setattr(sharded, "solve_sharded", solving)
    reporter = SimpleNamespace(listen=lambda *_: None, finish=lambda _: None)
    jobs = [sharded.Job(str(number), None, np.zeros(1), 10) for number in range(4)]
    backend = SimpleNamespace(side_by_side=together)
    results, interrupted = sharded.solved(SVC(), backend, jobs, reporter, None)
    assert len(results) == 4
    assert not interrupted
    assert max(at_a_time) <= together
