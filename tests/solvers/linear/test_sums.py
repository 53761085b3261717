"""Linear machines from sums over shards: the optimum of one machine, and an honest certificate."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.solvers.linear import Intercept, fit_linear
from maxmargin.solvers.linear.losses import CLASSIFICATION, REGRESSION
from maxmargin.solvers.linear.sums import LinearTask, LocalSums, SumsSettings, fit_sums, shard
from maxmargin.solvers.sharded import Part

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(500, 5)) @ np.diag([3.0, 1.0, 1.0, 0.5, 0.1]) + 0.5
TARGETS = X @ np.arange(5.0) + RANDOM.normal(size=500)
LABELS = (np.median(TARGETS) < TARGETS).astype(int)
WEIGHT = RANDOM.integers(0, 3, 500).astype(float)
FREE, SCALED, NONE = Intercept(True), Intercept(True, 0.25), Intercept(False)


def parts(y, weight=None, inputs=X):
    cuts = [slice(0, 120), slice(120, 130), slice(130, 500)]
    return [Part(inputs[rows], y[rows], None if weight is None else weight[rows]) for rows in cuts]


def task_of(name, C=2.0):
    if name in CLASSIFICATION:
        return LinearTask(name, C, positive=1, factors=((0, 1.0), (1, 1.5)))
    return LinearTask(name, C, epsilon=0.3)


def loss_of(name, kept, C=2.0):
    labels, cost = LABELS[kept], C * WEIGHT[kept]
    if name in CLASSIFICATION:
        cost = cost * np.where(labels == 1, 1.5, 1.0)
        return CLASSIFICATION[name](np.where(labels == 1, 1.0, -1.0), cost)
    return REGRESSION[name](TARGETS[kept], cost, *([] if name == "squared" else [0.3]))


def solved(name, intercept=FREE, weight=None, inputs=X, **settings):
    task = task_of(name)
    y = LABELS if name in CLASSIFICATION else TARGETS
    pull = 0.0 if task.smooth else 1.0
    made = parts(y, weight, inputs)
    return fit_sums(
        lambda pause: LocalSums(made, task, pause), 5, intercept,
        SumsSettings(first_pull=pull, **settings),
    )  # fmt: skip


@pytest.mark.parametrize("intercept", [FREE, SCALED, NONE], ids=["free", "scaled", "none"])
@pytest.mark.parametrize("name", [*CLASSIFICATION, *REGRESSION])
def test_optimum_and_certificate_are_those_of_one_machine(name, intercept):
    found, session = solved(name, intercept, WEIGHT)
    kept = WEIGHT > 0
    one = fit_linear(X[kept], loss_of(name, kept), intercept=intercept, tol=1e-9)
    assert found.status == "converged"
    assert found.certificate.relative_gap <= 1e-6
    assert found.certificate.primal == pytest.approx(one.certificate.primal, rel=2e-6)
    assert found.certificate.dual <= one.certificate.primal * (1 + 1e-9)
    assert session.passes >= found.steps


def test_the_certificate_is_the_objective_of_the_model_and_a_bound_below_it():
    found, _ = solved("hinge")
    outputs = X @ found.w + found.b
    cost = 2.0 * np.where(LABELS == 1, 1.5, 1.0)
    margins = np.where(LABELS == 1, outputs, -outputs)
    objective = 0.5 * found.w @ found.w + np.sum(cost * np.maximum(0.0, 1.0 - margins))
    assert found.certificate.primal == pytest.approx(objective, rel=1e-12)


@pytest.mark.parametrize("name", ["squared_hinge", "hinge"])
def test_sparse_inputs_are_the_same_problem(name):
    dense, _ = solved(name)
    csr, _ = solved(name, inputs=sparse.csr_matrix(X))
    assert csr.certificate.primal == pytest.approx(dense.certificate.primal, rel=2e-6)


def test_sums_are_those_of_a_loop_over_samples():
    task, w, b = task_of("squared_hinge"), np.linspace(-0.1, 0.2, 5), 0.1
    sums = shard.evaluated(Part(X, LABELS), task, None, w, b, 0.0).sums
    gram, combined, value = np.zeros((5, 5)), np.zeros(5), 0.0
    for x, label in zip(X, LABELS):
        y, C = (1.0, 3.0) if label == 1 else (-1.0, 2.0)
        miss = max(0.0, 1.0 - y * (x @ w + b))
        value += C * miss**2
        combined += 2.0 * C * y * miss * x
        gram += 2.0 * C * (miss > 0) * np.outer(x, x)
    assert sums.value == pytest.approx(value)
    assert np.allclose(sums.combined, combined)
    assert np.allclose(sums.gram, gram)


def test_sums_of_a_certificate_are_those_of_a_loop_over_samples():
    task, w, b = task_of("squared_hinge"), np.linspace(-0.1, 0.2, 5), 0.1
    proof = shard.proven(Part(X, LABELS), task, None, w, b, 0.0, (0.5, 0.75))
    combined, value, total, violation = np.zeros(5), 0.0, 0.0, 0.0
    for x, label in zip(X, LABELS):
        y, C, share = (1.0, 3.0, 0.5) if label == 1 else (-1.0, 2.0, 0.75)
        miss = max(0.0, 1.0 - y * (x @ w + b))
        beta = share * 2.0 * C * y * miss
        value += C * miss**2
        combined += beta * x
        total += beta
        # The gradient y − f(x) − β/2C of the dual; it is 0 for the whole β.
        violation = max(violation, abs(y * miss - beta / (2.0 * C)))
    assert proof.value == pytest.approx(value)
    assert proof.total == pytest.approx(total)
    assert np.allclose(proof.combined, combined)
    assert proof.violation == pytest.approx(violation)


def test_budgets_end_a_run_with_a_certificate_of_what_was_reached():
    few, _ = solved("hinge", max_steps=3)
    assert few.status == "step_limit"
    assert few.certificate.gap > 0.0
    stopped, _ = solved("hinge", callback=lambda progress: progress.steps >= 2)
    assert stopped.status == "stopped"
    late, _ = solved("hinge", max_seconds=0.0)
    assert late.status == "time_limit"
