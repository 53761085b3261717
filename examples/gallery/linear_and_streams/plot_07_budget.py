"""
A budget of support vectors
===========================

``budget=50`` keeps memory and prediction time bounded, at the price of some accuracy.
"""

from matplotlib import pyplot
from sklearn.datasets import make_moons

from maxmargin import OnlineSVC
from maxmargin.report import DecisionBoundaryDisplay

X, y = make_moons(2000, noise=0.25, random_state=0)
X_test, y_test = make_moons(4000, noise=0.25, random_state=1)
figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
for ax, budget in zip(axes, (10, 50, None)):
    model = OnlineSVC(C=1.0, gamma=1.0, budget=budget, random_state=0).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(model, X[:300], y[:300], ax=ax)
    count = len(model.support_vectors_)
    ax.set_title(
        f"{count} support vectors: test accuracy {model.score(X_test, y_test):.1%}", size=12
    )
