"""The race shows runs of `watch`, each to its own end."""

import json

import pytest

from maxmargin.lab.examples import example
from maxmargin.lab.rooms import RequestError, answer
from maxmargin.lab.rooms.race import ROOM


def test_every_racer_reaches_the_optimum_and_the_code_says_the_same(capsys):
    found = answer("race", ROOM.example)
    assert len(found["racers"]) == 4
    for racer in found["racers"]:
        assert racer["status"] == "converged"
        assert racer["dual"] <= found["optimum"] * (1 + 1e-10)
        assert racer["dual"] == pytest.approx(found["optimum"], rel=1e-4)
        assert racer["at_step"][-1] == racer["steps"]
        assert racer["duals"][-1] == pytest.approx(racer["dual"], rel=1e-9)
        sizes = {len(racer[k]) for k in ("at_step", "at_evaluations", "duals", "gaps")}
        assert sizes == {len(racer["intercepts"])} == {racer["alpha"]["shape"][0]}
    json.dumps(found, allow_nan=False)
    exec(found["code"], {})
    printed = capsys.readouterr().out.splitlines()
    assert [line.split("steps=")[1].split(",")[0] for line in printed] == [
        str(racer["steps"] - racer["newton_steps"]) for racer in found["racers"]
    ]


def test_newton_steps_need_fewer_steps_than_pairs_alone():
    plain, _, _, newton = answer("race", ROOM.example)["racers"]
    assert newton["newton_steps"] > 0
    assert newton["steps"] < plain["steps"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"racers": [{}]}, "2 to 4"),
        ({"racers": [{}] * 5}, "2 to 4"),
        ({"racers": [{"selection": "x"}, {}]}, "selection must be one of"),
        ({"racers": [1, 2]}, "must be an object"),
        ({"points": [[k / 400, 0.0, k % 2] for k in range(400)]}, "up to 300 points"),
    ],
)
def test_bad_races_are_refused(fields, message):
    with pytest.raises(RequestError, match=message):
        answer("race", {**example("xor"), **fields})
