"""scikit-learn's own tests of its support vector machines, run on ours.

The file is that of the installed scikit-learn. What it reads or writes through private names of
the LIBSVM wrapper is led to the public attributes of the same meaning.
"""

import sys
import types
from pathlib import Path
from unittest import mock

import pytest
import sklearn.svm

import maxmargin

SOURCE = Path(sklearn.svm.__file__).parent / "tests" / "test_svm.py"

ABOUT_OTHERS = (
    "test_linearsvr",
    "test_linearsvr_fit_sampleweight",
    "test_linearsvc",
    "test_linearsvc_parameters",
    "test_linearsvc_crammer_singer",
    "test_linearsvc_fit_sampleweight",
    "test_crammer_singer_binary",
    "test_linearsvc_iris",
    "test_dense_liblinear_intercept_handling",
    "test_liblinear_set_coef",
    "test_linearsvc_verbose",
    "test_linear_svm_convergence_warnings",
    "test_lsvc_intercept_scaling_zero",
    "test_linearsvm_liblinear_sample_weight",
    "test_dual_auto",
    "test_dual_auto_edge_cases",
)
NOT_OURS = {
    **dict.fromkeys(ABOUT_OTHERS, "about LinearSVC and LinearSVR of scikit-learn"),
    "test_svr_errors": "demands that fit takes a 1x1 kernel matrix for two samples; we refuse it",
    "test_probability_raises_futurewarning": "scikit-learn gives up `probability`; we do not",
    "test_svc_nusvc_probA_probB_deprecated": "scikit-learn gives up `probability`; we do not",
}


class PrivateNames:
    """The private attributes of the LIBSVM wrapper, by their public counterparts."""

    @property
    def _gamma(self):
        return self.kernel_.gamma

    @property
    def _n_support(self):
        return self.n_support_

    @property
    def _dual_coef_(self):
        return -self.dual_coef_ if len(self.classes_) == 2 else self.dual_coef_

    @_dual_coef_.setter
    def _dual_coef_(self, values):
        self.dual_coef_ = -values if len(self.classes_) == 2 else values


def substituted(name):
    ours = getattr(maxmargin, name)
    return type(name, (PrivateNames, ours), {"__module__": __name__, "__init__": ours.__init__})


def scikit_learns_tests():
    """The test functions of the file, with our classes in place of those of sklearn.svm."""
    ours = {name: substituted(name) for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")}
    source = SOURCE.read_text(encoding="utf-8").replace("@pytest.mark.thread_unsafe\n", "")
    module = types.ModuleType("sklearn_test_svm")
    sys.modules[module.__name__] = module
    with mock.patch.multiple(sklearn.svm, **ours):
        exec(compile(source, str(SOURCE), "exec"), vars(module))
    module.svm = types.SimpleNamespace(**{**vars(sklearn.svm), **ours})
    tests = {name: test for name, test in vars(module).items() if name.startswith("test_")}
    return {name: test for name, test in tests.items() if name not in NOT_OURS}


@pytest.fixture(params=[0, 42])
def global_random_seed(request):
    return request.param


globals().update(scikit_learns_tests())
