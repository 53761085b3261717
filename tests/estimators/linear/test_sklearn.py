"""scikit-learn's checks and its own tests of linear machines, on ours.

The test file is that of the installed scikit-learn, read at run time.
"""

import sys
import types
from pathlib import Path
from unittest import mock

import pytest
import sklearn.svm
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import (
    Lasso,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    RidgeRegression,
    SoftmaxRegression,
)

SOURCE = Path(sklearn.svm.__file__).parent / "tests" / "test_svm.py"
ABOUT_LINEAR = (
    "test_auto_weight",
    "test_bad_input",
    "test_crammer_singer_binary",
    "test_dense_liblinear_intercept_handling",
    "test_liblinear_set_coef",
    "test_linearsvc",
    "test_linearsvc_crammer_singer",
    "test_linearsvc_fit_sampleweight",
    "test_linearsvc_iris",
    "test_linearsvc_parameters",
    "test_linearsvc_verbose",
    "test_linearsvm_liblinear_sample_weight",
    "test_linearsvr",
    "test_linearsvr_fit_sampleweight",
    "test_lsvc_intercept_scaling_zero",
    "test_svr",
    "test_svr_coef_sign",
    "test_weight",
)
NOT_OURS = {
    "test_dual_auto": "about a private function that chooses a solver of LIBLINEAR",
    "test_dual_auto_edge_cases": "about a private function that chooses a solver of LIBLINEAR",
    "test_linear_svm_convergence_warnings": "demands the words of LIBLINEAR; ours name the gap",
}
# There the intercept has the penalty of LIBLINEAR unless something else is said.
PENALISED_INTERCEPT = ("test_dense_liblinear_intercept_handling",)


@parametrize_with_checks(
    [
        LinearSVC(),
        LinearSVC(loss="hinge"),
        LinearSVC(penalty="l1"),
        LinearSVC(multi_class="crammer_singer"),
        LinearSVR(),
        LinearSVC(penalty="l1", loss="hinge"),
        LinearSVR(penalty="l1", epsilon=0.1),
        Lasso(0.1),
        SoftmaxRegression(),
        LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
        RidgeRegression(),
        LogisticRegression(),
        LogisticRegression(penalty="l1"),
    ]
)
def test_scikit_learns_check(estimator, check):
    check(estimator)


class LiblinearSVC(LinearSVC):
    """Ours with the default intercept of LIBLINEAR."""

    def __init__(self, penalty="l2", loss="squared_hinge", *, intercept_scaling=1, **parameters):
        super().__init__(penalty, loss, intercept_scaling=intercept_scaling, **parameters)

    @classmethod
    def _get_param_names(cls):
        return LinearSVC._get_param_names()


def scikit_learns_tests(**ours):
    """The functions of the file, with our classes in place of those of sklearn.svm."""
    source = SOURCE.read_text(encoding="utf-8").replace("@pytest.mark.thread_unsafe\n", "")
    module = types.ModuleType("sklearn_test_linear_svm")
    sys.modules[module.__name__] = module
    with mock.patch.multiple(sklearn.svm, **ours):
        exec(compile(source, str(SOURCE), "exec"), vars(module))
    module.svm = types.SimpleNamespace(**{**vars(sklearn.svm), **ours})
    return {name: test for name, test in vars(module).items() if name.startswith("test_")}


FREE = scikit_learns_tests(LinearSVC=LinearSVC, LinearSVR=LinearSVR)
PENALISED = scikit_learns_tests(LinearSVC=LiblinearSVC, LinearSVR=LinearSVR)
for _name in ABOUT_LINEAR:
    globals()[f"{_name}_of_scikit_learn"] = (PENALISED if _name in PENALISED_INTERCEPT else FREE)[
        _name
    ]
del _name


def test_every_test_about_linear_machines_is_run_or_excused():
    text = SOURCE.read_text(encoding="utf-8")
    about = {
        part.split("(")[0]
        for part in text.split("\ndef ")
        if part.startswith("test_") and ("Linear" in part or "liblinear" in part.lower())
    }
    # Cut at "def", its text ends with the decorator of the next test, which is about ours.
    next_in_line = {"test_gamma_scale"}
    assert about - next_in_line <= {*ABOUT_LINEAR, *NOT_OURS}


@pytest.fixture
def global_random_seed():
    return 42
