"""The benchmark of linear machines: its own arithmetic, its tables, and its data."""

from argparse import Namespace

import numpy as np
import pytest
from scipy.optimize import minimize

from benchmarks import linear, linear_data
from benchmarks.linear import Case, Outcome, Run
from maxmargin import LinearSVC


def toy(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1, -1)


@pytest.mark.parametrize("loss", linear.LOSSES)
@pytest.mark.parametrize(("scaling", "penalty"), [(1.0, 1.0), (None, 0.0)])
def test_primal_and_dual_value_meet_at_the_optimum_only(loss, scaling, penalty):
    X, y = toy()
    case = Case("toy", loss, 0.7)
    model = LinearSVC(loss=loss, C=0.7, intercept_scaling=scaling).fit(X, y)
    primal, dual = linear.values(case, X, y, model, penalty)
    assert primal == pytest.approx(dual, rel=1e-9)
    model.coef_ = model.coef_ * 1.1
    worse, same = linear.values(case, X, y, model, penalty)
    assert same == dual
    assert worse > primal * (1 + 1e-4)


def test_primal_value_of_squared_hinge_is_what_a_general_minimiser_finds():
    X, y = toy()

    def objective(v):
        short = np.maximum(0.0, 1.0 - y * (X @ v[:3] + v[3]))
        return 0.5 * v @ v + 2.0 * short @ short

    best = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).fun
    model = LinearSVC(C=2.0, intercept_scaling=1.0).fit(X, y)
    case = Case("toy", "squared_hinge", 2.0)
    assert linear.primal_value(case, X, y, model, 1.0) == pytest.approx(best, rel=1e-8)


def test_infeasible_coefficients_do_not_raise_the_dual_value():
    X, y = toy()
    case = Case("toy", "hinge", 0.5)
    model = LinearSVC(loss="hinge", C=0.5).fit(X, y)
    best = linear.values(case, X, y, model, 0.0)[1]
    model.solution_.beta[:] = 3.0 * model.solution_.beta + 0.1
    assert linear.values(case, X, y, model, 0.0)[1] <= best


def test_small_run_has_all_contenders_and_a_verdict():
    X, y = toy()
    given = Namespace(repeats=1, skglm=0.0)
    outcome = linear.compare(Case("toy", "squared_hinge", 1.0), X, y, given)
    assert set(outcome.peers) == {"LIBLINEAR", "LIBLINEAR primal"}
    assert outcome.ours.distance <= 1e-9
    assert outcome.peers["LIBLINEAR"].distance >= -1e-12
    assert "gap ≤ 1e-06: 1 of 1" in linear.verdict([outcome])


def test_verdict_counts_what_is_slower():
    def outcome(seconds):
        case = Case("toy", "hinge", 1.0)
        return Outcome(case, Run(1.0, 1e-7), Run(1.0, 1e-7), {"LIBLINEAR": Run(seconds, 0.1)})

    text = linear.verdict([outcome(0.5), outcome(1.5), outcome(2.5)])
    assert "coordinate descent: 2; twice as fast: 1;" in text


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("news20", (11_314, 75_878)),
        ("a9a", (32_561, 123)),
        ("w8a", (49_749, 300)),
        ("mnist-1-7", (13_007, 784)),
        ("covtype", (15_120, 54)),
    ],
)
def test_data_are_those_of_the_issue(name, shape, real_data):
    del real_data
    X, y = linear_data.load(name)
    assert X.shape == shape
    assert set(np.unique(y)) == {-1, 1}


def test_unknown_data_are_refused():
    with pytest.raises(ValueError, match="no data set is called 'iris'"):
        linear_data.load("iris")
