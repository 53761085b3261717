"""The room of dual coordinate descent takes the steps of `fit_linear`, one at a time."""

import numpy as np
import pytest
from lab.rooms.checks import as_json, run_code

from maxmargin.lab.rooms.coordinate import ROOM, answer
from maxmargin.lab.rooms.fields import RequestError
from maxmargin.solvers.linear import Intercept, fit_linear, hinge, squared_hinge

REQUESTS = [
    {"example": "blobs", "size": 40, "C": 1.0},
    {"example": "blobs", "size": 40, "C": 10.0, "order": "cyclic", "seed": 3},
    {"example": "blobs", "size": 30, "loss": "squared_hinge", "stop": "step", "tol": 1e-5},
    {"example": "xor", "size": 24, "C": 0.1, "intercept": "none", "shrinking": False},
    {"example": "moons", "size": 60, "C": 0.3, "epochs": 3, "random_state": 5},
]


def solved(found, request):
    points = np.array(found["points"])
    loss = {"hinge": hinge, "squared_hinge": squared_hinge}[found["loss"]]
    return fit_linear(
        points[:, :2],
        loss(points[:, 2], np.full(len(points), found["C"])),
        intercept=Intercept(request.get("intercept") != "none", 1.0),
        solver="coordinate",
        order=request.get("order", "permutation"),
        shrinking=request.get("shrinking", True),
        stop=request.get("stop", "range"),
        tol=request.get("tol", 1e-3),
        max_steps=request.get("epochs", 50),
        random_state=request.get("random_state", 0),
        trace=True,
    )


@pytest.mark.parametrize("request_", REQUESTS)
def test_the_run_is_that_of_fit_linear_to_the_last_bit(request_):
    found = as_json(answer(request_))
    solution = solved(found, request_)
    epochs = found["epochs"]
    assert found["steps"][-1]["w"] == solution.w.tolist()
    assert found["steps"][-1]["b"] == solution.b
    assert [epoch["change"] for epoch in epochs] == solution.trace.change.tolist()
    assert [epoch["range"] for epoch in epochs] == solution.trace.range.tolist()
    assert [epoch["active"] for epoch in epochs] == solution.trace.active.tolist()
    # A sum over the samples, whose order of addition is the compiler's.
    primal = [epoch["primal"] for epoch in epochs]
    np.testing.assert_allclose(primal, solution.trace.primal, rtol=1e-14)
    assert (found["status"] == "converged") == solution.converged


def test_a_request_that_leaves_options_out_is_the_example_of_the_room():
    assert answer({}) == answer(ROOM.example)


def test_a_step_moves_w_by_the_change_of_its_variable():
    found = answer(REQUESTS[0])
    X, w = np.array(found["points"])[:, :2], np.zeros(2)
    for step in found["steps"]:
        w = w + (step["after"] - step["before"]) * X[step["sample"]]
        np.testing.assert_allclose(step["w"], w, rtol=1e-10, atol=1e-12)
        assert step["shrunk"] == (step["gradient"] is None)


def test_shrinking_is_seen():
    found = answer({"example": "blobs", "size": 40, "C": 0.1, "epochs": 100})
    assert any(step["shrunk"] for step in found["steps"])
    assert found["status"] == "converged"
    assert found["epochs"][-1]["gap"] < 1e-3 * found["epochs"][-1]["primal"]


@pytest.mark.parametrize("request_", REQUESTS[:4])
def test_code_runs_and_prints_the_same_w(request_):
    found = answer(request_)
    printed = run_code(found["code"])
    assert f"w = {np.array(found['steps'][-1]['w'])}" in printed
    assert "Certificate(" in printed


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"C": 0}, "C must be between 0.0001 and 10000"),
        ({"loss": "logistic"}, "loss must be one of hinge, squared_hinge"),
        ({"shrinking": 1}, "shrinking must be true or false"),
        ({"epochs": 1000}, "epochs must be between 1 and 100"),
        ({"points": [[0, 0, 1]] * 101}, "points must have 1 to 100 rows"),
        ({"gamma": 1}, "unknown field 'gamma'"),
    ],
)
def test_bad_requests_are_refused_by_name(request_, message):
    with pytest.raises(RequestError, match=message):
        answer(request_)
