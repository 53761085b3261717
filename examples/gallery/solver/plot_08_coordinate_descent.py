"""
Coordinate descent, epoch by epoch
==================================

The dual method for linear machines: primal and dual value of each epoch, and what Newton's
method does in their place.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from maxmargin.solvers.linear import CLASSIFICATION, Intercept, as_matrix, fit_linear

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
labels = np.where(y == 1, 1.0, -1.0)
figure, ax = pyplot.subplots(figsize=(7.5, 4.6), layout="constrained")
for C, colour in ((0.01, "#0072B2"), (1.0, "#D55E00"), (100.0, "#009E73")):
    loss = CLASSIFICATION["hinge"](labels, np.full(labels.size, C))
    options = {"solver": "coordinate", "trace": True, "max_steps": 300, "tol": 1e-6}
    solution = fit_linear(as_matrix(X), loss, intercept=Intercept(True, 1.0), **options)
    gap = (solution.trace.primal - solution.trace.dual) / np.abs(solution.trace.primal)
    ax.loglog(range(1, gap.size + 1), np.maximum(gap, 1e-9), color=colour, label=f"C = {C:g}")
ax.set(xlabel="epochs", ylabel="relative gap", title="coordinate descent crawls when C is large")
ax.legend()
