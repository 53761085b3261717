"""
Support vectors as images
=========================

The samples on which a machine leans most are those that are hardest to read.
"""

from sklearn.datasets import load_digits

from maxmargin import SVC
from maxmargin.report import SupportVectorDisplay

X, y = load_digits(return_X_y=True)
model = SVC(C=10).fit(X, y)
SupportVectorDisplay.from_estimator(model, X, y)
