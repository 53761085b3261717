"""The variables still worked on: their arrays, their rows, and the way back to all of them.

Shrinking (4.2.5) leaves out variables that sit at a bound and want to stay there. A shrunk
problem is a smaller problem of the same form, so it is copied out whole and the loop never
knows; samples leave when all their variables do. The gradient of what was left out is
reconstructed from the change of α when everything returns.
"""

from __future__ import annotations

import numpy as np

from . import records as r

# Copying a smaller problem out pays when at least this part of it leaves.
LEAST_LEAVING = 0.1


def penalties(alpha, lower, upper, group, groups):
    """The rise and fall rows of `Variables`."""
    member = group == np.arange(groups)[:, None]
    rise = np.where(member & (alpha < upper), 0.0, -np.inf)
    fall = np.where(member & (alpha > lower), 0.0, np.inf)
    return rise, fall


class Active:
    """A set of samples with the variables of the problem that belong to them.

    Parameters
    ----------
    problem : DualProblem
    rows : FullRows or CachedRows
        With one column for each sample of the set.
    diagonal : float array
        Diagonal of the Gram matrix of all samples.
    alpha, gradient : float arrays
        Of all variables of the problem.
    samples : int array, optional
        The set; all samples by default.
    """

    def __init__(self, problem, rows, diagonal, alpha, gradient, samples=None):
        self.problem = problem
        self.rows = rows
        self.samples = np.arange(problem.samples) if samples is None else samples
        offsets = np.arange(problem.copies)[:, None] * problem.samples
        self.variables = (offsets + self.samples).ravel()
        self.start = alpha[self.variables]
        lower, upper = problem.lower[self.variables], problem.upper[self.variables]
        ridge, group = problem.ridge[self.variables], problem.group[self.variables]
        rise, fall = penalties(self.start, lower, upper, group, problem.totals.size)
        self.v = r.Variables(
            alpha=self.start.copy(),
            gradient=gradient[self.variables],
            lower=lower,
            upper=upper,
            ridge=ridge,
            diagonal=np.tile(diagonal[self.samples], problem.copies) + ridge,
            group=group,
            rise=rise,
            fall=fall,
            scores=np.empty(lower.size, dtype=np.float32),
        )

    @property
    def size(self):
        return self.samples.size

    @property
    def whole(self):
        return self.size == self.problem.samples

    def free(self):
        return np.flatnonzero((self.v.alpha > self.v.lower) & (self.v.alpha < self.v.upper))

    def move(self, variables, delta):
        """Add delta to the α of variables, and what follows from it to the gradient."""
        v = self.v
        v.alpha[variables] += delta
        self._follow(variables, delta)

    def place(self, variables, values):
        """Set the α of variables, exactly, and update the gradient."""
        delta = values - self.v.alpha[variables]
        self.v.alpha[variables] = values
        self._follow(variables, delta)

    def _follow(self, variables, delta):
        v = self.v
        moved = self.rows.combine(variables % self.size, delta)
        v.gradient[...] -= np.tile(moved, self.problem.copies)
        v.gradient[variables] -= v.ridge[variables] * delta
        v.rise[...], v.fall[...] = penalties(
            v.alpha, v.lower, v.upper, v.group, self.problem.totals.size
        )

    def settled(self):
        """Variables at a bound whose gradient holds them there (the shrinking rule)."""
        v = self.v
        top = (v.gradient + v.rise).max(axis=1)[v.group]
        bottom = (v.gradient + v.fall).min(axis=1)[v.group]
        at_lower = (v.alpha <= v.lower) & (v.gradient < bottom)
        at_upper = (v.alpha >= v.upper) & (v.gradient > top)
        return at_lower | at_upper

    def staying(self):
        """Samples (as indices into this set) with a variable that is not settled."""
        settled = self.settled().reshape(self.problem.copies, self.size)
        return np.flatnonzero(~settled.all(axis=0))

    def shrunk(self, keep, diagonal, alpha, gradient):
        """The smaller set of the samples in `keep`; α and G of this set are written out."""
        self.write(alpha, gradient)
        return Active(
            self.problem, self.rows.restricted(keep), diagonal, alpha, gradient, self.samples[keep]
        )

    def write(self, alpha, gradient):
        alpha[self.variables] = self.v.alpha
        gradient[self.variables] = self.v.gradient


def estimated_gap(v):
    """Duality gap Σ loss_a(e_a) − α_a e_a + ½ ridge_a α_a², e = G + ridge·α − b, of the active
    variables; those left out by shrinking contribute nothing at the optimum."""
    free = (v.alpha > v.lower) & (v.alpha < v.upper)
    bias = np.zeros(len(v.rise))
    for g in range(bias.size):
        members = free & (v.group == g)
        if members.any():
            bias[g] = v.gradient[members].mean()
        else:
            bias[g] = 0.5 * ((v.gradient + v.rise[g]).max() + (v.gradient + v.fall[g]).min())
    error = v.gradient + v.ridge * v.alpha - bias[v.group]
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(v.ridge > 0, error / v.ridge, np.sign(error) * np.inf)
        best = np.clip(np.where(error == 0, 0.0, best), v.lower, v.upper)
        loss = np.where(error == 0, 0.0, error * best) - 0.5 * v.ridge * best**2
    return float((loss - v.alpha * error + 0.5 * v.ridge * v.alpha**2).sum())
