"""
Pruning
=======

A tree that is grown to the end learns its samples by heart. ``ccp_alpha`` charges for every
leaf; among all subtrees the cheapest is taken.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import make_moons

from maxmargin import DecisionTreeClassifier
from maxmargin.report import PartitionDisplay

X, y = make_moons(300, noise=0.3, random_state=0)
X_test, y_test = make_moons(3000, noise=0.3, random_state=1)
prices = np.geomspace(1e-4, 0.1, 15)
models = [DecisionTreeClassifier(ccp_alpha=price).fit(X, y) for price in prices]
figure, ax = pyplot.subplots(layout="constrained")
ax.semilogx(prices, [m.score(X, y) for m in models], marker="o", label="training samples")
ax.semilogx(prices, [m.score(X_test, y_test) for m in models], marker="s", label="test samples")
ax.set(xlabel="ccp_alpha, the price of a leaf", ylabel="accuracy", title="pruning")
ax.legend()

# %%

figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
for ax, price in zip(axes, (0.0, 0.01)):
    model = DecisionTreeClassifier(ccp_alpha=price).fit(X, y)
    PartitionDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"ccp_alpha = {price:g}: test accuracy {model.score(X_test, y_test):.0%}")
