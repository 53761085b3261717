"""The room of losses shows the library's definitions, which are the textbook's."""

import math

import numpy as np
import pytest
from lab.rooms.checks import as_json, run_code

from maxmargin.lab.rooms.fields import RequestError
from maxmargin.lab.rooms.losses import answer, conjugate_at, loss_of, values_at

FORMULAS = {
    "hinge": lambda y, z, _: max(0.0, 1 - y * z),
    "squared_hinge": lambda y, z, _: max(0.0, 1 - y * z) ** 2,
    "logistic": lambda y, z, _: math.log1p(math.exp(-y * z)),
    "epsilon_insensitive": lambda y, z, e: max(0.0, abs(y - z) - e),
    "squared_epsilon_insensitive": lambda y, z, e: max(0.0, abs(y - z) - e) ** 2,
    "squared": lambda y, z, _: (y - z) ** 2,
}
REQUESTS = [
    {"task": "classification", "C": 1.0, "z": 0.3},
    {"task": "classification", "C": 2.5, "target": -1, "z": -0.4},
    {"task": "regression", "C": 0.5, "epsilon": 0.25, "target": 0.5, "z": 1.7},
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_values_are_those_of_the_formulas(request_):
    found = as_json(answer(request_))
    y = request_.get("target", 1.0)
    for name, values in found["values"].items():
        if name == "zero_one":
            # An output of 0 is an error.
            expected = [request_["C"] * (y * z <= 0) for z in found["z"]]
            assert 0.0 in found["z"]
            assert values == expected
            continue
        expected = [
            request_["C"] * FORMULAS[name](y, z, request_.get("epsilon", 0.5)) for z in found["z"]
        ]
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("request_", REQUESTS)
def test_slopes_are_those_of_differences(request_):
    y, C, e = request_.get("target", 1.0), request_["C"], request_.get("epsilon", 0.5)
    for name, here in answer(request_)["at"].items():
        loss, z, d = loss_of(name, y, C, e), request_["z"], 1e-6
        low, high = values_at(loss, np.array([z - d, z + d]))
        assert here["least_slope"] == pytest.approx((high - low) / (2 * d), abs=1e-5)
        assert here["largest_slope"] == pytest.approx(here["least_slope"], abs=1e-9)
        assert here["beta"] == pytest.approx(-here["least_slope"], abs=1e-9)


def test_kinks_have_all_slopes_between_those_of_their_sides():
    hinge = answer({"task": "classification", "C": 2.0, "z": 1.0})["at"]["hinge"]
    assert (hinge["least_slope"], hinge["largest_slope"]) == (-2.0, 0.0)
    tube = answer({"task": "regression", "epsilon": 0.5, "z": 0.5})["at"]["epsilon_insensitive"]
    assert (tube["least_slope"], tube["largest_slope"]) == (0.0, 1.0)


@pytest.mark.parametrize("request_", REQUESTS)
def test_conjugates_are_suprema_and_lines_touch(request_):
    y, C, e = request_.get("target", 1.0), request_["C"], request_.get("epsilon", 0.5)
    z = np.linspace(-60.0, 60.0, 240_001)
    found = answer(request_)
    for name, curve in found["conjugates"].items():
        loss = loss_of(name, y, C, e)
        for place in (0, 17, 60, 119):
            beta = curve["beta"][place]
            supremum = np.max(-beta * z - values_at(loss, z))
            assert curve["value"][place] == pytest.approx(supremum, abs=1e-6)
        assert conjugate_at(loss, 1e9) is None or math.isinf(loss.upper[0])
        here = found["at"][name]
        touching = -request_["z"] * here["beta"] - here["conjugate"]
        assert touching == pytest.approx(here["value"], abs=1e-12)
        assert here["slack"] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("request_", REQUESTS)
def test_code_runs_and_prints_the_values(request_):
    printed = run_code(answer(request_)["code"])
    assert printed.count("conjugate") == 3


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"task": "ranking"}, "task must be one of classification, regression"),
        ({"target": 0.5}, "target must be a class, -1 or 1"),
        ({"C": -1}, "C must be between 0.01 and 100"),
        ({"epsilon": None}, "epsilon must be a number"),
    ],
)
def test_bad_requests_are_refused_by_name(request_, message):
    with pytest.raises(RequestError, match=message):
        answer(request_)
