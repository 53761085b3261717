"""
A metric that is learned
========================

The chess board is rotated and stretched. A Gaussian kernel with a full metric, tuned by the
kernel target alignment, finds the directions that count; the ellipses show how far a sample
reaches.
"""

from maxmargin import AutoSVC
from maxmargin.data import stretched_chess_board
from maxmargin.report import DecisionBoundaryDisplay, MetricDisplay

X, y = stretched_chess_board(400, random_state=0)
model = AutoSVC(metric="full", strategy="kta", random_state=0).fit(X, y)
MetricDisplay.from_estimator(model, X, y)

# %%

DecisionBoundaryDisplay.from_estimator(model.svc_, X, y)
