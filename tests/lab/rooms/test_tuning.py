"""The room of model selection shows values and walks of `maxmargin.tuning`."""

import re
import sys

import numpy as np
import pytest
from lab.rooms.checks import as_json, run_code

from maxmargin.kernels import Gaussian
from maxmargin.lab.rooms.fields import RequestError
from maxmargin.lab.rooms.tuning import OBJECTIVES, answer
from maxmargin.tuning import CrossValidationError, FixedSplits, LogLikelihood, Point, folds

DATA = {"example": "moons", "size": 40}
WALKS = [
    {"objective": "likelihood", "optimiser": "irprop", "evaluations": 30},
    {"objective": "span", "optimiser": "rprop", "evaluations": 20},
    {"objective": "likelihood", "optimiser": "noisy", "evaluations": 60},
    {"objective": "cross_validation", "optimiser": "cma", "evaluations": 24},
    {"objective": "alignment", "optimiser": "grid", "evaluations": 100},
]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objective_has_a_landscape(name):
    request = {**DATA, "action": "landscape", "objective": name}
    found = as_json(answer({**request, "resolution": 5}))
    values = np.array(found["values"], dtype=float)
    assert values.shape == (5, 5)
    assert np.isfinite(values).all()
    assert np.ptp(values) > 0


def test_landscape_has_the_values_of_the_objectives():
    found = answer({**DATA, "objective": "likelihood", "resolution": 4})
    points = np.array(found["points"])
    X, y = points[:, :2], points[:, 2]
    objective = LogLikelihood(X, y, FixedSplits(folds(y, 5, 0)))
    error = CrossValidationError(X, y, 5)
    request = {**DATA, "action": "landscape", "objective": "cross_validation"}
    counted = answer({**request, "resolution": 4})
    for row, log_gamma in enumerate(found["log_gamma"]):
        for column, log_C in enumerate(found["log_C"]):
            point = Point(Gaussian(10.0**log_gamma), C=10.0**log_C)
            # Fits start where the one before ended: equal up to the tolerance of a fit.
            value = found["values"][row][column]
            assert value == pytest.approx(objective.value(point), rel=1e-5, abs=1e-6)
            assert counted["values"][row][column] == pytest.approx(error.value(point), abs=1e-12)


@pytest.mark.parametrize("walk", WALKS)
def test_walks_stay_inside_and_end_as_their_code_says(walk):
    found = as_json(answer({**DATA, **walk, "action": "walk", "log_C": 0.0, "log_gamma": -1.0}))
    path = found["path"]
    assert len(path) == found["evaluations"]
    for row in path:
        assert -2 - 1e-9 <= row["log_C"] <= 4 + 1e-9
        assert -2 - 1e-9 <= row["log_gamma"] <= 2 + 1e-9
    printed = run_code(found["code"])
    C, gamma, value = re.findall(r"(?:C|gamma|value) = (\S+)", printed)
    assert float(C) == pytest.approx(found["best"]["C"], rel=1e-9)
    assert float(gamma) == pytest.approx(found["best"]["gamma"], rel=1e-9)
    assert float(value) == pytest.approx(found["best"]["value"], rel=1e-9)


@pytest.mark.parametrize("objective", ["likelihood", "span", "radius_margin"])
def test_gradients_of_the_path_point_where_differences_say(objective):
    request = {**DATA, "objective": objective, "action": "walk", "optimiser": "irprop"}
    found = answer({**request, "evaluations": 1, "log_C": 0.5, "log_gamma": -0.5})
    gradient, step = found["path"][0]["gradient"], 1e-4
    for place, name in enumerate(("log_gamma", "log_C")):
        ends = [
            answer({**request, "evaluations": 1, "log_C": 0.5, "log_gamma": -0.5, name: at + d})
            for at in [0.5 if name == "log_C" else -0.5]
            for d in (-step, step)
        ]
        low, high = (end["path"][0]["value"] for end in ends)
        slope = (high - low) / (2 * step * np.log(10))
        assert gradient[place] == pytest.approx(slope, rel=1e-2, abs=1e-4)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"objective": "luck"}, "objective must be one of likelihood"),
        ({"action": "walk", "optimiser": "noisy", "objective": "span"}, "noisy log-likelihood"),
        ({"action": "walk", "objective": "cross_validation"}, "needs a gradient"),
        ({"points": [[k, 0, 1] for k in range(12)]}, "points must belong to both classes"),
        ({"points": [[k, 0, 1 if k else -1] for k in range(12)]}, "at least 5 of each class"),
        ({"resolution": 1000}, "resolution must be between 3 and 31"),
        ({"action": "walk", "log_C": 9}, "log_C must be between -2 and 4"),
    ],
)
def test_bad_requests_are_refused_by_name(request_, message):
    with pytest.raises(RequestError, match=message):
        answer(request_)


def test_evolution_without_its_package_tells_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cma", None)
    with pytest.raises(RequestError, match="pip install cma"):
        answer({**DATA, **WALKS[3], "action": "walk"})
