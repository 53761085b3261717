"""
A tree, and its partition
=========================

A decision tree asks one question about one feature at a time. The plane is divided into
rectangles, each with the class that is most frequent in it.
"""

from sklearn.datasets import load_iris

from maxmargin import DecisionTreeClassifier
from maxmargin.report import PartitionDisplay, TreeDisplay

data = load_iris()
X, y = data.data[:, 2:], data.target_names[data.target]
names = data.feature_names[2:]
model = DecisionTreeClassifier(max_depth=3).fit(X, y)
PartitionDisplay.from_estimator(model, X, y, feature_names=names)

# %%

TreeDisplay.from_estimator(model, feature_names=names)
