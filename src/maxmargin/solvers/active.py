"""The variables worked on: a set of samples, the arrays of their variables, and their rows.

Shrinking (4.2.5) leaves out variables that sit at a bound and want to stay there. A shrunk
problem is a smaller problem of the same form, so it is copied out whole and the loop never
knows; samples leave when all their variables do. The blocks of the driver `blocks` are parts in
the same sense.
"""

from __future__ import annotations

import numpy as np

from . import records as r


def penalties(alpha, lower, upper, group, groups):
    """The rise and fall rows of `Variables`."""
    member = group == np.arange(groups)[:, None]
    rise = np.where(member & (alpha < upper), 0.0, -np.inf)
    fall = np.where(member & (alpha > lower), 0.0, np.inf)
    return rise, fall


class Active:
    """Some samples of a problem with all variables that belong to them.

    Attributes
    ----------
    v : Variables
    copies : int
        Variables a sample; variable a belongs to sample ``a % size``.
    samples : int array
        Which samples of the problem these are.
    rows : FullRows, CachedRows or LongRows
        With one column for each of the samples.
    """

    def __init__(self, v, copies, samples, rows):
        self.v, self.copies, self.samples, self.rows = v, copies, samples, rows

    @classmethod
    def of(cls, problem, rows, diagonal, alpha, gradient, samples=None):
        """The given samples of a problem, or all of them."""
        if samples is None:
            samples = np.arange(problem.samples)
        a = (np.arange(problem.copies)[:, None] * problem.samples + samples).ravel()
        lower, upper, group = problem.lower[a], problem.upper[a], problem.group[a]
        rise, fall = penalties(alpha[a], lower, upper, group, problem.totals.size)
        ridge = problem.ridge[a]
        v = r.Variables(
            alpha=alpha[a],
            gradient=gradient[a],
            lower=lower,
            upper=upper,
            ridge=ridge,
            diagonal=np.tile(diagonal[samples], problem.copies) + ridge,
            group=group,
            rise=rise,
            fall=fall,
            scores=np.empty(a.size, dtype=np.float32),
        )
        return cls(v, problem.copies, samples, rows)

    @property
    def size(self):
        return self.samples.size

    def variables_of(self, samples):
        """The variables of samples, both given as indices into this set."""
        return (np.arange(self.copies)[:, None] * self.size + samples).ravel()

    def part(self, keep, rows):
        """The samples `keep` (indices into this set) alone."""
        a = self.variables_of(keep)
        v = r.Variables(*(np.ascontiguousarray(array[..., a]) for array in self.v))
        return Active(v, self.copies, self.samples[keep], rows)

    def write(self, alpha, gradient):
        """Put α and G where they belong in arrays of all variables."""
        places = slice(None)
        if self.size * self.copies < alpha.size:
            places = np.arange(self.copies)[:, None] * (alpha.size // self.copies) + self.samples
            places = places.ravel()
        alpha[places] = self.v.alpha
        gradient[places] = self.v.gradient

    def free(self):
        return np.flatnonzero((self.v.alpha > self.v.lower) & (self.v.alpha < self.v.upper))

    def has_free(self):
        """Of every sample, whether one of its variables is free."""
        inside = (self.v.alpha > self.v.lower) & (self.v.alpha < self.v.upper)
        return inside.reshape(self.copies, self.size).any(axis=0)

    def per_sample(self, values):
        return values.reshape(self.copies, self.size).sum(axis=0)

    def place(self, variables, values):
        """Set the α of variables, exactly, and update the gradient."""
        v = self.v
        delta = values - v.alpha[variables]
        v.alpha[variables] = values
        v.gradient[variables] -= v.ridge[variables] * delta
        for g in range(v.rise.shape[0]):
            member = v.group[variables] == g
            rising, falling = values < v.upper[variables], values > v.lower[variables]
            v.rise[g, variables] = np.where(member & rising, 0.0, -np.inf)
            v.fall[g, variables] = np.where(member & falling, 0.0, np.inf)
        change = np.bincount(variables % self.size, delta, minlength=self.size)
        moved = np.flatnonzero(change)
        if moved.size:
            pull = self.rows.combine(moved, change[moved])
            for start in range(0, v.gradient.size, self.size):
                v.gradient[start : start + self.size] -= pull

    def extremes(self):
        """Largest gradient that may rise and smallest that may fall, a group each."""
        v = self.v
        tops = np.array([(v.gradient + rise).max() for rise in v.rise])
        bottoms = np.array([(v.gradient + fall).min() for fall in v.fall])
        return tops, bottoms

    def violation(self):
        """ψ: how far rising exceeds falling, in the worst group."""
        tops, bottoms = self.extremes()
        return float(max(0.0, (tops - bottoms).max()))

    def settled(self):
        """Variables at a bound whose gradient holds them there (the shrinking rule)."""
        v = self.v
        tops, bottoms = self.extremes()
        at_lower = (v.alpha <= v.lower) & (v.gradient < bottoms[v.group])
        at_upper = (v.alpha >= v.upper) & (v.gradient > tops[v.group])
        return at_lower | at_upper

    def staying(self):
        """Samples (as indices into this set) with a variable that is not settled."""
        return np.flatnonzero(~self.settled().reshape(self.copies, self.size).all(axis=0))


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
