"""
Which pair moves next?
======================

Selection policies on the chess board: the distance of the dual value from the optimum, step by
step.
"""

from matplotlib import pyplot

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian

X, y = chess_board(300, random_state=0)
problem, gram = hinge(y.astype(float), 100.0).problem, Gaussian(2.0).bind(X)
optimum = solve(problem, gram, tol=1e-12).dual

figure, ax = pyplot.subplots(figsize=(7.5, 4.8), layout="constrained")
for selection in ("second_order", "hybrid_max_gain", "max_gain", "mvp", "platt", "random"):
    options = {"selection": selection, "face": False, "trace": True, "max_steps": 30_000}
    solution = solve(problem, gram, driver="full", **options)
    left = optimum - solution.trace.dual
    ax.loglog(range(1, left.size + 1), left, label=f"{selection}: {solution.steps:,} steps")
ax.set(xlabel="steps", ylabel="optimum − dual value", ylim=(1e-6, None), title="selection policies")
ax.legend(fontsize=9)
