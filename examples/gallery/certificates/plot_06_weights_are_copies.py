"""
Weights are copies
==================

A weight of 3 gives the machine of three copies; a weight of 0 that of a data set without the
sample.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin import SVC
from maxmargin.data import two_blobs
from maxmargin.report import DecisionBoundaryDisplay

X, y = two_blobs(60, random_state=0)
weights = np.random.default_rng(0).integers(0, 4, size=60)
weighted = SVC(C=1.0).fit(X, y, sample_weight=weights)
copied = SVC(C=1.0).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
difference = np.abs(weighted.decision_function(X) - copied.decision_function(X)).max()
print(f"largest difference of the decision functions: {difference:.1e}")

figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
DecisionBoundaryDisplay.from_estimator(SVC(C=1.0).fit(X, y), X, y, ax=axes[0])
axes[0].set_title("all weights 1")
DecisionBoundaryDisplay.from_estimator(weighted, X, y, ax=axes[1])
axes[1].scatter(*X.T, s=40 * weights, facecolors="none", edgecolors="#444444", linewidths=0.6)
axes[1].set_title("weights 0 to 3 (size of the circle)")
