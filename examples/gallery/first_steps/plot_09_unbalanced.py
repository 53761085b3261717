"""
Unbalanced classes
==================

With one sample in twenty, a machine may do well by ignoring the rare class.
``class_weight="balanced"`` multiplies its C.
"""

from matplotlib import pyplot
from sklearn.datasets import make_blobs
from sklearn.metrics import balanced_accuracy_score

from maxmargin import SVC
from maxmargin.report import DecisionBoundaryDisplay

options = {"centers": [[0, 0], [1.6, 1.6]], "cluster_std": 0.9}
X, y = make_blobs([380, 20], random_state=0, **options)
X_test, y_test = make_blobs([3800, 200], random_state=1, **options)
figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for ax, weight in zip(axes, (None, "balanced")):
    model = SVC(gamma=0.5, class_weight=weight).fit(X, y)
    DecisionBoundaryDisplay.from_estimator(model, X, y, ax=ax)
    balanced = balanced_accuracy_score(y_test, model.predict(X_test))
    ax.set_title(f"class_weight={weight!r}: balanced accuracy {balanced:.0%}")
