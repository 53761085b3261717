"""The worked examples of the documents, as they are printed or as their errata have them."""

import numpy as np
import pytest
from scipy.optimize import minimize

from maxmargin import SVC, LeastSquaresSVC, LinearSVC, LogisticRegression, solve
from maxmargin.dual import hinge
from maxmargin.kernels import Linear, Polynomial


def test_lagrange_example_of_lecture_003():
    """x₁² + x₂² → min with 2x₁ − x₂ + 3 = 0: (−6/5, 3/5), λ = 6/5, value 9/5, no duality gap."""
    # The stationary point of the Lagrangian: 2x + λ(2, −1) = 0 with the constraint.
    system = np.array([[2.0, 0.0, 2.0], [0.0, 2.0, -1.0], [2.0, -1.0, 0.0]])
    x1, x2, multiplier = np.linalg.solve(system, [0.0, 0.0, -3.0])
    assert (x1, x2, multiplier) == pytest.approx((-6 / 5, 3 / 5, 6 / 5))
    found = minimize(
        lambda x: x @ x,
        np.zeros(2),
        constraints={"type": "eq", "fun": lambda x: 2 * x[0] - x[1] + 3},
    )
    np.testing.assert_allclose(found.x, [x1, x2], atol=1e-6)
    assert found.fun == pytest.approx(9 / 5)

    def dual(a):
        return a * a + a * a / 4 + a * (-2 * a - a / 2 + 3)

    grid = np.linspace(-3, 3, 6001)
    assert grid[np.argmax(dual(grid))] == pytest.approx(6 / 5, abs=1e-3)
    assert dual(6 / 5) == pytest.approx(9 / 5)


def feature_map(X):
    """R² → R⁶ of lecture 003, whose inner product is (1 + x·z)²."""
    a, b = X.T
    r = np.sqrt(2.0)
    return np.column_stack([np.ones(len(X)), r * a, r * b, a * a, b * b, r * a * b])


def test_quadratic_kernel_is_the_inner_product_of_six_features():
    X = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_allclose(Polynomial(2, 1.0, 1.0)(X), feature_map(X) @ feature_map(X).T)
    y = np.where(X[:, 0] * X[:, 1] > 0.2, 1, -1)
    kernel = SVC(kernel=Polynomial(2, 1.0, 1.0), C=5.0, tol=1e-9).fit(X, y)
    mapped = SVC(kernel="linear", C=5.0, tol=1e-9).fit(feature_map(X), y)
    np.testing.assert_allclose(
        kernel.decision_function(X), mapped.decision_function(feature_map(X)), atol=1e-6
    )


def test_xor_is_solved_by_the_quadratic_kernel_and_by_no_plane():
    """All four α are 1/8 and f(x) = −x₁x₂: by symmetry, from k(x, z) = (1 + x·z)²."""
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    y = np.array([-1.0, 1.0, 1.0, -1.0])
    K = Polynomial(2, 1.0, 1.0)(X)
    solution = solve(hinge(y, np.inf).problem, K, tol=1e-12)
    np.testing.assert_allclose(solution.alpha, y / 8, atol=1e-10)
    np.testing.assert_allclose(K @ solution.alpha + solution.bias, y, atol=1e-9)
    new = np.random.default_rng(0).normal(size=(10, 2))
    values = Polynomial(2, 1.0, 1.0)(new, X) @ solution.alpha + solution.bias
    np.testing.assert_allclose(values, -new[:, 0] * new[:, 1], atol=1e-9)
    assert solve(hinge(y, np.inf).problem, Linear()(X)).status == "unbounded"
    assert LinearSVC().fit(X, y).score(X, y) <= 0.75


def losses(margin):
    """The figure of lecture 004 that compares losses, as functions of the margin ty."""
    return {
        "zero-one": (margin <= 0).astype(float),
        "squared": (margin - 1.0) ** 2,
        "logistic": np.logaddexp(0.0, -margin) / np.log(2.0),
        "hinge": np.maximum(0.0, 1.0 - margin),
        "squared hinge": np.maximum(0.0, 1.0 - margin) ** 2,
    }


def test_all_losses_of_the_figure_bound_the_error_from_above():
    margin = np.linspace(-3, 3, 601)
    found = losses(margin)
    for name, values in found.items():
        assert (values >= found["zero-one"] - 1e-12).all(), name
    beyond = margin > 1.5
    assert (found["hinge"][beyond] == 0).all()
    assert (found["squared"][beyond] > 0).all()  # right, but too far: only this loss complains
    assert (np.diff(found["logistic"]) < 0).all()


@pytest.mark.parametrize(
    ("model", "name", "factor"),
    [
        (LinearSVC(loss="hinge", C=1e-3), "hinge", 1.0),
        (LinearSVC(C=1e-3), "squared hinge", 1.0),
        (LogisticRegression(C=1e-3), "logistic", np.log(2.0)),
        (LeastSquaresSVC(C=1e-3, kernel="linear"), "squared", 1.0),
    ],
)
def test_objective_of_each_machine_is_its_loss_of_the_figure(model, name, factor):
    random = np.random.default_rng(1)
    y = np.where(np.arange(60) % 2, 1, -1)
    X = random.normal(size=(60, 2)) + 0.5 * y[:, None]
    model.fit(X, y)
    margin = y * model.decision_function(X)
    value = 0.5 * (model.coef_**2).sum() + 1e-3 * factor * losses(margin)[name].sum()
    shown = model.certificate_.primal
    if name == "squared":
        shown *= 2e-3  # it is stated divided by 2C
    assert value == pytest.approx(shown, rel=1e-8)


def test_cost_table_of_primal_and_dual_counts_parameters():
    """Lectures 000 and 004: the primal has F parameters, the dual N; a model F numbers or s·D."""
    random = np.random.default_rng(2)
    y = np.where(np.arange(400) % 2, 1, -1)
    X = random.normal(size=(400, 3)) + 0.8 * y[:, None]
    primal, dual = LinearSVC(loss="hinge").fit(X, y), SVC(kernel="linear").fit(X, y)
    assert primal.coef_.size == 3
    assert dual.solution_.alpha.size == 400
    s = dual.n_support_.sum()
    assert dual.support_vectors_.size == s * 3
    assert s < 400
    np.testing.assert_allclose(primal.coef_, dual.coef_, atol=1e-2)


def test_cost_table_training_in_the_dual_looks_at_no_more_than_all_pairs():
    """Between Ω(N·D) and O(N²·D): counted in kernel values, of D products each."""
    random = np.random.default_rng(3)
    y = np.where(np.arange(300) % 2, 1.0, -1.0)
    X = random.normal(size=(300, 2)) + 2.0 * y[:, None]
    solution = solve(hinge(y, 1.0).problem, Linear().bind(X, np.float64), driver="rows")
    assert 300 <= solution.kernel_evaluations <= 300 * 300
