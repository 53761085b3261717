"""
Weights along C
===============

``path`` fits many C, each beginning where the one before ended. With the l1 penalty features
enter one after the other.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from maxmargin import LogisticRegression

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
values = np.logspace(-3, 0, 25)
models = LogisticRegression(penalty="l1").path(X, data.target, values)
weights = np.array([model.coef_[0] for model in models])

figure, ax = pyplot.subplots(figsize=(7.5, 4.6), layout="constrained")
ax.semilogx(values, weights, linewidth=1.4)
last = np.argsort(-np.abs(weights[-1]))[:4]
for i in last:
    ax.annotate(
        data.feature_names[i],
        (values[-1], weights[-1, i]),
        (4, 0),
        fontsize=8,
        textcoords="offset points",
        va="center",
    )
ax.set(xlabel="C", ylabel="weight", title="features enter as errors become expensive")
ax.set_xlim(values[0], values[-1] * 4)
