"""Active learning: which labels to request, and training that requests them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from ...kernels.base import count, take
from ..clock import Clock
from ..inputs import training_inputs
from ..template import blank, take_over
from .progress import Pace, QuietReporter, warn_early

STRATEGIES = ("margin", "random", "auto")
# "auto" draws random samples, this many at a time for each label requested, until ENOUGH of them
# are inside the margin for each.
LOOK, ENOUGH = 20, 5


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


class ActiveLearner(BaseEstimator):  # type: ignore[misc]
    """A classifier that chooses the samples to be labelled."""

    def query(self, pool: Any, k: Any = 1) -> np.ndarray:
        """The samples whose labels are most informative.

        Parameters
        ----------
        pool : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples without labels.
        k : int
            How many to choose.

        Returns
        -------
        ndarray of min(k, n_samples) indices, the most informative first
            An untrained model returns random indices.
        """
        self._check_parameters()
        trained = hasattr(self, "machines_")
        X = self._next_inputs(pool) if trained else pool
        return self._queried(X, np.arange(count(X)), int(k), trained)[0]

    def _queried(
        self, X: Any, candidates: np.ndarray, k: int, trained: bool = True
    ) -> tuple[np.ndarray, bool]:
        """The chosen candidates, and whether any candidate may be inside the margin."""
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        random = np.random.default_rng([self._seed(), getattr(self, "n_seen_", 0)])
        shuffled = candidates[random.permutation(candidates.size)]
        if self.querying == "random" or not trained:
            return shuffled[:k], True
        if self.querying == "margin":
            doubt, inside = self._doubts(X, candidates)
            return candidates[np.argsort(doubt, kind="stable")[:k]], bool(inside.any())
        seen, doubts, found = 0, [], 0
        while seen < shuffled.size and found < ENOUGH * k:
            doubt, inside = self._doubts(X, shuffled[seen : seen + LOOK * k])
            doubts.append(doubt)
            seen, found = seen + doubt.size, found + int(inside.sum())
        order = np.argsort(np.concatenate(doubts), kind="stable")
        return shuffled[order[:k]], found > 0

    def _doubts(self, X: Any, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distance of each sample from a decision boundary, and whether it is inside a margin."""
        whole = places.size == count(X) and (places == np.arange(places.size)).all()
        values = self.machines_.values(X if whole else take(X, places))
        inside = (np.abs(values) < 1.0).any(axis=1)
        if values.shape[1] == 1:
            return np.abs(values[:, 0]), inside
        best = np.partition(values, -2, axis=1)[:, -2:]
        return best[:, 1] - best[:, 0], inside

    def fit_active(
        self,
        pool: Any,
        oracle: Callable[[np.ndarray], Any],
        *,
        max_labels: Any = None,
        batch_size: Any = None,
        test: Any = None,
    ) -> Self:
        """Train on a pool of samples whose labels are requested in batches.

        It starts with random samples, continues with those of `query`, and ends when no unlabelled
        sample lies inside the margin, when `max_labels` are used or when the pool is empty. All
        labelled samples are processed again after each batch. After Ctrl-C, also during a call of
        the oracle, the model learned from the labels so far is kept.

        Parameters
        ----------
        pool : {array-like, sparse matrix} of shape (n_samples, n_features)
        oracle : callable
            Takes an array of indices into the pool, returns their labels.
        max_labels : int, optional
            None stands for all of them.
        batch_size : int, optional
            Labels requested at a time; None stands for a hundredth of the pool, at least 10.
        test : tuple (X, y), optional
            Samples on which the accuracy in `label_curve_` is measured.

        Returns
        -------
        self
        """
        self._check_parameters()
        if self.class_weight == "balanced":
            raise ValueError('class_weight="balanced" needs all labels: give a dict of weights')
        model = blank(self)
        X, _ = training_inputs(model, pool, None)
        X = X.to_numpy() if hasattr(X, "iloc") else X
        size = count(X)
        limit = size if max_labels is None else min(int(max_labels), size)
        batch = max(10, size // 100) if batch_size is None else int(batch_size)
        if limit < 1 or batch < 1:
            raise ValueError(
                f"max_labels and batch_size must be at least 1, got {max_labels}, {batch_size}"
            )
        with QuietReporter(self) as reporter:
            reporter.begin(1)
            pace = Pace(Clock(self.max_seconds), reporter.listen(0, type(self).__name__))
            learner = _Labelled(model, X, oracle, pace)
            curve = learner.course(limit, batch, test)
        model.n_seen_, model.label_curve_, model.status_ = size, curve, curve.reason
        take_over(self, model)
        if curve.reason == "interrupted":
            raise KeyboardInterrupt("fit_active was interrupted; the model so far is kept")
        if curve.reason in ("time_limit", "stopped"):
            warn_early(self, curve.reason, f"{curve.asked.size:,} labels were used.", 2)
        return self


class _Labelled:
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
            chosen, inside = self.model._queried(self.X, self._unknown(), wanted, self.trained)
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
            model.classes_, model.class_weight_ = classes, model._factors(classes)
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
