"""Paths of C and cross-validation on one Gram matrix."""

import naive
import numpy as np
import pytest
from tuning.problems import blobs, board

from maxmargin import SVC
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian, Linear
from maxmargin.tuning import (
    C_path,
    CrossValidationError,
    CurveOfC,
    Point,
    cross_validate_C,
    folds,
)
from maxmargin.tuning.machines.blocks import moved_to_box, optimised
from maxmargin.tuning.machines.certificates import Delivered, certified
from maxmargin.tuning.machines.small_path import small_path

CS = np.logspace(-3, 4, 8)


@pytest.fixture(params=[(300, 3000), (5, 3000), (5, 5)], ids=["few", "small", "large"])
def all_sizes(request, monkeypatch):
    """The machines of few samples, of small parts, and of large ones, all on small data."""
    few, largest = request.param
    monkeypatch.setattr("maxmargin.tuning.costs.SMALL_PATH", few)
    monkeypatch.setattr("maxmargin.tuning.costs.LARGEST_MACHINE", largest)


def three_classes(n=60, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(3, size=n)
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    return centres[y] + 0.8 * random.standard_normal((n, 2)), np.array(["a", "b", "c"])[y]


@pytest.mark.usefixtures("all_sizes")
def test_path_has_the_optimum_at_every_C():
    X, y = board(60)
    K = Gaussian(2.0)(X)
    for step in C_path(Gaussian(2.0), X, y, CS[::-1]):
        problem = hinge(y, step.C).problem
        gradient = problem.gradient(step.alpha, K @ step.alpha)
        assert problem.violation(step.alpha, gradient) <= 1e-3 * (1 + 1e-9)
        best = naive.solve_dual(problem, K).value
        assert problem.value(step.alpha, gradient) == pytest.approx(best, rel=1e-3)
        assert step.bias == pytest.approx(problem.bias(step.alpha, gradient)[0], abs=1e-9)


def test_path_is_ascending():
    X, y = blobs(30)
    path = C_path(Linear(), X, y, [1.0, 0.1, 10.0])
    assert [step.C for step in path] == [0.1, 1.0, 10.0]


@pytest.mark.usefixtures("all_sizes")
@pytest.mark.parametrize("seed", range(3))
def test_curve_is_the_cross_validation_error_at_every_C(seed):
    X, y = board(80, seed, noise=0.2)
    curve = cross_validate_C(Gaussian(2.0), X, y, CS, splits=4, random_state=seed)
    objective = CrossValidationError(X, y, 4, seed)
    expected = [objective.value(Point(Gaussian(2.0), C)) for C in CS]
    # A sample on the boundary, up to the precision of the machines, may fall on either side.
    assert np.abs(curve.mean - expected).max() <= 1 / 80 + 1e-12


def test_curve_of_three_classes_is_that_of_voting_pairs():
    X, y = three_classes()
    codes = np.unique(y, return_inverse=True)[1].astype(float)
    curve = cross_validate_C(Gaussian(0.5), X, y, [0.1, 10.0], splits=3)
    for k, C in enumerate([0.1, 10.0]):
        model = SVC(kernel=Gaussian(0.5), C=C)
        for row, (train, test) in enumerate(folds(codes, 3, 0)):
            expected = np.mean(model.fit(X[train], y[train]).predict(X[test]) != y[test])
            assert curve.errors[row, k] == pytest.approx(expected, abs=1 / test.size + 1e-12)


def test_curve_in_threads_is_the_curve_of_one():
    X, y = board(80)
    one, two = (cross_validate_C(Gaussian(2.0), X, y, CS, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.errors, two.errors)


@pytest.mark.usefixtures("all_sizes")
def test_gaps_are_those_of_the_machines_of_each_fold():
    X, y = three_classes()
    curve = cross_validate_C(Gaussian(0.5), X, y, [0.1, 10.0], splits=3, certify=True)
    assert curve.gaps.shape == (3, 2)
    assert (curve.gaps >= 0).all()
    assert curve.gaps.max() <= 1e-4
    assert cross_validate_C(Gaussian(0.5), X, y, [0.1], splits=3).gaps is None


@pytest.mark.usefixtures("all_sizes")
def test_machines_with_a_certificate_have_the_gap_of_fits():
    X, y = board(150)
    curve = cross_validate_C(Gaussian(0.1), X, y, [10.0, 1e3, 1e5], splits=3, certify=True)
    assert curve.gaps.max() <= 1e-4


def test_certificate_notices_a_machine_that_is_not_optimal():
    X, y = board(60)
    train, C = np.arange(0, 60, 2), 5.0
    model = SVC(kernel=Gaussian(2.0), C=C, tol=1e-6).fit(X[train], y[train])
    alpha = np.zeros(train.size)
    alpha[model.support_] = model.dual_coef_[0]
    bound, labels = np.full(train.size, C), y[train].astype(float)
    good = Delivered(train, labels, bound, alpha, float(model.intercept_[0]))
    bad = good._replace(bias=good.bias + 0.1)
    first, second = certified(Gaussian(2.0), X, [good, bad])
    assert first.primal == pytest.approx(model.certificate_.primal, rel=1e-9)
    assert first.dual == pytest.approx(model.certificate_.dual, rel=1e-9)
    assert second.gap > first.gap + 1e-3


@pytest.mark.parametrize("many_free", [2, 300], ids=["wide", "narrow"])
def test_blocks_reach_the_optimum_from_another_machine(monkeypatch, many_free):
    monkeypatch.setattr("maxmargin.tuning.costs.MANY_FREE", many_free)
    monkeypatch.setattr("maxmargin.tuning.costs.BLOCK", 20)
    X, y = board(120, noise=0.1)
    K = Gaussian(2.0)(X)
    bound = 100.0 * y
    lower, upper = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
    alpha = 0.3 * np.where(np.arange(120) % 3 == 0, bound, 0.0)
    gradient = y - K @ alpha
    moved_to_box(K, alpha, gradient, lower, upper)
    assert abs(alpha.sum()) <= 1e-10
    assert optimised(K, alpha, gradient, lower, upper, 1e-6)
    assert gradient == pytest.approx(y - K @ alpha, abs=1e-9)
    problem = hinge(y, 100.0).problem
    assert problem.violation(alpha, gradient) <= 1e-6 * (1 + 1e-9)
    assert problem.value(alpha, gradient) == pytest.approx(
        naive.solve_dual(problem, K).value, rel=1e-7
    )


def test_path_of_few_samples_goes_on_where_pair_steps_were_too_slow(monkeypatch):
    X, y = board(60)
    monkeypatch.setattr(
        "maxmargin.tuning.machines.shared_gram.small_path",
        lambda *given: min(2, small_path(*given)),
    )
    path = C_path(Gaussian(2.0), X, y, CS)
    assert [step.C for step in path] == pytest.approx(list(CS))
    for step in path:
        problem = hinge(y, step.C).problem
        gradient = problem.gradient(step.alpha, Gaussian(2.0)(X) @ step.alpha)
        assert problem.violation(step.alpha, gradient) <= 1e-3 * (1 + 1e-9)


def test_large_part_goes_to_the_general_solver_where_blocks_do_not_converge(monkeypatch):
    monkeypatch.setattr("maxmargin.tuning.costs.LARGEST_MACHINE", 5)
    monkeypatch.setattr("maxmargin.tuning.machines.shared_gram.optimised", lambda *_: False)
    X, y = board(60)
    K = Gaussian(2.0)(X)
    for step in C_path(Gaussian(2.0), X, y, [1.0, 100.0]):
        problem = hinge(y, step.C).problem
        gradient = problem.gradient(step.alpha, K @ step.alpha)
        assert problem.violation(step.alpha, gradient) <= 1e-3 * (1 + 1e-9)


def test_curve_ends_where_it_is_stopped():
    X, y = board(80)
    asked = []
    curve = cross_validate_C(
        Gaussian(2.0), X, y, CS, splits=2, stop=lambda: asked.append(0) or len(asked) > 11
    )
    assert curve.C.size == 3
    assert curve.errors.shape == (2, 3)


def test_fold_without_a_class_answers_with_the_other():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 0, 0, 1])
    curve = cross_validate_C(Linear(), X, y, [1.0], splits=6)
    assert curve.mean[0] >= 1 / 6


@pytest.mark.parametrize(
    ("errors", "best"),
    [
        ([0.3, 0.1, 0.1, 0.1, 0.2], 2.0),
        ([0.1, 0.3, 0.1, 0.1, 0.2], 1.0),
        ([0.4, 0.3, 0.2, 0.1, 0.0], 16.0),
    ],
)
def test_best_C_is_the_smallest_of_equally_good_ones(errors, best):
    curve = CurveOfC(2.0 ** np.arange(5), np.array([errors]), np.array([10]))
    assert curve.best_C == best


@pytest.mark.parametrize("C", [[], [0.0, 1.0], [np.inf]])
def test_unfit_C_is_refused(C):
    with pytest.raises(ValueError, match="C must be a list of positive finite numbers"):
        C_path(Linear(), *blobs(10), C)
