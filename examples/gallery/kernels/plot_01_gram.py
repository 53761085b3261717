"""
Look at a kernel
================

The Gram matrix ordered by class. With a good width, squares along the diagonal are bright; too
narrow, all samples are strangers; too wide, all are alike.
"""

from matplotlib import pyplot
from sklearn.datasets import load_digits

from maxmargin.kernels import Gaussian
from maxmargin.report import GramDisplay

X, y = load_digits(n_class=5, return_X_y=True)
figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
for ax, gamma in zip(axes, (1e-5, 5e-4, 5e-3)):
    GramDisplay.from_kernel(Gaussian(gamma), X / 1.0, y, ax=ax)
    ax.set_title(f"γ = {gamma:g}: {ax.get_title().split(', ')[1]}")
