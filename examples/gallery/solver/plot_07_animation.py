"""
SMO, animated
=============

The decision boundary after 1, 2, 4, … steps of the solver.
"""

import warnings

from matplotlib import pyplot
from matplotlib.animation import FuncAnimation
from sklearn.datasets import make_moons

from maxmargin import SVC
from maxmargin.report import DecisionBoundaryDisplay

X, y = make_moons(120, noise=0.2, random_state=0)
limits = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256]
figure, ax = pyplot.subplots(figsize=(6, 4.6), dpi=80, layout="constrained")


def draw(limit):
    ax.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC(C=10.0, gamma=2.0, max_iter=limit).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"{limit} steps: gap {model.certificate_.relative_gap:.2g}")


animation = FuncAnimation(figure, draw, frames=limits, interval=500)
