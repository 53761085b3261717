"""The quadratic program every machine is an instance of, as plain arrays.

    maximise    linear·α − ½ αᵀQα         Q_ab = K[index_a, index_b] + ridge_a·[a = b]
    subject to  lower ≤ α ≤ upper,  Σ α = totals[g] inside each group g

Labels never reach a solver: α is signed. The gradient is G = linear − Qα, and a feasible α is
optimal when inside each group no variable that may rise has a larger gradient than one that may
fall; `bias` is where the two meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.jit import borrowing_fused

Float = NDArray[np.float64]
Int = NDArray[np.int64]

# Allowed rounding of a float64 sum, as a fraction of the sum of absolute values.
ROUNDING = 1e-14
# Array types covered by the fast check: linear, lower, upper, ridge, group, totals.
PLAIN = [np.dtype(kind) for kind in ("f8", "f8", "f8", "f8", "i8", "f8")]
# Flags returned by `traits`: all arrays are valid; a loss is a constraint (an infinite bound
# without ridge); α = 0 is feasible; all totals are 0.
SOUND, CONSTRAINED, ZERO_FEASIBLE, ZERO_TOTALS = 1, 2, 4, 8


@dataclass(frozen=True, eq=False)
class DualProblem:
    """A box- and sum-constrained quadratic program over kernel expansions.

    The variables come in whole copies of the samples: variable a belongs to sample
    ``a % samples``. Machines for classification have one copy, regression has two.

    Parameters
    ----------
    linear, lower, upper, ridge : float arrays of one length
    group : int array of that length
        Variables of one group share one sum constraint.
    totals : float array
        The sum of α demanded of each group.
    samples : int
    biased : bool
        Whether there is a bias. Without one it is 0, `totals` are not demanded, and α is optimal
        when no variable that may rise has a positive gradient, and none that may fall a negative.
        Of two groups, α ≥ 0 and α ≤ 0, the difference of `totals` is demanded: the sum of |α|.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> problem = hinge(np.array([-1, 1]), C=1.0).problem
    >>> alpha, K = np.array([-0.5, 0.5]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> problem.size, problem.value(alpha, problem.gradient(alpha, K @ alpha))
    (2, 0.5)
    """

    linear: Float
    lower: Float
    upper: Float
    ridge: Float
    group: Int
    totals: Float
    samples: int
    biased: bool = True

    def __post_init__(self) -> None:
        if not self._is_sound():
            self._explain()

    def _is_sound(self) -> bool:
        """Fast check that the arrays are valid; false if it needs the thorough one."""
        arrays = self.linear, self.lower, self.upper, self.ridge, self.group, self.totals
        shape = (self.linear.size,)
        for array, kind in zip(arrays, PLAIN):
            if array.dtype != kind or (array.shape != shape and array is not self.totals):
                return False
        if self.samples <= 0 or self.linear.size % self.samples:
            return False
        found = traits(*arrays, ROUNDING)
        size = self.linear.size
        vars(self).update(traits=found, size=size, copies=size // self.samples)
        return bool(found)

    @cached_property
    def traits(self) -> int:
        """The flags that the function `traits` finds."""
        arrays = self.linear, self.lower, self.upper, self.ridge, self.group, self.totals
        linear, lower, upper, ridge, group, totals = (
            np.asarray(array, kind) for array, kind in zip(arrays, PLAIN)
        )
        return int(traits(linear, lower, upper, ridge, group, totals, ROUNDING))

    def _explain(self) -> None:
        """Raise an error that says what is wrong."""
        size = self.linear.size
        for name in ("linear", "lower", "upper", "ridge", "group"):
            array = getattr(self, name)
            if array.shape != (size,):
                raise ValueError(f"{name} must have shape ({size},), got {array.shape}")
            if array.dtype.kind == "f" and np.isnan(array).any():
                raise ValueError(f"{name} contains NaN")
        if self.samples <= 0 or size % self.samples:
            raise ValueError(
                f"{size} variables are not whole copies of samples={self.samples} samples"
            )
        if (self.lower > self.upper).any():
            raise ValueError("lower must not exceed upper")
        if (self.lower == np.inf).any() or (self.upper == -np.inf).any():
            raise ValueError("lower must be below +infinity and upper above -infinity")
        if (self.ridge < 0).any():
            raise ValueError("ridge must not be negative")
        for name in ("linear", "ridge", "totals"):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name} must be finite")
        if ((self.group < 0) | (self.group >= self.totals.size)).any():
            raise ValueError(f"group must be between 0 and {self.totals.size - 1}")
        for g, total in enumerate(self.totals):
            members = self.group == g
            low, high = self.lower[members].sum(), self.upper[members].sum()
            bounds = abs(total)
            for bound in (self.lower[members], self.upper[members]):
                bounds += np.abs(bound).sum(where=np.isfinite(bound))
            slack = ROUNDING * bounds
            if not low - slack <= total <= high + slack:
                raise ValueError(
                    f"infeasible: the variables of group {g} sum to between {low:g} and "
                    f"{high:g}, but totals[{g}] = {total:g}"
                )

    @cached_property
    def size(self) -> int:
        """Number of variables."""
        return self.linear.size

    @cached_property
    def copies(self) -> int:
        """Variables of each sample."""
        return self.linear.size // self.samples

    @property
    def is_common(self) -> bool:
        """Whether there is one group, with sum 0, and one variable per sample, in a finite box that
        contains 0 or with a ridge: classification with a bias."""
        one = self.biased and self.totals.size == 1 and self.copies == 1
        return one and self.traits == SOUND + ZERO_FEASIBLE + ZERO_TOTALS

    @property
    def folds(self) -> bool:
        """Whether the two variables of every sample, one in [0, C] and one in [−C, 0], can be
        folded into a single one, whose gradient then has a downward step at 0."""
        return self.copies == 2 and self._are_sides

    @cached_property
    def _are_sides(self) -> bool:
        if self.ridge.any():
            return False
        (up, down), (least, _), (_, most) = (
            values.reshape(2, self.samples) for values in (self.linear, self.lower, self.upper)
        )
        first, second = self.group.reshape(2, self.samples)
        return not (least.any() or most.any() or (first != second).any() or (up > down).any())

    @property
    def signs(self) -> Float:
        """+1 for the variables of the first group, −1 for those of others."""
        return np.where(self.group == 0, 1.0, -1.0)

    @cached_property
    def in_sizes(self) -> DualProblem:
        """Of two groups, α ≥ 0 and α ≤ 0, without a bias: the problem of |α|, which has one sum.
        Its Gram matrix has the signs of both variables as factors."""
        s = self.signs
        return DualProblem(
            linear=s * self.linear,
            lower=np.where(s > 0, self.lower, -self.upper),
            upper=np.where(s > 0, self.upper, -self.lower),
            ridge=self.ridge,
            group=np.zeros(self.size, dtype=np.int64),
            totals=np.array([self.totals[0] - self.totals[1]]),
            samples=self.size,
        )

    @property
    def constrained(self) -> bool:
        """Whether a loss is a constraint: an infinite bound without ridge."""
        return bool(self.traits & CONSTRAINED)

    @property
    def contains_zero(self) -> bool:
        """Whether α = 0, whose dual value is 0, is feasible."""
        return bool(self.traits & ZERO_FEASIBLE)

    @property
    def balanced(self) -> bool:
        """Whether all sums are 0."""
        return bool(self.traits & ZERO_TOTALS)

    @property
    def index(self) -> Int:
        """The sample of each variable."""
        return np.arange(self.size) % self.samples

    def of_samples(self, values: Any) -> Float:
        """One value per sample, repeated for each of its variables."""
        values = np.asarray(values, dtype=np.float64)
        return values if self.copies == 1 else np.tile(values, self.copies)

    def per_sample(self, alpha: Float) -> Float:
        """α summed over the variables of each sample: the coefficients of the expansion."""
        if self.copies == 1:
            return alpha.copy()
        coefficients: Float = alpha.reshape(self.copies, self.samples).sum(axis=0)
        return coefficients

    def sums(self, alpha: Float) -> Float:
        """Σ α in each group, to be compared with `totals`."""
        return np.array([alpha[self.group == g].sum() for g in range(self.totals.size)])

    def gradient(self, alpha: Float, kernel_alpha: Float) -> Float:
        """G = linear − Qα, given Kα for every sample."""
        return self.linear - self.of_samples(kernel_alpha) - self.ridge * alpha

    def expansion(self, alpha: Float, gradient: Float) -> Float:
        """Kα for every sample, given the gradient."""
        known: Float = self.linear - gradient - self.ridge * alpha
        return known[: self.samples]

    def value(self, alpha: Float, gradient: Float) -> float:
        """The dual value linear·α − ½ αᵀQα."""
        return float(0.5 * (alpha @ (self.linear + gradient)))

    def can_rise(self, alpha: Float) -> NDArray[np.bool_]:
        """Which variables are below their upper bound."""
        return alpha < self.upper

    def can_fall(self, alpha: Float) -> NDArray[np.bool_]:
        """Which variables are above their lower bound."""
        return alpha > self.lower

    def free(self, alpha: Float) -> NDArray[np.bool_]:
        """Which variables are between their bounds."""
        return (alpha < self.upper) & (alpha > self.lower)

    def violation(self, alpha: Float, gradient: Float) -> float:
        """ψ(α): how far rising exceeds falling, in the worst group; 0 at the optimum."""
        return self.bias_and_violation(alpha, gradient)[1]

    def bias(self, alpha: Float, gradient: Float) -> Float:
        """Where up and down meet in each group: the mean gradient of the free variables,
        or the middle of the interval that optimality allows when none is free."""
        return self.bias_and_violation(alpha, gradient)[0]

    def bias_and_violation(self, alpha: Float, gradient: Float) -> tuple[Float, float]:
        """Both in one pass."""
        bias = np.zeros(self.totals.size)
        if not self.biased:
            if self.totals.size == 2:
                s = self.signs
                bias, found = self.in_sizes.bias_and_violation(s * alpha, s * gradient)
                return np.array([bias[0], -bias[0]]), found
            rising, falling = gradient[self.can_rise(alpha)], -gradient[self.can_fall(alpha)]
            return bias, float(max(rising.max(initial=0.0), falling.max(initial=0.0)))
        violation: float = meeting(alpha, gradient, self.lower, self.upper, self.group, bias)
        return bias, violation

    def feasible(self, alpha: Float | None = None) -> Float:
        """The feasible point made from any α (zeros when None): clipped to the box, then each
        sum repaired.

        Variables that are free already move first, then those at a bound in their order, each as
        far as it can, so that a repair makes at most one more variable free and keeps α sparse.
        A feasible α comes back unchanged.
        """
        if alpha is None:
            alpha = np.zeros(self.size)
            if self.contains_zero:
                return alpha
        alpha = np.asarray(alpha, dtype=np.float64)
        if alpha.shape != (self.size,):
            raise ValueError(f"alpha must have shape ({self.size},), got {alpha.shape}")
        if not np.isfinite(alpha).all():
            raise ValueError("alpha contains NaN or infinity")
        alpha = np.clip(alpha, self.lower, self.upper)
        if not self.biased and self.totals.size == 2:
            return self.signs * self.in_sizes.feasible(self.signs * alpha)
        if not self.biased:
            return alpha
        for g, total in enumerate(self.totals):
            members = np.flatnonzero(self.group == g)
            alpha[members] = _with_sum(
                alpha[members], self.lower[members], self.upper[members], float(total)
            )
        return alpha


def _with_sum(alpha: Float, lower: Float, upper: Float, total: float) -> Float:
    """α moved inside its box until it sums to `total`, up to the rounding of the sum."""
    for _ in range(10):
        missing = total - alpha.sum()
        if abs(missing) <= ROUNDING * max(abs(total), np.abs(alpha).sum()):
            break
        limit = upper if missing > 0 else lower
        free = (lower < alpha) & (alpha < upper)
        order = np.argsort(~free, kind="stable")
        reach = np.cumsum(np.abs(limit - alpha)[order])
        enough = int(np.searchsorted(reach, abs(missing)))
        spent, last = order[:enough], order[enough : enough + 1]
        alpha[spent] = limit[spent]
        alpha[last] = np.clip(alpha[last] + (total - alpha.sum()), lower[last], upper[last])
    return alpha


@borrowing_fused
def traits(
    linear: Float, lower: Float, upper: Float, ridge: Float, group: Int, totals: Float, slack: float
) -> int:
    """The flags of a problem; without `SOUND` if these arrays do not form a feasible problem (NaN,
    infinite values other than bounds)."""
    constrained, inside, plain = False, True, True
    for a in range(linear.size):
        low, high, bend = lower[a], upper[a], ridge[a]
        if not (abs(linear[a]) < np.inf and 0.0 <= bend < np.inf):
            return 0
        if not (low <= high and low < np.inf and high > -np.inf):
            return 0
        if not 0 <= group[a] < totals.size:
            return 0
        constrained |= bend == 0.0 and (low == -np.inf or high == np.inf)
        inside &= low <= 0.0 <= high
    for g in range(totals.size):
        total = totals[g]
        least, most, size = 0.0, 0.0, abs(total)
        for a in range(linear.size):
            if group[a] == g:
                least += lower[a]
                most += upper[a]
                size += abs(lower[a]) if lower[a] > -np.inf else 0.0
                size += abs(upper[a]) if upper[a] < np.inf else 0.0
        if not (abs(total) < np.inf and least - slack * size <= total <= most + slack * size):
            return 0
        plain &= total == 0.0
    known = SOUND + (CONSTRAINED if constrained else 0) + (ZERO_TOTALS if plain else 0)
    return known + (ZERO_FEASIBLE if plain and inside else 0)


@borrowing_fused
def meeting(
    alpha: Float, gradient: Float, lower: Float, upper: Float, group: Int, bias: Float
) -> float:
    """Compute the bias of each group (`DualProblem.bias`); returns the violation ψ(α) of the worst
    group."""
    violation = 0.0
    for g in range(bias.size):
        top, bottom, total, count, level = -np.inf, np.inf, 0.0, 0, 0.0
        for a in range(alpha.size):
            if group[a] != g:
                continue
            value = gradient[a]
            rises, falls = alpha[a] < upper[a], alpha[a] > lower[a]
            if rises and not value <= top:
                top = value
            if falls and not value >= bottom:
                bottom = value
            if rises and falls:
                # Almost equal at the optimum, so that summing differences loses no digits.
                if count == 0:
                    level = value
                total += value - level
                count += 1
        if not top - bottom <= violation:
            violation = top - bottom
        if count > 0:
            bias[g] = level + total / count
        elif abs(top) < np.inf and abs(bottom) < np.inf:
            bias[g] = 0.5 * (top + bottom)
        elif abs(top) < np.inf:
            bias[g] = top
        elif abs(bottom) < np.inf:
            bias[g] = bottom
    return violation
