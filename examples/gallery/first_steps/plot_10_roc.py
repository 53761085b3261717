"""
ROC and precision–recall
========================

One curve for all thresholds of the decision function, on samples that were held out.
"""

from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC
from maxmargin.report import PrecisionRecallDisplay, RocDisplay

X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
model = make_pipeline(StandardScaler(), SVC(gamma=0.005)).fit(X, y)
RocDisplay.from_estimator(model, X_test, y_test)

# %%

PrecisionRecallDisplay.from_estimator(model, X_test, y_test)

# %%
# With several classes there is a curve for each, against the rest.

X, y = load_wine(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
model = make_pipeline(StandardScaler(), SVC(C=0.01)).fit(X, y)
RocDisplay.from_estimator(model, X_test, y_test)
