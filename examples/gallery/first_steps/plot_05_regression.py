"""
Regression with a tube
======================

Errors smaller than ε cost nothing: only samples on or outside the tube are support vectors.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin import SVR
from maxmargin.report import ResidualDisplay

random = np.random.default_rng(0)
x = np.sort(random.uniform(0, 6, 80))
y = np.sin(x) + 0.15 * random.normal(size=x.size)
model = SVR(C=10.0, epsilon=0.2, gamma=1.0).fit(x[:, None], y)

across = np.linspace(0, 6, 300)
line = model.predict(across[:, None])
figure, ax = pyplot.subplots(layout="constrained")
ax.fill_between(across, line - 0.2, line + 0.2, color="#009E73", alpha=0.15, label="tube, ε = 0.2")
ax.plot(across, line, color="#0072B2", label="prediction")
ax.scatter(x, y, s=16, color="#444444")
ax.scatter(
    x[model.support_],
    y[model.support_],
    s=70,
    facecolors="none",
    edgecolors="black",
    label=f"support vectors ({model.support_.size} of {x.size})",
)
ax.set(xlabel="x", ylabel="y", title="support vector regression")
ax.legend(loc="lower left")

# %%
# Residuals show whether anything is left to explain.

ResidualDisplay.from_estimator(model, x[:, None], y)
