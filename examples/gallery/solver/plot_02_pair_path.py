"""
Two variables at a time
=======================

SMO moves two dual variables along the line on which their sum stays the same, to the best point
inside their box. With three variables, two tell all: every step is along one of three
directions, and near the optimum the path zigzags.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin.dual import hinge
from maxmargin.report import PairPathDisplay

K = np.array([[1.0, 0.8, 0.5], [0.8, 1.0, 0.4], [0.5, 0.4, 1.0]])
figure, axes = pyplot.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, C in zip(axes, (3.0, 1.2)):
    problem = hinge(np.array([1.0, 1.0, -1.0]), C).problem
    PairPathDisplay.from_problem(problem, K, selection="mvp", tol=1e-4, ax=ax)
    ax.set_title(f"C = {C:g}: {ax.get_title().split(' in ')[0]}")
