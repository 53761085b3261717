"""
Check a certificate by hand
===========================

Primal and dual value from nothing but the data and the public attributes of the model.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin import SVC
from maxmargin.data import two_blobs

X, y = two_blobs(300, random_state=0)
C = 2.0
model = SVC(C=C, gamma=0.5).fit(X, y)

coef = model.dual_coef_[0]  # α_i of the support vectors, with the sign of y_i
K = np.exp(-0.5 * ((model.support_vectors_[:, None] - X) ** 2).sum(axis=2))
f = coef @ K + model.intercept_
w_squared = coef @ K[:, model.support_] @ coef

primal = 0.5 * w_squared + C * np.maximum(0, 1 - y * f).sum()
dual = np.abs(coef).sum() - 0.5 * w_squared
print(f"primal {primal:.10f}\ndual   {dual:.10f}\ngap    {primal - dual:.1e}")
print(model.certificate_)

# %%
# The samples that cost something: those with a margin y·f(x) below 1.

figure, ax = pyplot.subplots(layout="constrained")
ax.hist(y * f, bins=40, color="#0072B2")
ax.axvline(1.0, color="#D55E00", linestyle="--", label="margin 1: below it, errors cost C per unit")
ax.set(xlabel="y · f(x)", ylabel="samples", title="margins of the training samples")
ax.legend()
