"""
Lecture 2: SMO, and how to make it fast
=======================================

One hour. We write sequential minimal optimisation in twenty lines, watch it, and then improve it:
which
pair, how far, and what to do near the end. Needed: lecture 1.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import certify, hinge
from maxmargin.kernels import Gaussian
from maxmargin.report import PairPathDisplay, PlanningDisplay

# %%
# 1. The problem, with signs
# --------------------------
# We let α carry the sign of y. Then labels appear in the bounds only, and the constraint is a
# plain sum:
#
# .. math:: \max_\alpha \; y \cdot \alpha - \tfrac12 \alpha^{\mathsf T} K \alpha, \qquad
#    0 \le y_i \alpha_i \le C, \quad \sum_i \alpha_i = 0.
#
# The gradient is :math:`G = y - K\alpha`. If one variable rises by μ and another falls by μ, the
# sum
# stays 0: this is the smallest possible step, and all that SMO does.
#
# 2. SMO in twenty lines
# ----------------------


def smo(K, y, C, tol=1e-3, most=100_000):
    lower, upper = np.minimum(0, C * y), np.maximum(0, C * y)
    alpha, G = np.zeros(len(y)), y.astype(float)
    for step in range(most):
        up, down = alpha < upper, alpha > lower
        i = np.where(up, G, -np.inf).argmax()  # who gains most by rising
        j = np.where(down, G, np.inf).argmin()  # who gains most by falling
        if G[i] - G[j] <= tol:
            return alpha, step
        mu = (G[i] - G[j]) / (K[i, i] + K[j, j] - 2 * K[i, j])  # the best step
        mu = min(mu, upper[i] - alpha[i], alpha[j] - lower[j])  # inside the box
        alpha[i] += mu
        alpha[j] -= mu
        G -= mu * (K[i] - K[j])
    return alpha, most


X, y = chess_board(200, random_state=0)
y = y.astype(float)
kernel, C = Gaussian(2.0), 10.0
alpha, steps = smo(kernel(X), y, C)
machine = hinge(y, C)
print(f"{steps:,} steps: {certify(machine.problem, alpha, kernel.bind(X))}")

# %%
# That is a whole solver. The compiled one does the same, faster:

solution = solve(machine.problem, kernel.bind(X), selection="mvp", face=False)
print(f"{solution.steps:,} steps: {certify(machine.problem, solution.alpha, kernel.bind(X))}")

# %%
# 3. A picture
# ------------
# Three variables, one constraint: two of them tell all. Every step is along one of three
# directions.

K = np.array([[1.0, 0.8, 0.5], [0.8, 1.0, 0.4], [0.5, 0.4, 1.0]])
problem = hinge(np.array([1.0, 1.0, -1.0]), 3.0).problem
PairPathDisplay.from_problem(problem, K, selection="mvp", tol=1e-4)

# %%
# 4. Which pair?
# --------------
# `mvp` takes the most violating pair, by the gradient alone. The gain of a step that is not cut off
# at the box is :math:`(G_i - G_j)^2 / (2 (K_{ii} + K_{jj} - 2 K_{ij}))`. `second_order` takes the
# best i and
# the j of the largest gain; `max_gain` looks at all pairs whose rows are in memory.

X, y = chess_board(300, random_state=0)
problem, gram = hinge(y.astype(float), 100.0).problem, Gaussian(1.0).bind(X)
optimum = solve(problem, gram, tol=1e-12).dual
figure, ax = pyplot.subplots(figsize=(7, 4.4), layout="constrained")
for selection in ("second_order", "max_gain", "mvp", "random"):
    options = {"face": False, "trace": True, "driver": "full", "max_steps": 40_000}
    solution = solve(problem, gram, selection=selection, **options)
    rest = optimum - solution.trace.dual
    ax.loglog(np.arange(1, rest.size + 1), rest, label=f"{selection}: {solution.steps:,}")
ax.set(xlabel="steps", ylabel="optimum − dual value", ylim=(1e-5, None))
ax.legend()

# %%
# 5. How far?
# -----------
# The best step now need not be the best for two steps. *Planning ahead* (thesis, chapter 7)
# chooses a
# step such that this one and the next are best together.

PlanningDisplay.from_problem(problem, gram)
for planning in (0, 1):
    solution = solve(problem, gram, face=False, planning=planning, driver="full")
    print(f"planning={planning}: {solution.steps:,} steps")

# %%
# 6. The end
# ----------
# Near the optimum the set of free variables no longer changes, and what remains is a linear system.
# A *face step* solves it: a Newton step on all free variables.

solution = solve(problem, gram)
print(f"{solution.steps:,} pair steps, {solution.face_steps} face steps")
print(certify(problem, solution.alpha, gram))

# %%
# Exercises
# ---------
# 1. Derive the best step μ and its gain.
# 2. Count the kernel evaluations of `smo`, and say how a cache of rows would help.
# 3. Change `smo` to choose j by the largest gain. How many steps does it take now?
# 4. Why is ``G[i] - G[j] <= tol`` a reason to stop? Relate it to the duality gap.

# %%
# Solutions
# ---------
# 1. Along the pair the dual is a parabola, largest at the quotient; its value there is the gain
#    above:
#
#    .. math:: D(\mu) = D(0) + \mu (G_i - G_j) - \tfrac12 \mu^2 (K_{ii} + K_{jj} - 2K_{ij})
#
# 2. Two rows a step. Most steps take rows that were used lately: an LRU cache hits almost always
#    once the working set is small (``solution.row_hits``).
# 3.


def second_order_smo(K, y, C, tol=1e-3, most=100_000):
    lower, upper = np.minimum(0, C * y), np.maximum(0, C * y)
    alpha, G = np.zeros(len(y)), y.astype(float)
    for step in range(most):
        up, down = alpha < upper, alpha > lower
        i = np.where(up, G, -np.inf).argmax()
        if G[i] - np.where(down, G, np.inf).min() <= tol:
            return alpha, step
        gap = np.where(down, G[i] - G, 0.0).clip(0)
        curve = np.maximum(K[i, i] + np.diag(K) - 2 * K[i], 1e-12)
        j = (gap**2 / curve).argmax()
        mu = min(gap[j] / curve[j], upper[i] - alpha[i], alpha[j] - lower[j])
        alpha[i] += mu
        alpha[j] -= mu
        G -= mu * (K[i] - K[j])
    return alpha, most


K, labels = Gaussian(1.0)(X), y.astype(float)
print(f"mvp: {smo(K, labels, 100.0)[1]:,}, second order: {second_order_smo(K, labels, 100.0)[1]:,}")

# %%
# 4. With b anywhere between :math:`G_j` and :math:`G_i`, every sample misses its optimality
#    condition by at
#    most tol, so the gap is at most tol times :math:`\sum_i C` over the samples concerned: small
#    tol,
#    small gap, but with a large C the factor counts.
