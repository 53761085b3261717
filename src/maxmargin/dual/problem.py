"""The quadratic program every machine is an instance of, as plain arrays.

    maximise    linear·α − ½ αᵀQα         Q_ab = K[index_a, index_b] + ridge_a·[a = b]
    subject to  lower ≤ α ≤ upper,  Σ α = totals[g] inside each group g

Labels never reach a solver: α is signed. The gradient is G = linear − Qα, and a feasible α is
optimal when inside each group no variable that may rise has a larger gradient than one that may
fall; `bias` is where the two meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]


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
    """

    linear: Float
    lower: Float
    upper: Float
    ridge: Float
    group: Int
    totals: Float
    samples: int

    def __post_init__(self) -> None:
        size = self.linear.size
        for name in ("linear", "lower", "upper", "ridge", "group"):
            array = getattr(self, name)
            if array.shape != (size,):
                raise ValueError(f"{name} must have shape ({size},), got {array.shape}")
            if np.isnan(array).any():
                raise ValueError(f"{name} contains NaN")
        if self.samples <= 0 or size % self.samples:
            raise ValueError(
                f"{size} variables are not whole copies of samples={self.samples} samples"
            )
        if (self.lower > self.upper).any():
            raise ValueError("lower must not exceed upper")
        if (self.ridge < 0).any():
            raise ValueError("ridge must not be negative")
        for g, total in enumerate(self.totals):
            members = self.group == g
            low, high = self.lower[members].sum(), self.upper[members].sum()
            slack = 1e-9 * max(1.0, abs(total))
            if not low - slack <= total <= high + slack:
                raise ValueError(
                    f"infeasible: the variables of group {g} sum to between {low:g} and "
                    f"{high:g}, but totals[{g}] = {total:g}"
                )

    @property
    def size(self) -> int:
        """Number of variables."""
        return self.linear.size

    @property
    def copies(self) -> int:
        return self.size // self.samples

    @property
    def index(self) -> Int:
        """The sample of each variable."""
        return np.arange(self.size) % self.samples

    def of_samples(self, values: Any) -> Float:
        """One value a sample, repeated for every variable of it."""
        return np.tile(np.asarray(values, dtype=np.float64), self.copies)

    def per_sample(self, alpha: Float) -> Float:
        """α summed over the variables of each sample: the coefficients of the expansion."""
        return alpha.reshape(self.copies, self.samples).sum(axis=0)

    def gradient(self, alpha: Float, kernel_alpha: Float) -> Float:
        """G = linear − Qα, given Kα for every sample."""
        return self.linear - self.of_samples(kernel_alpha) - self.ridge * alpha

    def value(self, alpha: Float, gradient: Float) -> float:
        """The dual value linear·α − ½ αᵀQα."""
        return float(0.5 * (alpha @ (self.linear + gradient)))

    def can_rise(self, alpha: Float) -> NDArray[np.bool_]:
        return alpha < self.upper

    def can_fall(self, alpha: Float) -> NDArray[np.bool_]:
        return alpha > self.lower

    def free(self, alpha: Float) -> NDArray[np.bool_]:
        return (alpha < self.upper) & (alpha > self.lower)

    def violation(self, alpha: Float, gradient: Float) -> float:
        """ψ(α): how far rising exceeds falling, in the worst group; 0 at the optimum."""
        worst = 0.0
        for g in range(self.totals.size):
            low, high = self._meeting(alpha, gradient, g)
            worst = max(worst, low - high)
        return worst

    def bias(self, alpha: Float, gradient: Float) -> Float:
        """Where up and down meet in each group: the mean gradient of the free variables,
        or the middle of the interval that optimality allows when none is free."""
        free = self.free(alpha)
        bias = np.zeros(self.totals.size)
        for g in range(bias.size):
            members = free & (self.group == g)
            if members.any():
                bias[g] = gradient[members].mean()
                continue
            low, high = self._meeting(alpha, gradient, g)
            if np.isfinite(low) and np.isfinite(high):
                bias[g] = 0.5 * (low + high)
            elif np.isfinite(low) or np.isfinite(high):
                bias[g] = low if np.isfinite(low) else high
        return bias

    def _meeting(self, alpha: Float, gradient: Float, g: int) -> tuple[float, float]:
        """Largest gradient that may rise, smallest that may fall, in group g."""
        members = self.group == g
        rising = gradient[members & self.can_rise(alpha)]
        falling = gradient[members & self.can_fall(alpha)]
        return (
            float(rising.max()) if rising.size else -np.inf,
            float(falling.min()) if falling.size else np.inf,
        )

    def feasible(self, alpha: Float | None = None) -> Float:
        """The feasible point made from any α: clipped to the box, then each sum repaired
        by moving the variables that have room, in proportion to their room."""
        if alpha is None:
            alpha = np.zeros(self.size)
        alpha = np.asarray(alpha, dtype=np.float64)
        if alpha.shape != (self.size,):
            raise ValueError(f"alpha must have shape ({self.size},), got {alpha.shape}")
        if not np.isfinite(alpha).all():
            raise ValueError("alpha contains NaN or infinity")
        alpha = np.clip(alpha, self.lower, self.upper)
        for g, total in enumerate(self.totals):
            self._repair(alpha, np.flatnonzero(self.group == g), float(total))
        return alpha

    def _repair(self, alpha: Float, members: Int, total: float) -> None:
        for _ in range(100):
            missing = total - alpha[members].sum()
            if abs(missing) <= 1e-15 * max(1.0, float(np.abs(alpha[members]).sum())):
                return
            limit = self.upper[members] if missing > 0 else self.lower[members]
            room = np.abs(limit - alpha[members])
            if not np.isfinite(room).all():
                room = np.where(np.isfinite(room), 0.0, 1.0)
            if room.sum() == 0.0:
                return
            share = np.minimum(1.0, abs(missing) / room.sum()) if np.isfinite(limit).all() else (
                abs(missing) / room.sum()
            )
            alpha[members] = np.clip(
                alpha[members] + np.sign(missing) * share * room,
                self.lower[members],
                self.upper[members],
            )
