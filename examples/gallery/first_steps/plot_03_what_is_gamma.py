"""
What is gamma?
==============

The Gaussian kernel exp(−γ‖x − z‖²) says how far the influence of a sample reaches. A small γ
gives a nearly straight boundary, a large one an island around every sample.
"""

from matplotlib import pyplot
from sklearn.datasets import make_moons

from maxmargin import SVC
from maxmargin.report import DecisionBoundaryDisplay

X, y = make_moons(150, noise=0.3, random_state=1)
X_test, y_test = make_moons(2000, noise=0.3, random_state=2)
figure, axes = pyplot.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for ax, gamma in zip(axes, (0.02, 1.0, 100.0)):
    model = SVC(C=1.0, gamma=gamma).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"γ = {gamma:g}: test accuracy {model.score(X_test, y_test):.0%}")
