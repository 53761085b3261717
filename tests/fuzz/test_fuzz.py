"""The search finds nothing here, and does find faults that are planted."""

import os
import pickle
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from maxmargin.kernels import Linear
from tests.fuzz import checks, extras
from tests.fuzz.certificates import certificate_failures
from tests.fuzz.certify import Function, exact
from tests.fuzz.failure import Failure
from tests.fuzz.kernels import LONG, Gram, gram
from tests.fuzz.problems import ESTIMATORS, Case, draw
from tests.fuzz.search import Report, Worker, explained, failures_of, search
from tests.fuzz.shrink import shrunk
from tests.fuzz.snippet import snippet

# What continuous integration looks at: the same cases on every machine, about a minute of them.
CI_SEED, CI_CASES = 23, 500


def test_a_minute_of_search_finds_nothing():
    if "CI" in os.environ:
        report = search(CI_SEED, seconds=600.0, most=CI_CASES)
    else:
        report = search(int(time.time()), seconds=60.0)
    assert report.cases > 0
    assert not report.found, explained(report, seconds=60.0)


# Cases that have failed, as seed and number, by what was wrong.
FAILED_ONCE = {
    "certificate in float32 at the end of time": ((2029, 11728), (2029, 27581)),
    "rounding of kernel arguments times large boxes": ((2029, 2450),),
    "explicit zeros were no copies": ((2029, 245), (2029, 3115)),
    "recomputed gradients showed no gain, without end": ((2029, 31805),),
    "optimum of 0 within what rounding can tell": (
        (2029, 2600), (2029, 10604), (2029, 14210), (2029, 16507), (2029, 30801), (9101, 10326),
    ),
    "rounding of the recomputed gap": ((2029, 7440),),
    "sum of coefficients times a large offset": (
        (2029, 24596), (3101, 1226), (3101, 1339), (4001, 9987), (4001, 10257), (4001, 10919),
        (4001, 11818), (4001, 13489), (4001, 49179), (9101, 1453), (15001, 11),
        (16001, 21083),
    ),
    "balanced coefficients of a tube without width": ((4001, 2200),),
    "balanced coefficients with squared losses": ((8001, 5999),),
    "balanced coefficients of two variables for a sample": ((9501, 13447),),
    "polynomial values that vanish": ((9501, 27839),),
    "negative eigenvalues beside far larger ones": ((9501, 41731),),
    "sums of copies beside a bound": ((9001, 14854), (9001, 15319)),
    "mean beside coefficients that sum to 0": ((8001, 5878), (9001, 3299), (9001, 11856)),
    "certificate of the tube in place of that of ν": ((4001, 10965),),
    "rounding of equal inputs far from the mean": ((4001, 2962),),
    "entries that are there twice, or not in order": ((1795001571, 363), (1795001571, 1277)),
    "squares that overflow": ((4001, 1759), (12001, 3977)),
    "rounding that seems to be gain, without end": ((7001, 5305), (12001, 6980), (9601, 12048)),
    "curvature lost in rounding, without end": ((4001, 13260),),
    "equal inputs so large that their distance is rounding": ((12001, 1206),),
    "rounding of the kernel values that a sum of coefficients multiplies": ((9101, 5563),),
    "margin of ν-classification that is not known": ((12001, 9670),),
    "bounds of ν-classification up to the rounding of its margin": ((9401, 8667),),
    "sparse inputs whose mean is not subtracted": ((12001, 11727),),
    "bounds of a box that are rounded products, times inputs of 1e14": ((9401, 18017),),
    "certificate of the tube at the end of time": ((12001, 3313),),
    "margin of 0 that weights of classes cannot be applied to": ((9601, 49080),),
    "tube that is open although its price is not spent": ((9601, 34786),),
    "face step without free variables": ((13001, 864),),
    "violation below the rounding of a stream": ((4001, 26889), (9402, 6258)),
    "overflow of float32 in a stream's file, and in probabilities": ((4001, 42624), (9001, 16421)),
}  # fmt: skip


@pytest.mark.parametrize("case", [case for cases in FAILED_ONCE.values() for case in cases])
def test_case_that_has_failed_once_is_sound(case):
    assert checks.examine(draw(*case)) == []


# ---- planted faults ------------------------------------------------------------------------

random = np.random.default_rng(0)
POINTS = random.normal(size=(40, 2))
CODES = (POINTS[:, 0] + random.normal(size=40) > 0).astype(int)
NUMBERS = POINTS[:, 0] ** 2 + random.normal(size=40)
KERNEL = {"kernel": "rbf", "gamma": 0.5, "tol": 1e-8}
KERNEL_CASES = [
    Case("SVC", {"C": 3.0, **KERNEL}, POINTS, CODES, None),
    Case("SVC", {"C": 3.0, "loss": "squared_hinge", **KERNEL}, POINTS, CODES, None),
    Case("SVC", {"C": np.inf, "kernel": "rbf", "gamma": 50.0, "tol": 1e-8}, POINTS, CODES, None),
    Case("SVC", {"C": 3.0, **KERNEL}, POINTS, np.arange(40) % 3, None),
    Case("SVC", {"C": 3.0, "multi_class": "ovr", **KERNEL}, POINTS, np.arange(40) % 3, None),
    Case("NuSVC", {"nu": 0.4, **KERNEL}, POINTS, CODES, None),
    Case("NuSVC", {"nu": 0.4, **KERNEL}, POINTS, np.arange(40) % 3, None),
    Case("SVR", {"C": 3.0, "epsilon": 0.2, **KERNEL}, POINTS, NUMBERS, None),
    Case("NuSVR", {"C": 3.0, "nu": 0.4, **KERNEL}, POINTS, NUMBERS, None),
    Case("OneClassSVM", {"nu": 0.4, **KERNEL}, POINTS, None, None),
]
LINEAR_CASES = [
    Case("LinearSVC", {"C": 3.0}, POINTS, CODES, None),
    Case("LinearSVC", {"C": 3.0, "loss": "hinge"}, POINTS, CODES, None),
    Case("LinearSVC", {"C": 3.0, "penalty": "l1"}, POINTS, np.arange(40) % 3, None),
    Case("LinearSVC", {"C": 3.0, "intercept_scaling": 2.0}, POINTS, CODES, None),
    Case("LinearSVC", {"C": 3.0, "multi_class": "crammer_singer"}, POINTS, np.arange(40) % 3, None),
    Case("LinearSVR", {"C": 3.0, "epsilon": 0.2}, POINTS, NUMBERS, None),
    Case("LogisticRegression", {"C": 3.0}, POINTS, CODES, None),
    Case("LogisticRegression", {"C": 3.0, "penalty": "l1"}, POINTS, CODES, None),
    Case("RidgeRegression", {"alpha": 3.0}, POINTS, NUMBERS, None),
]


def name_of(case):
    options = [str(v) for k, v in case.parameters.items() if k not in KERNEL]
    return "-".join([case.estimator, *options])


def fitted(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return checks.trained(case)


def checks_that_fail(case, model):
    return {failure.check for failure in certificate_failures(case, model)}


@pytest.mark.parametrize("case", KERNEL_CASES + LINEAR_CASES, ids=name_of)
def test_sound_fit_has_no_failure(case):
    assert checks.examine(replace(case, extras=("sklearn", "warm_start", "file"))) == []


@pytest.mark.parametrize("case", KERNEL_CASES, ids=name_of)
def test_lost_support_vector_is_found(case):
    model = fitted(case)
    places = np.flatnonzero(model.support_ != model.support_[0])
    model.support_, model.dual_coef_ = model.support_[places], model.dual_coef_[:, places]
    assert {"feasible", "stated"} <= checks_that_fail(case, model)


# The certificate of a hard margin does not depend on the intercept.
SOFT_CASES = [case for case in KERNEL_CASES if case.parameters.get("C") != np.inf]


@pytest.mark.parametrize("case", SOFT_CASES, ids=name_of)
def test_wrong_intercept_is_found(case):
    model = fitted(case)
    model.intercept_ = model.intercept_ + 0.01
    assert "stated" in checks_that_fail(case, model)


@pytest.mark.parametrize("case", KERNEL_CASES, ids=name_of)
def test_false_claim_to_have_converged_is_found(case):
    limited = replace(case, parameters={**case.parameters, "max_iter": 3})
    model = fitted(limited)
    assert "violation" not in checks_that_fail(limited, model)
    multiple = isinstance(model.status_, list)
    model.status_ = ["converged"] * len(model.status_) if multiple else "converged"
    assert "violation" in checks_that_fail(limited, model)


@pytest.mark.parametrize("name", ["primal", "dual", "gap", "violation"])
def test_certificate_that_is_off_by_a_tenth_is_found(name):
    case = replace(KERNEL_CASES[0], parameters={**KERNEL_CASES[0].parameters, "max_iter": 20})
    model = fitted(case)
    assert checks_that_fail(case, model) == set()
    value = 1.1 * getattr(model.certificate_, name)
    model.certificate_ = replace(model.certificate_, **{name: value})
    assert checks_that_fail(case, model) == {"stated"}


@pytest.mark.parametrize("case", LINEAR_CASES, ids=name_of)
def test_wrong_weights_of_features_are_found(case):
    model = fitted(case)
    model.coef_ = 1.01 * model.coef_
    assert {"gap", "stated"} <= checks_that_fail(case, model)


# One step solves a quadratic problem.
LONGER_CASES = [case for case in LINEAR_CASES if case.estimator != "RidgeRegression"]


@pytest.mark.parametrize("case", LONGER_CASES, ids=name_of)
def test_false_claim_of_a_linear_machine_is_found(case):
    limited = replace(case, parameters={**case.parameters, "max_iter": 1, "tol": 1e-9})
    model = fitted(limited)
    multiple = isinstance(model.status_, list)
    assert checks_that_fail(limited, model) == set()
    model.status_ = ["converged"] * len(model.status_) if multiple else "converged"
    assert checks_that_fail(limited, model) == {"gap"}


def test_gap_that_is_too_large_is_found_once_there_is_a_rule_about_it():
    case = replace(KERNEL_CASES[0], parameters={**KERNEL_CASES[0].parameters, "tol": 0.5})
    model = fitted(replace(case, parameters={**case.parameters, "max_iter": 15}))
    model.status_, model.gap = "converged", 1e-4
    assert "gap" in checks_that_fail(case, model)


def test_status_without_warning_is_found():
    case = replace(KERNEL_CASES[0], parameters={**KERNEL_CASES[0].parameters, "max_iter": 3})
    fit = checks.attempted(case)
    assert checks.status_failures(case, fit) == []
    silent = fit._replace(warnings=[])
    assert [f.check for f in checks.status_failures(case, silent)] == ["warning"]
    fit.model.fit_status_ = 0
    assert [f.check for f in checks.status_failures(case, fit)] == ["status"]


def planted(monkeypatch, change):
    """Fits that are followed by a change of the case or the model."""

    def trained(case, model=None):
        model = original(case, model)
        change(case, model)
        return model

    original = checks.trained
    monkeypatch.setattr(checks, "trained", trained)


def spoil_inputs(case, _):
    case.X[0, 0] += 1.0


def spoil_values(_, model):
    model.intercept_ = np.array([np.nan])


def raise_an_error(*_):
    raise ZeroDivisionError("division by zero")


def refuse_for_no_reason(*_):
    raise ValueError("C must be finite")


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (spoil_inputs, "inputs"),
        (spoil_values, "predict"),
        (raise_an_error, "error"),
        (refuse_for_no_reason, "error"),
    ],
)
def test_what_a_fit_should_not_do_is_found(monkeypatch, change, check):
    planted(monkeypatch, change)
    case = replace(KERNEL_CASES[0], X=POINTS.copy())
    assert check in {failure.check for failure in checks.examine(case)}


def test_refusal_with_a_reason_is_no_failure(monkeypatch):
    planted(monkeypatch, refuse_for_no_reason)
    case = replace(KERNEL_CASES[0], parameters={"C": np.inf})
    assert checks.examine(case) == []


def test_fit_that_takes_too_long_is_found(monkeypatch):
    monkeypatch.setattr(checks, "LONGEST", 0.0)
    assert [failure.check for failure in checks.examine(KERNEL_CASES[0])] == ["time"]


@pytest.mark.parametrize("extra", ["copies", "shuffle", "absence", "thread"])
def test_another_model_of_the_same_problem_is_found(monkeypatch, extra):
    weight = np.where(np.arange(40) % 5, 1.0, 0.0)
    case = replace(KERNEL_CASES[0], weight=weight)
    model = fitted(case)
    assert extras.EXTRAS[extra](case, model) == []
    answers = iter([model, *3 * [fitted(replace(case, parameters={**KERNEL, "C": 2.0}))]])
    if extra in ("shuffle", "absence"):
        next(answers)
    monkeypatch.setattr(extras, "refitted", lambda _: next(answers))
    assert [failure.check for failure in extras.EXTRAS[extra](case, model)] == [extra]


@pytest.mark.parametrize("extra", ["file", "pickle", "fork"])
def test_values_that_change_on_the_way_are_found(monkeypatch, extra):
    case, model = KERNEL_CASES[0], fitted(KERNEL_CASES[0])
    assert extras.EXTRAS[extra](case, model) == []
    values, seen = extras.values, []

    def other_values(case, model, X=None):
        seen.append(model)
        return values(case, model, X) + 1e-12 * len(seen)

    monkeypatch.setattr(extras, "values", other_values)
    assert [failure.check for failure in extras.EXTRAS[extra](case, model)] == [extra]


def test_optimum_worse_than_that_of_scikit_learn_is_found():
    case = KERNEL_CASES[0]
    model = fitted(replace(case, parameters={**case.parameters, "max_iter": 3}))
    assert [failure.check for failure in extras.EXTRAS["sklearn"](case, model)] == ["sklearn"]


def test_warm_start_that_breaks_a_promise_is_found(monkeypatch):
    case, model = KERNEL_CASES[0], fitted(KERNEL_CASES[0])
    broken = [Failure("gap", "too large")]
    monkeypatch.setattr(extras, "certificate_failures", lambda *_: broken)
    assert {f.check for f in extras.EXTRAS["warm_start"](case, model)} == {"warm_start"}


# ---- the exact values ----------------------------------------------------------------------


def by_hand(kind, **changes):
    """Two samples at ±1 on a line."""
    x = np.array([-1, 1], dtype=LONG)
    values = {
        "samples": np.arange(2),
        "target": np.array([-1.0, 1.0]),
        "bound": np.ones(2),
        "copies": np.ones(2, dtype=int),
        "coef": np.array([-0.5, 0.5]),
        "intercept": 0.0,
    }
    return exact(Function(kind, **{**values, **changes}), Gram(np.outer(x, x), np.zeros((2, 2))))


def test_values_of_the_hinge_are_those_computed_by_hand():
    assert tuple(by_hand("hinge").values) == (0.5, 0.5, 0.0, 0.0)
    # f(x) = 2x·0.25: margins of ½, and both may still rise.
    poor = by_hand("hinge", coef=np.array([-0.25, 0.25])).values
    assert tuple(poor) == (0.125 + 1.0, 0.5 - 0.125, 0.75, 1.0)


def test_values_of_the_squared_hinge_are_those_computed_by_hand():
    # α = 1/(2 + 1/2C) each: with C = 1, f = 0.8x, errors of 0.2.
    values = by_hand("squared_hinge", coef=np.array([-0.4, 0.4])).values
    assert values.primal == pytest.approx(0.32 + 2 * 0.04)
    assert values.dual == pytest.approx(0.8 - 0.32 - 2 * 0.16 / 4)
    assert float(values.violation) == pytest.approx(0.0, abs=1e-15)


def test_values_of_regression_are_those_computed_by_hand():
    values = by_hand("epsilon", epsilon=0.5, coef=np.array([-0.25, 0.25])).values
    assert tuple(values) == (0.125, 0.125, 0.0, 0.0)


def test_values_of_one_class_are_those_computed_by_hand():
    # Two opposite samples of weight 1 with ν = 1: w = 0, ρ = 0.
    values = by_hand("one_class", target=np.zeros(2), coef=np.ones(2), nu=1.0).values
    assert tuple(values) == (0.0, 0.0, 0.0, 0.0)


def test_offset_of_linear_inputs_costs_no_digits():
    # Exact in float64: numbers of few bits around 2^30.
    X = np.array([[0.0], [0.25], [1.0]], dtype=LONG)
    function = Function(
        "hinge", np.arange(3), np.array([-1.0, -1.0, 1.0]), np.ones(3), np.ones(3, dtype=int),
        np.array([0.0, -0.5, 0.5]), 0.125,
    )  # fmt: skip
    near = exact(function, gram(Linear(), X, balanced=True))
    function.intercept -= 0.375 * 2.0**30
    far = exact(function, gram(Linear(), X + 2.0**30, balanced=True))
    assert far.values == near.values
    assert gram(Linear(), X + 2.0**30, balanced=True).constant == 2.0**60


def test_sum_that_is_not_zero_is_infeasible():
    assert by_hand("hinge", coef=np.array([-0.5, 0.25])).infeasibility == pytest.approx(1 / 3)


# ---- the search itself ---------------------------------------------------------------------


def test_a_seed_gives_the_same_case_again():
    for number in range(50):
        first, second = draw(5, number), draw(5, number)
        assert pickle.dumps(first) == pickle.dumps(second)


def test_every_estimator_is_drawn():
    drawn = {draw(0, number).estimator for number in range(1500)}
    assert drawn == set(ESTIMATORS)
    only = {draw(0, number, ("SVR", "NuSVR")).estimator for number in range(30)}
    assert only == {"SVR", "NuSVR"}


@pytest.mark.parametrize("X", [POINTS, POINTS[:5], sparse.csr_array(POINTS[:5])])
def test_snippet_shows_the_case(X):
    case = replace(KERNEL_CASES[0], X=X, y=CODES[: X.shape[0]], label="--seed 1 --case 2")
    case.y[:2] = 0, 1
    text = snippet(case, Failure("gap", "too large"))
    assert text.startswith("# --seed 1 --case 2: gap: too large")
    assert len(text.splitlines()) <= 12
    if X.shape[0] == 5:
        names = {}
        exec(text, names)
        assert names["model"].certificate_ == fitted(case).certificate_


def test_failing_case_is_made_smaller(monkeypatch):
    def examine(case):
        return [Failure("gap", "")] if (np.asarray(case.X) > 2).any() else []

    monkeypatch.setattr("tests.fuzz.shrink.examine", examine)
    X = np.arange(30.0).reshape(10, 3) / 10
    small = shrunk(replace(KERNEL_CASES[0], X=X, y=CODES[:10], extras=("file",)), "gap")
    assert small.size == 2
    assert small.X.shape[1] == 1
    assert small.extras == ()


class FakeWorker(Worker):
    """Whose process runs the given code."""

    def __init__(self, code):
        super().__init__(0, ())
        self.arguments = [sys.executable, "-c", code]


DEATHS = {
    "import os; os.kill(os.getpid(), 11)": "ended with -11",
    "import signal; signal.setitimer(signal.ITIMER_PROF, .1)\nwhile True: pass": "takes too long",
}


@pytest.mark.parametrize("code", DEATHS)
def test_process_that_dies_is_a_failure_of_its_case(code):
    with FakeWorker(code) as worker:
        (failure,) = failures_of(worker, 0)
    assert failure.check == "death"
    assert DEATHS[code] in failure.message


def test_process_that_waits_for_ever_is_ended(monkeypatch):
    monkeypatch.setattr("tests.fuzz.search.LONGEST_WAIT", 0.2)
    with FakeWorker("import time; time.sleep(1000)") as worker:
        (failure,) = failures_of(worker, 0)
    assert failure.message == "it waits for ever"


def test_report_counts_failures_by_kind():
    report = Report(0)
    assert "0 failures" in explained(report)


def test_command_repeats_a_case():
    command = [sys.executable, "-m", "tests.fuzz", "--seed", "1", "--case", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("seed 1\n")
    assert "1 cases of seed 1" in done.stdout
