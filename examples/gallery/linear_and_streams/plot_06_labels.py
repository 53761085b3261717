"""
Ask for the labels you need
===========================

Where labels are expensive, let the machine choose: it asks for samples near its boundary.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from maxmargin import OnlineSVC
from maxmargin.report import LabelCurveDisplay

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16.0, y, test_size=0.4, random_state=0)
curves = {}
for way in ("margin", "random"):
    model = OnlineSVC(C=10.0, gamma=0.3, querying=way, random_state=0)
    model.fit_active(X, lambda asked: y[asked], max_labels=400, test=(X_test, y_test))
    curves[way] = (model.label_curve_.labels, model.label_curve_.accuracy)
LabelCurveDisplay.from_curves(curves)
