"""
What is C?
==========

C is the price of a training error. A small C accepts errors for a smooth boundary; a large C
insists on the training labels and follows noise.
"""

from matplotlib import pyplot
from sklearn.datasets import make_moons

from maxmargin import SVC
from maxmargin.report import DecisionBoundaryDisplay

X, y = make_moons(150, noise=0.3, random_state=1)
X_test, y_test = make_moons(2000, noise=0.3, random_state=2)
figure, axes = pyplot.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for ax, C in zip(axes, (0.05, 1.0, 1000.0)):
    model = SVC(C=C, gamma=1.0).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(model, X, y, ax=ax)
    ax.set_title(f"C = {C:g}: test accuracy {model.score(X_test, y_test):.0%}")

# %%
# All three are optimal for their C. Which C is good is a question for test data, see
# :doc:`/guide/tuning`.
