"""
A machine that tunes itself
===========================

`AutoSVC` needs no parameter. It scales the inputs, chooses the width of a Gaussian kernel and
C, and is an ordinary certified `SVC` afterwards.
"""

from maxmargin import AutoSVC
from maxmargin.data import chess_board
from maxmargin.report import DecisionBoundaryDisplay, TuningDisplay

X, y = chess_board(300, random_state=0)
X_test, y_test = chess_board(5000, random_state=1)
model = AutoSVC(strategy="kta", random_state=0).fit(X, y)
print(model.search_)
print(f"test accuracy {model.score(X_test, y_test):.1%}")
TuningDisplay.from_estimator(model)

# %%

DecisionBoundaryDisplay.from_estimator(model.svc_, X, y)
