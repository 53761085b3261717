"""
Planning ahead
==============

A step that is longer than the best one now can make the next one better. Lengths of planned
steps beside Newton steps (thesis, Figure 7.3).
"""

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian
from maxmargin.report import PlanningDisplay

X, y = chess_board(300, random_state=0)
problem, gram = hinge(y.astype(float), 1e3).problem, Gaussian(0.5).bind(X)
PlanningDisplay.from_problem(problem, gram)

# %%
# What it saves on this problem:

for planning in (0, 1):
    solution = solve(problem, gram, face=False, planning=planning, driver="full")
    print(f"planning={planning}: {solution.steps:7,} steps, dual value {solution.dual:.3f}")
