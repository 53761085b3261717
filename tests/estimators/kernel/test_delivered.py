"""The certificate is that of the model as delivered, whatever comes in."""

import copy
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.estimators.kernel.training.problems import lowered
from maxmargin.estimators.progress import OutOfTime
from tests.fuzz.problems import draw

LONG = np.longdouble


def gaussian(X, gamma):
    X = np.asarray(X, dtype=LONG)
    return np.exp(-LONG(gamma) * np.square(X[:, None] - X[None]).sum(axis=-1))


def linear(X, _gamma):
    X = np.asarray(X, dtype=LONG)
    return X @ X.T


def coefficients(model, n):
    """One coefficient for each training sample, from the public attributes."""
    beta = np.zeros(n, dtype=LONG)
    beta[model.support_] = np.asarray(model.dual_coef_)[0]
    return beta


def gram(model, X):
    return {"rbf": gaussian, "linear": linear}[model.kernel](X, model.gamma)


def values(model, X, y, weight):
    """(primal, dual) of the objective that the docstring states, at the model as delivered."""
    K = gram(model, X)
    beta, bias = coefficients(model, len(X)), LONG(model.intercept_[0])
    weight = np.asarray(weight, dtype=LONG)
    f, norm = K @ beta, 0.5 * beta @ K @ beta
    if isinstance(model, SVC):
        labels = np.where(y == model.classes_[1], 1, -1)
        error = np.maximum(0, 1 - labels * (f + bias))
        if model.loss == "squared_hinge":
            ridge = np.square(beta)[weight > 0] / (4 * model.C * weight[weight > 0])
            return norm + model.C * weight @ error**2, labels @ beta - norm - ridge.sum()
        return norm + model.C * weight @ error, labels @ beta - norm
    if isinstance(model, NuSVC):
        labels = np.where(y == model.classes_[1], 1, -1)
        total = model.nu * weight.sum()
        rho = total / np.abs(beta).sum()
        error = np.maximum(0, rho - labels * rho * (f + bias))
        return rho**2 * norm - total * rho + weight @ error, -(rho**2) * norm
    if isinstance(model, SVR):
        error = np.maximum(0, np.abs(y - f - bias) - model.epsilon)
        dual = y @ beta - model.epsilon * np.abs(beta).sum() - norm
        return norm + model.C * weight @ error, dual
    if isinstance(model, NuSVR):
        epsilon = LONG(model.epsilon_)
        error = np.maximum(0, np.abs(y - f - bias) - epsilon)
        total = model.C * weight.sum() * model.nu
        return norm + total * epsilon + model.C * weight @ error, y @ beta - norm
    rho = LONG(model.offset_[0])
    total = model.nu * weight.sum()
    return norm - total * rho + weight @ np.maximum(0, rho - f), -norm


def rounding_of(model, X, y, weight):
    """What rounding in float64 may change: of f and its intercept, whose errors C multiplies, and
    of Σβ, which is 0 but for rounding, and which targets far from 0 multiply."""
    beta = np.abs(coefficients(model, len(X)))
    function = (np.abs(gram(model, X)) @ beta).max()
    price = getattr(model, "C", 1.0) * np.sum(weight)
    targets = np.abs(y).max() if isinstance(model, SVR | NuSVR) else 1.0
    function += abs(float(model.intercept_[0]))
    terms = (price + beta.sum()) * function + beta.sum() * targets
    return float(len(X) * np.finfo(float).eps * terms) + 1e-300


def fitted(model, X, y, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if isinstance(model, OneClassSVM):
            return model.fit(X, sample_weight=weight)
        return model.fit(X, y, sample_weight=weight)


def assert_delivered(model, X, y, weight):
    """What certificate and status state is true of the model."""
    primal, dual = values(model, X, y, weight)
    shown = model.certificate_
    size = max(abs(shown.primal), abs(shown.dual))
    rounding = rounding_of(model, X, y, weight)
    assert float(primal - dual) == pytest.approx(shown.gap, rel=1e-6, abs=rounding)
    assert float(dual) == pytest.approx(shown.dual, rel=1e-12, abs=rounding)
    if model.status_ == "converged":
        assert shown.gap <= model.gap * size + rounding
        assert shown.violation <= model.tol
    else:
        assert model.fit_status_ == 1


@st.composite
def problems(draw):
    """Samples with copies, weights and scales, and a machine for them."""
    n, d = draw(st.integers(4, 24)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)).round(draw(st.sampled_from([0, 1, 8])))
    X = X[rng.integers(n, size=n + draw(st.integers(0, n)))]
    y = np.arange(len(X)) % 2
    weight = rng.integers(1, 4, size=len(X)).astype(float)
    C = 10.0 ** draw(st.integers(-6, 8))
    kernel = draw(st.sampled_from(["rbf", "linear"]))
    options = {"kernel": kernel, "gamma": draw(st.sampled_from([1e-3, 0.5, 20.0]))}
    targets = rng.normal(size=len(X)) + draw(st.sampled_from([0.0, 1e6]))
    machine = draw(
        st.sampled_from(
            [
                SVC(C=C, **options),
                SVC(C=C, loss="squared_hinge", **options),
                SVR(C=C, epsilon=draw(st.sampled_from([0.0, 0.1])), **options),
                NuSVR(C=C, nu=draw(st.floats(0.1, 1.0)), **options),
                NuSVC(nu=0.2, **options),
                OneClassSVM(nu=draw(st.floats(0.1, 0.9)), **options),
            ]
        )
    )
    return machine, X, targets if isinstance(machine, SVR | NuSVR) else y, weight


@given(problems())
def test_certificate_is_that_of_the_public_attributes(case):
    model, X, y, weight = case
    try:
        fitted(model, X, y, weight)
    except ValueError as error:
        assert "nu" in str(error)  # noqa: PT017 - the classes are too uneven
        return
    spent = np.abs(model.dual_coef_).sum()
    if isinstance(model, NuSVC) and spent == pytest.approx(model.nu * weight.sum(), rel=1e-9):
        return  # the classes cannot be told apart: ρ is 0, and f was not divided by it
    assert_delivered(model, X, y, weight)


def test_copies_of_far_samples_keep_their_support_vectors():
    X, y = [[-1e6], [-1e6], [1e6], [1e6]], [0, 0, 1, 1]
    model = SVC(kernel="linear", C=1.0).fit(X, y)
    assert model.support_.size >= 2
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("C", [1e12, 1e13])
def test_copy_keeps_its_coefficient_at_any_price(C):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=100) > 0).astype(int)
    X, y = np.vstack([X, X[:1]]), np.append(y, y[:1])
    assert fitted(SVC(C=C), X, y).score(X, y) == 1.0
    assert fitted(SVR(C=C, epsilon=0.01), X, X[:, 0]).score(X, X[:, 0]) > 0.99


@pytest.mark.parametrize("scale", [1e3, 1e4])
def test_single_precision_goes_on_in_double_where_it_is_not_enough(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=100) > 0
    model = SVC(kernel="linear", precision="single").fit(scale * X, y)
    assert model.status_ == "converged"
    assert_delivered(model, scale * X, y, np.ones(100))


def test_what_float64_cannot_solve_is_not_called_converged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=100) > 0
    with pytest.warns(ConvergenceWarning, match="duality gap is still"):
        model = SVC(kernel="linear", C=1.0).fit(1e10 * X, y)
    assert model.status_ == "precision"
    assert model.fit_status_ == 1


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (SVC(C=200.0, gamma=4.5e6, tol=1e-10), [[0.0], [0.9901], [0.9902]]),
        (SVC(C=1.0, gamma=1 / 30, tol=1e-3), [[0.0], [2.97e8], [2.97e8 + 4.75]]),
        (SVC(kernel="sigmoid", gamma=0.3, coef0=0.2), [[1e53, 1e53], [1e53, -1e53], [1e53, 0.0]]),
    ],
    ids=["exponents", "far apart", "tanh"],
)
def test_kernel_values_that_rounding_changes_prove_nothing(model, X):
    """exp and tanh of inner products that are much larger than their differences."""
    with pytest.warns(ConvergenceWarning, match="no further progress"):
        model.fit(X, [0, 1, 0])
    assert model.status_ == "precision"


def test_kernel_matrix_of_one_is_exact_whatever_gamma():
    X = np.arange(6.0)[:, None]
    assert fitted(SVC(C=1e6, gamma=1e20, tol=1e-9), X, [0, 1, 0, 1, 0, 1]).status_ == "converged"


def test_no_solution_in_single_precision_is_sought_in_double():
    X = 8004.510662744624 * np.array([[2, 0], [1, 0], [-1, 1.5], [1, 0], [-1, 1.5], [2, 0]])
    X[:, 1] += 12240.946974234212
    model = SVC(C=960.0, kernel="linear", precision="single", loss="squared_hinge", tol=1e-3)
    model = fitted(model, X, [0, 0, 1, 0, 0, 1])
    assert model.certificate_.relative_gap < 1e-6
    assert_delivered(model, X, np.array([0, 0, 1, 0, 0, 1]), np.ones(6))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_constant_column_changes_nothing(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 20)), [0, 1, 0, 1, 1]
    plain = SVC(kernel="linear", loss=loss, C=1).fit(X, y)
    far = np.column_stack([np.full(5, 1e8), X])
    model = SVC(kernel="linear", loss=loss, C=1).fit(far, y)
    assert model.status_ == "converged"
    assert model.decision_function(far) == pytest.approx(plain.decision_function(X), abs=1e-6)


def test_offset_of_all_samples_changes_nothing_but_the_intercept():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] - 0.5 * rng.normal(size=60) > 0
    plain, moved = (SVC(kernel="linear").fit(Z, y) for Z in (X, X + 1e6))
    assert moved.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-9)
    assert moved.decision_function(X + 1e6) == pytest.approx(plain.decision_function(X), abs=1e-6)


@pytest.mark.parametrize("count", [12, 400])
def test_coefficients_of_samples_far_from_zero_sum_to_exactly_zero(count):
    """The inner product of 1e8 with itself would multiply what is left of the sum."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(count, 2)) + np.array([0.0, 1e8])
    X[1::4] = X[::4]  # copies
    y = X[:, 0] + 0.3 * rng.normal(size=count) > 0
    for C in (0.1, 1.0, 10.0):
        model = fitted(SVC(kernel="linear", C=C), X, y)
        assert model.status_ == "converged"
        assert math.fsum(model.dual_coef_[0]) == 0.0


def test_intercept_without_enough_digits_is_not_called_converged():
    """An intercept of about 1e12 has no digits below 1e-4, and errors cost 1e6 each."""
    X, y = np.array([[1e12], [1e12 + 1.0], [1e12 + 2.0]]), np.array([0.0, 0.7, 2.1])
    model = fitted(SVR(kernel="linear", C=1e6, epsilon=0.1), X, y)
    assert model.status_ == "precision"
    assert fitted(SVR(kernel="linear", C=1e6, epsilon=0.1), X - 1e12, y).status_ == "converged"


def test_squares_that_grow_without_end_are_refused_after_a_warm_start():
    case = draw(3101, 2256)
    model = fitted(SVC(**case.parameters), case.X, case.y)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        model.set_params(warm_start=True, C=10.0).fit(case.X, case.y)


def test_variables_at_a_bound_are_there_after_a_warm_start_with_another_C():
    """Bounds times the ratio of both C are rounded, and there is no time to mend it."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(24, 2)), np.tile([0, 1], 12)
    weight = np.repeat(rng.uniform(1e-6, 0.05, size=12), 2)
    model = fitted(SVC(C=1e-4), X, y, weight)
    assert model.certificate_.violation == 0.0
    for C in (3.3e-4, 1.7e-4, 1e-5 / 3.0):
        again = copy.deepcopy(model).set_params(warm_start=True, C=C, max_seconds=1e-9)
        fitted(again, X, y, weight)
        assert again.status_ == "time_limit"
        assert again.certificate_.violation == 0.0


@pytest.mark.parametrize("machine", [SVC, SVR, NuSVC, OneClassSVM])
def test_warning_of_a_fit_that_is_not_done_points_to_the_call(machine):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    with pytest.warns(ConvergenceWarning, match="duality gap is still") as told:
        machine(max_iter=1).fit(X, y)
    assert {warning.filename for warning in told} == {__file__}


def test_targets_far_from_zero_move_the_intercept_alone():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    for machine in (SVR(C=10.0), NuSVR(C=10.0)):
        near, far = machine.fit(X, y).predict(X), machine.fit(X, y + 2.0**30).predict(X)
        assert far - 2.0**30 == pytest.approx(near, abs=1e-5)


def test_indefinite_kernel_is_named_where_it_leaves_no_solution():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), np.arange(100) % 2
    with pytest.raises(ValueError, match="not positive semi-definite"):
        SVC(kernel="sigmoid", gamma=3.0, loss="squared_hinge", C=100).fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_inputs_that_overflow_are_refused(kernel):
    X, y = np.array([[1e160], [-1e160], [2e160]]), [0, 1, 0]
    with pytest.raises(ValueError, match=r"[Ss]cale the inputs|preprocess"):
        SVC(kernel=kernel).fit(X, y)


def test_kernel_values_that_overflow_are_refused():
    X, y = np.array([[1e120], [-1e120], [2e120]]), [0, 1, 0]
    with pytest.raises(ValueError, match="overflows"):
        SVC(kernel="poly", degree=3, gamma=1.0).fit(X, y)


def test_new_inputs_that_overflow_are_refused():
    model = SVC(kernel="poly", gamma=1.0).fit([[1.0], [2.0], [3.0]], [0, 1, 1])
    with pytest.raises(ValueError, match="Scale the inputs"):
        model.predict([[1e200]])


def test_float32_inputs_beyond_its_range_are_computed_in_float64():
    rng = np.random.default_rng(3)
    X = (1e20 * rng.normal(size=(30, 2))).astype(np.float32)
    y = X[:, 0] > 0
    model = SVC(kernel="linear", C=1e-42, precision="single").fit(X, y)
    assert model.status_ == "converged"
    assert np.isfinite(model.decision_function(X)).all()


def test_gap_of_many_classes_is_small_by_default():
    rng = np.random.default_rng(4)
    y = np.arange(600) % 12
    X = rng.normal(size=(600, 8)) + 0.8 * rng.normal(size=(12, 8))[y]
    loose = SVC(C=180.0, gap=np.inf).fit(X, y)
    model = SVC(C=180.0).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-4
    assert model.certificate_.relative_gap <= loose.certificate_.relative_gap


@pytest.mark.parametrize("solver", ["full", "blocks", "rows"])
def test_gap_is_reached_by_every_solver(solver):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(1500, 10)), np.arange(1500) % 2
    loose = SVC(C=100.0, gamma=0.2, gap=np.inf, tol=0.1, solver=solver).fit(X, y)
    model = SVC(C=100.0, gamma=0.2, tol=0.1, solver=solver).fit(X, y)
    assert loose.certificate_.relative_gap > 1e-4
    assert model.certificate_.relative_gap <= 1e-4
    assert model.status_ == "converged"


def test_nu_svr_ends_soon_at_any_price():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(50, 2))
    y = 1e6 + rng.normal(size=50)
    model = fitted(NuSVR(C=1e10, gamma=0.5), X, y)
    assert model.solution_.steps < 1e6
    assert_delivered(model, X, y, np.ones(50))


def test_copies_of_tiny_weight_get_their_part_too():
    """At its bound a sample is at the bound of every copy: else it could rise, as recomputed."""
    X = np.array([[0.0], [1.0], [0.0], [1.0], [0.0]])
    weight = np.array([6.8e6, 3e5, 2e-6, 1e-7, 1e-3])
    model = SVC(C=1.0, kernel="rbf", gamma=1e-9).fit(X, [0, 1, 0, 1, 1], sample_weight=weight)
    beta = np.abs(coefficients(model, 5))
    assert 0.0 < beta[0] < weight[0]  # the larger class cannot be at its bounds
    np.testing.assert_allclose(np.asarray(beta[[1, 3, 4]], float), weight[[1, 3, 4]], rtol=1e-15)
    assert abs(coefficients(model, 5).sum()) <= 1e-15 * beta.sum()


def test_sums_are_met_after_any_number_of_steps():
    rng = np.random.default_rng(7)
    X, weight = rng.normal(size=(60, 1)), 10.0 ** rng.uniform(-8, 8, 60)
    model = fitted(SVR(kernel="linear", C=2e-3, epsilon=1e-9, tol=1e-8), X, -2 * X[:, 0], weight)
    beta = coefficients(model, 60)
    assert abs(beta.sum()) <= 1e-13 * np.abs(beta).sum()


def test_squares_of_rounding_that_outweigh_the_objective_are_not_called_converged():
    X, y = np.array([[1.0, 0.9], [1.0, 0.2], [1.0, -1.4], [1.0, -1.2]]), [-1, -1, 3, 3]
    weight = np.array([1.8e-6, 5.9e7, 4e-6, 0.9])
    model = fitted(
        SVC(C=1e3, kernel="poly", gamma=8e-9, degree=5, coef0=1e3, loss="squared_hinge"),
        X, y, weight,
    )  # fmt: skip
    assert model.status_ == "precision"
    assert model.fit_status_ == 1


def test_rounding_of_large_values_is_not_called_indefinite():
    rng = np.random.default_rng(8)
    X = rng.integers(-2, 3, size=(30, 6)) * 8.26
    X[:, 0] += 1.65e9
    weight, y = 10.0 ** rng.uniform(-8, 8, 30), np.arange(30) % 2
    kernel = {"kernel": "poly", "degree": 2, "gamma": 10.9, "coef0": 0.6}
    machine = SVC(C=1e3, loss="squared_hinge", planning=1, solver="blocks", **kernel)
    with pytest.raises(ValueError, match="too large for float64"):
        fitted(machine, X, y, weight)


def test_coefficients_of_any_size_make_no_noise():
    X, y = np.array([[5e-95, 4e-95], [-1e-95, -9e-95]]), [0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = SVC(C=np.inf, kernel="linear").fit(X, y)
    assert np.isfinite(model.dual_coef_).all()
    line = np.outer([-2.7, 30.4, -9.0, 10.4, -18.9], [1e-137, 1.3e-137, 1.1e-137])
    machine = NuSVC(kernel="linear", precision="single", class_weight="balanced", nu=0.4952)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(line, [0, 0, 1, 0, 1])


def test_violation_of_a_tube_that_was_searched_for_is_that_of_nu_svr():
    rng = np.random.default_rng(8)
    X = 0.1 * rng.normal(size=(40, 3))
    y = 3496.0 + 0.1 * rng.uniform(size=40)
    model = NuSVR(C=10.0, nu=0.85, kernel="sigmoid", gamma=1e-7, coef0=-1.0).fit(X, y)
    K = np.tanh(LONG(1e-7) * linear(X, None) - 1)
    beta = coefficients(model, 40)
    residual = y - K @ beta
    up, down = np.maximum(beta, 0), np.minimum(beta, 0)
    exact = max(
        residual[up < 10].max() - residual[up > 0].min(),
        residual[down < 0].max() - residual[down > -10].min(),
    )
    assert model.certificate_.violation == pytest.approx(max(float(exact), 0.0), abs=1e-11)


def test_a_scale_that_float32_cannot_hold_is_computed_in_float64():
    X = np.array([[0.0], [1.4e-45], [4.2e-45], [5.6e-45]], np.float32)
    model = SVC(gamma=1.6e89).fit(X, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict(X), [0, 0, 1, 1])


def test_what_there_is_no_time_to_prove_is_not_called_converged(monkeypatch):
    """The solver is done, the certificate is not: the status is that of the limit."""
    from maxmargin.estimators.kernel.training import problems
    from maxmargin.estimators.progress import OutOfTime

    def out_of_time(*_args):
        raise OutOfTime

    monkeypatch.setattr(problems, "kernel_expansion", out_of_time)
    monkeypatch.setattr(problems, "sharp_expansion", out_of_time)
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = fitted(SVC(max_seconds=0.5), X, y)
    assert model.status_ == "time_limit"
    assert model.fit_status_ == 1


def test_small_fit_is_certified_whenever_it_ends(monkeypatch):
    from maxmargin.estimators.progress import Clock, OutOfTime

    def out_of_time(_clock):
        raise OutOfTime

    monkeypatch.setattr(Clock, "overtime", out_of_time)
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = fitted(SVC(kernel="rbf", gamma=0.5, precision="single", max_seconds=60), X, y)
    assert model.status_ == "converged"
    assert_delivered(model, X, y, np.ones(40))


def test_start_worse_than_none_is_given_up():
    """Rounding of float32 led to α of 1e146, from which float64 did not return."""
    case = draw(2029, 23524)
    pair = np.isin(case.y, (-3.0, 5.0))
    model = fitted(SVC(**case.parameters), case.X[pair], case.y[pair])
    assert model.certificate_.dual > 0


@pytest.mark.parametrize("nu", [1e-8, 0.5])
def test_optimum_of_zero_is_converged_where_rounding_can_tell(nu):
    model = NuSVC(kernel="poly", gamma=1300.0, degree=3, nu=nu)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert model.status_ == ("converged" if nu == 0.5 else "precision")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_certificate_knows_the_digits_that_the_intercept_has_at_the_origin():
    # ν-SVR of targets that a line far from the origin meets up to the rounding of its intercept.
    X = np.array([[-2.0, 200000001.0], [0.0, 199999998.0], [2.0, 199999998.0], [1.0, 200000002.0]])
    y = np.array([23686.908969, 23686.910805, 23686.919380, 23686.914301])
    model = NuSVR(C=100.0, nu=1.0, kernel="linear").fit(X, y)
    coef = [Fraction(c) for c in model.dual_coef_.ravel().tolist()]
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    w = [sum(c * rows[i][j] for c, i in zip(coef, model.support_)) for j in range(2)]
    intercept = Fraction(float(model.intercept_[0]))
    errors = [
        abs(sum(a * b for a, b in zip(w, row)) + intercept - Fraction(t))
        for row, t in zip(rows, y.tolist())
    ]
    # ν = 1: the tube has no width, and every error counts C.
    primal = sum(a * a for a in w) / 2 + 100 * sum(errors)
    assert model.certificate_.primal == pytest.approx(float(primal), rel=1e-6)


def test_next_aim_is_lower_by_as_much_as_more_was_shown_and_never_0():
    assert lowered(1e-3, 1e-3, 1e-2) == pytest.approx(5e-5)
    assert lowered(1e-3, 1e-3, 1e-4) == lowered(1e-3, 1e-3, np.inf) == 5e-4
    assert lowered(1e-300, 1e-4, 1e300) > 0.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_certificate_counts_what_coefficients_leave_of_their_sum_far_from_0():
    case = draw(4001, 13489)
    model = SVR(**case.parameters).fit(case.X, case.y, case.weight)
    coef = [Fraction(c) for c in model.dual_coef_.ravel().tolist()]
    assert sum(coef) != 0
    rows = [[Fraction(x) for x in row] for row in case.X.tolist()]
    w = [sum(c * rows[i][j] for c, i in zip(coef, model.support_)) for j in range(3)]
    intercept, epsilon = Fraction(float(model.intercept_[0])), Fraction(model.epsilon)
    errors = [
        max(abs(sum(a * b for a, b in zip(w, row)) + intercept - Fraction(t)) - epsilon, 0)
        for row, t in zip(rows, case.y.tolist())
    ]
    losses = sum(Fraction(c) * e for c, e in zip(case.weight.tolist(), errors))
    primal = sum(a * a for a in w) / 2 + losses
    assert model.certificate_.primal == pytest.approx(float(primal), rel=1e-9)


def test_face_steps_help_where_pair_steps_are_slow():
    """Targets of 1e-9 beside coefficients of 0.03: pair steps move 1e-8 at a time."""
    case = draw(6001, 2412)
    model = NuSVR(**case.parameters).fit(case.X, case.y, sample_weight=case.weight)
    assert model.status_ == "converged"
    assert model.certificate_.relative_gap <= model.gap


def test_small_fit_of_nu_states_its_own_violation_when_time_is_up(monkeypatch):
    case = draw(12001, 3313)
    parameters = {**case.parameters, "max_seconds": None}

    def overtime(_):
        raise OutOfTime

    monkeypatch.setattr("maxmargin.estimators.progress.Clock.overtime", overtime)
    model = NuSVR(**parameters).fit(case.X, case.y)
    # Up to a factor of 1e-6 the kernel is 1: every function is a constant.
    assert model.certificate_.violation < 1e-6 * np.ptp(case.y)
