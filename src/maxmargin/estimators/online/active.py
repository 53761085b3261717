"""Active learning: which labels to request, and training that requests them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...kernels.base import count, take
from .classes import factors_of
from .progress import Pace

STRATEGIES = ("margin", "random", "auto")


class LabelCurve(NamedTuple):
    """Accuracy against the number of labels requested.

    Attributes
    ----------
    labels : int array
        Labels used so far, after each batch.
    accuracy : float array
        On the test samples, or else on the samples labelled so far.
    asked : int array
        Indices into the pool, in the order in which labels were requested.
    reason : str
        Why it ended: "margin empty", "max_labels", "pool empty", or early by "time_limit",
        "stopped" (by the callback) or "interrupted".
    """

    labels: np.ndarray
    accuracy: np.ndarray
    asked: np.ndarray
    reason: str


def queried(
    model: Any,
    X: Any,
    candidates: np.ndarray,
    k: int,
    trained: bool = True,
    *,
    look: int = 20,
    enough: int = 5,
) -> tuple[np.ndarray, bool]:
    """The k candidates whose labels are most informative, and whether any candidate may be inside
    the margin.

    Parameters
    ----------
    model : OnlineSVC
    X : array, sparse matrix or list
        The pool.
    candidates : int array
        Indices into the pool.
    k : int
    trained : bool
        An untrained model returns random candidates.
    look, enough : int
        ``querying="auto"`` draws `look` random candidates at a time for each of the k, until
        `enough` of them are inside the margin for each.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    random = np.random.default_rng([model._seed(), getattr(model, "n_seen_", 0)])
    shuffled = candidates[random.permutation(candidates.size)]
    if model.querying == "random" or not trained:
        return shuffled[:k], True
    if model.querying == "margin":
        doubt, inside = doubts(model, X, candidates)
        return candidates[np.argsort(doubt, kind="stable")[:k]], bool(inside.any())
    seen, found, parts = 0, 0, []
    while seen < shuffled.size and found < enough * k:
        doubt, inside = doubts(model, X, shuffled[seen : seen + look * k])
        parts.append(doubt)
        seen, found = seen + doubt.size, found + int(inside.sum())
    order = np.argsort(np.concatenate(parts), kind="stable")
    return shuffled[order[:k]], found > 0


def doubts(model: Any, X: Any, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distance of each sample from a decision boundary, and whether it is inside a margin."""
    whole = places.size == count(X) and (places == np.arange(places.size)).all()
    values = model.machines_.values(X if whole else take(X, places))
    inside = (np.abs(values) < 1.0).any(axis=1)
    if values.shape[1] == 1:
        return np.abs(values[:, 0]), inside
    best = np.partition(values, -2, axis=1)[:, -2:]
    return best[:, 1] - best[:, 0], inside


class LabelledPool:
    """The labelled part of a pool, and the model that is trained on it."""

    def __init__(self, model: Any, X: Any, oracle: Callable[[np.ndarray], Any], pace: Pace) -> None:
        self.model, self.X, self.oracle, self.pace = model, X, oracle, pace
        self.asked = np.empty(0, dtype=np.int64)
        self.y: Any = None
        self.trained = False

    def course(self, limit: int, batch: int, test: Any) -> LabelCurve:
        """Ask for labels and learn until there is a reason to end."""
        labels, accuracy, reason = [], [], ""
        while not reason:
            reason = self._lesson(min(batch, limit - self.asked.size))
            if self.trained and reason not in ("margin empty", "interrupted"):
                try:
                    accuracy.append(self._accuracy(test))
                    labels.append(self.asked.size)
                except KeyboardInterrupt:
                    reason = "interrupted"
            if not reason and self.asked.size >= limit:
                reason = "pool empty" if limit == count(self.X) else "max_labels"
        if not self.trained:
            raise ValueError(
                f"the oracle gave {self.asked.size} labels of one class, "
                f"{np.unique(self.y).tolist()}: there is nothing to classify"
            )
        return LabelCurve(np.array(labels, dtype=np.int64), np.array(accuracy), self.asked, reason)

    def _lesson(self, wanted: int) -> str:
        """Learn some more labels; the reason to end, if there is one."""
        try:
            chosen, inside = queried(self.model, self.X, self._unknown(), wanted, self.trained)
            if self.trained and not inside:
                return "margin empty"
            answer = self._answer(chosen)
        except KeyboardInterrupt:
            if not self.trained:
                raise
            return "interrupted"
        return self._take_in(chosen, answer)

    def _answer(self, chosen: np.ndarray) -> np.ndarray:
        answer = np.asarray(self.oracle(chosen))
        if answer.shape != (chosen.size,):
            raise ValueError(
                f"oracle must return one label for each of {chosen.size} indices, got an array "
                f"of shape {answer.shape}"
            )
        return answer

    def _unknown(self) -> np.ndarray:
        known = np.zeros(count(self.X), dtype=bool)
        known[self.asked] = True
        return np.flatnonzero(~known)

    def _take_in(self, chosen: np.ndarray, answer: np.ndarray) -> str:
        """Learn the labels of the chosen samples; returns what ended it early, if anything."""
        model = self.model
        self.asked = np.append(self.asked, chosen)
        self.y = answer if self.y is None else np.append(self.y, answer)
        model.n_seen_ = self.asked.size
        classes = np.unique(self.y)
        if classes.size < 2:
            return ""
        if not self.trained or classes.size > model.classes_.size:
            # A new class changes the labels of every machine: all start again.
            model.classes_, model.class_weight_ = classes, factors_of(model.class_weight, classes)
            labelled = take(self.X, self.asked)
            model._begin(labelled, np.ones(self.asked.size))
            self.places = [np.full(count(self.X), -1) for _ in model.machines_.machines]
            self.trained = True
            chosen = self.asked
        return self._learn(chosen.size)

    def _learn(self, fresh: int) -> str:
        """The fresh samples first, then all again."""
        model, asked = self.model, self.asked
        codes = np.zeros(count(self.X), dtype=np.int64)
        codes[asked] = np.searchsorted(model.classes_, self.y)
        bound = model._bound(codes, np.ones(codes.size))
        for order in (asked[-fresh:], asked):
            lesson = self.pace.taught(
                model.machines_, self.X, codes, bound, None, self.places, order
            )
            if lesson.ended:
                return lesson.ended
        return ""

    def _accuracy(self, test: Any) -> float:
        if test is not None:
            return float(self.model.score(*test))
        return float(self.model.score(take(self.X, self.asked), self.y))
