"""Newton's method on linear machines: its objective is that of the problem."""

from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.solvers.linear import CLASSIFICATION, Intercept, as_matrix
from maxmargin.solvers.linear.primal.newton import ProximalNewton
from maxmargin.solvers.linear.records import LinearProblem

RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=(40, 3))
Y = np.where(X[:, 0] + RANDOM.normal(size=40) > 0, 1.0, -1.0)


@pytest.mark.parametrize("intercept", [Intercept(False), Intercept(True), Intercept(True, 0.25)])
def test_the_objective_is_the_sum_of_penalties_and_losses(intercept):
    w, b = np.array([0.5, -1.0, 2.0]), 3.0 if intercept.fitted else 0.0
    problem = LinearProblem(
        as_matrix(X), CLASSIFICATION["squared_hinge"](Y, np.full(40, 2.0)), intercept
    )
    state = ProximalNewton(problem, w, b, np.zeros(40), consistent=False)
    losses = 2.0 * np.maximum(0.0, 1.0 - Y * (X @ state.w + state.b)) ** 2
    expected = 0.5 * state.w @ state.w + 0.5 * intercept.penalty * state.b**2 + losses.sum()
    assert state.objective == pytest.approx(expected, rel=1e-12)
    assert state.gap >= 0.0


@pytest.mark.parametrize(("moved", "solved"), [(0.0, False), (0.25, False), (1.0, True)])
def test_a_smoothed_problem_is_solved_once_its_error_is_less_than_what_the_step_gained(
    moved, solved
):
    beta = np.array([1.0, moved])
    samples = SimpleNamespace(beta=beta, center=np.array([1.0, 0.0]))
    run = SimpleNamespace(awake=samples, defect=0.5, slack=2.0, inv_sigma=2.0, dual=beta)
    assert ProximalNewton.solved(run) == solved
