"""
A certificate as a picture
==========================

Machines that were stopped after 1, 2, 4, … steps. The optimum lies between the dual value
(below) and the primal value (above); both are recomputed from the model that was delivered.
"""

from maxmargin import SVC
from maxmargin.data import chess_board
from maxmargin.report import CertificateDisplay

X, y = chess_board(400, random_state=0)
CertificateDisplay.from_estimator(SVC(C=100.0, gamma=2.0), X, y)

# %%
# The last one is the certificate of an ordinary fit.

print(SVC(C=100.0, gamma=2.0).fit(X, y).certificate_)
