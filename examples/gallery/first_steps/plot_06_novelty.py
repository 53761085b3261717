"""
What is unusual?
================

`OneClassSVM` needs no labels. It encloses most samples; ν is the share that may be outside.
"""

import numpy as np
from sklearn.datasets import make_moons

from maxmargin import OneClassSVM
from maxmargin.report import DecisionBoundaryDisplay

X, _ = make_moons(300, noise=0.08, random_state=0)
X = np.vstack([X, np.random.default_rng(0).uniform(-1.5, 2.5, (15, 2))])
model = OneClassSVM(nu=0.08, gamma=4.0).fit(X)
DecisionBoundaryDisplay.from_estimator(model, X)

# %%

outside = model.predict(X) < 0
print(f"{outside.sum()} of {len(X)} samples are outside; ν = {model.nu} allows {0.08 * len(X):.0f}")
