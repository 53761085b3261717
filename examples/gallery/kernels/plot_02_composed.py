"""
Add and multiply kernels
========================

A trend and a season: a linear kernel plus a Gaussian one on the phase of the year.
"""

import numpy as np
from matplotlib import pyplot

from maxmargin import SVR
from maxmargin.kernels import FromFunction, Gaussian, Linear

random = np.random.default_rng(0)
years = np.sort(random.uniform(0, 6, 160))
level = 0.4 * years + np.sin(2 * np.pi * years) + 0.2 * random.normal(size=years.size)


def phase(A, B=None):
    """Similarity of two seasons: a Gaussian on the circle."""
    B = A if B is None else B
    return np.exp(-4 * np.sin(np.pi * (A - B.T)) ** 2)


kernel = Linear() + FromFunction(phase)
known = years < 4
across = np.linspace(0, 6, 400)[:, None]
figure, ax = pyplot.subplots(layout="constrained")
ax.scatter(years[known], level[known], s=10, color="#444444", label="training samples")
ax.scatter(years[~known], level[~known], s=10, color="#BBBBBB", label="the future")
for name, chosen in (("linear + season", kernel), ("Gaussian", Gaussian(1.0))):
    model = SVR(kernel=chosen, C=10.0, epsilon=0.1).fit(years[known, None], level[known])
    ax.plot(across, model.predict(across), label=name)
ax.set(xlabel="years", ylabel="level", title="a kernel is what you know")
ax.legend()
print(kernel)
