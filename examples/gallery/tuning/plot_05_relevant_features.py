"""
Which features count?
=====================

Gradient-based tuning can choose one width for each feature. Here only the first two of eight
features decide the label; the others are noise.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin import SVC, SVCSearch

random = np.random.default_rng(0)
X = random.uniform(-1, 1, (300, 8))
y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
X_test = random.uniform(-1, 1, (5000, 8))
y_test = np.where(X_test[:, 0] * X_test[:, 1] > 0, 1, -1)

figure, ax = pyplot.subplots(layout="constrained")
for place, metric in enumerate(("radial", "diagonal")):
    search = SVCSearch(SVC(), strategy="kta", metric=metric, random_state=0).fit(X, y)
    gamma = np.broadcast_to(search.best_params_["kernel"].gamma, 8)
    score = search.score(X_test, y_test)
    print(f"{metric:>8}: test accuracy {score:.1%}")
    bars = {"width": 0.38, "label": f"{metric}: test accuracy {score:.0%}"}
    ax.bar(np.arange(8) + 0.4 * place - 0.2, gamma, color=("#8C8C8C", "#0072B2")[place], **bars)
ax.set_xticks(range(8), [f"x{i + 1}" for i in range(8)])
ax.set(ylabel="γ of the feature", title="a width for each feature finds the two that count")
ax.legend()
