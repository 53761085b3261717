"""Small problems solved together, beside each of them solved alone."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from maxmargin import SVC, solve
from maxmargin.dual import certify_expansion, hard_margin, hinge, nu_svc, squared_hinge
from maxmargin.dual.batch import Parts
from maxmargin.estimators.kernel.training import problems as fitting
from maxmargin.kernels import Gaussian
from maxmargin.kernels.vector.exp import COMPILED
from maxmargin.runtime.parallel import single_threaded_blas
from maxmargin.solvers import costs
from maxmargin.solvers.drivers import batch as batch_driver
from maxmargin.solvers.drivers import single
from maxmargin.solvers.drivers.batch import solve_batch
from maxmargin.solvers.plan import is_small

NOTHING = np.empty((0, 0))


@pytest.fixture(scope="module")
def classes():
    """Inputs of five classes, ordered by class, and where each class is."""
    X, y = make_blobs(150, centers=5, n_features=3, cluster_std=4.0, random_state=0)
    X = X[np.argsort(y, kind="stable")]
    return X, np.split(np.arange(150), 5)


def pairs_of(classes, loss):
    """The problem of every pair of classes, and the places of its samples."""
    problems, places = [], []
    for first, second in combinations(classes, 2):
        labels = np.where(np.arange(first.size + second.size) < first.size, 1.0, -1.0)
        problems.append(loss(labels, 5.0).problem)
        places.append(np.concatenate([first, second]))
    return problems, places


@pytest.mark.parametrize("loss", [hinge, squared_hinge], ids=["hinge", "squared hinge"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("known", ["matrix", "points"])
def test_each_is_solved_as_if_alone(classes, loss, threads, known, monkeypatch):
    if known == "points" and not COMPILED:
        pytest.skip("rows are made in compiled code only")
    monkeypatch.setattr(batch_driver, "THREADED_BATCH", 0)
    X, of_class = classes
    problems, places = pairs_of(of_class, loss)
    gram = Gaussian(0.05).bind(X)
    K = gram.matrix()
    what = (K, NOTHING) if known == "matrix" else (NOTHING, gram.transposed_points())
    with single_threaded_blas(threads):
        solved = solve_batch(Parts.of(problems, places, *what), 1e-3)
    assert len(solved) == 10
    for problem, place, (solution, certificate, bias) in zip(problems, places, solved):
        own = K[np.ix_(place, place)]
        alone = solve(problem, own)
        assert solution.status == "converged"
        assert 0 < solution.row_misses <= place.size
        np.testing.assert_allclose(solution.alpha, alone.alpha, atol=1e-7)
        np.testing.assert_allclose(solution.dual, alone.dual, rtol=1e-9)
        np.testing.assert_allclose(bias, alone.bias, atol=1e-7)
        expected = certify_expansion(problem, solution.alpha, own @ solution.alpha)
        np.testing.assert_allclose(certificate.primal, expected.primal, rtol=1e-12)
        np.testing.assert_allclose(certificate.gap, expected.gap, atol=1e-9)
        np.testing.assert_allclose(certificate.violation, expected.violation, atol=1e-9)


def test_problems_on_all_samples_use_the_matrix_as_it_is(classes):
    X, of_class = classes
    K, all_samples = Gaussian(0.05)(X), np.arange(150)
    problems = [
        hinge(np.where(np.isin(all_samples, members), 1.0, -1.0), 5.0).problem
        for members in of_class
    ]
    solved = solve_batch(Parts.of(problems, [all_samples] * 5, K, NOTHING), 1e-3, 150**2)
    for problem, (solution, certificate, _) in zip(problems, solved):
        assert solution.status == "converged"
        assert solution.row_misses == 0
        assert solution.kernel_evaluations == 150**2
        np.testing.assert_allclose(solution.alpha, solve(problem, K).alpha, atol=1e-7)
        expected = certify_expansion(problem, solution.alpha, K @ solution.alpha)
        np.testing.assert_allclose(certificate.primal, expected.primal, rtol=1e-12)


@pytest.mark.parametrize("known", ["as it is", "in another order", "as a part", "points"])
def test_a_single_problem_allocates_a_buffer_only_if_it_needs_rows(classes, known, monkeypatch):
    if known == "points" and not COMPILED:
        pytest.skip("rows are made in compiled code only")
    asked, buffer = [], single.buffer
    monkeypatch.setattr(
        single, "buffer", lambda shape, dtype: asked.append(shape) or buffer(shape, dtype)
    )
    X, _ = classes
    gram, places = Gaussian(0.05).bind(X), np.arange(150)
    places = {"in another order": places[::-1].copy(), "as a part": places[:100]}.get(known, places)
    size = places.size
    problem = hinge(np.where(places % 2, 1.0, -1.0), 5.0).problem
    what = (NOTHING, gram.transposed_points()) if known == "points" else (gram.matrix(), NOTHING)
    [(solution, *_)] = solve_batch(Parts.of([problem], [places], *what), 1e-3)
    assert asked == ([] if known == "as it is" else [(size, size)])
    alone = solve(problem, gram.matrix()[np.ix_(places, places)])
    np.testing.assert_allclose(solution.alpha, alone.alpha, atol=1e-7)


def test_parts_of_parts_are_the_same(classes):
    X, of_class = classes
    problems, places = pairs_of(of_class, hinge)
    parts = Parts.of(problems, places, Gaussian(0.05)(X), NOTHING)
    some = parts.some(3, 5)
    other = Parts.of(problems[3:5], places[3:5], parts.matrix, NOTHING)
    for one, two in zip(some, other):
        np.testing.assert_array_equal(one, two)


def test_what_cannot_be_solved_together():
    labels = np.where(np.arange(40) < 20, 1.0, -1.0)
    assert is_small(hinge(labels, 1.0).problem)
    assert is_small(squared_hinge(labels, 1.0).problem)
    assert not is_small(hard_margin(labels).problem)
    assert not is_small(nu_svc(labels, 0.5).problem)
    many = np.resize(labels, costs.LARGEST_IN_BATCH + 1)
    assert not is_small(hinge(many, 1.0).problem)


def test_a_problem_that_takes_long_goes_on_alone(monkeypatch):
    X, y = load_iris(return_X_y=True)
    expected = SVC(C=100.0).fit(X, y)
    monkeypatch.setattr(batch_driver, "MOST_STEPS", 4)
    alone = []
    monkeypatch.setattr(
        fitting, "solve", lambda *args, **kwargs: alone.append(1) or solve(*args, **kwargs)
    )
    model = SVC(C=100.0).fit(X, y)
    assert alone
    assert model.status_ == expected.status_ == ["converged"] * 3
    assert (model.n_iter_ > 4).any()
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    "parameters", [{"callback": print}, {"max_seconds": 60.0}, {"max_iter": 10_000}]
)
def test_budgets_and_callbacks_are_kept_by_solving_one_after_the_other(parameters, monkeypatch):
    X, y = load_iris(return_X_y=True)
    expected = SVC(C=10.0).fit(X, y)
    monkeypatch.setattr(fitting, "solve_batch", None)
    model = SVC(C=10.0, **parameters).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-6)
    for one, other in zip(model.certificate_, expected.certificate_):
        np.testing.assert_allclose(one.dual, other.dual, rtol=1e-9)


def test_ctrl_c_between_batches_ends_the_fit(monkeypatch):
    def pressed(_parts, _tol, _evaluations, _gap):
        raise KeyboardInterrupt

    monkeypatch.setattr(fitting, "solve_batch", pressed)
    X, y = load_iris(return_X_y=True)
    with pytest.raises(KeyboardInterrupt):
        SVC().fit(X, y)
