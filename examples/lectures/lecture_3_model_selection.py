"""
Lecture 3: Choosing the model
=============================

One hour. The optimum of a problem is only as good as the problem. We estimate the error of a
machine,
differentiate the estimate, and walk downhill. Needed: lectures 1 and 2.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin import SVC, AutoSVC
from maxmargin.data import chess_board
from maxmargin.kernels import Gaussian
from maxmargin.tuning import (
    CrossValidationError,
    IRpropPlus,
    KernelTargetAlignment,
    Point,
    SpanBound,
    cross_validate_C,
)

X, y = chess_board(200, random_state=0)
X_test, y_test = chess_board(5000, random_state=1)

# %%
# 1. Two parameters, one landscape
# --------------------------------
# The price C and the width γ of the Gaussian kernel. Too small and too large are both bad: the
# machine
# is too stiff, or it learns samples by heart.

gammas, prices = np.geomspace(0.01, 300, 16), np.geomspace(0.01, 1e5, 16)
errors = [
    [1 - SVC(C=C, gamma=gamma).fit(X, y).score(X_test, y_test) for C in prices] for gamma in gammas
]
figure, ax = pyplot.subplots(layout="constrained")
shown = ax.pcolormesh(prices, gammas, errors, cmap="viridis_r")
ax.set(xscale="log", yscale="log", xlabel="C", ylabel="γ", title="test error, which nobody knows")
figure.colorbar(shown, label="test error")

# %%
# 2. Estimates
# ------------
# The test error is not known while we train. *Cross-validation* trains on four fifths and tests on
# the last, five times. It is honest, but it is a staircase: no gradient.

curve = cross_validate_C(Gaussian(2.0), X, y, C=np.logspace(-2, 4, 40), splits=5)
figure, ax = pyplot.subplots(layout="constrained")
ax.semilogx(curve.C, curve.mean, drawstyle="steps-mid")
ax.set(xlabel="C", ylabel="cross-validation error", title="a staircase")

# %%
# *Smooth* estimates exist. The kernel target alignment asks how well the Gram matrix agrees with
# the labels,
#
# .. math:: A(K) = \frac{\langle K, yy^{\mathsf T} \rangle}{\lVert K \rVert \, \lVert yy^{\mathsf
#    T} \rVert},
#
# and trains nothing at all. The span bound predicts the leave-one-out error from one machine.

points = [Point(Gaussian(gamma), 10.0) for gamma in gammas]
alignment, span = KernelTargetAlignment(X, y), SpanBound(X, y)
figure, ax = pyplot.subplots(layout="constrained")
ax.semilogx(gammas, [span.evaluate(p).value for p in points], label="span bound")
ax.semilogx(gammas, [1 - alignment.evaluate(p).value for p in points], label="1 − alignment")
ax.semilogx(gammas, [CrossValidationError(X, y).evaluate(p).value for p in points], label="5 folds")
ax.set(xlabel="γ", ylabel="estimate", title="three estimates along γ, C = 10")
ax.legend()

# %%
# 3. Gradients
# ------------
# Every objective here depends on the kernel through a matrix W: its gradient in all parameters is
# one
# contraction :math:`\sum_{ij} W_{ij} \, \partial K_{ij} / \partial \theta`. Check it by
# differences:

point = Point(Gaussian((1.0, 3.0)), 10.0)
exact = alignment.evaluate(point).gradient
h = 1e-5
for k, name in enumerate(point.names):
    move = np.zeros(len(point.names))
    move[k] = h
    above, below = (alignment.evaluate(point.moved(sign * move)).value for sign in (1, -1))
    print(f"{name:>14}: exact {exact[k]: .6f}, differences {(above - below) / (2 * h): .6f}")

# %%
# 4. Walking
# ----------
# Rprop looks only at the signs of the gradient: steps grow while the sign stays, and shrink when it
# changes. That suits objectives whose scale means nothing.

walk = IRpropPlus(Point(Gaussian((0.05, 20.0)), 10.0))
walk.run(alignment, evaluations=60)
history = walk.history.table(walk.point.names)
figure, ax = pyplot.subplots(layout="constrained")
ax.plot(history["value"], marker="o", markersize=4)
ax.set(xlabel="evaluation", ylabel="alignment", title=f"ends at {walk.point.kernel}")

# %%
# 5. All together
# ---------------

model = AutoSVC(strategy="kta", random_state=0).fit(X, y)
error = 1 - model.score(X_test, y_test)
print(f"AutoSVC: test error {error:.3f}, best of the grid {np.min(errors):.3f}")

# %%
# Exercises
# ---------
# 1. Why must the split for testing be made before tuning?
# 2. Show that the alignment does not change when the kernel is multiplied by a constant. What does
#    that
#    say about C?
# 3. Draw five training sets and see how much the best C of cross-validation varies.

# %%
# Solutions
# ---------
# 1. Parameters are fitted too. An error that was minimised over many parameters is too small as an
#    estimate: it was chosen because it was small.
# 2. Numerator and norm of K are both multiplied. The alignment says nothing about C, which is why
#    `strategy="kta"` takes C from cross-validation afterwards.
# 3.

for seed in range(5):
    A, b = chess_board(200, random_state=10 + seed)
    found = cross_validate_C(Gaussian(2.0), A, b, C=np.logspace(-2, 4, 40), splits=5)
    print(f"best C {found.best_C:8.2f}, error {found.mean.min():.3f}")
