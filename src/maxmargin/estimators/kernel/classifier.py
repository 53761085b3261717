"""Common base of the classifiers: classes, their weights, votes and probabilities."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ...dual import Machine
from .. import parameters as p
from ..available import available_if
from ..distinct import Samples
from ..targets import class_targets
from .machine import KernelMachine
from .multiclass import packed, pairs, scores, unpacked, votes
from .training.probability import Sigmoids, fitted_sigmoids, probabilities
from .training.problems import Trainer
from .training.tasks import Outcome, Task, by_class, coefficients


def _require_probabilities(classifier: Any) -> None:
    if not classifier.probability:
        raise AttributeError(
            f"predict_proba of this {type(classifier).__name__} is not available with "
            "probability=False: set probability=True and fit again"
        )


class KernelClassifier(ClassifierMixin, KernelMachine):  # type: ignore[misc]
    """A machine for two classes, or several such machines for more."""

    _rules: ClassVar[Any] = {
        "probability": partial(p.check_option, options=(False, True, "platt")),
        "class_weight": p.check_class_weight,
        "decision_function_shape": partial(p.check_option, options=("ovr", "ovo")),
        "break_ties": p.check_boolean,
        "multi_class": partial(p.check_option, options=("ovo", "ovr")),
        "n_jobs": p.check_jobs,
        "random_state": p.check_seed,
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on labelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the Gram matrix, of shape (n_samples, n_samples). For a
            callable or a kernel on other things (sequences), a list of these.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        fitted: Self = self._fit(X, y, sample_weight)
        return fitted

    def _targets(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = class_targets(y, weight, self.class_weight)
        self.classes_, self.class_weight_ = found.classes, found.factors
        return found.codes.astype(np.float64), found.weight

    def _has_multiple_problems(self) -> bool:
        return self.classes_.size > 2 or bool(self.probability)

    @abstractmethod
    def _machine(
        self, labels: np.ndarray, weight: np.ndarray, factor: np.ndarray, strict: bool = False
    ) -> Machine:
        """The machine for labels ±1, weights of samples and weights of their classes.

        With `strict`, parameters that are impossible for these samples raise an error.
        """

    def _tasks(self, samples: Samples, trainer: Trainer) -> list[Task]:
        codes = np.asarray(samples.y, dtype=np.int64)
        count = self.classes_.size
        weight, factor = samples.weight, self.class_weight_[codes]
        if count == 2:
            labels = np.where(codes == 0, 1.0, -1.0)
            name = f"{self.classes_[0]} vs {self.classes_[1]}"
            machine = self._machine(labels, weight, factor, strict=True)
            return [Task(name, machine, remake=self._machine)]
        if self.multi_class == "ovr":
            trainer.keep_matrix()
            return [
                Task(
                    f"{label} vs rest",
                    self._machine(np.where(codes == c, 1.0, -1.0), weight, factor),
                    remake=self._machine,
                )
                for c, label in enumerate(self.classes_)
            ]
        members = [np.flatnonzero(codes == c) for c in range(count)]
        trainer.share(members)
        return [self._pair(i, j, members, weight, factor) for i, j in pairs(count)]

    def _pair(
        self, i: int, j: int, members: list[np.ndarray], weight: np.ndarray, factor: np.ndarray
    ) -> Task:
        parts = members[i], members[j]
        both = np.concatenate(parts)
        labels = np.ones(both.size)
        labels[parts[0].size :] = -1.0
        return Task(
            f"{self.classes_[i]} vs {self.classes_[j]}",
            self._machine(labels, weight[both], factor[both]),
            parts,
            (i, j),
            remake=self._machine,
        )

    def _write(self, X: Any, samples: Samples, tasks: list[Task], outcomes: list[Outcome]) -> None:
        # Samples without weight get an arbitrary code: they have no coefficient.
        codes = np.asarray(samples.y, dtype=np.int64)[samples.member]
        coef = [coefficients(task, outcome, samples) for task, outcome in zip(tasks, outcomes)]
        intercept = np.array([outcome.expansion.intercept for outcome in outcomes])
        count = self.classes_.size
        if count > 2 and self.multi_class == "ovo":
            dual_coef, support, self.n_support_ = packed(coef, codes, count)
        else:
            if count == 2:
                # The problem has the first class on the positive side, the model the second.
                coef, intercept = [-coef[0]], -intercept
            support = by_class(coef, codes)
            dual_coef = np.take(coef, support, axis=1)
            self.n_support_ = np.bincount(codes[support], minlength=count).astype(np.int32)
        self._write_support(X, dual_coef, support)
        self.intercept_ = intercept + 0.0
        self.n_iter_ = np.array([outcome.solution.steps for outcome in outcomes], dtype=np.int32)

    def _in_pairs(self) -> bool:
        """Whether several pairs vote; as fitted, not as `multi_class` says now."""
        count = self.classes_.size
        return count > 2 and self.dual_coef_.shape[0] == count - 1

    def _functions(self) -> tuple[Any, np.ndarray]:
        if not self._in_pairs():
            return self.dual_coef_, self.intercept_
        coef: Any = self.dual_coef_
        if sparse.issparse(coef):
            return type(coef)(unpacked(coef.toarray(), self.n_support_)), self.intercept_
        return unpacked(coef, self.n_support_), self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """The function whose sign decides.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or (n_samples, n_training_samples) for ``kernel="precomputed"``, of which only the
            columns in `support_` matter.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes one number, positive for ``classes_[1]``. For more classes, a column
            for each class with ``decision_function_shape="ovr"`` (votes, ties broken by
            confidence), a column for each pair with ``"ovo"`` (positive for the first of the
            two). With ``multi_class="ovr"`` always a column for each class.
        """
        return self._shaped(self._values(X))

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        count = self.classes_.size
        if count == 2:
            return values.ravel()
        if self._in_pairs() and self.decision_function_shape == "ovr":
            return scores(values, count)
        return values

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample.

        Pairs of classes vote; of classes with equal votes the first wins, or, with `break_ties`,
        the one with the largest decision.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        result: np.ndarray = self.classes_[self._winners(self._values(X))]
        return result

    def _winners(self, values: np.ndarray) -> np.ndarray:
        count = self.classes_.size
        if count == 2:
            return (values.ravel() >= 0).astype(np.intp)
        if not self._in_pairs():
            return np.asarray(np.argmax(values, axis=1))
        if self.break_ties:
            return np.asarray(np.argmax(scores(values, count), axis=1))
        return np.asarray(np.argmax(votes(values, count), axis=1))

    def _complete(
        self, samples: Samples, tasks: list[Task], outcomes: list[Outcome], trainer: Trainer
    ) -> None:
        none = np.empty(0)
        sigmoids = Sigmoids(none, none)
        if self.probability and not trainer.interrupted:
            sigmoids = fitted_sigmoids(
                tasks,
                outcomes,
                samples,
                trainer,
                factor=self.class_weight_,
                two_parameters=self.probability == "platt",
                seed=self._seed(),
            )
        self.probA_, self.probB_ = sigmoids

    @available_if(_require_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, highest for the class that `predict` gives.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        if not self.probA_.size:
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False: "
                "set probability=True and fit again"
            )
        values = self._values(X)
        winners = self._winners(values)
        if self.classes_.size == 2:
            values = -values
        sigmoids = Sigmoids(self.probA_, self.probB_)
        return probabilities(values, sigmoids, self._in_pairs(), winners)

    @available_if(_require_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        result: np.ndarray = np.log(self.predict_proba(X))
        return result
