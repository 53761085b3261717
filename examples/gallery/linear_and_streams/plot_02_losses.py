"""
Losses
======

What an error costs: the hinge, its square and the logistic loss, all above the error itself.
"""

import numpy as np
from matplotlib import pyplot

margin = np.linspace(-2.5, 2.5, 400)
losses = {
    "error": (margin < 0).astype(float),
    "hinge: SVC, LinearSVC": np.maximum(0, 1 - margin),
    "squared hinge": np.maximum(0, 1 - margin) ** 2,
    "logistic": np.log1p(np.exp(-margin)),
}
figure, ax = pyplot.subplots(layout="constrained")
colours = ("#8C8C8C", "#0072B2", "#D55E00", "#009E73")
for (name, loss), colour in zip(losses.items(), colours):
    ax.plot(margin, loss, label=name, color=colour, linewidth=2)
ax.set(xlabel="margin y · f(x)", ylabel="loss", ylim=(0, 4), title="what an error costs")
ax.legend()
