"""The certificate of a linear model is that of `coef_` and `intercept_`, recomputed here from them.

Objective and dual value are written out as the documentation has them, in extended precision; the
dual variables are those of `solution_`, whose feasibility is checked as well.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from maxmargin import LinearSVC, LinearSVR, LogisticRegression, RidgeRegression
from maxmargin.solvers.linear import ArrayChunks

WIDE = np.longdouble
# Costs are products in float64, here in extended precision.
ROUNDED = 1 + 1e-15
CLASSIFIERS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="crammer_singer"),
    LogisticRegression(),
    LogisticRegression(penalty="l1"),
]
REGRESSORS = [
    LinearSVR(epsilon=0.1),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
    RidgeRegression(),
]
MODELS = [*CLASSIFIERS, *REGRESSORS]
NOT_JOINT = [model for model in MODELS if getattr(model, "multi_class", "") != "crammer_singer"]


def with_parameters(model, **changes):
    """A new estimator; `strength` is C, or 1/alpha."""
    strength = changes.pop("strength", None)
    if strength is not None:
        name = "alpha" if isinstance(model, RidgeRegression) else "C"
        changes[name] = 1.0 / strength if name == "alpha" else strength
    return type(model)(**{**model.get_params(), **changes})


def losses(model, target, z, cost):
    """Σ cost·loss, as in the docstrings."""
    margin = target * z
    match getattr(model, "loss", type(model).__name__):
        case "hinge":
            return cost @ np.maximum(0, 1 - margin)
        case "squared_hinge":
            return cost @ np.maximum(0, 1 - margin) ** 2
        case "LogisticRegression":
            return cost @ (np.log1p(np.exp(-np.abs(margin))) + np.maximum(0, -margin))
        case "epsilon_insensitive":
            return cost @ np.maximum(0, np.abs(target - z) - model.epsilon)
        case "squared_epsilon_insensitive":
            return cost @ np.maximum(0, np.abs(target - z) - model.epsilon) ** 2
        case "RidgeRegression":
            return cost @ (target - z) ** 2


def conjugates(model, target, beta, cost):
    """−Σ ℓ*(−β), and whether β is in the domain of ℓ*."""
    signed = target * beta
    match getattr(model, "loss", type(model).__name__):
        case "hinge":
            return signed.sum(), (signed >= 0).all() and (signed <= cost * ROUNDED).all()
        case "squared_hinge":
            return (signed - beta**2 / (4 * cost)).sum(), (signed >= 0).all()
        case "LogisticRegression":
            p = signed / cost
            inside = (p >= 0).all() and (p <= ROUNDED).all()
            p = np.clip(p, np.finfo(WIDE).tiny, 1)
            rest = np.where(p < 1, (1 - p) * np.log1p(-np.where(p < 1, p, 0)), 0)
            return -(cost * (p * np.log(p) + rest)).sum(), inside
        case "epsilon_insensitive":
            value = target @ beta - model.epsilon * np.abs(beta).sum()
            return value, (np.abs(beta) <= cost * ROUNDED).all()
        case "squared_epsilon_insensitive":
            value = target @ beta - model.epsilon * np.abs(beta).sum()
            return value - (beta**2 / (4 * cost)).sum(), True
        case "RidgeRegression":
            return target @ beta - (beta**2 / (4 * cost)).sum(), True


def bounds(model, X, y, weight):
    """(objective, dual value) of every problem of a fitted model."""
    X, weight = np.asarray(X, WIDE), np.asarray(weight, WIDE)
    cost = weight * WIDE(0.5 / model.alpha if hasattr(model, "alpha") else model.C)
    if getattr(model, "multi_class", "") == "crammer_singer":
        return [joint_bounds(model, X, y, cost)]
    scaling = model.intercept_scaling if model.fit_intercept else None
    solutions = model.solution_ if isinstance(model.solution_, list) else [model.solution_]
    targets = [y]
    if hasattr(model, "classes_"):
        positive = model.classes_[1:] if model.classes_.size == 2 else model.classes_
        targets = [np.where(y == label, 1, -1) for label in positive]
    found = []
    for w, b, solution, target in zip(
        np.atleast_2d(model.coef_).astype(WIDE), model.intercept_, solutions, targets
    ):
        target, beta = target.astype(WIDE), solution.beta.astype(WIDE)
        z, pull, total = X @ w + b, beta @ X, beta.sum()
        value, inside = conjugates(model, target, beta, cost)
        assert inside
        if getattr(model, "penalty", "l2") == "l1":
            primal, dual = np.abs(w).sum(), value
            assert np.abs(pull).max(initial=0) <= 1 + 1e-15
            if scaling is not None:
                primal += abs(b) / scaling
                assert abs(total) * scaling <= 1 + 1e-15
        else:
            primal, dual = 0.5 * w @ w, value - 0.5 * pull @ pull
            if scaling is not None:
                primal += 0.5 * (WIDE(b) / scaling) ** 2
                dual -= 0.5 * (total * scaling) ** 2
        if model.fit_intercept and scaling is None:
            assert abs(total) <= 1e-15 * np.abs(beta).sum()
        found.append((primal + losses(model, target, z, cost), dual))
    return found


def joint_bounds(model, X, y, cost):
    """Of the machine of Crammer and Singer; for two classes `coef_` is a difference."""
    rows, own = np.arange(len(y)), np.searchsorted(model.classes_, y)
    W, b = model.solution_.w.astype(WIDE), model.solution_.b.astype(WIDE)
    if model.classes_.size == 2:
        np.testing.assert_array_equal(model.coef_, model.solution_.w[1:] - model.solution_.w[:1])
    else:
        np.testing.assert_array_equal(model.coef_, model.solution_.w)
    beta = model.solution_.beta.astype(WIDE)
    Z = X @ W.T + b
    excess = 1 + Z - Z[rows, own][:, None]
    excess[rows, own] = 0
    wrong = beta.copy()
    wrong[rows, own] = 0
    assert (wrong <= 0).all()
    assert (-wrong.sum(axis=1) <= cost * (1 + 1e-15)).all()
    assert np.abs(beta.sum(axis=1)).max() <= 1e-15 * np.abs(beta).max(initial=0)
    pull = beta.T @ X
    primal = 0.5 * (W * W).sum() + cost @ excess.max(axis=1)
    dual = -wrong.sum() - 0.5 * (pull * pull).sum()
    totals = beta.sum(axis=0)
    if model.fit_intercept and model.intercept_scaling is None:
        assert np.abs(totals).max() <= 1e-14 * np.abs(beta).sum()
    elif model.fit_intercept:
        primal += 0.5 * (b @ b) / WIDE(model.intercept_scaling) ** 2
        dual -= 0.5 * (totals @ totals) * WIDE(model.intercept_scaling) ** 2
    return primal, dual


def certificates(model):
    return list(model.certificate_) if isinstance(model.status_, list) else [model.certificate_]


def statuses(model):
    return model.status_ if isinstance(model.status_, list) else [model.status_]


@st.composite
def problems(draw):
    """A model, its data and weights: few samples on a coarse grid, any scale and any C."""
    model = draw(st.sampled_from(MODELS))
    n, d = draw(st.integers(2, 25)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    X = rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X[:, rng.integers(d)] = draw(st.sampled_from([0.0, 1.0, 1e4]))
    X *= draw(st.sampled_from([1.0, 1.0, 1e-8, 1e-3, 1e3, 1e6]))
    if hasattr(model, "class_weight"):
        y = rng.integers(0, draw(st.integers(2, 3)), n)
        y[:2] = [0, 1]
    else:
        y = rng.normal(size=n) + draw(st.sampled_from([0.0, 0.0, 100.0]))
    model = with_parameters(
        model,
        strength=draw(st.sampled_from([1e-4, 1.0, 1.0, 100.0])),
        fit_intercept=draw(st.booleans()),
        intercept_scaling=draw(st.sampled_from([None, 0.5, 30.0])),
        max_iter=draw(st.sampled_from([0, 1, 3, 1000])),
    )
    weight = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    return model, X, y, weight


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=200, deadline=None)
@given(problems(), st.booleans())
def test_the_certificate_is_what_coef_and_intercept_say(problem, sparse):
    model, X, y, weight = problem
    model.fit(sp.csr_array(X) if sparse else X, y, sample_weight=weight)
    for status, certificate, (primal, dual) in zip(
        statuses(model), certificates(model), bounds(model, X, y, weight)
    ):
        assert certificate.gap >= 0.0
        assert certificate.primal == pytest.approx(float(primal), rel=1e-9, abs=1e-300)
        # What rounding may have done to the sums here is allowed for.
        assert certificate.gap >= float(primal - dual) - 1e-12 * float(abs(primal) + abs(dual))
        if status == "converged":
            assert certificate.relative_gap <= model.tol
    assert model.fit_status_ == int(set(statuses(model)) != {"converged"})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("scaling", [None, 3.0])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8])
def test_no_model_is_better_than_the_gap_allows(model, scaling, steps):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4)) + 1.0
    y = rng.integers(0, 2, 40) if hasattr(model, "class_weight") else X[:, 0] + rng.normal(size=40)
    weight = np.ones(40)
    early = with_parameters(model, max_iter=steps, intercept_scaling=scaling).fit(X, y)
    best = with_parameters(model, tol=1e-12, intercept_scaling=scaling).fit(X, y)
    (primal, _), (least, _) = bounds(early, X, y, weight)[0], bounds(best, X, y, weight)[0]
    assert best.certificate_.relative_gap <= 1e-12
    assert primal - least <= early.certificate_.gap
    assert early.certificate_.dual <= least * (1 + 1e-15)


@pytest.mark.parametrize("model", NOT_JOINT, ids=str)
def test_the_certificate_of_chunks_is_what_coef_and_intercept_say(model):
    rng = np.random.default_rng(5)
    X = 1e9 * rng.normal(size=(60, 3))
    y = (X[:, 0] > 0) ^ (rng.random(60) < 0.2) if hasattr(model, "class_weight") else X[:, 0] / 1e9
    model = with_parameters(model, strength=1e-9 if "l1" in str(model) else 1e-18)
    model.fit(ArrayChunks(X, rows=17), np.asarray(y, float))
    (primal, dual) = bounds(model, X, np.asarray(y, float), np.ones(60))[0]
    assert model.status_ == "converged"
    assert model.certificate_.primal == pytest.approx(float(primal), rel=1e-9)
    assert model.certificate_.gap >= float(primal - dual) * (1 - 1e-6)
    assert float(primal - dual) <= 1e-6 * float(primal)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
@pytest.mark.parametrize("scaling", [0.25, 3.0])
def test_intercept_scaling_is_a_constant_feature(model, scaling):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 1.0, 1, 0)
    model = with_parameters(model, strength=10.0)
    whole = np.column_stack([X, np.full(60, scaling)])
    own = with_parameters(model, tol=1e-12, intercept_scaling=scaling).fit(X, y)
    featured = with_parameters(model, tol=1e-12, fit_intercept=False).fit(whole, y)
    assert own.certificate_.primal == pytest.approx(featured.certificate_.primal, rel=1e-11)
    assert own.intercept_[0] == pytest.approx(scaling * featured.coef_[0, -1], rel=1e-4)
    assert abs(own.intercept_[0]) > 0.1
    assert own.coef_[0] == pytest.approx(featured.coef_[0, :-1], rel=1e-4)


# ---- scales ------------------------------------------------------------------------------


def separable(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4))
    return X, np.where(X[:, 0] > 0, 1, 0)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("scale", [1e-100, 1e-10, 1e10, 1e100])
def test_inputs_in_another_unit_are_the_same_problem(model, scale):
    """x·scale with C/scale², or C/scale beside ‖w‖₁, has w/scale for its solution."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    y = rng.integers(0, 2, 40) if hasattr(model, "class_weight") else X[:, 0] + rng.normal(size=40)
    power = 1 if "l1" in str(model) else 2
    usual = with_parameters(model, tol=1e-10).fit(X, y)
    for convert in (np.asarray, sp.csr_array):
        other = with_parameters(model, tol=1e-10, strength=(1.0 / scale) ** power)
        other.fit(convert(X * scale), y)
        assert other.status_ == "converged"
        assert np.ravel(other.coef_) * scale == pytest.approx(np.ravel(usual.coef_), abs=1e-4)
        assert other.intercept_ == pytest.approx(usual.intercept_, abs=1e-4)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_separable_data_of_scale_1e10_are_solved(model):
    X, y = separable()
    if "l1" in str(model):
        model = with_parameters(model, strength=1e-4)
    model = with_parameters(model).fit(1e10 * X, y)
    assert model.status_ == "converged"
    assert model.certificate_.relative_gap <= 1e-6
    assert model.score(1e10 * X, y) == 1.0


@pytest.mark.parametrize("model", NOT_JOINT, ids=str)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_noisy_data_of_scale_1e10_are_solved(model, make):
    """A dozen samples of five features, on which fits once took minutes."""
    rng = np.random.default_rng(0)
    X = 1e10 * rng.normal(size=(12, 5))
    y = np.arange(12) % 2 if hasattr(model, "class_weight") else rng.normal(size=12)
    if "l1" in str(model):
        model = with_parameters(model, strength=1e-4)
    model = with_parameters(model).fit(make(X), y)
    assert model.status_ == "converged"
    assert model.n_iter_ < 500


def test_a_constant_column_does_not_decide():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    for model in (LinearSVC(), LinearSVC(loss="hinge"), LogisticRegression()):
        usual = with_parameters(model).fit(X, y)
        moved = with_parameters(model).fit(np.column_stack([np.full(30, 1e12), X]), y)
        assert moved.status_ == "converged"
        assert moved.coef_[0, 0] == 0.0
        assert moved.coef_[0, 1:] == pytest.approx(usual.coef_[0], abs=1e-6)


def test_targets_far_from_zero_are_solved():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=30)
    for model in REGRESSORS:
        usual = with_parameters(model, strength=100.0).fit(X, y)
        moved = with_parameters(model, strength=100.0).fit(X, y + 2.0**30)
        assert moved.status_ == "converged"
        assert moved.coef_ == pytest.approx(usual.coef_, abs=1e-4)
        assert moved.intercept_ == pytest.approx(usual.intercept_ + 2.0**30)


@pytest.mark.parametrize(
    "model", [RidgeRegression(), LinearSVR(), LinearSVC(penalty="l1"), LinearSVC()], ids=str
)
def test_what_float64_cannot_prove_is_not_called_converged(model):
    """At this scale no β of 53 bits has Σ β x near w: noise decides what remains of the gap."""
    rng = np.random.default_rng(0)
    X = 1e30 * rng.normal(size=(50, 3))
    y = rng.integers(0, 2, 50) if hasattr(model, "class_weight") else rng.normal(size=50)
    with pytest.warns(ConvergenceWarning, match="no progress in float64.*gap is still"):
        model = with_parameters(model).fit(X, y)
    assert model.status_ == "precision"
    assert model.fit_status_ == 1
    assert model.certificate_.relative_gap > model.tol
    assert np.isfinite(model.predict(X)).all()
    nothing = 50.0 if hasattr(model, "class_weight") else np.inf
    assert model.certificate_.primal <= nothing


def test_two_classes_of_the_joint_machine_are_certified_as_their_difference():
    """Rounding leaves the rows of W not exactly opposite, and `coef_` has only their difference."""
    large, small = 171814056076.56512, 1718.1405607656512
    X = np.array([[large + 175.31408], [large], [0], [large], [0], [0], [0], [large]])
    X = np.column_stack([X, [0, 0, 0, small, 0, 0, 0, 0]])
    y = np.array([0, 0, 0, 1, 0, 0, 0, 0])
    weight = np.array([7.348, 2.8815, 23.428, 21.487, 22.563, 2.318, 23.401, 19.245])
    model = LinearSVC(C=1.0, intercept_scaling=1.0, multi_class="crammer_singer")
    model.fit(sp.csr_array(X), y, sample_weight=weight)
    W, b = (np.concatenate([-v, v]).astype(WIDE) / 2 for v in (model.coef_, model.intercept_))
    Z, rows = X @ W.T + b, np.arange(8)
    errors = np.maximum(0, 1 + Z[rows, 1 - y] - Z[rows, y])
    primal = 0.5 * (W**2).sum() + 0.5 * (b**2).sum() + weight @ errors
    assert model.certificate_.primal == pytest.approx(float(primal), rel=1e-11)


def test_a_model_whose_objective_overflows_is_not_delivered():
    X = sp.csr_array(1.0711043074774075e141 * np.array([[0, 0], [1, 1], [0, 0], [1, 0]]))
    with pytest.warns(ConvergenceWarning, match="no progress in float64"):
        model = LogisticRegression(C=1.2139144399585635, tol=1e-7).fit(X, [1, 0, 3, 4])
    for certificate in model.certificate_:
        assert certificate.gap <= certificate.primal <= 4 * model.C * np.log(2) * (1 + 1e-15)


@pytest.mark.parametrize(
    ("model", "make"),
    [(model, make) for make in (np.asarray, sp.csr_array) for model in MODELS]
    + [(model, ArrayChunks) for model in NOT_JOINT],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_squares_that_overflow_are_refused(model, make):
    X, y = separable()
    strength = "alpha" if isinstance(model, RidgeRegression) else "C"
    with pytest.raises(ValueError, match=f"X has entries of up to about .*{strength}=1.*scale X"):
        with_parameters(model).fit(make(1e160 * X), y)


def test_costs_and_targets_that_overflow_are_refused():
    X, y = separable()
    with pytest.raises(ValueError, match=r"X has entries .*C=1e\+300"):
        LinearSVC(C=1e300).fit(1e10 * X, y)
    with pytest.raises(ValueError, match=r"y has entries .*scale y"):
        RidgeRegression().fit(X, 1e200 * y)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160])
def test_squares_that_vanish_are_no_harm(scale):
    X, y = separable()
    for model in MODELS:
        model = with_parameters(model).fit(scale * X, y)
        assert set(statuses(model)) == {"converged"}
        assert np.isfinite(model.predict(scale * X)).all()


def test_a_fit_that_has_converged_says_nothing():
    X, y = separable()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in MODELS:
            assert with_parameters(model).fit(X, y).fit_status_ == 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rounding_beside_a_kink_is_part_of_the_gap():
    # Both targets could be met exactly, if the intercept had more than 16 digits.
    X = np.array([[1.0868863116548711e113, 1.6404191e104], [1.086886321252561e113, 4.2936578e104]])
    y = np.array([-1.6570150170075901, -2.4305555442872917])
    model = LinearSVR(C=10.0, epsilon=0.0, solver="newton").fit(X, y)
    coef = [Fraction(c) for c in model.coef_.ravel().tolist()]
    intercept = Fraction(float(np.ravel(model.intercept_)[0]))
    outputs = [sum(c * Fraction(x) for c, x in zip(coef, row)) + intercept for row in X.tolist()]
    losses = sum(abs(f - Fraction(t)) for f, t in zip(outputs, y.tolist()))
    assert model.status_ == "precision"
    assert model.certificate_.primal > 5.0 * float(losses) > 0.0
    assert model.certificate_.relative_gap > 0.5
