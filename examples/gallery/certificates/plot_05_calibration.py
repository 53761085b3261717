"""
Can I trust the probabilities?
==============================

Predicted probability against observed frequency on held-out samples. Bars are 95 % intervals.
"""

from sklearn.datasets import make_moons

from maxmargin import SVC
from maxmargin.report import CalibrationDisplay

X, y = make_moons(3000, noise=0.4, random_state=0)
model = SVC(probability=True, gamma=1.0).fit(X[:1000], y[:1000])
CalibrationDisplay.from_estimator(model, X[1000:], y[1000:])
