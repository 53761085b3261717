"""
Weights that can be read
========================

A linear machine has one weight for each feature. The l1 penalty sets most of them to zero.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from maxmargin import LinearSVC

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
dense = LinearSVC(C=0.1).fit(X, data.target)
sparse = LinearSVC(C=0.02, penalty="l1", loss="squared_hinge").fit(X, data.target)
order = np.argsort(-np.abs(sparse.coef_[0]))[:12]

figure, ax = pyplot.subplots(figsize=(7.5, 5), layout="constrained")
places = np.arange(order.size)
ax.barh(places - 0.2, dense.coef_[0, order], height=0.38, color="#8C8C8C", label="l2")
ax.barh(places + 0.2, sparse.coef_[0, order], height=0.38, color="#0072B2", label="l1")
ax.set_yticks(places, data.feature_names[order])
ax.invert_yaxis()
used = np.count_nonzero(sparse.coef_)
ax.set(xlabel="weight", title=f"l1 uses {used} of {X.shape[1]} features")
ax.legend()
print(f"relative gap {sparse.certificate_.relative_gap:.1g}")
