"""Small boxes first: the same optimum after far fewer steps, and every budget still holds."""

from dataclasses import replace

import numpy as np
import pytest
from checks import assert_feasible

from maxmargin import solve
from maxmargin.dual import epsilon_svr, hinge, nu_svc, squared_hinge
from maxmargin.kernels import Gaussian, Linear, Polynomial
from maxmargin.solvers import costs
from maxmargin.solvers.drivers.continuation import read_in
from maxmargin.solvers.plan import box_sizes
from maxmargin.solvers.settings import Settings


def noisy(n=400, features=8, seed=0):
    """Inputs, and labels and targets that no linear function gets right."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    signal = X[:, 0] - 0.5 * X[:, 1]
    y = np.where(signal + rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y, signal + 0.3 * rng.normal(size=n)


def machines(C):
    _, y, targets = noisy()
    weight = np.random.default_rng(1).integers(1, 4, size=y.size)
    return {
        "hinge": hinge(y, C),
        "weighted": hinge(y, C * weight),
        "epsilon_svr": epsilon_svr(targets, C, 0.1),
        "absolute": epsilon_svr(targets, C, 0.0),
    }


def settings(**given):
    defaults = {
        "tol": 1e-3,
        "gap": np.inf,
        "selection": "second_order",
        "planning": 0,
        "overstep": 1.0,
        "shrinking": True,
        "face": True,
        "cache_bytes": 1e9,
        "max_steps": np.inf,
        "max_seconds": np.inf,
        "target": np.inf,
        "callback": None,
        "trace": False,
        "random_state": 0,
    }
    return Settings(**{**defaults, **given})


@pytest.mark.parametrize("driver", ["full", "blocks", "rows"])
@pytest.mark.parametrize("kind", ["hinge", "weighted", "epsilon_svr", "absolute"])
@pytest.mark.parametrize("C", [0.01, 1.0, 300.0])
def test_the_optimum_is_that_of_a_run_in_the_whole_box(kind, C, driver):
    problem, gram = machines(C)[kind].problem, Linear().bind(noisy()[0])
    found = solve(problem, gram, driver=driver, tol=1e-4)
    direct = solve(problem, gram, alpha=np.zeros(problem.size), driver="full", tol=1e-4)
    assert found.converged
    assert direct.converged
    assert_feasible(found.alpha, problem)
    assert found.violation <= 1e-4
    assert found.dual == pytest.approx(direct.dual, rel=1e-6)


def test_steps_are_saved_where_bounds_are_far():
    X, y, _ = noisy(800, 40)
    problem, gram = hinge(y, 100.0).problem, Linear().bind(X)
    far = solve(problem, gram, alpha=np.zeros(problem.size))
    assert far.converged
    assert solve(problem, gram).steps < 0.1 * far.steps


def test_separable_data_begin_with_the_solution_as_it_is():
    X, y, _ = noisy()
    X[:, 0] += 10.0 * y
    problem, gram = hinge(y, 1e4).problem, Linear().bind(X)
    found = solve(problem, gram, tol=1e-6)
    direct = solve(problem, gram, tol=1e-6, alpha=np.zeros(y.size))
    assert found.dual == pytest.approx(direct.dual, rel=1e-6)
    assert np.abs(found.alpha).max() < 1.0


@pytest.mark.parametrize("kind", ["hinge", "epsilon_svr"])
@pytest.mark.parametrize("most", [0, 1, 100, 700])
def test_max_steps_holds_for_all_boxes_together(kind, most):
    problem, gram = machines(300.0)[kind].problem, Linear().bind(noisy()[0])
    found = solve(problem, gram, max_steps=most)
    assert found.steps <= most
    assert found.status == "step_limit"
    assert_feasible(found.alpha, problem)
    kernel_alpha = Linear()(noisy()[0]) @ problem.per_sample(found.alpha)
    gradient = problem.gradient(found.alpha, kernel_alpha)
    assert found.violation == pytest.approx(problem.violation(found.alpha, gradient), rel=1e-6)
    assert found.bias == pytest.approx(problem.bias(found.alpha, gradient), rel=1e-6)


@pytest.mark.parametrize("kind", ["hinge", "epsilon_svr"])
def test_the_callback_sees_steps_and_seconds_grow_and_may_stop(kind):
    problem, gram = machines(300.0)[kind].problem, Linear().bind(noisy()[0])
    seen = []
    solve(problem, gram, callback=lambda progress: seen.append(progress))
    assert len(seen) > 3
    for name in ("steps", "seconds", "rows"):
        values = [getattr(progress, name) for progress in seen]
        assert values == sorted(values)
    found = solve(problem, gram, callback=lambda _: True)
    assert found.status == "stopped"
    assert_feasible(found.alpha, problem)


def test_which_problems_have_smaller_boxes():
    X, y, _ = noisy()
    linear = Linear().bind(X)
    sizes = box_sizes(hinge(y, 100.0).problem, linear, settings())
    assert sizes[-1] == 1.0
    assert np.allclose(np.diff(np.log10(sizes)), 1.0)
    step = 1.0 / linear.diagonal().mean()
    assert step < 100.0 * sizes[0] <= costs.BOX_RATIO * step
    whole = [
        (hinge(y, 100.0).problem, Gaussian(1.0).bind(X), settings()),
        (hinge(y, 100.0).problem, linear, settings(trace=True)),
        (hinge(y, 0.01).problem, linear, settings()),
        (squared_hinge(y, 100.0).problem, linear, settings()),
        (nu_svc(y, 0.5).problem, linear, settings()),
        (hinge(y[:20], 100.0).problem, Linear().bind(X[:20]), settings()),
    ]
    for case in whole:
        assert box_sizes(*case) == (1.0,)


@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(2, 0.5, 1.0), Polynomial(3, 0.5, 0.0), Polynomial(0)]
)
def test_no_gram_matrix_has_a_larger_rank_than_the_kernel_says(kernel):
    X = np.random.default_rng(0).normal(size=(60, 3))
    assert np.linalg.matrix_rank(kernel(X)) == kernel.rank(X)


def test_a_gaussian_has_any_rank():
    assert Gaussian(1.0).rank(np.zeros((3, 2))) == np.inf


def test_run_that_ended_before_the_first_gradient_keeps_its_bias():
    problem = hinge(np.array([1.0, -1.0]), 1.0).problem
    found = solve(problem, np.eye(2))
    unknown = replace(found, gradient=np.full(2, np.nan), bias=np.zeros(1))
    assert read_in(problem, unknown) is unknown
    assert np.isfinite(read_in(problem, found).bias).all()
