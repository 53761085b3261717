"""Rprop and iRprop⁺, step by step against their formulas."""

import numpy as np
import pytest

from maxmargin.tuning import Evaluation, IRpropPlus, Objective, Rprop, Vector

GROW, SHRINK, SMALLEST, LARGEST = 1.3, 0.4, 1e-3, 0.5
OPTIONS = {"grow": GROW, "shrink": SHRINK, "smallest": SMALLEST, "largest": LARGEST}
START, STEP = np.array([1.0, -2.0, 0.3]), np.array([0.1, 0.2, 0.45])


def value(x):
    return float(x @ ([1.0, 3.0, 0.5] * x) + 0.7 * x[0] * x[1])


def slope(x):
    return 2.0 * x * [1.0, 3.0, 0.5] + 0.7 * np.array([x[1], x[0], 0.0])


class Recorded(Objective):
    def __init__(self):
        self.points = []

    def evaluate(self, point):
        self.points.append(point.theta.copy())
        return Evaluation(value(point.theta), slope(point.theta))


def naive(kind, steps):
    """The points that are evaluated."""
    x, size, before, worth, move, points = START, STEP.copy(), np.zeros(3), np.inf, np.zeros(3), []
    for _ in range(steps):
        points.append(x)
        gradient, here = slope(x), value(x)
        move = move.copy()
        for i in range(3):
            if before[i] * gradient[i] > 0:
                size[i] = min(GROW * size[i], LARGEST)
            elif before[i] * gradient[i] < 0:
                size[i] = max(SHRINK * size[i], SMALLEST)
                if kind is IRpropPlus:
                    move[i] = -move[i] if here > worth else 0.0
                    gradient[i] = 0.0
                    continue
            move[i] = -np.sign(gradient[i]) * size[i]
        x, before, worth = x + move, gradient, here
    return points


@pytest.mark.parametrize("kind", [Rprop, IRpropPlus])
def test_every_point_is_that_of_the_formulas(kind):
    objective = Recorded()
    kind(Vector(START), STEP, **OPTIONS).run(objective, evaluations=20)
    np.testing.assert_allclose(objective.points, naive(kind, 20), atol=1e-12)


def test_both_walks_differ():
    assert np.abs(np.array(naive(Rprop, 20)) - naive(IRpropPlus, 20)).max() > 0.01


@pytest.mark.parametrize("kind", [Rprop, IRpropPlus])
def test_the_walk_has_converged_when_all_steps_are_smallest(kind):
    optimiser = kind(Vector(START), STEP, **OPTIONS)
    result = optimiser.run(Recorded(), evaluations=500)
    assert result.status == "converged"
    assert result.evaluations < 500
    assert (optimiser.steps == SMALLEST).all()
    one = kind(Vector(START), np.array([SMALLEST, 0.2, 0.2]), **OPTIONS)
    assert one.run(Recorded(), evaluations=5).evaluations == 5
    at_rest = kind(Vector(np.zeros(3)), STEP).run(Recorded(), evaluations=500)
    assert (at_rest.status, at_rest.evaluations) == ("converged", 1)


def test_a_point_without_a_value_is_approached_by_shorter_steps():
    class Cliff(Recorded):
        def evaluate(self, point):
            found = super().evaluate(point)
            return Evaluation(np.nan, None) if point.theta[0] < 0.88 else found

    objective = Cliff()
    steps = np.array([0.2, SMALLEST, 0.2])
    optimiser = Rprop(Vector(np.array([1.0, 0.0, 0.0])), steps, **OPTIONS)
    optimiser.run(objective, evaluations=3)
    # The first coordinate goes 0.2 down, where there is nothing, then 0.4 times as far.
    assert [point[0] for point in objective.points] == pytest.approx([1.0, 0.8, 0.92])
    assert optimiser.steps[2] == pytest.approx(SHRINK * 0.2)


@pytest.mark.parametrize("kind", [Rprop, IRpropPlus])
def test_the_step_of_a_coordinate_without_a_slope_stays_as_it_is(kind):
    optimiser = kind(Vector(np.array([1.0, -2.0, 0.25])), np.array([0.1, 0.1, 0.25]), **OPTIONS)
    optimiser.run(Recorded(), evaluations=4)
    assert optimiser.point.theta[2] == 0.0
    assert optimiser.steps[2] == 0.25


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shrink": 0.0}, "need 0 < shrink < 1 < grow"),
        ({"shrink": 1.0}, "need 0 < shrink < 1 < grow"),
        ({"grow": 1.0}, "need 0 < shrink < 1 < grow"),
        ({"step": 0.0}, "step must be positive"),
        ({"step": np.array([0.1, 0.1, -0.1])}, "step must be positive"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Rprop(Vector(START), **options)
