"""Linear solvers at their limits: clocks inside steps, stiff systems, what rounding has spoilt."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.linalg.jitter import factor
from maxmargin.solvers.linear import (
    CLASSIFICATION,
    REGRESSION,
    ArrayChunks,
    ChunkedMatrix,
    Intercept,
    JointProblem,
    as_matrix,
    fit_joint,
    fit_linear,
    records,
)
from maxmargin.solvers.linear.certificate import certify_linear, feasible
from maxmargin.solvers.linear.data.matrix import DenseMatrix, SparseMatrix
from maxmargin.solvers.linear.data.units import units_of
from maxmargin.solvers.linear.dual.joint_certificate import feasible_joint
from maxmargin.solvers.linear.primal import systems
from maxmargin.solvers.linear.primal.lasso import ProximalLasso
from maxmargin.solvers.linear.primal.newton import first_pull
from maxmargin.solvers.linear.primal.repair import consistent_dual
from maxmargin.solvers.linear.primal.stiff import stiff_step
from maxmargin.solvers.linear.records import LinearProblem


class Clock:
    """A second passes with every product of the data."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def ticking(self, product):
        def timed(*arguments):
            self.now += 1.0
            return product(*arguments)

        return timed


PRODUCTS = ("margins", "margins_at", "combine", "combine_at", "add_outer", "inner", "sweep")


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(records, "time", clock)
    monkeypatch.setattr(systems, "PIECE", 1e-6)
    for kind in (DenseMatrix, SparseMatrix):
        for name in (*PRODUCTS, "joint_sweep"):
            monkeypatch.setattr(kind, name, clock.ticking(getattr(kind, name)))
    return clock


def noisy(n=400, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 2.0 * rng.standard_normal(n) > 0, 1.0, -1.0)


SOLVED = [
    ("hinge", "l2", "auto"),
    ("squared_hinge", "l2", "auto"),
    ("logistic", "l2", "auto"),
    ("squared_hinge", "l1", "auto"),
    ("logistic", "l1", "auto"),
    ("hinge", "l2", "coordinate"),
]


@pytest.mark.parametrize(("name", "penalty", "solver"), SOLVED)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, "chunks"])
@pytest.mark.parametrize("limit", [0.5, 4.5, 9.5, 20.5])
def test_a_run_ends_soon_after_its_time(name, penalty, solver, make, limit, clock):
    """Soon: some products later, not a step, whatever the step is made of."""
    X, y = noisy()
    matrix = ChunkedMatrix(ArrayChunks(X, rows=50)) if make == "chunks" else make(X)
    loss = CLASSIFICATION[name](y, np.ones(400))
    found = fit_linear(matrix, loss, penalty=penalty, solver=solver, tol=1e-14, max_seconds=limit)
    passes = 8 if make == "chunks" else 1
    assert found.status in ("time_limit", "converged")
    assert clock.now <= limit + 12 * passes
    assert np.isfinite(found.w).all()
    assert 0.0 <= found.certificate.gap < np.inf


@pytest.mark.parametrize("limit", [0.5, 4.5, 14.5, 40.5])
def test_the_joint_machine_ends_soon_after_its_time(limit, clock):
    X, _ = noisy()
    y = np.random.default_rng(1).integers(0, 3, 400)
    problem = JointProblem(as_matrix(X), y, np.ones(400), 3, Intercept(True))
    found = fit_joint(problem, tol=1e-15, max_seconds=limit)
    assert found.status == "time_limit"
    assert clock.now <= limit + 4 * 3 + 12
    assert 0.0 <= found.certificate.gap < np.inf


def test_conjugate_gradients_look_at_the_clock(clock, monkeypatch):
    """More features than a Cholesky factor is worth: one step is many iterations."""
    few = systems.COSTS._replace(most_samples=10, most_features=10)
    monkeypatch.setattr(systems, "COSTS", few)
    rng = np.random.default_rng(0)
    X = sp.random_array((600, 4000), density=0.01, rng=rng, format="csr")
    loss = CLASSIFICATION["logistic"](rng.choice([-1.0, 1.0], 600), np.full(600, 1e4))
    whole = fit_linear(X, loss)
    assert whole.status == "converged"
    assert clock.now > 4 * whole.steps + 50
    for limit in np.linspace(4.5, 0.3 * clock.now, 8):
        clock.now = 0.0
        early = fit_linear(X, loss, max_seconds=limit)
        assert early.status == "time_limit"
        assert clock.now <= limit + 12


# ---- stiff systems -----------------------------------------------------------------------


def test_a_matrix_that_has_overflowed_does_not_hang():
    for bad in (np.nan, np.inf):
        A = np.eye(3, order="F")
        A[1, 1] = bad
        assert factor(A).shape == (3, 3)


def test_an_indefinite_matrix_has_a_factor_of_a_matrix_nearby():
    A = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-15]], order="F")
    lower = np.tril(factor(A))
    assert lower @ lower.T == pytest.approx(A, abs=1e-12)


@pytest.mark.parametrize(
    "intercept", [Intercept(False), Intercept(True), Intercept(True, 0.25)], ids=str
)
def test_a_stiff_step_solves_the_newton_system(intercept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8, 3))
    h, beta = rng.random(8) + 0.5, rng.standard_normal(8)
    h[2] = 0.0
    if intercept.fitted and intercept.penalty == 0.0:
        beta -= beta.mean()
    w, b = rng.standard_normal(3), 0.7 if intercept.fitted else 0.0
    step = stiff_step(as_matrix(X), intercept, h, beta, w, b)
    dz = X @ step.w + step.b
    assert w + step.w + X.T @ (h * dz - beta) == pytest.approx(np.zeros(3), abs=1e-12)
    if intercept.fitted:
        left = intercept.penalty * (b + step.b) + (h * dz - beta).sum()
        assert left == pytest.approx(0.0, abs=1e-12)


def test_a_stiff_step_keeps_the_digits_of_small_features():
    """Of two features, one 1e8 times the other, Σ h x xᵀ and x·x' would keep the large one only."""
    rng = np.random.default_rng(1)
    small = rng.standard_normal(6)
    X = np.column_stack([np.full(6, 1e8), small])
    h, beta = np.full(6, 1.0), rng.standard_normal(6)
    step = stiff_step(as_matrix(X), Intercept(False), h, beta, np.zeros(2), 0.0)
    # With the constant column free of any price, the other feature sees centred values.
    centred = small - small.mean()
    expected = centred @ beta / (1.0 + centred @ centred)
    assert step.w[1] == pytest.approx(expected, rel=1e-6)


def test_the_first_pull_is_finite_at_any_scale():
    """1/σ was a division by zero where squared norms overflow."""
    y = np.array([-1.0, 1.0])
    for name, loss in CLASSIFICATION.items():
        for scale in (1e-160, 1.0, 1e160):
            X = as_matrix(np.array([[scale], [-scale]]))
            with np.errstate(over="ignore"):
                pull = first_pull(LinearProblem(X, loss(y, np.ones(2)), Intercept(True)))
            assert np.isfinite(pull), name


def test_a_fit_at_a_scale_that_once_divided_by_zero():
    X = np.array([[1e148, 1e140], [-1e148, 2e140], [1e148, -1e140]])
    loss = CLASSIFICATION["squared_hinge"](np.array([1.0, -1.0, 1.0]), np.full(3, 1e-8))
    found = fit_linear(sp.csr_array(X), loss)
    assert found.status == "converged"
    assert (np.sign(X @ found.w + found.b) == [1, -1, 1]).all()


# ---- units and repairs -------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("intercept", [Intercept(False), Intercept(True), Intercept(True, 0.3)])
def test_units_change_no_objective(penalty, intercept):
    """Objective, dual value and gap of any point are the same in all units."""
    rng = np.random.default_rng(0)
    X = 1e9 * rng.standard_normal((10, 3)) + 1e12
    if penalty == "l1":
        loss = CLASSIFICATION["squared_hinge"](rng.choice([-1.0, 1.0], 10), rng.random(10))
    else:
        loss = REGRESSION["squared_epsilon_insensitive"](
            1e8 * rng.standard_normal(10), rng.random(10), 1e6
        )
    problem = LinearProblem(as_matrix(X), loss, intercept, penalty)
    units = units_of(problem)
    assert units.length != 1.0
    w, b = 1e-9 * rng.standard_normal(3), 0.2 if intercept.fitted else 0.0
    beta = 1e-20 * rng.standard_normal(10)
    start = units.point(records.Point(beta, w, b))
    own, _ = certify_linear(units.problem(problem), start.w, float(start.b), start.beta)
    plain, _ = certify_linear(problem, w, b, beta)
    assert units.certificate(own).primal == pytest.approx(plain.primal, rel=1e-9)
    if units.shift is None:
        assert units.certificate(own).gap == pytest.approx(plain.gap, rel=1e-9)
    back = units.model(start.w, start.b, start.beta)
    assert back[0] == pytest.approx(w, rel=1e-14)
    assert float(back[1]) == pytest.approx(b, abs=1e-12 * 1e3)
    assert back[2] == pytest.approx(beta, rel=1e-14)


def test_samples_far_from_the_origin_are_shifted_where_the_intercept_is_free():
    X = 1e6 + np.random.default_rng(0).standard_normal((30, 2))
    loss = CLASSIFICATION["hinge"](np.tile([-1.0, 1.0], 15), np.ones(30))
    for intercept, shifted in ((Intercept(True), True), (Intercept(True, 1.0), False)):
        units = units_of(LinearProblem(as_matrix(X), loss, intercept))
        assert (units.shift is not None) == shifted
    assert units_of(LinearProblem(as_matrix(X - 1e6), loss, Intercept(True))).shift is None


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "logistic"])
def test_dual_variables_sum_to_zero_to_the_last_bit(name):
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 30)
    loss = CLASSIFICATION[name](y, np.full(30, 0.1))
    beta = feasible(loss, Intercept(True), y * 0.1 * rng.random(30))
    assert float(sum(map(np.longdouble, beta))) == 0.0
    assert (beta * y >= 0).all()


def test_a_repaired_dual_point_belongs_to_w():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.choice([-1.0, 1.0], 20)
    problem = LinearProblem(
        as_matrix(X), CLASSIFICATION["logistic"](y, np.full(20, 5.0)), Intercept(True)
    )
    found = fit_linear(X, problem.loss)
    spoilt = found.beta * (1.0 + 1e-6 * rng.standard_normal(20))
    beta = consistent_dual(problem, found.w, found.b, spoilt)
    assert beta @ X == pytest.approx(found.w, abs=1e-13)
    assert beta.sum() == pytest.approx(0.0, abs=1e-13)
    assert beta == pytest.approx(found.beta, rel=1e-3)


def test_the_joint_dual_is_balanced_between_the_classes():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 40)
    problem = JointProblem(
        as_matrix(rng.standard_normal((40, 2))), codes, np.full(40, 2.0), 4, Intercept(True)
    )
    beta = -rng.random((40, 4))
    beta = feasible_joint(problem, beta)
    own = beta[np.arange(40), codes]
    assert np.abs(beta.sum(axis=0)).max() <= 1e-14 * np.abs(beta).sum()
    assert np.abs(beta.sum(axis=1)).max() <= 1e-15
    assert (own >= 0).all()
    assert (own <= 2.0 * (1 + 1e-15)).all()
    assert (own > 0.1).any()


def test_the_joint_certificate_does_not_believe_an_unbalanced_dual():
    """With b = 0, |b·Σβ| is nothing however far Σβ is from 0: once such a point had gap 0."""
    rng = np.random.default_rng(3)
    X, y = 1e-11 * rng.standard_normal((49, 2)), np.append(np.zeros(37, int), np.ones(12, int))
    problem = JointProblem(as_matrix(X), y, np.full(49, 1e12), 2, Intercept(True))
    found = fit_joint(problem)
    assert found.status == "converged"
    assert found.certificate.primal == pytest.approx(24e12, rel=1e-6)


# ---- gaps --------------------------------------------------------------------------------

INTERCEPTS = [Intercept(False), Intercept(True), Intercept(True, 0.3), Intercept(True, 4.0)]


def value_and_conjugate(name, y, z, beta, C):
    """Σ ℓ(z) and −Σ ℓ*(−β), written out."""
    match name:
        case "hinge":
            return C * np.maximum(0, 1 - y * z).sum(), (y * beta).sum()
        case "squared_hinge":
            value = C * (np.maximum(0, 1 - y * z) ** 2).sum()
            return value, (y * beta - beta**2 / (4 * C)).sum()
        case "logistic":
            p = np.clip(y * beta / C, 1e-300, 1.0)
            entropy = -p * np.log(p) - np.where(p < 1, (1 - p) * np.log1p(-np.minimum(p, 0.5)), 0)
            return C * np.logaddexp(0, -y * z).sum(), C * entropy.sum()


@pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
@pytest.mark.parametrize(
    ("name", "penalty"),
    [
        ("hinge", "l2"),
        ("squared_hinge", "l2"),
        ("logistic", "l2"),
        ("squared_hinge", "l1"),
        ("logistic", "l1"),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_of_any_point_is_its_objective_less_the_dual_value(name, penalty, intercept, seed):
    rng = np.random.default_rng(seed)
    X, y, C = rng.standard_normal((12, 3)), rng.choice([-1.0, 1.0], 12), 0.7
    problem = LinearProblem(
        as_matrix(X), CLASSIFICATION[name](y, np.full(12, C)), intercept, penalty
    )
    w, b = rng.standard_normal(3), 1.3 if intercept.fitted else 0.0
    certificate, beta = certify_linear(problem, w, b, 0.4 * C * y * rng.random(12))
    value, conjugate = value_and_conjugate(name, y, X @ w + b, beta, C)
    pull, total = beta @ X, beta.sum()
    if penalty == "l1":
        primal, dual = value + np.abs(w).sum() + intercept.penalty * abs(b), conjugate
        assert np.abs(pull).max() <= 1 + 1e-14
        assert not intercept.penalty or abs(total) <= intercept.penalty * (1 + 1e-14)
    else:
        primal = value + 0.5 * w @ w + 0.5 * intercept.penalty * b * b
        dual = conjugate - 0.5 * pull @ pull
        if intercept.penalty:
            dual -= 0.5 * total**2 / intercept.penalty
    assert certificate.primal == pytest.approx(primal, rel=1e-12)
    assert certificate.dual == pytest.approx(dual, rel=1e-9)
    assert certificate.gap == pytest.approx(primal - dual, rel=1e-9)


@pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
@pytest.mark.parametrize("name", ["squared_hinge", "logistic"])
def test_the_lasso_knows_its_gap_at_every_step(name, intercept):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.8, 1.0, -1.0)
    problem = LinearProblem(as_matrix(X), CLASSIFICATION[name](y, np.ones(40)), intercept, "l1")
    state = ProximalLasso(problem, None, lambda: "")
    moved = []
    for _ in range(4):
        certificate, _ = certify_linear(problem, state.w, state.b, state.beta)
        assert state.objective == pytest.approx(certificate.primal, rel=1e-12)
        assert state.gap == pytest.approx(certificate.gap, rel=1e-9, abs=1e-13)
        moved.append(state.b)
        state.advance()
    assert bool(np.any(moved)) == intercept.fitted
