"""More than two classes: a two-class objective summed over all pairs of classes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...kernels.base import Inputs, take
from ..base import Evaluation, Float, Objective, Point


class OverPairs(Objective[Point]):
    """The sum of a two-class objective over all pairs of classes.

    A machine for several classes consists of one for each pair, with the same kernel and C.

    Parameters
    ----------
    make : callable
        Takes inputs, labels −1 and +1 and weights, returns the objective of a pair.
    X : inputs
    y : labels
        Of two or more classes. Pairs with fewer than 4 samples, which cannot be split, are left
        out, unless that would leave none.
    *weights : float arrays
        One number for each sample, passed on to `make`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import OverPairs, Point, SpanBound
    >>> X, y = np.arange(12.0)[:, None], np.repeat(["a", "b", "c"], 4)
    >>> objective = OverPairs(SpanBound, X, y)
    >>> len(objective.parts)
    3
    """

    def __init__(
        self,
        make: Callable[..., Objective[Point]],
        X: Inputs,
        y: ArrayLike,
        *weights: Float,
    ) -> None:
        labels = np.asarray(y)
        self.parts: list[Objective[Point]] = []
        pairs = list(combinations(np.unique(labels), 2))
        if not pairs:
            raise ValueError("y must hold at least two classes, got one")
        members = [np.flatnonzero(np.isin(labels, pair)) for pair in pairs]
        fewest = min(4, max(each.size for each in members))
        for (_, second), chosen in zip(pairs, members):
            if chosen.size >= fewest:
                signs = np.where(labels[chosen] == second, 1.0, -1.0)
                own = [weight[chosen] for weight in weights]
                self.parts.append(make(take(X, chosen), signs, *own))
        self.maximise = self.parts[0].maximise
        self.noisy = self.parts[0].noisy
        self.differentiable = self.parts[0].differentiable

    def value(self, point: Point) -> float:
        """The value alone."""
        return sum(part.value(point) for part in self.parts)

    def evaluate(self, point: Point) -> Evaluation:
        evaluations = [part.evaluate(point) for part in self.parts]
        value = sum(evaluation.value for evaluation in evaluations)
        if not self.differentiable:
            return Evaluation(value)
        slopes = [each.gradient for each in evaluations if each.gradient is not None]
        return Evaluation(value, np.sum(slopes, axis=0))

    def state(self) -> dict[str, Any]:
        return {"parts": [part.state() for part in self.parts]}

    def restore(self, state: dict[str, Any]) -> None:
        for part, known in zip(self.parts, state["parts"], strict=True):
            part.restore(known)
