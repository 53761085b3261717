"""The leave-one-out error of kernel ridge regression: refits, central differences, tuning."""

import numpy as np
import pytest

from maxmargin import KernelRidge
from maxmargin.kernels import Gaussian, Linear, Polynomial
from maxmargin.tuning import Point, RidgeLeaveOneOut
from maxmargin.tuning.optimizers import Rprop


def data(n=25, targets=1):
    random = np.random.default_rng(3)
    X = random.normal(size=(n, 2))
    Y = np.sin(2 * X @ random.normal(size=(2, targets))) + 0.1 * random.normal(size=(n, targets))
    return X, Y[:, 0] if targets == 1 else Y


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_value_is_the_mean_over_refits(fit_intercept):
    X, y = data()
    point = Point(Gaussian(0.7), C=5.0)
    errors = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = KernelRidge(0.2, kernel=point.kernel, fit_intercept=fit_intercept)
        errors.append(y[i] - model.fit(X[rest], y[rest]).predict(X[[i]])[0])
    value = RidgeLeaveOneOut(X, y, fit_intercept).value(point)
    assert value == pytest.approx(np.mean(np.square(errors)), rel=1e-8)
    model = KernelRidge(0.2, kernel=point.kernel, fit_intercept=fit_intercept, leave_one_out=True)
    assert value == pytest.approx(np.mean(np.square(model.fit(X, y).loo_residuals_)), rel=1e-10)


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian([0.5, 0.9]), Polynomial(2, 0.5, 1.0) + Gaussian(0.3)])
def test_gradient_is_that_of_central_differences(kernel, fit_intercept, targets):
    objective = RidgeLeaveOneOut(*data(targets=targets), fit_intercept)
    point, step = Point(kernel, C=20.0), 1e-5
    gradient = objective.evaluate(point).gradient
    for k, delta in enumerate(step * np.eye(point.theta.size)):
        slope = objective.value(point.moved(delta)) - objective.value(point.moved(-delta))
        assert gradient[k] == pytest.approx(slope / (2 * step), rel=1e-6, abs=1e-9)


def test_following_the_gradient_lowers_the_error():
    objective = RidgeLeaveOneOut(*data(60))
    start = Point(Gaussian(20.0), C=1.0)
    found = Rprop(start).run(objective, evaluations=60)
    assert found.value < 0.5 * objective.value(start)


def test_matrix_that_is_not_positive_has_no_value():
    X, y = data()
    assert np.isnan(RidgeLeaveOneOut(X, y).value(Point(Linear(), C=1e300)))


@pytest.mark.parametrize("y", [np.zeros(3), np.full(25, np.nan), np.zeros((25, 1, 1))])
def test_bad_targets_are_refused(y):
    with pytest.raises(ValueError, match="y "):
        RidgeLeaveOneOut(data()[0], y)
