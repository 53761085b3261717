"""
Decision boundary, margins and support vectors
==============================================

A Gaussian machine separates two moons. Only the ringed samples, the support vectors, decide
where the boundary runs.
"""

from sklearn.datasets import make_moons

from maxmargin import SVC
from maxmargin.report import DecisionBoundaryDisplay

X, y = make_moons(200, noise=0.2, random_state=0)
model = SVC(C=1.0, gamma=2.0).fit(X, y)
DecisionBoundaryDisplay.from_estimator(model, X, y)

# %%
# The certificate says how close this machine is to the best one for C = 1.

print(model.certificate_)
print(f"{model.n_support_.sum()} of {len(X)} samples are support vectors")
