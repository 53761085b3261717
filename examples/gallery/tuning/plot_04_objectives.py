"""
Five ways to judge a kernel
===========================

Estimates of the test error along the width of a Gaussian kernel, each scaled to [0, 1]. They do
not agree, but most of them have their optimum near that of the test error.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin import SVC
from maxmargin.data import chess_board
from maxmargin.kernels import Gaussian
from maxmargin.tuning import (
    CrossValidationError,
    KernelTargetAlignment,
    LeaveOneOutError,
    Point,
    RadiusMargin,
    SpanBound,
)

X, y = chess_board(150, random_state=0)
X_test, y_test = chess_board(3000, random_state=1)
gammas = np.geomspace(0.05, 200, 25)
points = [Point(Gaussian(gamma), 10.0) for gamma in gammas]
objectives = {
    "cross-validation": CrossValidationError(X, y),
    "leave one out": LeaveOneOutError(X, y),
    "span bound": SpanBound(X, y),
    "radius/margin": RadiusMargin(X, y),
    "alignment (negative)": KernelTargetAlignment(X, y),
}
test = [1 - SVC(C=10, gamma=gamma).fit(X, y).score(X_test, y_test) for gamma in gammas]


def scaled(values):
    values = np.asarray(values, dtype=float)
    return (values - values.min()) / np.ptp(values)


figure, ax = pyplot.subplots(figsize=(7.5, 4.6), layout="constrained")
ax.semilogx(gammas, scaled(test), color="black", linewidth=3, label="test error")
for name, objective in objectives.items():
    sign = -1 if objective.maximise else 1
    values = [sign * objective.evaluate(point).value for point in points]
    if name == "radius/margin":
        values = np.log(values)
    ax.semilogx(gammas, scaled(values), label=name)
ax.set(xlabel="γ", ylabel="estimate, scaled", title="what each method of model selection sees")
ax.legend(fontsize=9)
