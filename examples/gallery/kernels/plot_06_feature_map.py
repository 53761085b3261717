"""
Why kernels?
============

Two rings cannot be separated by a line. A feature more, the squared radius, and they can. The
polynomial kernel of degree 2 computes with that feature without making it.
"""

from matplotlib import pyplot
from sklearn.datasets import make_circles

from maxmargin import SVC
from maxmargin.report import DecisionBoundaryDisplay

X, y = make_circles(200, noise=0.1, factor=0.4, random_state=0)
figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
for ax, kernel in zip(axes, ("linear", "poly")):
    model = SVC(kernel=kernel, degree=2, gamma=1.0).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"{kernel} kernel: {model.score(X, y):.0%} of samples right")
for label, colour in ((0, "#0072B2"), (1, "#D55E00")):
    rows = X[y == label]
    axes[2].scatter(rows[:, 0], (rows**2).sum(axis=1), s=14, color=colour)
axes[2].axhline(0.5, color="black")
axes[2].set(xlabel="x1", ylabel="x1² + x2²", title="with one feature more, a line is enough")
