"""The table of what the documents describe, with a line to run: `python -m benchmarks.lectures`.

It writes docs/study/algorithms.md. A test runs every line and compares the page with this list.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parents[1] / "docs" / "study" / "algorithms.md"

SETUP = """\
import numpy as np
from maxmargin import *
from maxmargin.data import chess_board
from maxmargin.estimators.baselines import margin_bound, separation_probability, vc_bound
from maxmargin.dual import *
from maxmargin.kernels import Gaussian, Linear, MetricGaussian, Oligo, Polynomial, Sigmoid
from maxmargin.report import PartitionDisplay
from maxmargin.solvers import textbook
from maxmargin.tuning import *

X, y = chess_board(60, random_state=0)  # inputs in the plane, labels −1 and +1
t = np.sin(X[:, 0])  # targets of regression
kernel = Gaussian(0.5)
K, problem = kernel(X), hinge(y, C=10.0).problem
slope = -((X[:, None] - X) ** 2).sum(-1) * K  # ∂K/∂γ
point = Point(kernel, C=10.0)\
"""


class Entry(NamedTuple):
    """What, in which document and where, and a line that runs it."""

    document: str
    place: str
    what: str
    line: str


ENTRIES = [
    Entry(
        "000", "dual problem", "hinge machine as a quadratic program", "hinge(y, C=10.0).problem"
    ),
    Entry("000", "chunking", "growing set of candidates", "textbook.chunking(problem, K)"),
    Entry(
        "000", "decomposition", "blocks of violating samples", 'solve(problem, K, driver="blocks")'
    ),
    Entry(
        "000",
        "SMO, Platt's choice",
        "hierarchy of choices, error cache, b from [b₁, b₂]",
        "textbook.platt_smo(y, K, C=10.0)",
    ),
    Entry(
        "000",
        "SMO, worst violating pair",
        "Keerthi's choice",
        'textbook.smo(problem, K, selection="mvp")',
    ),
    Entry(
        "000",
        "SMO, second order",
        "partial Newton",
        'textbook.smo(problem, K, selection="second_order")',
    ),
    Entry(
        "000",
        "SMO, maintain β",
        "linear kernels without Gram matrix",
        "textbook.linear_smo(X, y, C=0.1, max_steps=50)",
    ),
    Entry(
        "000",
        "complete gradient",
        "projected gradient ascent",
        "textbook.projected_gradient(problem, K)",
    ),
    Entry(
        "000",
        "partial gradient",
        "ascent on any index set",
        "textbook.partial_gradient(problem, K, size=6)",
    ),
    Entry(
        "000",
        "nested decomposition",
        "blocks inside blocks, shrinking",
        'solve(problem, K, driver="blocks", shrinking=True)',
    ),
    Entry(
        "000",
        "coordinate descent in the dual",
        "one variable at a time, no bias",
        'textbook.coordinate_ascent(problem, K, order="cyclic")',
    ),
    Entry(
        "000",
        "support vector regression",
        "ε-insensitive loss",
        "SVR(kernel=kernel, epsilon=0.1).fit(X, t)",
    ),
    Entry(
        "001",
        "Algorithm 1",
        "dual coordinate descent, squared hinge",
        'textbook.coordinate_ascent(squared_hinge(y, C=1.0).problem, K, rule="both")',
    ),
    Entry(
        "001",
        "3.1",
        "random permutation",
        'textbook.coordinate_ascent(problem, K, order="permuted")',
    ),
    Entry(
        "001",
        "3.2",
        "shrinking, M − m as stopping rule",
        'LinearSVC(solver="coordinate").fit(X, y)',
    ),
    Entry("002", "1.2", "nearest class mean", "MeanClassifier(kernel=kernel).fit(X, y)"),
    Entry(
        "002",
        "1.2",
        "nearest neighbours in feature space",
        "KernelNeighborsClassifier(kernel=kernel).fit(X, y)",
    ),
    Entry(
        "002", "1.2", "linear regression by the generalised inverse", "LinearRegression().fit(X, t)"
    ),
    Entry("002", "Theorem 1.1", "margin bound", "margin_bound(np.trace(K), 0.5, samples=60)"),
    Entry("002", "1.3.3", "VC bound", "vc_bound(0.1, samples=1000, vc_dimension=10)"),
    Entry("002", "1.3.3", "probability of separation", "separation_probability(60, 3)"),
    Entry(
        "002", "2.2", "without an intercept", "SVC(kernel=kernel, fit_intercept=False).fit(X, y)"
    ),
    Entry("002", "2.4", "one-class machine", "OneClassSVM(kernel=kernel).fit(X)"),
    Entry("002", "2.4", "ν in place of C", "NuSVC(kernel=kernel, nu=0.3).fit(X, y)"),
    Entry("002", "2.2.2", "1-norm machine", "SVC(kernel=kernel).fit(X, y)"),
    Entry("002", "2.2.2", "2-norm machine", 'SVC(kernel=kernel, loss="squared_hinge").fit(X, y)'),
    Entry("002", "2.2.2", "least-squares machine", "LeastSquaresSVC(kernel=kernel).fit(X, y)"),
    Entry("002", "2.2.1", "hard margin", "SVC(kernel=kernel, C=np.inf).fit(X, y)"),
    Entry("002", "2.3", "regression", "SVR(kernel=kernel).fit(X, t)"),
    Entry("002", "Algorithm 4.2", "SMO", "textbook.smo(problem, K, trace=True)"),
    Entry(
        "002",
        "4.2.1",
        "rate-certifying pair",
        'textbook.smo(problem, K, selection="rate_certifying")',
    ),
    Entry("002", "(4.5)", "maximum violating pair", 'solve(problem, K, selection="mvp")'),
    Entry("002", "(4.7)", "second-order selection", 'solve(problem, K, selection="second_order")'),
    Entry("002", "6.1", "maximum gain", 'textbook.smo(problem, K, selection="max_gain")'),
    Entry(
        "002",
        "6.1.3",
        "maximum gain, one row",
        'textbook.smo(problem, K, selection="max_gain_one_row")',
    ),
    Entry(
        "002",
        "6.1.3",
        "maximum gain, ten recent sets",
        'textbook.smo(problem, K, selection="max_gain_ten_recent")',
    ),
    Entry(
        "002",
        "6.1.3",
        "maximum gain, whole cache",
        'textbook.smo(problem, K, selection="max_gain_whole_cache")',
    ),
    Entry(
        "002",
        "Algorithm 6.1",
        "hybrid maximum gain",
        'solve(problem, K, selection="hybrid_max_gain")',
    ),
    Entry(
        "002",
        "Algorithm 7.1",
        "planning ahead after any step",
        'textbook.smo(problem, K, step="plan_7_1")',
    ),
    Entry(
        "002",
        "Algorithms 7.2, 7.3",
        "planning ahead after free steps",
        'textbook.smo(problem, K, selection="planning", step="plan_7_3")',
    ),
    Entry(
        "002",
        "7.2.2",
        "modified selection without planning",
        'textbook.smo(problem, K, selection="modified_second_order")',
    ),
    Entry("002", "7.2.3", "over-stepping", "textbook.smo(problem, K, overstep=1.1)"),
    Entry(
        "002",
        "7.2.4, Algorithm 7.4",
        "planning with several recent sets",
        "solve(problem, K, planning=3)",
    ),
    Entry(
        "002", "8", "online machine", "OnlineSVC(kernel=kernel).partial_fit(X, y, classes=[-1, 1])"
    ),
    Entry("002", "9.1.1", "cross-validation error", "CrossValidationError(X, y).value(point)"),
    Entry("002", "9.1.2", "leave-one-out error", "LeaveOneOutError(X, y).value(point)"),
    Entry("002", "9.1.3", "number of support vectors", "SupportVectorCount(X, y).value(point)"),
    Entry("002", "9.1.4", "radius-margin quotient", "RadiusMargin(X, y).value(point)"),
    Entry(
        "002",
        "9.1.5",
        "spans of support vectors",
        "textbook.spans(problem, K, solve(problem, K).alpha)",
    ),
    Entry(
        "002",
        "9.1.5",
        "the original count",
        "textbook.span_count(problem, K, (s := solve(problem, K)).alpha, s.bias[0])",
    ),
    Entry("002", "9.1.5", "span bound", "SpanBound(X, y).value(point)"),
    Entry("002", "9.1.6", "kernel target alignment", "KernelTargetAlignment(X, y).value(point)"),
    Entry("002", "9.2.2", "log-likelihood", "LogLikelihood(X, y, random_state=0).value(point)"),
    Entry(
        "002",
        "9.3.1",
        "∂α/∂C and ∂b/∂C",
        "textbook.derivative_in_C(problem, K, solve(problem, K).alpha)",
    ),
    Entry(
        "002",
        "9.3.1",
        "∂α/∂θ and ∂b/∂θ",
        "textbook.derivative_in_parameter(problem, K, solve(problem, K).alpha, slope)",
    ),
    Entry("002", "10", "Rprop", "Rprop(point).run(RadiusMargin(X, y), evaluations=20)"),
    Entry("002", "10", "iRprop⁺", "IRpropPlus(point).run(RadiusMargin(X, y), evaluations=20)"),
    Entry(
        "002",
        "Algorithm 11.1",
        "NoisyRprop",
        "NoisyRprop(point).run(LogLikelihood(X, y, random_state=0), evaluations=20)",
    ),
    Entry(
        "002",
        "12",
        "grid search",
        'SVCSearch(SVC(kernel=kernel), strategy="grid").fit(X, y).best_estimator_',
    ),
    Entry("002", "12", "the strategies compared", "STRATEGIES"),
    Entry("002", "12.2", "a metric of full rank", "MetricGaussian(np.eye(2))(X)"),
    Entry("002", "13", "oligo kernel", 'Oligo(2, 1.0)(["ACGT", "ACGA", "TTGA"])'),
    Entry("003", "slack variables", "soft margin", "SVC(kernel='linear', C=1.0).fit(X, y)"),
    Entry(
        "003", "SMO", "box constraints, threshold", "textbook.platt_smo(y, K, C=10.0, trace=True)"
    ),
    Entry("003", "kernel trick", "R² → R⁶", "Polynomial(2, 1.0, 1.0)(X)"),
    Entry("003", "popular kernels", "sigmoid kernel", "Sigmoid(0.1, 0.0)(X)"),
    Entry("003", "perceptron", "in the dual", "textbook.kernel_perceptron(K, y, max_epochs=10)"),
    Entry("003", "perceptron", "in the primal", "textbook.perceptron(X, y, max_epochs=10)"),
    Entry(
        "004",
        "kernel linear regression",
        "full gradient",
        "textbook.kernel_regression(K, t, penalty=0.1)",
    ),
    Entry(
        "004",
        "kernel linear regression",
        "single samples",
        "textbook.kernel_regression(K, t, penalty=0.1, single=True)",
    ),
    Entry(
        "004",
        "kernel linear regression",
        "its limit, exactly",
        "KernelRidge(0.1, kernel=kernel, fit_intercept=False).fit(X, t)",
    ),
    Entry(
        "004",
        "hinge loss",
        "subgradient descent in the primal",
        "textbook.hinge_sgd(X, y, C=0.1, epochs=5)",
    ),
    Entry("004", "table of losses", "linear regression", "RidgeRegression(alpha=1.0).fit(X, t)"),
    Entry("004", "table of losses", "logistic regression", "LogisticRegression().fit(X, y)"),
    Entry("004", "table of losses", "softmax regression", "SoftmaxRegression().fit(X, y)"),
    Entry("004", "SMO", "sweep over all pairs", "textbook.all_pairs(problem, K)"),
    Entry("004", "SMO sketch", "simplified SMO", "textbook.simplified_smo(y, K, C=10.0)"),
    Entry(
        "004",
        "decision trees",
        "Gini criterion",
        'DecisionTreeClassifier(criterion="gini", max_depth=3).fit(X, y)',
    ),
    Entry(
        "004",
        "decision trees",
        "entropy criterion",
        'DecisionTreeClassifier(criterion="entropy", max_depth=3).fit(X, y)',
    ),
    Entry(
        "004",
        "decision trees",
        "squared error",
        "DecisionTreeRegressor(max_depth=3).fit(X, t).export_text()",
    ),
    Entry(
        "004",
        "decision trees",
        "all candidate splits of the root, with their costs",
        "DecisionTreeClassifier(max_depth=1, trace=True).fit(X, y).splits_[0]",
    ),
    Entry(
        "004",
        "decision trees",
        "best-first growth",
        "DecisionTreeClassifier(max_leaf_nodes=5).fit(X, y).get_n_leaves()",
    ),
    Entry(
        "004",
        "decision trees",
        "cost-complexity pruning",
        "DecisionTreeClassifier().cost_complexity_pruning_path(X, y)",
    ),
    Entry(
        "004",
        "decision trees",
        "the partition drawn",
        "PartitionDisplay.from_estimator(DecisionTreeClassifier(max_depth=3).fit(X, y), X, y=y)",
    ),
    Entry(
        "—",
        "watching",
        "the steps of `solve` itself",
        "textbook.watch(problem, K, max_steps=50).trace.rows()[0]",
    ),
]


def page() -> str:
    """The text of docs/study/algorithms.md."""
    head = """\
# The documents, algorithm by algorithm

Generated by `python -m benchmarks.lectures`. Every line runs after these:

```python
"""
    text = head + SETUP + "\n```\n\n"
    text += """\
The documents are two lectures of the ISMLL in Hildesheim (000, 003), a report on dual coordinate
descent (001), the thesis (002: T. Glasmachers, *Gradient Based Optimization of Support Vector
Machines*, 2008) and a lecture held in Prague (004).

The solvers of `maxmargin.solvers.textbook` are plain Python, written to be read and traced. With
`trace=True` the solution has a trace with one entry for every step: the pair, α before and after,
whether the step was clipped, free or planned, objective, violation, gap, bias and kernel values.
`trace="alpha"` keeps all of α, and `trace.rows()` returns a list of dictionaries. The status is
`stuck` if a policy finds no pair although the point is not optimal.

The tables and figures of the documents are [recomputed and compared](../reproduction/index.md); the
[lab](../guide/lab.md) shows the same solvers step by step.
"""
    text += "\n| document | where | what | line |\n|---|---|---|---|\n"
    rows = (f"| {e.document} | {e.place} | {e.what} | `{e.line}` |" for e in ENTRIES)
    return text + "\n".join(rows) + "\n"


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{len(ENTRIES)} lines in {PAGE.name}")


if __name__ == "__main__":
    main()
