"""
Cross-validation along C
========================

The Gram matrix is computed once; along the path each machine starts from the one before.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from maxmargin.kernels import Gaussian
from maxmargin.tuning import cross_validate_C

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
y = np.where(y == 1, 1, -1)
figure, ax = pyplot.subplots(layout="constrained")
for gamma in (0.001, 0.01, 0.1):
    curve = cross_validate_C(Gaussian(gamma), X, y, C=np.logspace(-3, 4, 29), splits=5)
    (line,) = ax.semilogx(curve.C, curve.mean, label=f"γ = {gamma:g}")
    best = int(np.argmin(curve.mean))
    ax.plot(curve.C[best], curve.mean[best], "*", markersize=15, color=line.get_color())
ax.set(xlabel="C", ylabel="error of 5 folds", title="three kernels, 29 values of C each")
ax.legend()
ax.grid(alpha=0.3)
