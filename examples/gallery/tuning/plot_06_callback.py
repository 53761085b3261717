"""
Watch a search
==============

A callback hears of every evaluation, and may end the search with the best point so far.
"""

from matplotlib import pyplot

from maxmargin import SVC, SVCSearch
from maxmargin.data import chess_board

X, y = chess_board(200, random_state=0)
seen = []


def note(now):
    seen.append((now.evaluations, now.best))
    return len(seen) >= 80


search = SVCSearch(SVC(), strategy="span", random_state=0, callback=note).fit(X, y)
print(search.search_.status, search.best_params_)

figure, ax = pyplot.subplots(layout="constrained")
ax.plot([best for _, best in seen], color="#0072B2")
ax.set(xlabel="evaluation", ylabel="best value so far", title="a search that was stopped")
ax.grid(alpha=0.3)
