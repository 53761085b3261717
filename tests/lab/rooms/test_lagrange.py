"""The room of Lagrange multipliers: lecture 003's example and others like it."""

import numpy as np
import pytest
from lab.rooms.checks import as_json, run_code
from scipy.optimize import minimize

from maxmargin.lab.rooms.fields import RequestError
from maxmargin.lab.rooms.lagrange import answer

OTHERS = [{"p": 2.0, "q": 0.5, "a": 1.0, "b": 3.0, "c": -4.0}, {"a": 0.0, "b": 1.0, "c": 0.0}]


def test_lecture_003_has_its_printed_solution():
    solution = as_json(answer({}))["solution"]
    assert solution["x"] == pytest.approx([-6 / 5, 3 / 5])
    assert solution["multiplier"] == pytest.approx(6 / 5)
    assert solution["f"] == pytest.approx(9 / 5)
    assert solution["g"] == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("request_", [{}, *OTHERS])
def test_gradients_are_parallel_and_a_general_solver_agrees(request_):
    found = answer(request_)
    solution, k = found["solution"], found["coefficients"]
    steps = np.array(solution["gradient_f"]) + solution["multiplier"] * np.array(
        solution["gradient_g"]
    )
    assert steps == pytest.approx([0.0, 0.0], abs=1e-12)
    other = minimize(
        lambda x: k["p"] * x[0] ** 2 + k["q"] * x[1] ** 2,
        np.ones(2),
        constraints={"type": "eq", "fun": lambda x: k["a"] * x[0] + k["b"] * x[1] + k["c"]},
    )
    np.testing.assert_allclose(solution["x"], other.x, atol=1e-5)


@pytest.mark.parametrize("request_", [{}, *OTHERS])
def test_dual_function_is_largest_at_the_multiplier_where_it_equals_f(request_):
    found = answer(request_)
    dual, solution = found["dual"], found["solution"]
    best = int(np.argmax(dual["value"]))
    assert dual["multiplier"][best] == pytest.approx(solution["multiplier"], abs=1e-12)
    assert dual["value"][best] == pytest.approx(solution["f"], abs=1e-12)
    # x(λ) minimises L: no neighbour has a lower value.
    k, random = found["coefficients"], np.random.default_rng(0)
    for place in (0, 40, 100):
        x = np.array(dual["x"][place]) + 0.1 * random.standard_normal((50, 2))
        g = x @ [k["a"], k["b"]] + k["c"]
        value = k["p"] * x[:, 0] ** 2 + k["q"] * x[:, 1] ** 2 + dual["multiplier"][place] * g
        assert value.min() >= dual["value"][place]


def test_the_walk_stays_on_the_constraint_and_f_is_lowest_at_its_middle():
    walk = answer({})["walk"]
    x = np.array(walk["x"])
    np.testing.assert_allclose(2 * x[:, 0] - x[:, 1] + 3, 0.0, atol=1e-12)
    assert int(np.argmin(walk["f"])) == len(x) // 2


@pytest.mark.parametrize("request_", [{}, *OTHERS])
def test_code_runs_and_prints_the_solution(request_):
    found = answer(request_)
    printed = run_code(found["code"])
    assert f"multiplier = {found['solution']['multiplier']}" in printed


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"a": 0.0, "b": 0.01}, "a and b must not both be near 0"),
        ({"p": 0.0}, "p must be between 0.1 and 10"),
        ({"c": "3"}, "c must be a number"),
    ],
)
def test_bad_requests_are_refused_by_name(request_, message):
    with pytest.raises(RequestError, match=message):
        answer(request_)
