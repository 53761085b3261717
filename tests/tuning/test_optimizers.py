"""Optimisers: budgets, resuming, histories, limits and what is not finite."""

import pickle
import time

import numpy as np
import pytest
from clock import Stopwatch

from maxmargin.tuning import (
    CMA,
    Evaluation,
    Grid,
    IRpropPlus,
    Limits,
    NoisyRprop,
    Objective,
    Rprop,
    Vector,
)

START = Vector(np.array([1.0, -2.0]))
OFFSETS = [np.linspace(-2.5, 2.5, 11)] * 2
MAKERS = {
    "grid": lambda limits=None: Grid(START, OFFSETS, limits),
    "rprop": lambda limits=None: Rprop(START, 0.3, limits),
    "irprop": lambda limits=None: IRpropPlus(START, 0.3, limits),
    "noisy": lambda limits=None: NoisyRprop(START, 0.34, limits),
    "cma": lambda limits=None: CMA(START, 0.5, limits, random_state=3),
}
EVERY = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
WITH_GRADIENT = pytest.mark.parametrize(
    "make", [MAKERS[name] for name in ("rprop", "irprop", "noisy")]
)


class Bowl(Objective):
    """(x − ½)² + 3 (y + ½)², or its negative to be maximised."""

    def __init__(self, maximise=False):
        self.maximise = maximise

    def evaluate(self, point):
        sign = -1.0 if self.maximise else 1.0
        u = point.theta - [0.5, -0.5]
        return Evaluation(sign * float(u[0] ** 2 + 3 * u[1] ** 2), sign * np.array([2, 6]) * u)


class Hole(Bowl):
    """A bowl that has no value just behind the minimum, where steps that are too long end."""

    def evaluate(self, point):
        if -0.4 < point.theta[1] < 0.5:
            return Evaluation(np.nan, np.full(2, np.nan))
        return super().evaluate(point)


class Tilt(Objective):
    """A plane."""

    def evaluate(self, point):
        return Evaluation(float(-point.theta.sum()), -np.ones(2))


@EVERY
@pytest.mark.parametrize("maximise", [False, True])
def test_minimum_of_a_bowl_is_found(make, maximise):
    result = make().run(Bowl(maximise), evaluations=3000)
    np.testing.assert_allclose(result.point.theta, [0.5, -0.5], atol=1e-2)


@pytest.mark.parametrize("make", [MAKERS["rprop"], MAKERS["irprop"]])
def test_rprop_converges_to_rounding(make):
    result = make().run(Bowl(), evaluations=1000)
    assert result.status == "converged"
    np.testing.assert_allclose(result.point.theta, [0.5, -0.5], atol=1e-8)


@EVERY
def test_budget_of_evaluations_is_kept(make):
    optimiser = make()
    result = optimiser.run(Bowl(), evaluations=37)
    assert (result.status, result.evaluations, len(optimiser.history)) == ("evaluations", 37, 37)


@EVERY
def test_budget_of_seconds_is_kept(make):
    class Slow(Bowl):
        def evaluate(self, point):
            time.sleep(0.01)
            return super().evaluate(point)

    watch = Stopwatch()
    result = make().run(Slow(), seconds=0.1)
    assert result.status == "seconds"
    assert watch.seconds < 0.5
    assert 0.1 <= result.seconds <= watch.wall


@EVERY
def test_walk_in_pieces_is_the_walk_in_one(make):
    whole, pieces = make(), make()
    whole.run(Bowl(), evaluations=45)
    for _ in range(9):
        pieces.run(Bowl(), evaluations=5)
    assert np.array_equal(whole.history.thetas, pieces.history.thetas)


@EVERY
def test_walk_goes_on_after_pickling(make):
    whole, first = make(), make()
    whole.run(Bowl(), evaluations=45)
    first.run(Bowl(), evaluations=25)
    second = pickle.loads(pickle.dumps(first))
    second.run(Bowl(), evaluations=20)
    assert np.array_equal(whole.history.thetas, second.history.thetas)


@EVERY
def test_history_holds_every_value(make):
    optimiser = make()
    optimiser.run(Bowl(), evaluations=20)
    table = optimiser.history.table(START.names)
    assert list(table) == ["evaluation", "seconds", "value", "x[0]", "x[1]"]
    values = [Bowl().value(Vector(theta)) for theta in optimiser.history.thetas]
    np.testing.assert_allclose(table["value"], values)
    assert (np.diff(table["seconds"]) >= 0).all()


def test_long_history_is_thinned_evenly():
    optimiser = NoisyRprop(START)
    optimiser.history.capacity = 100
    optimiser.run(Bowl(), evaluations=1000)
    numbers = np.array(optimiser.history.evaluations)
    assert 50 <= numbers.size <= 100
    assert np.unique(np.diff(numbers)).size == 1


@EVERY
def test_callback_stops_the_run(make):
    result = make().run(Bowl(), evaluations=1000, callback=lambda o: o.evaluations >= 12)
    assert (result.status, result.evaluations) == ("stopped", 12)


@EVERY
def test_walk_stays_inside_its_limits_and_says_which_it_reached(make):
    limits = Limits(np.array([-5.0, -2.5]), np.array([5.0, -1.0]))
    optimiser = make(limits)
    result = optimiser.run(Bowl(), evaluations=400)
    assert all((limits.low <= theta).all() for theta in optimiser.history.thetas)
    assert all((theta <= limits.high).all() for theta in optimiser.history.thetas)
    np.testing.assert_allclose(result.point.theta, [0.5, -1.0], atol=3e-2)
    if not isinstance(optimiser, CMA):
        assert result.at_limits == ("x[1]",)


@WITH_GRADIENT
def test_endless_slope_ends_at_the_limits(make):
    result = make(Limits.around(START, 3.0)).run(Tilt(), evaluations=2000)
    assert result.at_limits == ("x[0]", "x[1]")


@EVERY
def test_points_without_a_value_are_stepped_around_and_counted(make):
    optimiser = make()
    result = optimiser.run(Hole(), evaluations=3000)
    assert result.skipped == np.isnan(optimiser.history.values).sum() > 0
    assert np.isfinite(result.value)
    np.testing.assert_allclose(result.point.theta, [0.5, -0.5], atol=2e-2)


@WITH_GRADIENT
def test_start_without_a_value_is_refused(make):
    class Nowhere(Objective):
        def evaluate(self, point):
            del point
            return Evaluation(np.inf, np.zeros(2))

    with pytest.raises(ValueError, match="must be finite at the start, got inf"):
        make().run(Nowhere(), evaluations=10)


@WITH_GRADIENT
def test_objective_without_a_gradient_is_refused(make):
    class Count(Bowl):
        differentiable = False

    with pytest.raises(ValueError, match="needs a gradient, and Count has none"):
        make().run(Count(), evaluations=10)


@WITH_GRADIENT
def test_run_without_a_budget_is_refused(make):
    with pytest.raises(ValueError, match="give a budget"):
        make().run(Bowl())


def test_irprop_takes_back_a_step_that_made_things_worse():
    class Steep(Objective):
        def evaluate(self, point):
            x = point.theta[0]
            return Evaluation(float(abs(x)), np.sign(point.theta))

    optimiser = IRpropPlus(Vector(np.array([0.4])), 1.0)
    optimiser.run(Steep(), evaluations=2)
    assert optimiser.point.theta[0] == 0.4
    assert optimiser.steps[0] == 0.5


def test_grid_visits_all_combinations_first_coordinate_slowest():
    optimiser = Grid(Vector(np.zeros(3)), [[0, 1], [0, 10], [0, 100, 200]])
    optimiser.run(ThreeSums())
    expected = [[x, y, z] for x in (0, 1) for y in (0, 10) for z in (0, 100, 200)]
    assert np.array_equal(optimiser.history.thetas, expected)


class ThreeSums(Objective):
    def evaluate(self, point):
        return Evaluation(float(point.theta.sum()))


def test_grid_in_threads_gives_the_history_of_one():
    one, four = (Grid(START, OFFSETS, n_jobs=n) for n in (1, 4))
    assert one.run(Bowl()).point.theta.tolist() == four.run(Bowl()).point.theta.tolist()
    assert one.history.values == four.history.values


def test_grid_in_threads_keeps_its_budget():
    assert Grid(START, OFFSETS, n_jobs=4).run(Bowl(), evaluations=10).evaluations == 10


@pytest.mark.parametrize(("n", "size"), [(1, 5), (2, 6), (21, 13)])
def test_population_of_cma_is_that_of_the_thesis(n, size):
    assert CMA(Vector(np.zeros(n))).population == size


def test_cma_leaves_the_global_generator_alone():
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.RandomState(5).uniform()
    CMA(START).run(Bowl(), evaluations=30)
    assert np.random.uniform() == expected  # noqa: NPY002


def test_limits_that_cross_are_refused():
    with pytest.raises(ValueError, match="low must not exceed high"):
        Limits(np.array([1.0]), np.array([0.0]))
