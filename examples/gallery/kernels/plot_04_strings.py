"""
Learn from strings
==================

The oligo kernel compares sequences: which substrings of three letters they share, and how near
to the same place. Here a signal AGGAGG is hidden at a place that varies.
"""

import numpy as np
from matplotlib import pyplot
from sklearn.model_selection import cross_val_score

from maxmargin import SVC
from maxmargin.kernels import Oligo

random = np.random.default_rng(0)


def sequence(signal):
    letters = random.choice(list("ACGT"), 30)
    if signal:
        place = random.integers(8, 14)
        letters[place : place + 6] = list("AGGAGG")
    return "".join(letters)


y = np.repeat([1, 0], 120)
X = np.array([sequence(label) for label in y])
sigmas = np.geomspace(0.1, 30, 9)
scores = [cross_val_score(SVC(kernel=Oligo(3, s)), X, y, cv=5).mean() for s in sigmas]

figure, ax = pyplot.subplots(layout="constrained")
ax.semilogx(sigmas, scores, marker="o", color="#0072B2")
ax.set(xlabel="σ, letters that a match may shift", ylabel="accuracy of 5 folds")
ax.set_title("neither exact places nor no places")
ax.grid(alpha=0.3)

# %%
# How alike are two equal triplets at a distance? The kernel value falls as a Gaussian.

figure, ax = pyplot.subplots(layout="constrained")
shifts = np.arange(0, 16)
for sigma in (0.5, 2.0, 5.0):
    kernel = Oligo(3, sigma)
    values = [kernel(["AGG" + "N" * 15], ["N" * s + "AGG" + "N" * (15 - s)])[0, 0] for s in shifts]
    ax.plot(shifts, values, marker="o", label=f"σ = {sigma:g}")
ax.set(xlabel="shift of the triplet AGG", ylabel="kernel value", title="the oligo kernel")
ax.legend()
