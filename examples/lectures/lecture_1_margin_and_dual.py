"""
Lecture 1: From the margin to the dual
======================================

One hour. We pose the problem of the widest margin, derive its dual, solve both with a few lines of
NumPy and SciPy, and learn to read a certificate. Needed: linear algebra, Lagrange multipliers.
"""

import numpy as np
from matplotlib import pyplot
from scipy.optimize import LinearConstraint, minimize
from sklearn.datasets import make_blobs

from maxmargin import SVC
from maxmargin.report import DecisionBoundaryDisplay

# %%
# 1. The margin
# -------------
# Samples :math:`x_i` have labels :math:`y_i = \pm 1`. A linear machine decides by the sign of
# :math:`f(x) = w \cdot x + b`. The distance of a sample from the boundary is
# :math:`y_i f(x_i) / \lVert w \rVert`. Scaling w and b changes nothing, so we ask for
# :math:`y_i f(x_i) \ge 1` and make :math:`\lVert w \rVert` small:
#
# .. math:: \min_{w, b} \tfrac12 \lVert w \rVert^2 \quad \text{subject to} \quad y_i f(x_i) \ge 1.
#
# The street between the dashed lines is :math:`2 / \lVert w \rVert` wide.

X, codes = make_blobs(40, centers=[[0, 0], [3.5, 3.5]], random_state=3)
y = np.where(codes == 1, 1.0, -1.0)
hard = SVC(kernel="linear", C=np.inf).fit(X, y)
DecisionBoundaryDisplay.from_estimator(hard, X, y)
print(f"street: {2 / np.linalg.norm(hard.coef_):.3f}, support vectors: {hard.support_.size}")

# %%
# 2. Errors have a price
# ----------------------
# Real data overlap. A sample that misses its margin by :math:`\xi_i = \max(0, 1 - y_i f(x_i))`
# costs :math:`C \xi_i`:
#
# .. math:: P(w, b) = \tfrac12 \lVert w \rVert^2 + C \sum_i \max(0, 1 - y_i f(x_i)).
#
# This is the *primal* problem. It is convex, so we can hand it to any optimiser (slowly).

C = 1.0


def primal(parameters):
    w, b = parameters[:2], parameters[2]
    return 0.5 * w @ w + C * np.maximum(0, 1 - y * (X @ w + b)).sum()


rough = minimize(primal, np.zeros(3), method="Nelder-Mead", options={"maxiter": 5000})
print(f"Nelder–Mead: P = {rough.fun:.6f}")

# %%
# 3. The dual
# -----------
# Write the hinge as a maximum, :math:`\max(0, t) = \max_{0 \le \beta \le 1} \beta t`, with
# :math:`\beta_i = \alpha_i / C`. Exchange minimum and maximum and minimise over w and b: the
# gradient
# in w gives :math:`w = \sum_i \alpha_i y_i x_i`, that in b gives :math:`\sum_i \alpha_i y_i = 0`.
# What
# remains is the *dual* problem
#
# .. math:: D(\alpha) = \sum_i \alpha_i - \tfrac12 \sum_{ij} \alpha_i \alpha_j y_i y_j \, x_i \cdot
#    x_j
#    \quad\text{with}\quad 0 \le \alpha_i \le C, \;\; \sum_i \alpha_i y_i = 0.
#
# Whatever feasible α and whatever (w, b): :math:`D(\alpha) \le P(w, b)`.

Q = (y[:, None] * X) @ (y[:, None] * X).T


def minus_dual(alpha):
    return 0.5 * alpha @ Q @ alpha - alpha.sum()


found = minimize(
    minus_dual,
    np.zeros(40),
    jac=lambda alpha: Q @ alpha - 1,
    bounds=[(0, C)] * 40,
    constraints=LinearConstraint(y, 0, 0),
    method="SLSQP",
    options={"ftol": 1e-12, "maxiter": 500},
)
print(f"SLSQP: D = {-found.fun:.6f}")
model = SVC(kernel="linear", C=C).fit(X, y)
print(f"maxmargin: {model.certificate_}")

# %%
# Both sides meet, and that is the proof: nothing is below D, and P reaches it.
#
# 4. Who decides?
# ---------------
# At the optimum :math:`\alpha_i = 0` for samples outside the street, :math:`0 < \alpha_i < C` at
# its edge,
# and :math:`\alpha_i = C` inside it. Only samples with :math:`\alpha_i > 0` appear in w: the
# support
# vectors.

margins = y * model.decision_function(X)
alpha = np.zeros(40)
alpha[model.support_] = np.abs(model.dual_coef_[0])
figure, ax = pyplot.subplots(layout="constrained")
ax.scatter(margins, alpha, color="#0072B2")
ax.axvline(1.0, color="#8C8C8C", linestyle=":")
ax.set(xlabel="y · f(x)", ylabel="α", title="the optimality conditions, drawn")

# %%
# 5. Kernels
# ----------
# The dual needs inner products only. Put any positive semi-definite k(x, z) in their place, and the
# machine works in the feature space of k, without ever computing a feature.

moons = SVC(C=10, gamma=2.0)
rings, which = make_blobs(200, centers=[[0, 0], [1.5, 0], [0, 1.5], [1.5, 1.5]], cluster_std=0.3,
                          random_state=0)  # fmt: skip
labels = np.isin(which, (0, 3)).astype(int)
DecisionBoundaryDisplay.from_estimator(moons.fit(rings, labels), rings, labels)

# %%
# Exercises
# ---------
# 1. Show that :math:`D(\alpha) \le P(w, b)` for all feasible α and all w, b, without using strong
#    duality.
# 2. Two points :math:`x = \pm 1` on a line, labels ±1. Find α by hand for all C. Check with `SVC`.
# 3. Remove all samples that are no support vectors and train again. What changes?
# 4. What happens to the number of support vectors as C goes to 0? Why?

# %%
# Solutions
# ---------
# 1. For any :math:`0 \le \alpha_i \le C`: :math:`C \max(0, 1 - y_i f_i) \ge \alpha_i (1 - y_i
#    f_i)`. Sum up:
#
#    .. math:: P \ge \tfrac12 \lVert w \rVert^2 + \sum \alpha_i - w \cdot v - b \sum \alpha_i y_i
#
#    with :math:`v = \sum \alpha_i y_i x_i`. The last term is 0; minimise over w:
#    w = v, which leaves D.
# 2. By symmetry both α are equal, and :math:`D = 2\alpha - 2\alpha^2`, largest at α = 1/2. So
#    α = min(C, 1/2).

for price in (0.2, 1.0):
    two = SVC(kernel="linear", C=price).fit([[-1.0], [1.0]], [-1, 1])
    print(f"C = {price}: α = {two.dual_coef_[0, 1]:.3f}")

# %%
# 3. Nothing: the optimality conditions of the others hold without them.

again = SVC(kernel="linear", C=C).fit(X[model.support_], y[model.support_])
print(np.abs(again.coef_ - model.coef_).max())

# %%
# 4. All samples of the smaller class, and as many of the other, become support vectors at the
#    bound:
#    errors are so cheap that the street becomes wider than the data.

counts = [SVC(kernel="linear", C=price).fit(X, y).support_.size for price in (1e-4, 1e-2, 1.0)]
print(counts)
