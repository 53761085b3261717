"""
Several classes
===============

One machine for each pair of classes, and a vote. The wine data have 13 features; the picture
shows the plane of the two directions with the largest variance.
"""

from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC
from maxmargin.report import ConfusionDisplay, DecisionBoundaryDisplay

data = load_wine()
X, y = StandardScaler().fit_transform(data.data), data.target_names[data.target]
model = SVC().fit(X, y)
DecisionBoundaryDisplay.from_estimator(model, X, y)

# %%
# Predictions of five-fold cross-validation, and three certificates, one for each pair.

ConfusionDisplay.from_predictions(y, cross_val_predict(model, X, y))
print(model.certificate_)
