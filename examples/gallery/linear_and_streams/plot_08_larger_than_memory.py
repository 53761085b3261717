"""
Data larger than memory
=======================

A linear machine reads an svmlight file in chunks. Objective and certificate are those of a fit
in memory.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from sklearn.datasets import dump_svmlight_file, make_classification

from maxmargin import LinearSVC
from maxmargin.data.chunks import SvmlightChunks

X, y = make_classification(5000, 40, n_informative=10, random_state=0)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "large.svm"
    dump_svmlight_file(X, y, str(path), zero_based=False)
    source = SvmlightChunks(path)
    chunked = LinearSVC(C=0.1).fit(source, source.y)
inside = LinearSVC(C=0.1).fit(X, y)
print(f"from the file: {chunked.certificate_}")
print(f"in memory:     {inside.certificate_}")

figure, ax = pyplot.subplots(figsize=(5, 4.6), layout="constrained")
ax.scatter(inside.coef_[0], chunked.coef_[0], color="#0072B2")
ends = np.array([inside.coef_.min(), inside.coef_.max()])
ax.plot(ends, ends, color="#8C8C8C", linestyle=":")
ax.set(xlabel="weight, in memory", ylabel="weight, from the file", title="the same machine")
