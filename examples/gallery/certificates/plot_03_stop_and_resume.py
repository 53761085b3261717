"""
Stop a fit, and go on
=====================

A step limit (or a time limit, a callback, Ctrl-C) ends a fit. Its certificate says what is
left, and with ``warm_start=True`` the next ``fit`` goes on from there.
"""

import warnings

from matplotlib import pyplot

from maxmargin import SVC
from maxmargin.data import chess_board

X, y = chess_board(800, random_state=0)
model = SVC(C=1e4, gamma=2.0, max_iter=100, warm_start=True)
gaps, statuses = [], []
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # each early end warns
    while not statuses or statuses[-1] == "step_limit":
        model.fit(X, y)
        gaps.append(model.certificate_.relative_gap)
        statuses.append(model.status_)
print(f"{len(gaps)} fits of 100 steps; the last one: {statuses[-1]}")

figure, ax = pyplot.subplots(layout="constrained")
ax.semilogy(range(1, len(gaps) + 1), gaps, marker="o", color="#0072B2")
ax.set(xlabel="fits of 100 steps each", ylabel="relative gap", title="every fit goes on")
ax.grid(alpha=0.3)
