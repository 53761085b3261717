"""scikit-learn's checks of an estimator, all of them, with no expected failure."""

import sklearn.svm
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from maxmargin import SVC, SVR, KernelRidge, LeastSquaresSVC, NuSVC, NuSVR, OneClassSVM
from maxmargin.kernels import Gaussian


class InnerProduct:
    """A callable kernel whose name does not change from run to run."""

    def __call__(self, A, B):
        return A @ B.T

    def __repr__(self):
        return "inner_product"


ESTIMATORS = [
    SVC(),
    SVC(kernel="linear"),
    SVC(kernel="poly"),
    SVC(kernel="sigmoid"),
    SVC(kernel=InnerProduct()),
    SVC(kernel="precomputed"),
    SVC(kernel=Gaussian(0.5)),
    SVC(loss="squared_hinge"),
    SVC(probability=True),
    SVC(multi_class="ovr"),
    SVC(break_ties=True, n_jobs=2),
    NuSVC(),
    NuSVC(probability=True),
    SVR(),
    SVR(kernel=InnerProduct()),
    SVR(kernel="precomputed"),
    NuSVR(),
    OneClassSVM(),
    OneClassSVM(kernel="poly"),
    KernelRidge(),
    KernelRidge(kernel="linear", fit_intercept=False),
    KernelRidge(alpha=0.0),
    KernelRidge(kernel="precomputed"),
    LeastSquaresSVC(),
    LeastSquaresSVC(kernel="linear"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_check(estimator, check):
    check(estimator)


def failed_checks(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    return {result["check_name"] for result in results if result["status"] == "failed"}


def test_decisions_by_pairs_fail_only_where_their_shape_is_refused():
    """That check wants a column for each class, which is not what "ovo" means."""
    by_pairs = {"decision_function_shape": "ovo"}
    refused = {"check_classifiers_train"}
    assert failed_checks(SVC(**by_pairs)) == refused
    assert failed_checks(sklearn.svm.SVC(**by_pairs)) >= refused
