"""
Face steps
==========

Near the optimum the free variables are known, and pairs crawl. One Newton step on all free
variables at once goes to the optimum of their face.
"""

from matplotlib import pyplot

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian

X, y = chess_board(500, random_state=0)
problem, gram = hinge(y.astype(float), 1e4).problem, Gaussian(0.5).bind(X)
figure, ax = pyplot.subplots(figsize=(7.5, 4.6), layout="constrained")
ways = {"pairs alone": False, "pairs and face steps": True}
for (name, face), colour in zip(ways.items(), ("#D55E00", "#0072B2")):
    solution = solve(problem, gram, face=face, trace=True, driver="full", max_steps=100_000)
    violation = solution.trace.violation
    count = f"{solution.steps:,} pairs, {solution.face_steps} face steps"
    ax.loglog(
        range(1, violation.size + 1), violation.clip(1e-14), label=f"{name}: {count}", color=colour
    )
    print(f"{name:>22}: {solution}")
ax.axhline(1e-3, color="#009E73", linestyle="--")
ax.set(xlabel="steps", ylabel="largest violation", title="the chess board with C = 10⁴")
ax.legend(fontsize=9)
