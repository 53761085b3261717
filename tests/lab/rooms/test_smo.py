"""The main room answers with what the library says, and refuses what it cannot show."""

import base64
import json

import numpy as np
import pytest

from maxmargin import solve
from maxmargin.dual import certify, hinge
from maxmargin.kernels import Gaussian
from maxmargin.lab.examples import EXAMPLES, example
from maxmargin.lab.machines import MACHINES
from maxmargin.lab.rooms import RequestError, answer

KINDS = {"float32": "<f4", "uint8": "u1"}


def unpacked(packed):
    data = base64.b64decode(packed["data"])
    return np.frombuffer(data, KINDS[packed["kind"]]).reshape(packed["shape"])


def moons(**fields):
    return {**example("moons"), **fields}


def problem_of(request):
    points = np.array(request["points"])
    y = np.where(points[:, 2] == 1, 1.0, -1.0)
    gram = Gaussian(request["gamma"]).bind(points[:, :2], np.float64)
    return hinge(y, request["C"]).problem, gram


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_example_is_answered_in_plain_json(name):
    found = answer("smo", example(name))
    assert found["machine"]["status"] in ("converged", "stuck")
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_machine_is_solved_to_a_small_gap(machine):
    request = {**example("separable"), "machine": machine, "kernel": "gaussian"}
    (found,) = answer("smo", {**request, "action": "solve"})["machines"]
    assert found["status"] == "converged"
    assert -1e-12 <= found["gap"] <= 1e-3 * max(abs(found["dual"]), 1.0)


def test_certificate_shown_is_that_of_the_library():
    request = moons(action="solve")
    (found,) = answer("smo", request)["machines"]
    problem, gram = problem_of(request)
    solution = solve(problem, gram, tol=1e-3)
    proof = certify(problem, solution.alpha, gram)
    assert found["dual"] == pytest.approx(proof.dual, rel=1e-12)
    assert found["gap"] == pytest.approx(proof.gap, abs=1e-9)
    np.testing.assert_allclose(found["coef"], solution.alpha, atol=1e-12)


def test_warm_start_reaches_the_same_machine():
    first = answer("smo", moons(action="solve"))
    warm = answer("smo", moons(action="solve", C=12.0, start=first["alpha"]))
    cold = answer("smo", moons(action="solve", C=12.0))
    assert warm["machines"][0]["dual"] == pytest.approx(cold["machines"][0]["dual"], rel=1e-8)


def test_start_of_another_size_is_ignored():
    found = answer("smo", moons(action="solve", start=[1.0, 2.0]))
    assert found["machines"][0]["status"] == "converged"


@pytest.mark.parametrize("face", [True, False])
def test_states_of_a_trace_are_certified_at_its_points(face):
    request = moons(face=face)
    found = answer("smo", request)
    problem, gram = problem_of(request)
    alpha = unpacked(found["alpha"])
    assert len(found["states"]) == len(alpha) == len(found["steps"]) + 1
    for state, point in zip(found["states"], alpha):
        proof = certify(problem, problem.feasible(point.astype(float)), gram)
        assert state["dual"] == pytest.approx(proof.dual, rel=1e-5, abs=1e-5)
        gradient = problem.gradient(point, gram.matrix() @ point)
        assert state["top"] - state["bottom"] == pytest.approx(state["violation"], abs=1e-12)
        assert state["top"] == pytest.approx(gradient[problem.can_rise(point)].max(), abs=0.5)
    assert any(step["kind"] == "face" for step in found["steps"]) == face


def test_pairs_of_a_trace_move_their_variables_along_the_line():
    found = answer("smo", moons(face=False))
    alpha = unpacked(found["alpha"])
    for k, step in enumerate(found["steps"]):
        i, j = step["pair"]
        np.testing.assert_allclose(alpha[k, [i, j]], step["before"], rtol=1e-6)
        np.testing.assert_allclose(alpha[k + 1, [i, j]], step["after"], rtol=1e-6)
        assert sum(step["before"]) == pytest.approx(sum(step["after"]), abs=1e-9)
        assert step["newton"] == pytest.approx(step["slope"] / step["curvature"])


def test_counter_example_of_the_thesis_stops_maximum_gain():
    stuck = answer("smo", example("four"))
    assert stuck["machine"]["status"] == "stuck"
    assert len(stuck["steps"]) == 1
    hybrid = answer("smo", {**example("four"), "selection": "hybrid_max_gain"})
    assert hybrid["machine"]["status"] == "converged"


def test_cache_of_ten_rows_holds_ten():
    found = answer("smo", moons(cache_rows=10, shrinking=False, face=False))
    cached = unpacked(found["rows_cached"])
    assert cached[0].sum() == 0
    assert cached.sum(axis=1).max() == 10


def test_three_classes_are_three_machines():
    found = answer("smo", {**example("three"), "action": "solve"})
    assert [one["classes"] for one in found["machines"]] == [[0, 1], [0, 2], [1, 2]]
    third = answer("smo", {**example("three"), "task": 2})
    assert third["machine"]["classes"] == [1, 2]


@pytest.mark.parametrize("action", ["solve", "trace"])
@pytest.mark.parametrize("name", ["moons", "wave", "four"])
def test_code_shown_reproduces_the_machine(name, action, capsys):
    found = answer("smo", {**example(name), "action": action})
    space = {}
    exec(found["code"], space)
    capsys.readouterr()
    shown = found["machine"] if action == "trace" else found["machines"][0]
    assert space["solution"].dual == pytest.approx(shown["dual"], rel=1e-10)


def test_inseparable_hard_margin_is_told_as_unbounded():
    points = [[0.0, 0.0, 0], [0.0, 0.0, 1], [1.0, 0.0, 1]]
    request = {"points": points, "machine": "hard_margin", "kernel": "linear", "action": "solve"}
    (found,) = answer("smo", request)["machines"]
    assert found["status"] == "unbounded"
    assert "cannot be separated" in found["meaning"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"C": -1}, "C must be between"),
        ({"C": "10"}, "C must be a number"),
        ({"C": True}, "C must be a number"),
        ({"gamma": float("nan")}, "gamma must be a number"),
        ({"machine": "nothing"}, "machine must be one of"),
        ({"kernel": ["linear"]}, "kernel must be one of"),
        ({"degree": 2.5}, "degree must be a whole number"),
        ({"points": []}, "points must have"),
        ({"points": "many"}, "points must be a list"),
        ({"points": [[0, 0, 0]]}, "two classes"),
        ({"points": [[0, 0, 7], [1, 1, 0]]}, "class of a point"),
        ({"points": [[0, 0], [1, 1]]}, "must have 3 numbers"),
        ({"points": [[0, 1e300, 0], [1, 1, 1]]}, "must be at most"),
        ({"points": [[0, float("nan"), 0], [1, 1, 1]]}, "must be at most"),
        ({"points": [[0.0, 0.0, 0]] * 100_000}, "to 2,000 rows, got 100,000"),
        ({"points": [[k / 700, 0.0, k % 2] for k in range(700)]}, "up to 600 points"),
        ({"action": "destroy"}, "action must be one of"),
        ({"selection": "best"}, "selection must be one of"),
        ({"face": 1}, "face must be true or false"),
        ({"task": 1}, "task must be between"),
        ({"start": [None], "action": "solve"}, "start must hold numbers"),
    ],
)
def test_bad_fields_are_refused_by_name(fields, message):
    with pytest.raises(RequestError, match=message):
        answer("smo", moons(**fields))


def test_unknown_rooms_and_shapeless_requests_are_refused():
    with pytest.raises(RequestError, match="room must be one of"):
        answer("os", {})
    with pytest.raises(RequestError, match="request must be an object"):
        answer("smo", [1])


# ---- tables -----------------------------------------------------------------------------------


def csv(text, **fields):
    return answer("smo", {"action": "csv", "text": text, **fields})


def test_columns_are_guessed_and_scaled():
    found = csv("name,a,b,kind\nx,1,5,no\ny,2,6,yes\nz,3,9,no\n")
    assert [column["numeric"] for column in found["columns"]] == [False, True, True, False]
    points = np.array(found["points"])
    np.testing.assert_allclose(points[:, :2].mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(points[:, :2].std(axis=0), 1, atol=1e-3)
    assert found["classes"] == ["no", "yes"]
    assert points[:, 2].tolist() == [0, 1, 0]


def test_columns_are_chosen_by_place():
    text = "a;b;c;d\n1;2;7;0\n3;5;8;1\n4;4;1;0\n"
    across = np.array(csv(text, x=2, y=1, label=3)["points"])
    c = np.array([7, 8, 1])
    np.testing.assert_allclose(across[:, 0], (c - c.mean()) / c.std(), atol=1e-3)


def test_long_tables_are_sampled_and_say_so():
    text = "a,b,c\n" + "\n".join(f"{k % 97},{k % 89},{k % 2}" for k in range(100_000))
    found = csv(text)
    assert len(found["points"]) == 2000
    assert "2,000 of 100,000 rows are shown, drawn at random" in found["notes"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("a,b\n", "header and no rows"),
        ("one\ntwo\n", "2 to 500 columns"),
        ("1,2,3\n4,5\n", "line 2 has 2 cells"),
        ("a,b\nx,y\n", "two columns of numbers"),
        ('"a,b\n1,2\n', "not a CSV table|2 to 500 columns"),
        ("a,b,c\n1,2,p\n3,4,q\n5,6,r\n7,8,s\n", None),
    ],
)
def test_bad_tables_are_refused_with_a_reason(text, message):
    if message is None:
        with pytest.raises(RequestError, match="4 classes, up to 3"):
            csv(text, label=2)
        return
    with pytest.raises(RequestError, match=message):
        csv(text)
