"""
The margin
==========

The widest street between two classes. Its width is 2/‖w‖; only the samples at its edges matter.
"""

import numpy as np
from sklearn.datasets import make_blobs

from maxmargin import SVC
from maxmargin.report import DecisionBoundaryDisplay

X, y = make_blobs(60, centers=[[0, 0], [4, 4]], cluster_std=0.9, random_state=0)
model = SVC(kernel="linear", C=np.inf).fit(X, y)
display = DecisionBoundaryDisplay.from_estimator(model, X, y)
w = model.coef_[0]
display.ax_.set_aspect("equal")
display.ax_.set_title(f"width of the street 2/‖w‖ = {2 / np.linalg.norm(w):.2f}")
print(f"{model.support_.size} support vectors, certificate {model.certificate_}")
