"""
Forty-five certificates
=======================

Ten digits make 45 problems. LIBSVM's stopping rule (``gap=inf``) bounds the violation; the
duality gap that it leaves depends on the problem.
"""

import numpy as np
import sklearn.svm
from matplotlib import pyplot
from sklearn.datasets import load_digits

from maxmargin import SVC
from maxmargin.dual import certify, hinge
from maxmargin.kernels import Gaussian

X, y = load_digits(return_X_y=True)
X = X / 16.0
ours = SVC(C=10.0, gamma=0.1).fit(X, y)
gaps = np.sort([proof.relative_gap for proof in ours.certificate_])

# %%
# The same for scikit-learn's machines, pair by pair, certified by :func:`maxmargin.dual.certify`.

theirs = []
for i in range(10):
    for j in range(i):
        rows = np.isin(y, (i, j))
        labels = np.where(y[rows] == i, 1.0, -1.0)
        model = sklearn.svm.SVC(C=10.0, gamma=0.1).fit(X[rows], labels)
        alpha = np.zeros(labels.size)
        alpha[model.support_] = model.dual_coef_[0]
        gram = Gaussian(0.1).bind(X[rows])
        proof = certify(hinge(labels, 10.0).problem, alpha, gram, model.intercept_)
        theirs.append(proof.relative_gap)

figure, ax = pyplot.subplots(layout="constrained")
ax.semilogy(np.sort(theirs), "s", color="#D55E00", label="LIBSVM's rule, tol = 1e-3")
ax.semilogy(np.maximum(gaps, 1e-16), "o", color="#0072B2", label="maxmargin, gap = 1e-4")
ax.axhline(1e-4, color="#009E73", linestyle="--")
ax.set(xlabel="pairs of digits, in order", ylabel="relative gap", title="how near the optimum?")
ax.legend()
