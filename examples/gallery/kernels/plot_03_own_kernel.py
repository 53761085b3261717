"""
Your own kernel
===============

A kernel is a frozen dataclass with two methods. :doc:`/development/add_a_kernel` adds a
gradient, so that its parameters can be tuned.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from maxmargin import SVC
from maxmargin.data import chess_board
from maxmargin.kernels import Kernel
from maxmargin.report import DecisionBoundaryDisplay


@dataclass(frozen=True)
class Laplace(Kernel):
    """exp(−γ Σ|x − z|): sharper than a Gaussian."""

    gamma: float = 1.0

    def __call__(self, A, B=None):
        return np.exp(-self.gamma * cdist(A, A if B is None else B, "cityblock"))

    def diagonal(self, A):
        return np.ones(len(A))


X, y = chess_board(600, random_state=0)
model = SVC(kernel=Laplace(2.0), C=10.0).fit(X, y)
DecisionBoundaryDisplay.from_estimator(model, X, y)
print(model.kernel_, model.certificate_)
