"""The driver `full` with the rows it needs: the same optimum, from few of them or from all."""

import numpy as np
import pytest
from checks import assert_feasible, assert_optimal
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from strategies import BOUNDED, cases, gram_of

from maxmargin import SVC, solve
from maxmargin.dual import certify, epsilon_svr, hinge
from maxmargin.kernels import Gaussian
from maxmargin.solvers import growing


@pytest.fixture
def always(monkeypatch):
    """Every matrix is worth the try."""
    monkeypatch.setattr(growing, "WORTH_GROWING", 0.0)
    return monkeypatch


@pytest.mark.parametrize("kind", BOUNDED)
@settings(max_examples=40)
@given(data=st.data())
def test_the_optimum_is_that_of_an_independent_solver(kind, data):
    case = data.draw(cases(kind))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "WORTH_GROWING", 0.0)
        patch.setattr(growing, "FEWEST_ROWS", data.draw(st.sampled_from([1, 2, 5])))
        patch.setattr(growing, "MOST_WAITING", data.draw(st.sampled_from([0.3, 2.0])))
        patch.setattr(growing, "MOST_ROWS", data.draw(st.sampled_from([0.5, 2.0])))
        gram = gram_of(case.K)
        gram.whole = None
        start = data.draw(st.sampled_from([None, "far"]))
        alpha = None if start is None else 0.3 * np.sign(case.problem.upper + case.problem.lower)
        face = data.draw(st.booleans())
        solution = solve(case.problem, gram, driver="full", tol=1e-7, face=face, alpha=alpha)
    assert_feasible(solution.alpha, case.problem)
    assert_optimal(solution, case, face)


@pytest.mark.usefixtures("always")
def test_few_support_vectors_take_few_rows_and_the_gradient_of_all_is_right():
    X, y = make_moons(1500, noise=0.1, random_state=0)
    y = 2.0 * y - 1.0
    problem, gram = hinge(y, 10.0).problem, Gaussian(2.0).bind(X)
    solution = solve(problem, gram, driver="full")
    assert solution.status == "converged"
    assert solution.kernel_evaluations < 0.4 * 1500**2
    K = rbf_kernel(X, gamma=2.0)
    np.testing.assert_allclose(solution.gradient, y - K @ solution.alpha, atol=1e-9)
    assert certify(problem, solution.alpha, gram).violation < 1e-9


@pytest.mark.usefixtures("always")
def test_many_support_vectors_take_the_whole_matrix_early():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), rng.choice([-1.0, 1.0], size=600)
    solution = solve(hinge(y, 1.0).problem, Gaussian(0.5).bind(X), driver="full")
    first = growing.FEWEST_ROWS * 600
    assert 600**2 < solution.kernel_evaluations <= 600**2 + first


@pytest.mark.parametrize("kernel_is_whole", [False, True])
def test_growing_ends_where_the_whole_matrix_does(always, kernel_is_whole):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 2))
    problem = epsilon_svr(np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=700), 5.0, 0.2).problem
    K = rbf_kernel(X)
    gram = K if kernel_is_whole else Gaussian(0.5).bind(X)
    found = solve(problem, gram, driver="full")
    always.setattr(growing, "WORTH_GROWING", np.inf)
    expected = solve(problem, gram, driver="full")
    assert found.dual == pytest.approx(expected.dual, rel=1e-12)
    np.testing.assert_allclose(found.alpha, expected.alpha, atol=1e-7)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("steps", [0, 1, 100])
def test_a_budget_that_ends_growth_is_told(steps):
    X, y = make_moons(1000, noise=0.3, random_state=0)
    problem = hinge(2.0 * y - 1.0, 100.0).problem
    solution = solve(problem, Gaussian(2.0).bind(X), driver="full", max_steps=steps)
    assert (solution.status, solution.steps) == ("step_limit", steps)
    assert_feasible(solution.alpha, problem)


@pytest.mark.usefixtures("always")
def test_a_callback_is_asked_while_rows_join_and_may_stop():
    X, y = make_moons(1000, noise=0.3, random_state=0)
    problem, gram = hinge(2.0 * y - 1.0, 100.0).problem, Gaussian(2.0).bind(X)
    heard = []

    def stop(progress):
        heard.append(progress.rows)
        return len(heard) == 3

    solution = solve(problem, gram, driver="full", callback=stop)
    assert solution.status == "stopped"
    assert heard[0] < heard[2] < 1000
    assert_feasible(solution.alpha, problem)
    exact = solve(problem, gram, driver="full", alpha=solution.alpha)
    assert exact.status == "converged"


def test_pairs_of_classes_grow_like_two_classes(always):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) + 1.5 * np.repeat(np.eye(3), 200, axis=0)
    y = np.repeat(["a", "b", "c"], 200)
    grown = SVC(C=10.0).fit(X, y)
    always.setattr(growing, "WORTH_GROWING", np.inf)
    whole = SVC(C=10.0).fit(X, y)
    assert grown.certificate_.violation < 1e-9
    np.testing.assert_allclose(grown.decision_function(X), whole.decision_function(X), atol=1e-7)
