"""The active set: some samples, the arrays of their variables, and their rows.

Shrinking (4.2.5) leaves out variables at a bound whose gradient keeps them there. A shrunk problem
is a smaller problem of the same form, so it is copied and the loop sees no difference; a sample
leaves when all its variables do. The blocks of the driver `blocks` are subsets in the same sense.
"""

from __future__ import annotations

from operator import methodcaller

import numpy as np
from numpy.typing import NDArray

from ...dual.problem import DualProblem, Float, Int
from ...runtime.jit import borrowing, from_python, inlined, largest
from ..rows.base import Rows
from ..smo import state as r
from ..smo.selection import find_extremes
from ..smo.step import set_penalties

Bool = NDArray[np.bool_]

MOST_SAMPLES = 1 << 48
EPSILON = float(np.finfo(np.float64).eps)


@borrowing
def renew(v: r.Variables, variables: Int) -> None:
    """Update `rise`, `fall` and the bounds of some variables after a change of their α."""
    for k in range(variables.size):
        set_penalties(v, variables[k])


@borrowing
def begin(v: r.Variables) -> None:
    """Set `rise`, `fall` and the bounds of all variables, and add the ridge to the diagonal."""
    for g in range(len(v.rise)):
        for a in range(v.alpha.size):
            v.rise[g, a], v.fall[g, a] = -np.inf, np.inf
    for a in range(v.alpha.size):
        v.diagonal[a] += v.ridge[a]
        set_penalties(v, a)


@borrowing
def note_free(rise: Float, fall: Float, free: Bool) -> None:
    """Mark the free variables: those that may rise and fall with the same gradient."""
    for g in range(rise.shape[0]):
        for a in range(free.size):
            free[a] |= rise[g, a] == fall[g, a]


@inlined
def rounding_of(alpha: Float, gradient: Float, scale: float) -> float:
    """The violation that rounding of the gradient alone can cause, in units of epsilon; `scale` is
    the largest entry of the matrix."""
    squares, top = 0.0, 0.0
    for a in range(alpha.size):
        squares += alpha[a] * alpha[a]
        top = largest(top, abs(gradient[a]))
    result: float = 4.0 * scale * np.sqrt(squares) + top
    return result


rounding = from_python(rounding_of)
extremes = from_python(find_extremes)


@borrowing
def largest_entry(values: Float) -> float:
    """max |x|"""
    top = 0.0
    for a in range(values.size):
        top = largest(top, abs(values[a]))
    return top


@borrowing
def sum_violations(gradient: Float, rise: Float, fall: Float, tops: Float, bottoms: Float) -> float:
    """Σ over variables of how far the gradient exceeds the middle of the extremes of its group."""
    total = 0.0
    for g in range(tops.size):
        middle = 0.5 * (tops[g] + bottoms[g])
        for a in range(gradient.size):
            up, down = gradient[a] + rise[g, a] - middle, middle - gradient[a] - fall[g, a]
            total += largest(largest(up, down), 0.0)
    return total


def marked(places: Int, size: int) -> Bool:
    """Mask of length `size` that is true at these places."""
    marks = np.zeros(size, dtype=np.bool_)
    marks[places] = True
    return marks


class Active:
    """Some samples of a problem with all variables that belong to them.

    Attributes
    ----------
    v : Variables
    copies : int
        Variables a sample; variable a belongs to sample ``a % size``.
    samples : int array
        Which samples of the problem these are, `size` of them.
    rows : FullRows, CachedRows or BlockRowCache
        One column per sample.
    folded : bool
        Whether the two variables of each sample are folded into one with a kink.
    variables : int array
        Of a part: the places of its variables in the set that it was taken from.
    """

    variables: Int

    def __init__(self, v: r.Variables, copies: int, samples: Int, rows: Rows, folded: bool) -> None:
        self.v, self.copies, self.samples, self.rows = v, copies, samples, rows
        self.size, self.folded = samples.size, folded

    @classmethod
    def of(
        cls,
        problem: DualProblem,
        rows: Rows,
        diagonal: Float,
        alpha: Float,
        gradient: Float,
        samples: Int | None = None,
    ) -> Active:
        """The given samples of a problem, or all of them."""
        copies, folded = problem.copies, problem.folds
        a: Int | slice = slice(None)
        if samples is None:
            samples = np.arange(problem.samples)
        else:
            diagonal = diagonal[samples]
            a = (np.arange(copies)[:, None] * problem.samples + samples).ravel()
        alpha, gradient, ridge, group = alpha[a], gradient[a], problem.ridge[a], problem.group[a]
        lower, upper, kink = problem.lower[a], problem.upper[a], None
        if folded:
            n, copies = samples.size, 1
            kink = 0.5 * (problem.linear[a][n:] - problem.linear[a][:n])
            alpha, gradient = alpha[:n] + alpha[n:], gradient[:n] + kink
            ridge, group, lower, upper = ridge[:n], group[:n], lower[n:], upper[:n]
        groups = problem.totals.size
        # Without kinks both pairs of bounds are the same arrays.
        lower, upper = lowest, highest = lower.copy(), upper.copy()
        if folded:
            lower, upper = lowest.copy(), highest.copy()
        v = r.Variables(
            alpha=alpha.copy(),
            gradient=gradient.copy(),
            lower=lower,
            upper=upper,
            ridge=ridge.copy(),
            diagonal=diagonal.copy() if copies == 1 else np.tile(diagonal, copies),
            group=group.copy(),
            rise=np.empty((groups, alpha.size)),
            fall=np.empty((groups, alpha.size)),
            scores=np.empty(alpha.size, dtype=np.float32),
            kink=np.zeros(alpha.size) if kink is None else kink,
            lowest=lowest,
            highest=highest,
        )
        begin(v)
        return cls(v, copies, samples, rows, folded)

    def names(self) -> Int:
        """Ascending identifiers of the variables that are the same in every set."""
        return (self.samples + MOST_SAMPLES * np.arange(self.copies)[:, None]).ravel()

    def part(self, keep: Int, rows: Rows) -> Active:
        """The samples `keep` (indices into this set) alone."""
        variables = (np.arange(self.copies)[:, None] * self.size + keep).ravel()
        v = r.Variables(*map(methodcaller("take", variables, axis=-1), self.v))
        part = Active(v, self.copies, self.samples[keep], rows, self.folded)
        part.variables = variables
        return part

    def write(self, alpha: Float, gradient: Float) -> None:
        """Copy α and G into arrays of all variables."""
        v, places = self.v, self._places(alpha.size)
        if self.folded:
            alpha[places] = np.append(np.maximum(v.alpha, 0.0), np.minimum(v.alpha, 0.0))
            gradient[places] = np.append(v.gradient - v.kink, v.gradient + v.kink)
        else:
            alpha[places] = v.alpha
            gradient[places] = v.gradient

    def take_gradient(self, gradient: Float) -> None:
        """Copy G from an array of all variables."""
        v = self.v
        v.gradient[:] = gradient[self._places(gradient.size)][: v.gradient.size]
        if self.folded:
            v.gradient[:] += v.kink

    def _places(self, size: int) -> Int | slice:
        """Places of the variables of these samples among all `size` variables."""
        copies = 2 if self.folded else self.copies
        if self.size * copies == size:
            return slice(None)
        return (np.arange(copies)[:, None] * (size // copies) + self.samples).ravel()

    def inside(self) -> Bool:
        """Mask of the free variables: neither at a bound nor at a kink."""
        inside = np.zeros(self.v.alpha.size, dtype=np.bool_)
        note_free(self.v.rise, self.v.fall, inside)
        return inside

    def free(self) -> Int:
        return np.flatnonzero(self.inside())

    def has_free(self) -> Bool:
        """Mask of the samples with a free variable."""
        return np.asarray(self.inside().reshape(self.copies, self.size).any(axis=0))

    def slopes(self, free: Int) -> Float:
        """The gradient of free variables, on the side of the kink where they are."""
        return self.v.gradient[free] + self.v.rise[self.v.group[free], free]

    def place(self, variables: Int, values: Float) -> None:
        """Set the α of variables, exactly, and update the gradient."""
        v = self.v
        delta = values - v.alpha[variables]
        v.alpha[variables] = values
        v.gradient[variables] -= v.ridge[variables] * delta
        renew(v, variables)
        moved, change = variables[delta != 0.0], delta[delta != 0.0]
        if self.copies > 1:
            change = np.bincount(moved % self.size, change, minlength=self.size)
            moved = np.flatnonzero(change)
            change = change[moved]
        if moved.size:
            pull = self.rows.combine(moved, change)
            for start in range(0, v.gradient.size, self.size):
                v.gradient[start : start + self.size] -= pull

    def extremes(self) -> tuple[Float, Float]:
        """Largest gradient that may rise and smallest that may fall, a group each."""
        v = self.v
        tops, bottoms = np.empty((2, len(v.rise)))
        extremes(v.gradient, v.rise, v.fall, tops, bottoms)
        return tops, bottoms

    def violation(self, tops: Float | None = None, bottoms: Float | None = None) -> float:
        """ψ: how far rising exceeds falling, in the worst group; `extremes` go to the arrays."""
        v = self.v
        if tops is None or bottoms is None:
            tops, bottoms = np.empty((2, len(v.rise)))
        return extremes(v.gradient, v.rise, v.fall, tops, bottoms)

    def total_violation(self) -> float:
        return sum_violations(self.v.gradient, self.v.rise, self.v.fall, *self.extremes())

    def settled(self) -> Bool:
        """Mask of the variables that the shrinking rule leaves out: at a bound or a kink, with a
        gradient that keeps them there."""
        v = self.v
        tops, bottoms = self.extremes()
        if tops.size == 1:
            return np.asarray((v.gradient + v.rise[0] < bottoms) & (v.gradient + v.fall[0] > tops))
        stays_low = v.gradient + v.rise.max(axis=0) < bottoms[v.group]
        return np.asarray(stays_low & (v.gradient + v.fall.min(axis=0) > tops[v.group]))

    def staying(self) -> Int:
        """Samples (as indices into this set) with a variable that is not settled."""
        return np.flatnonzero(~self.settled().reshape(self.copies, self.size).all(axis=0))

    def estimated_gap(self) -> float:
        """Duality gap Σ loss_a(e_a) − α_a e_a + κ_a|α_a| + ½ ridge_a α_a², e = G + ridge·α − b, of
        these variables; those left out by shrinking contribute nothing at the optimum."""
        v, free = self.v, self.inside()
        tops, bottoms = self.extremes()
        # If no variable may rise, or none fall, one of the extremes is infinite.
        tops, bottoms = (np.where(np.isinf(a), b, a) for a, b in ((tops, bottoms), (bottoms, tops)))
        bias = np.where(np.isinf(tops), 0.0, 0.5 * tops + 0.5 * bottoms)
        for g in range(bias.size):
            members = free & (v.group == g)
            if members.any():
                bias[g] = (v.gradient[members] + v.rise[g, members]).mean()
        error = v.gradient + v.ridge * v.alpha - bias[v.group]
        pull = np.sign(error) * np.maximum(np.abs(error) - v.kink, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.where(v.ridge > 0, pull / v.ridge, np.sign(pull) * np.inf)
            best = np.clip(np.where(pull == 0, 0.0, best), v.lowest, v.highest)
            loss = np.where(pull == 0, 0.0, pull * best) - 0.5 * v.ridge * best**2
        own = v.alpha * error - v.kink * np.abs(v.alpha) - 0.5 * v.ridge * v.alpha**2
        return float((loss - own).sum())
