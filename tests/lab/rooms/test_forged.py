"""Whatever a request says, a room computes a plain answer or refuses it by name."""

import math
from importlib import import_module

import pytest
from lab.rooms.checks import as_json

from maxmargin.lab.rooms import answer
from maxmargin.lab.rooms.fields import RequestError

ROOMS = ("coordinate", "online", "tuning", "trees", "lagrange", "losses")
FORGED = [
    None,
    True,
    -1,
    0,
    1e308,
    10**400,
    math.nan,
    math.inf,
    "",
    "__import__('os')",
    [],
    {},
    [[]],
    [[1, 2]],
    [[0, 0, 0.5]],
    [["1", 0, 1]],
    [[0, 0, 1], [0, 0, -1]] * 6,
    [[1e3, -1e3, 1], [-1e3, 1e3, -1]] * 6,
]


def fields_of(name):
    return import_module(f"maxmargin.lab.rooms.{name}").FIELDS


@pytest.mark.parametrize("name", ROOMS)
def test_forged_fields_are_refused_or_answered(name):
    small = {"size": 12, "epochs": 5, "resolution": 3, "evaluations": 3}
    base = {key: value for key, value in small.items() if key in fields_of(name)}
    refusals = []
    for field in fields_of(name):
        for value in FORGED:
            try:
                found = answer(name, {**base, field: value})
            except RequestError as error:
                refusals.append(str(error))
            else:
                assert as_json(found)["code"]
    assert all(0 < len(refusal) < 300 for refusal in refusals)


@pytest.mark.parametrize("name", ROOMS)
@pytest.mark.parametrize("request_", [None, [], "x", {"nonsense": 1}, {1: 2}])
def test_requests_of_another_shape_are_refused(name, request_):
    with pytest.raises(RequestError):
        answer(name, request_)


@pytest.mark.parametrize("name", ["coordinate", "online", "tuning", "trees"])
def test_many_copies_of_two_points_are_answered(name):
    points = [[0.0, 0.0, 1], [0.0, 0.0, -1], [1.0, 1.0, 1]] * 15
    assert as_json(answer(name, {"points": points}))["points"] == points
