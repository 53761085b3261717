"""
Learn from a stream
===================

`OnlineSVC` looks at every example once and keeps only support vectors.
"""

from matplotlib import pyplot
from sklearn.datasets import make_moons

from maxmargin import OnlineSVC

X, y = make_moons(4000, noise=0.25, random_state=0)
X_test, y_test = make_moons(2000, noise=0.25, random_state=1)
figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for selection, colour in (("second_order", "#0072B2"), ("mvp", "#D55E00")):
    model = OnlineSVC(C=10.0, gamma=1.0, selection=selection)
    seen, accuracy, dual = [], [], []
    for start in range(0, len(X), 200):
        batch = slice(start, start + 200)
        model.partial_fit(X[batch], y[batch], classes=[0, 1])
        seen.append(model.n_seen_)
        accuracy.append(model.score(X_test, y_test))
        dual.append(model.dual_)
    left.plot(seen, accuracy, marker="o", color=colour, label=selection)
    right.plot(seen, dual, marker="o", color=colour, label=selection)
left.set(xlabel="examples seen", ylabel="test accuracy", title="one pass is enough")
right.set(xlabel="examples seen", ylabel="dual value", title="every step raises the dual value")
left.legend()
right.legend()
