"""
Textbook solvers
================

Projected gradient ascent and chunking, short enough to read, on the same problem object.
"""

import time

from matplotlib import pyplot

from maxmargin import solve
from maxmargin.data import two_blobs
from maxmargin.dual import certify, hinge
from maxmargin.kernels import Gaussian
from maxmargin.solvers import chunking, projected_gradient

X, y = two_blobs(300, random_state=0)
problem, gram = hinge(y.astype(float), 10.0).problem, Gaussian(0.5).bind(X)
solvers = {
    "projected gradient": lambda: projected_gradient(problem, gram, max_steps=3000),
    "chunking": lambda: chunking(problem, gram, chunk=50),
    "SMO, pairs alone": lambda: solve(problem, gram, face=False),
    "SMO and face steps": lambda: solve(problem, gram),
}
names, seconds, gaps = [], [], []
for name, run in solvers.items():
    run()  # compile
    began = time.perf_counter()
    solution = run()
    seconds.append(time.perf_counter() - began)
    gaps.append(certify(problem, solution.alpha, gram).relative_gap)
    names.append(name)

figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
axes[0].barh(names, seconds, color="#0072B2")
axes[0].set(xscale="log", xlabel="seconds")
axes[1].barh(names, [max(gap, 1e-16) for gap in gaps], color="#D55E00")
axes[1].set(xscale="log", xlabel="relative gap that is left")
