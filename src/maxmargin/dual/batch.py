"""Problems on subsets of the same samples, such as pairs of classes, and their certificates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.jit import compiled_strict
from .certificate import gap_and_infeasibility, gradient_and_value
from .problem import DualProblem, Float, Int, meeting

# Columns of the facts that `certify_parts` writes for each problem.
BIAS, VIOLATION, DUAL, GAP, INFEASIBILITY, FACTS = range(6)


class Parts(NamedTuple):
    """The concatenated arrays of all problems, each of the common form (`DualProblem.is_common`).

    Either the Gram matrix of all samples is given, or the points of a Gaussian, one column each
    (`Gram.transposed_points`); the other is empty.
    """

    ends: Int  # where the arrays of each problem end
    places: Int  # index of each sample among all
    linear: Float
    lower: Float
    upper: Float
    ridge: Float
    matrix: NDArray[np.floating]
    points: NDArray[np.floating]

    @classmethod
    def of(
        cls, problems: list[DualProblem], places: list[Int], matrix: Float, points: Float
    ) -> Parts:
        return cls(
            ends=np.cumsum([problem.size for problem in problems]),
            places=np.concatenate(places),
            linear=np.concatenate([problem.linear for problem in problems]),
            lower=np.concatenate([problem.lower for problem in problems]),
            upper=np.concatenate([problem.upper for problem in problems]),
            ridge=np.concatenate([problem.ridge for problem in problems]),
            matrix=matrix,
            points=points,
        )

    def only(self, numbers: list[int]) -> tuple[Parts, Int]:
        """Some of the problems, and the places of their variables in the concatenated arrays."""
        starts = [0, *self.ends[:-1].tolist()]
        inside = np.concatenate([np.arange(starts[k], self.ends[k]) for k in numbers])
        sizes = [int(self.ends[k]) - starts[k] for k in numbers]
        chosen = Parts(
            ends=np.cumsum(sizes),
            places=self.places[inside],
            linear=self.linear[inside],
            lower=self.lower[inside],
            upper=self.upper[inside],
            ridge=self.ridge[inside],
            matrix=self.matrix,
            points=self.points,
        )
        return chosen, inside

    def some(self, first: int, last: int) -> Parts:
        """The problems from `first` to before `last`."""
        start, stop = self.ends[first - 1] if first else 0, self.ends[last - 1]
        return Parts(
            ends=self.ends[first:last] - start,
            places=self.places[start:stop],
            linear=self.linear[start:stop],
            lower=self.lower[start:stop],
            upper=self.upper[start:stop],
            ridge=self.ridge[start:stop],
            matrix=self.matrix,
            points=self.points,
        )


@compiled_strict
def certify_parts(parts: Parts, alpha: Float, sums: Float, gradient: Float, facts: Float) -> None:
    """Write the gradient and the facts about α of all problems, given Kα."""
    totals, bias = np.zeros(1), np.zeros(1)
    for k in range(parts.ends.size):
        start, stop = parts.ends[k - 1] if k else 0, parts.ends[k]
        linear, ridge = parts.linear[start:stop], parts.ridge[start:stop]
        lower, upper = parts.lower[start:stop], parts.upper[start:stop]
        known, pull, slope = alpha[start:stop], sums[start:stop], gradient[start:stop]
        group, fact = np.zeros(stop - start, np.int64), facts[k]
        fact[DUAL] = gradient_and_value(linear, ridge, known, pull, slope)
        fact[VIOLATION] = meeting(known, slope, lower, upper, group, bias)
        fact[BIAS] = bias[0]
        fact[GAP], fact[INFEASIBILITY] = gap_and_infeasibility(
            linear, lower, upper, ridge, group, totals, known, pull, bias
        )
