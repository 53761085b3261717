"""NoisyRprop: descent by the signs of noisy derivatives (Algorithm 11.2).

With a fixed step size δ_i the walk samples a distribution around the optimum, which is narrower for
smaller δ_i. After an episode of N_i steps, three statistics of coordinate i are compared with those
of a random walk::

    S₁ = (x(N) − x(0)) / (δ √N)          large, a drift: δ·2, N/2;  small, arrived: δ/2, N·2
    S₂ = (max x − min x) / (δ √N)        narrow, long enough: N/2;  wide: N·2
    S₃ = √N (R/r − L/l) / ((R + L)/N)    large, mean and median differ: average M·2 gradients, N/2;
                                         small: M/2, N·2

L, l are the sum and the number of gradients that led to the left, R, r to the right. The maximum
and the minimum are taken over I = 100 moments of the episode. Quantiles are those of the thesis.

Algorithm 11.2 is misprinted. Here the moments are ⌊tN/I⌋, t = 1 … I; S₃ is scaled as above;
an episode begins with k = 0; and δ follows S₁ alone. If S₂ changed δ as well and N always grew when
δ shrank, N would grow without bound on f⁽¹⁾, unlike in Figure 11.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...runtime.jit import compiled
from ..base import Float, Limits, Objective, P
from .base import Optimiser, require_finite, require_gradient

Int = NDArray[np.int64]

SHORTEST_EPISODE = 40
MOMENTS = 100

# Rows of the integer and the real state, a column for each coordinate.
EPISODE, AVERAGE, TAKEN, SUMMED, LEFT, RIGHT, INTEGERS = range(7)
STEP, SUM, OFFSET, LEAST, MOST, LEFT_SUM, RIGHT_SUM, REALS = range(8)


@compiled
def take_gradient(
    gradient: Float, below: Float, above: Float, integers: Int, reals: Float, delta: Float
) -> None:
    """One iteration; writes the step of each coordinate to `delta`."""
    for i in range(gradient.size):
        delta[i] = 0.0
        reals[SUM, i] += gradient[i]
        integers[SUMMED, i] += 1
        if integers[SUMMED, i] < integers[AVERAGE, i]:
            continue
        total = reals[SUM, i]
        reals[SUM, i] = 0.0
        integers[SUMMED, i] = 0
        if total > 0.0:
            delta[i] = -min(reals[STEP, i], below[i])
            reals[LEFT_SUM, i] += total
            integers[LEFT, i] += 1
        elif total < 0.0:
            delta[i] = min(reals[STEP, i], above[i])
            reals[RIGHT_SUM, i] -= total
            integers[RIGHT, i] += 1
        reals[OFFSET, i] += delta[i]
        integers[TAKEN, i] += 1
        taken, episode = integers[TAKEN, i], integers[EPISODE, i]
        moment = -(-taken * MOMENTS // episode)
        if taken == moment * episode // MOMENTS:
            reals[LEAST, i] = min(reals[LEAST, i], reals[OFFSET, i])
            reals[MOST, i] = max(reals[MOST, i], reals[OFFSET, i])
        if taken == episode:
            adapt(integers[:, i], reals[:, i])


@compiled
def adapt_average(integers: Int, reals: Float) -> float:
    """Average more or fewer gradients; return the factor on the length of the episode."""
    if integers[LEFT] == 0 or integers[RIGHT] == 0:
        return 1.0
    length = integers[EPISODE]
    left, right = reals[LEFT_SUM], reals[RIGHT_SUM]
    difference = right / integers[RIGHT] - left / integers[LEFT]
    # |S₃|, and its quantiles under the hypothesis of a random walk.
    skew = abs(np.sqrt(length) * difference / ((left + right) / length))
    if skew < 0.29 and integers[AVERAGE] >= 2:
        integers[AVERAGE] //= 2
        return 2.0
    if skew > 2.5:
        integers[AVERAGE] *= 2
        return 0.5
    return 1.0


@compiled
def adapt(integers: Int, reals: Float) -> None:
    """The end of an episode of one coordinate."""
    length = integers[EPISODE]
    root = np.sqrt(length)
    # |S₁| and S₂, and their quantiles under the hypothesis of a random walk.
    walked = abs(reals[OFFSET]) / (reals[STEP] * root)
    width = (reals[MOST] - reals[LEAST]) / (reals[STEP] * root)
    longer = 1.0
    if walked > 1.64:
        reals[STEP] *= 2.0
        longer *= 0.5
    else:
        if walked < 0.25:
            reals[STEP] *= 0.5
            longer *= 2.0
        if width < 0.95:
            longer *= 0.5
        elif width > 1.77:
            longer *= 2.0
        longer *= adapt_average(integers, reals)
    integers[EPISODE] = max(SHORTEST_EPISODE, int(longer * length))
    integers[TAKEN] = integers[LEFT] = integers[RIGHT] = 0
    reals[OFFSET] = reals[LEAST] = reals[MOST] = reals[LEFT_SUM] = reals[RIGHT_SUM] = 0.0


class NoisyRprop(Optimiser[P]):
    """Algorithm 11.2 of the thesis: a random walk that narrows around the point where the mean of
    the noisy gradient vanishes.

    Parameters
    ----------
    start : Point
    step : float or array
        First step sizes.
    limits : Limits, optional

    Attributes
    ----------
    steps : array
        Step size δ of each coordinate.
    episodes, averages : int arrays
        Episode length N and number of averaged gradients M of each coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import NoisyRprop, Vector
    >>> from maxmargin.tuning.noise import SkewedSlope
    >>> optimiser = NoisyRprop(Vector(np.array([1.8])), step=0.01)
    >>> result = optimiser.run(SkewedSlope(random_state=0), evaluations=100_000)
    >>> bool(abs(result.point.theta[0] - 0.75) < 0.05)
    True
    """

    def __init__(self, start: P, step: float | Float = 0.05, limits: Limits | None = None) -> None:
        super().__init__(start, limits)
        self._integers = np.zeros((INTEGERS, self.size), dtype=np.int64)
        self._integers[EPISODE] = SHORTEST_EPISODE
        self._integers[AVERAGE] = 1
        self._reals = np.zeros((REALS, self.size))
        self._reals[STEP] = step
        if not (self._reals[STEP] > 0).all():
            raise ValueError(f"step must be positive, got {step}")
        self._delta = np.zeros(self.size)
        self._good: P | None = None

    @property
    def steps(self) -> Float:
        return np.array(self._reals[STEP])

    @property
    def episodes(self) -> NDArray[np.int64]:
        return np.array(self._integers[EPISODE])

    @property
    def averages(self) -> NDArray[np.int64]:
        return np.array(self._integers[AVERAGE])

    def _iterate(self, objective: Objective[P], left: float) -> None:
        del left
        require_gradient(objective, type(self).__name__)
        evaluation = self._evaluated(objective, self.point)
        if not evaluation.finite:
            if self._good is None:
                require_finite(evaluation)
            else:
                self._step_back(self._good)
            return
        self._good = self.point
        theta = self.point.theta
        assert evaluation.gradient is not None
        take_gradient(
            evaluation.gradient,
            np.maximum(theta - self.limits.low, 0.0),
            np.maximum(self.limits.high - theta, 0.0),
            self._integers,
            self._reals,
            self._delta,
        )
        if self._delta.any():
            self.point = self.point.moved(self._delta)

    def _step_back(self, good: P) -> None:
        """Return to the last point with a finite objective, and continue with shorter steps."""
        self.point = good
        self._reals[OFFSET] -= self._delta
        self._reals[STEP, self._delta != 0] *= 0.5
        self._delta[...] = 0.0
