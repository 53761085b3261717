"""
Kernel ridge regression
=======================

Least squares with a penalty on the norm: one linear system, and the error of leaving each
sample out comes with it.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin import KernelRidge

random = np.random.default_rng(0)
x = np.sort(random.uniform(0, 6, 80))
y = np.sin(x) + 0.2 * random.normal(size=x.size)
penalties = np.geomspace(1e-6, 100, 25)
errors = []
for alpha in penalties:
    model = KernelRidge(alpha=alpha, gamma=1.0, leave_one_out=True).fit(x[:, None], y)
    errors.append(np.sqrt(np.mean(model.loo_residuals_**2)))
best = penalties[int(np.argmin(errors))]

figure, (left, right) = pyplot.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
left.loglog(penalties, errors, marker="o", color="#0072B2")
left.set(xlabel="alpha", ylabel="leave-one-out error", title=f"best alpha: {best:.2g}")
across = np.linspace(0, 6, 300)[:, None]
right.scatter(x, y, s=12, color="#444444")
for alpha, colour in ((1e-6, "#D55E00"), (best, "#0072B2"), (100.0, "#009E73")):
    line = KernelRidge(alpha=alpha, gamma=1.0).fit(x[:, None], y).predict(across)
    right.plot(across, line, color=colour, label=f"alpha = {alpha:.2g}")
right.set(xlabel="x", ylabel="y", ylim=(-1.8, 1.8), title="too free, right, too stiff")
right.legend()
