"""
Watch a fit
===========

A callback sees the progress of the solver, and ends the fit by returning True.
"""

from maxmargin import SVC
from maxmargin.data import chess_board
from maxmargin.report import ConvergenceDisplay

X, y = chess_board(3000, random_state=0)


def show(now):
    print(
        f"{now.steps:6,} steps   violation {now.violation:8.1e}   {now.support:5,} support vectors"
    )
    return now.seconds > 60


model = SVC(C=1e3, gamma=2.0, callback=show).fit(X, y)
print(model.status_)

# %%
# The same as a picture, against the steps of the solver.

ConvergenceDisplay.from_estimator(SVC(C=1e3, gamma=2.0), X[:500], y[:500], against="steps")
