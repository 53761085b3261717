"""The room of LASVM shows the machine of `OnlineSVC`, one part of its work at a time."""

import numpy as np
import pytest
from lab.rooms.checks import as_json, run_code

from maxmargin import OnlineSVC
from maxmargin.lab.rooms.fields import RequestError
from maxmargin.lab.rooms.online import answer

REQUESTS = [
    {"example": "moons", "size": 40, "C": 10.0, "gamma": 1.0},
    {"example": "xor", "size": 40, "C": 1.0, "reprocess": 3, "selection": "mvp"},
    {"example": "blobs", "size": 40, "kernel": "linear", "C": 0.5, "reprocess": 0},
    {"example": "chess", "size": 50, "gamma": 2.0, "budget": 12},
]


def trained(found, request):
    points = np.array(found["points"])
    model = OnlineSVC(
        C=found["C"],
        kernel=found["kernel"],
        gamma=found["gamma"],
        reprocess=request.get("reprocess", 1),
        selection=request.get("selection", "second_order"),
        budget=request.get("budget"),
    )
    for i in found["order"]:
        model.partial_fit(points[i : i + 1, :2], points[i : i + 1, 2], classes=[-1.0, 1.0])
        yield i, model


@pytest.mark.parametrize("request_", REQUESTS)
def test_the_last_frame_of_each_point_is_the_estimator_after_it(request_):
    found = as_json(answer(request_))
    last = {frame["example"]: frame for frame in found["frames"]}
    for i, model in trained(found, request_):
        frame = last[i]
        machine = model.machines_.machines[0]
        assert frame["members"] == machine.number.tolist()
        np.testing.assert_allclose(frame["alpha"], machine.alpha, rtol=1e-12)
        assert frame["bias"] == pytest.approx(machine.bias, rel=1e-12, abs=1e-12)
        assert frame["dual"] == pytest.approx(machine.dual, rel=1e-12)
        assert frame["steps"] == machine.steps


def test_a_part_of_the_work_moves_one_pair_at_most_and_keeps_the_sum():
    for frame in answer(REQUESTS[1])["frames"]:
        changes = [after - before for _, before, after in frame["moved"]]
        assert len(changes) in (0, 2)
        assert sum(changes) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("request_", "leaving"), [(REQUESTS[1], "reprocess"), (REQUESTS[3], "evict")]
)
def test_frames_name_who_comes_and_who_goes(request_, leaving):
    frames, members = answer(request_)["frames"], set()
    for frame in frames:
        members |= set(frame["inserted"])
        members -= set(frame["removed"])
        assert members == set(frame["members"])
    assert any(frame["kind"] == leaving and frame["removed"] for frame in frames)


def test_the_query_is_that_of_the_estimator():
    asked = [0, 1, 2, 3, 10, 11]
    request = {"example": "moons", "size": 60, "mode": "active", "asked": asked, "C": 10.0}
    found = answer(request)
    points, pool = np.array(found["points"]), np.setdiff1d(np.arange(60), asked)
    *_, (_, model) = trained(found, {})
    assert found["order"] == asked
    assert found["query"] == pool[model.query(points[pool, :2])[0]]
    assert found["accuracies"][-1] == model.score(points[:, :2], points[:, 2])
    assert len(found["accuracies"]) == len(asked)
    np.testing.assert_allclose(found["values"], model.decision_function(points[:, :2]))
    assert found["query"] == pool[np.abs(np.array(found["values"])[pool]).argmin()]


def test_a_pool_without_labels_is_asked_at_random_and_an_empty_stream_has_one_frame():
    found = answer({"example": "moons", "size": 20, "mode": "active", "asked": []})
    assert 0 <= found["query"] < 20
    assert [frame["kind"] for frame in found["frames"]] == ["start"]
    assert answer({"points": []})["frames"][0]["members"] == []


@pytest.mark.parametrize(
    "request_", [*REQUESTS, {"example": "moons", "size": 20, "mode": "active", "asked": [3, 4, 5]}]
)
def test_code_runs_and_prints_the_support_vectors(request_):
    found = answer(request_)
    printed = run_code(found["code"])
    last = found["frames"][-1]
    members = [found["order"][k] for k, a in zip(last["members"], last["alpha"]) if a != 0.0]
    assert f"support vectors: {np.array(members)}" in printed
    if found["query"] is not None:
        assert f"asks for point {found['query']}" in printed


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"gamma": -1}, "gamma must be between"),
        ({"budget": 1}, "budget must be between 2 and 120"),
        ({"mode": "active", "asked": [1, 1]}, "asked must hold whole numbers, each once"),
        ({"mode": "active", "asked": [400]}, "asked must hold indices of the 60 points"),
        ({"mode": "active", "asked": [0.5]}, "asked must hold whole numbers"),
        ({"points": [[0, 0, 1]] * 121}, "points must have 0 to 120 rows"),
        ({"kernel": "poly"}, "kernel must be one of rbf, linear"),
    ],
)
def test_bad_requests_are_refused_by_name(request_, message):
    with pytest.raises(RequestError, match=message):
        answer(request_)


@pytest.mark.parametrize(
    ("field", "low", "high"), [("C", 1e-3, 1e4), ("gamma", 1e-3, 1e3), ("reprocess", 0, 5)]
)
def test_numbers_are_taken_up_to_their_limits(field, low, high):
    for value in (low, high):
        assert answer({"example": "moons", "size": 12, field: value})["frames"]
    for value in (low - 1, 0.9 * low - 1e-9, 1.1 * high, high + 1):
        with pytest.raises(RequestError, match=f"{field} must be between {low:g} and {high:g}"):
            answer({"example": "moons", "size": 12, field: value})
