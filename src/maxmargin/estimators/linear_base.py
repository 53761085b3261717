"""What all linear machines share: the course of a fit, its attributes, and prediction."""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import (
    assert_all_finite,
    check_random_state,
    column_or_1d,
    compute_class_weight,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..solvers.linear import (
    CLASSIFICATION,
    Intercept,
    LinearSolution,
    Loss,
    Point,
    as_matrix,
    fit_linear,
)
from ..solvers.linear.fit import SOLVERS
from . import parameters as p
from .base import blank, learned
from .certificates import Certificates
from .inputs import checked_weights
from .progress import CallbackSupportMixin, Reporter, with_callbacks

# Entries of a block of inputs whose outputs are computed at a time.
PREDICTION_BLOCK = 1 << 22

# Why a fit is not at the optimum, by the status of its worst problem.
REASONS = {
    "step_limit": "The fit ended early at max_iter={max_iter} steps.",
    "time_limit": "The fit ended early at max_seconds={max_seconds:g}.",
    "stopped": "The fit ended early: callback asked to stop.",
    "precision": "The fit ended early: no progress in float64. Scale the features, or lower C.",
}


class Task(NamedTuple):
    """One problem of a fit: its name for people, and the losses of the samples."""

    name: str
    loss: Loss | None


class LinearMachine(CallbackSupportMixin, BaseEstimator):
    """A linear function f(x) = coef_·x + intercept_, trained to a certified gap."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        p.check_number(self, "tol", 0)
        p.check_boolean(self, "fit_intercept")
        p.check_number(self, "intercept_scaling", 0, optional=True)
        p.check_verbose(self)
        p.check_number(self, "max_iter", 0, closed="left", whole=True)
        p.check_option(self, "solver", SOLVERS)
        p.check_number(self, "max_seconds", 0, np.inf, closed="right", optional=True)
        p.check_boolean(self, "warm_start")
        p.check_callable(self, "callback")
        check_random_state(self.random_state)

    # ---- fit -------------------------------------------------------------------------------

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Train a blank copy, then take over what it has learned: all or nothing."""
        self._check_parameters()
        model = blank(self)
        previous = self if self.warm_start and hasattr(self, "solution_") else None
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        data = {"X": X, "y": y, "metadata": metadata}
        with Reporter(self) as reporter:
            model._train(X, y, sample_weight, reporter, data, previous)
            attributes = learned(model)
            for name in learned(self):
                if name not in attributes:
                    delattr(self, name)
            vars(self).update(attributes)
            reporter.end(attributes, **data)
        if "interrupted" in _listed(self.status_):
            raise KeyboardInterrupt("fit was interrupted; the model so far is kept")
        return self

    def _train(
        self, X: Any, y: Any, sample_weight: Any, reporter: Reporter, data: Any, previous: Any
    ) -> None:
        """Set all fitted attributes."""
        self._began_ = time.perf_counter()
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            y_numeric=isinstance(self, RegressorMixin),
            multi_output=False,
        )
        matrix = as_matrix(X)
        if not matrix.is_finite():
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
        weight = checked_weights(sample_weight, X.shape[0])
        y, weight = self._targets(y, weight)
        kept = np.flatnonzero(weight > 0)
        if kept.size < weight.size:
            matrix, y, weight = matrix.take(kept), y[kept], weight[kept]
        self._learn(matrix, y, weight, reporter, data, previous)
        del self._began_

    def _learn(
        self,
        matrix: Any,
        y: np.ndarray,
        weight: np.ndarray,
        reporter: Reporter,
        data: Any,
        previous: Any,
    ) -> None:
        tasks = self._tasks(y, weight)
        reporter.begin(len(tasks), **data)
        solutions = self._solved(matrix, tasks, reporter, _known(previous, len(tasks)))
        self._write(tasks, solutions)

    def _targets(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Targets as numbers, and the weights with which samples are present."""
        raise NotImplementedError

    def _tasks(self, y: np.ndarray, weight: np.ndarray) -> list[Task]:
        """The problems to solve."""
        raise NotImplementedError

    def _cost(self) -> float:
        """C, the weight of a sample's loss beside the penalty."""
        return float(self.C)

    def _penalty(self) -> str:
        return getattr(self, "penalty", "l2")

    def _intercept(self) -> Intercept:
        scaling = self.intercept_scaling
        if not self.fit_intercept or scaling is None:
            return Intercept(bool(self.fit_intercept))
        return Intercept(True, 1.0 / scaling if self._penalty() == "l1" else 1.0 / scaling**2)

    def _seed(self) -> int:
        given = self.random_state
        return 0 if given is None else int(check_random_state(given).randint(2**31 - 1))

    def _solved(
        self, matrix: Any, tasks: list[Task], reporter: Reporter, known: list[Any]
    ) -> list[LinearSolution]:
        solutions: list[LinearSolution] = []
        halted = ""
        for number, (task, last) in enumerate(zip(tasks, known)):
            left = len(tasks) - number
            solution = fit_linear(
                matrix,
                task.loss,
                penalty=self._penalty(),
                intercept=self._intercept(),
                tol=float(self.tol),
                solver=self.solver,
                start=self._start(last, matrix),
                max_steps=0 if halted else self.max_iter,
                max_seconds=self._seconds_left() / left,
                callback=reporter.listen(number, task.name),
                random_state=self._seed(),
            )
            if solution.status in ("stopped", "interrupted"):
                halted = halted or solution.status
            solutions.append(solution)
            reporter.finish(number)
        return solutions

    def _seconds_left(self) -> float:
        limit = np.inf if self.max_seconds is None else float(self.max_seconds)
        return max(0.0, limit - (time.perf_counter() - self._began_))

    def _start(self, last: Any, matrix: Any) -> Point | None:
        """Where the previous fit of as many samples ended; a changed C takes β with it."""
        if last is None:
            return None
        solution, cost = last
        if solution.w.size != matrix.d:
            return None
        if solution.beta.size == matrix.n:
            return Point(solution.beta * (self._cost() / cost), None, solution.b)
        return Point(np.zeros(matrix.n), solution.w, solution.b)

    def _write(self, tasks: list[Task], solutions: list[LinearSolution]) -> None:
        self._cost_ = self._cost()
        self.coef_ = np.array([solution.w for solution in solutions])
        self.intercept_ = np.array([float(solution.b) for solution in solutions])
        self.n_iter_ = max(solution.steps for solution in solutions)
        certificates = tuple(solution.certificate for solution in solutions)
        if len(tasks) == 1:
            self.solution_, self.certificate_ = solutions[0], certificates[0]
            self.status_ = solutions[0].status
        else:
            self.solution_ = solutions
            self.certificate_ = Certificates(tuple(task.name for task in tasks), certificates)
            self.status_ = [solution.status for solution in solutions]
        self._warn(tasks, solutions)

    def _warn(self, tasks: list[Task], solutions: list[LinearSolution]) -> None:
        """Say what remains to the optimum wherever a budget ended the fit."""
        unfinished = [
            (solution.certificate.relative_gap, place)
            for place, solution in enumerate(solutions)
            if solution.status in REASONS
        ]
        if not unfinished:
            return
        relative, place = max(unfinished)
        reason = REASONS[solutions[place].status].format(**self.get_params(deep=False))
        where = f" ({len(unfinished)} of {len(tasks)} problems, worst {tasks[place].name})"
        warnings.warn(
            f"{reason} The duality gap is still {solutions[place].certificate.gap:.3g}, "
            f"{relative:.2g} of the objective instead of tol={self.tol:g}"
            f"{where if len(tasks) > 1 else ''}. Go on from here with warm_start=True.",
            ConvergenceWarning,
            stacklevel=6,
        )

    # ---- the fitted function ---------------------------------------------------------------

    def _outputs(self, X: Any) -> np.ndarray:
        """Every function at every sample, shape (samples, functions)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        coef = self.coef_ if self.coef_.ndim == 2 else self.coef_[None, :]
        if sparse.issparse(X) or sparse.issparse(coef):
            product = X @ coef.T
            product = product.toarray() if sparse.issparse(product) else np.asarray(product)
            return product + self.intercept_
        outputs = np.empty((X.shape[0], coef.shape[0]))
        step = max(1, PREDICTION_BLOCK // X.shape[1])
        for top in range(0, X.shape[0], step):
            np.matmul(
                X[top : top + step].astype(np.float64, copy=False),
                coef.T,
                out=outputs[top : top + step],
            )
        return outputs + self.intercept_

    def sparsify(self) -> Any:
        """Keep `coef_` as a sparse matrix, which suits ``penalty="l1"``.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.coef_ = sparse.csr_array(np.atleast_2d(self.coef_))
        return self

    def densify(self) -> Any:
        """Undo `sparsify`.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self


class LinearClassifier(ClassifierMixin, LinearMachine):
    """One function for two classes, one for each class against the rest for more."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        p.check_number(self, "C", 0)
        p.check_option(self, "penalty", ("l1", "l2"))
        p.check_class_weight(self)

    def fit(self, X, y, sample_weight=None):
        """Train on labelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _loss_name(self) -> str:
        raise NotImplementedError

    def _targets(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        classes, codes = _distinct(y)
        if classes.size < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {classes.size} class"
            )
        factors = np.ones(classes.size)
        if isinstance(self.class_weight, dict):
            factors = np.asarray(compute_class_weight(self.class_weight, classes=classes, y=y))
        totals = np.bincount(codes, weight * (factors > 0)[codes], minlength=classes.size)
        present = np.flatnonzero(totals)
        if present.size < 2:
            left = f": {classes[present[0]]!r}" if present.size else ""
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class"
                f"{left}. Give samples of two classes a positive weight"
            )
        if isinstance(self.class_weight, str):
            factors = totals.sum() / (present.size * np.where(totals > 0, totals, 1.0))
        self.classes_ = classes[present]
        places = np.full(classes.size, -1)
        places[present] = np.arange(present.size)
        return places[codes], weight * factors[codes]

    def _tasks(self, y: np.ndarray, weight: np.ndarray) -> list[Task]:
        loss, cost = CLASSIFICATION[self._loss_name()], self._cost() * weight
        labels = self.classes_
        if labels.size == 2:
            name = f"{labels[1]} vs {labels[0]}"
            return [Task(name, loss(np.where(y == 1, 1.0, -1.0), cost))]
        return [
            Task(f"{label} vs rest", loss(np.where(y == c, 1.0, -1.0), cost))
            for c, label in enumerate(labels)
        ]

    def decision_function(self, X):
        """The function whose sign, or whose largest column, decides.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number, positive for ``classes_[1]``.
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict(self, X):
        """The class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        places = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return self.classes_[places]


class LinearRegressor(RegressorMixin, LinearMachine):
    """One function of real values."""

    def fit(self, X, y, sample_weight=None):
        """Train on samples with target values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _targets(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return column_or_1d(y, warn=True).astype(np.float64), weight

    def _write(self, tasks: list[Task], solutions: list[LinearSolution]) -> None:
        super()._write(tasks, solutions)
        self.coef_ = self.coef_[0]

    def predict(self, X):
        """The value of the function at each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._outputs(X)[:, 0]


def _listed(one_or_more: Any) -> list[Any]:
    return one_or_more if isinstance(one_or_more, list) else [one_or_more]


def _distinct(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The labels there are and the place of each among them; small integers need no sorting."""
    if y.dtype.kind == "i" and y.size:
        low, high = int(y.min()), int(y.max())
        if high - low < y.size:
            above = y.astype(np.int64) - low
            present = np.bincount(above) > 0
            return (np.flatnonzero(present) + low).astype(y.dtype), (present.cumsum() - 1)[above]
    return np.unique(y, return_inverse=True)


def _known(previous: Any, count: int) -> list[Any]:
    """The solutions of a previous fit with the C they had, or nothing for each problem."""
    if previous is None or np.ndim(_listed(previous.solution_)[0].b) > 0:
        return [None] * count
    solutions = _listed(previous.solution_)
    if len(solutions) != count:
        return [None] * count
    return [(solution, previous._cost_) for solution in solutions]
