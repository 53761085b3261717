"""
A regression that tunes itself
==============================

`AutoSVR` chooses the kernel width, C and ε by the exact gradient of the loss on held-out folds.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin import AutoSVR

random = np.random.default_rng(0)
x = np.sort(random.uniform(0, 6, 120))
y = 50 * np.sin(x) + 8 * random.normal(size=x.size)
model = AutoSVR(random_state=0).fit(x[:, None], y)
print(model.search_)

across = np.linspace(0, 6, 300)
line, epsilon = model.predict(across[:, None]), model.epsilon_
figure, ax = pyplot.subplots(layout="constrained")
ax.fill_between(across, line - epsilon, line + epsilon, color="#009E73", alpha=0.15, label="tube")
ax.plot(across, line, color="#0072B2", label="prediction")
ax.plot(across, 50 * np.sin(across), color="#8C8C8C", linestyle=":", label="truth")
ax.scatter(x, y, s=12, color="#444444")
ax.set(xlabel="x", ylabel="y", title=f"C = {model.C_:.3g}, ε = {epsilon:.2g}")
ax.legend()
