"""
The landscape of C and γ
========================

Cross-validation error over a grid. Good regions are diagonal valleys: a larger C wants a
smaller γ. One Gram matrix serves all folds and all C.
"""

from maxmargin import SVC, SVCSearch
from maxmargin.data import chess_board
from maxmargin.report import TuningDisplay

X, y = chess_board(250, random_state=0)
search = SVCSearch(SVC(), strategy="grid", random_state=0).fit(X, y)
TuningDisplay.from_estimator(search)
print(search.best_params_)
