"""Common base of all linear machines: the steps of a fit, fitted attributes, and prediction."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted, validate_data

from ...runtime.parallel import in_parts, single_threaded_blas
from ...runtime.sizes import BLOCK_ENTRIES, KEPT_BYTES
from ...solvers.linear import (
    ArrayChunks,
    Intercept,
    LinearSolution,
    Loss,
    Point,
    as_matrix,
    fit_linear,
    is_chunked,
)
from ...solvers.linear.fit import SOLVERS
from .. import parameters as p
from ..inputs import checked_weights
from ..progress import Reporter
from ..template import CertifiedMachine
from ..warn import warn_caller
from .auto_strength import chosen_C
from .inputs import chunked_inputs, chunks_to_predict, refuse_overflow

# Why a fit is not at the optimum, by the status of its worst problem.
REASONS = {
    "step_limit": "The fit ended early at max_iter={max_iter} steps.",
    "time_limit": "The fit ended early at max_seconds={max_seconds:g}.",
    "stopped": "The fit ended early: callback asked to stop.",
    "precision": "The fit ended early: no progress in float64. Scale the features, or {ease}.",
}


class Task(NamedTuple):
    """One problem of a fit: its name for people, and the losses of the samples."""

    name: str
    loss: Loss | None


class LinearMachine(CertifiedMachine):
    """A linear function f(x) = coef_·x + intercept_, trained to a certified gap."""

    _strength = "C"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    _rules: ClassVar[Any] = {
        "tol": partial(p.check_number, low=0),
        "fit_intercept": p.check_boolean,
        "intercept_scaling": partial(p.check_number, low=0, optional=True),
        "verbose": p.check_verbose,
        "max_iter": partial(p.check_number, low=0, closed="left", whole=True),
        "solver": partial(p.check_option, options=tuple(SOLVERS)),
        "max_seconds": partial(p.check_number, low=0, closed="right", optional=True),
        "warm_start": p.check_boolean,
        "callback": p.check_callable,
        "random_state": p.check_seed,
    }

    def _prepare(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        if self._chooses_C():
            self.C_ = chosen_C(estimator, X, y, sample_weight)

    def path(self, X: Any, y: Any, values: Any, sample_weight: Any = None) -> list[Self]:
        """Fit several C (or alpha), each started from the previous solution.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        values : sequence of float
            Of C, or of alpha for `RidgeRegression`, in any order; the solver goes from the
            strongest penalty to the weakest.

        Returns
        -------
        list of estimators
            Fitted copies of this one, in the order of `values`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from maxmargin import LinearSVC
        >>> X, y = load_iris(return_X_y=True)
        >>> [round(model.score(X, y), 2) for model in LinearSVC().path(X, y, [0.001, 0.1, 10.0])]
        [0.73, 0.95, 0.97]
        """
        models = [clone(self).set_params(**{self._strength: value}) for value in values]
        for model in models:
            model._check_parameters()
        last = None
        for model in sorted(models, key=lambda model: model._cost()):
            last = model._fit(X, y, sample_weight, last)
        return models

    def _train(
        self, X: Any, y: Any, sample_weight: Any, reporter: Reporter, data: Any, previous: Any
    ) -> bool:
        self._began_ = time.perf_counter()
        with single_threaded_blas():
            matrix, y = self._inputs(X, y)
            weight = checked_weights(sample_weight, matrix.n)
            y, weight = self._targets(y, weight)
            kept = np.flatnonzero(weight > 0)
            if kept.size < weight.size:
                matrix, y, weight = matrix.select(kept), y[kept], weight[kept]
            refuse_overflow("X", matrix.largest, self._cost() * weight, self)
            if isinstance(self, RegressorMixin):
                refuse_overflow("y", float(np.abs(y).max()), self._cost() * weight, self)
            self._learn(matrix, y, weight, reporter, data, previous)
        del self._began_
        return "interrupted" in _listed(self.status_)

    def _inputs(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Checked inputs, in memory or in chunks, and targets."""
        if isinstance(X, np.memmap) and X.ndim == 2 and 8 * X.size > KEPT_BYTES:
            X = ArrayChunks(X)
        if is_chunked(X):
            return chunked_inputs(self, X, y)
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
        if not np.isfinite(matrix.largest):
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
        return matrix, y

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
        C = self.C_ if self._chooses_C() else self.C
        return float(C) if np.isfinite(C) else 1.0

    def _chooses_C(self) -> bool:
        return isinstance(getattr(self, "C", None), str)

    def _penalty(self) -> str:
        if not self._chooses_C() and np.isinf(getattr(self, "C", 1.0)):
            return "none"
        return getattr(self, "penalty", "l2")

    def _intercept(self) -> Intercept:
        scaling = self.intercept_scaling
        if not self.fit_intercept or scaling is None:
            return Intercept(bool(self.fit_intercept))
        return Intercept(True, 1.0 / scaling if self._penalty() == "l1" else 1.0 / scaling**2)

    def _solved(
        self, matrix: Any, tasks: list[Task], reporter: Reporter, known: list[Any]
    ) -> list[LinearSolution]:
        solutions: list[LinearSolution] = []
        halted = ""
        for number, (task, last) in enumerate(zip(tasks, known)):
            left = len(tasks) - number
            assert task.loss is not None
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
        """The solution of the previous fit with as many samples; β is rescaled if C changed."""
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
        certificates = [solution.certificate for solution in solutions]
        self._write_solutions([task.name for task in tasks], solutions, certificates)
        self._warn(tasks, solutions)

    def _warn(self, tasks: list[Task], solutions: list[LinearSolution]) -> None:
        """Warn about the remaining gap if a limit ended the fit."""
        unfinished = [
            (solution.certificate.relative_gap, place)
            for place, solution in enumerate(solutions)
            if solution.status in REASONS
        ]
        if not unfinished:
            return
        relative, place = max(unfinished)
        status = solutions[place].status
        ease = "lower C" if self._strength == "C" else f"raise {self._strength}"
        reason = REASONS[status].format(ease=ease, **self.get_params(deep=False))
        more = "" if status == "precision" else " Go on from here with warm_start=True."
        where = f" ({len(unfinished)} of {len(tasks)} problems, worst {tasks[place].name})"
        warn_caller(
            f"{reason} The duality gap is still {solutions[place].certificate.gap:.3g}, "
            f"{relative:.2g} of the objective instead of tol={self.tol:g}"
            f"{where if len(tasks) > 1 else ''}.{more}",
            ConvergenceWarning,
        )

    def _values(self, X: Any) -> np.ndarray:
        """Every function at every sample, shape (samples, functions)."""
        check_is_fitted(self)
        if is_chunked(X):
            return np.concatenate([self._products(chunk) for chunk in chunks_to_predict(self, X)])
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self._products(X)

    def _products(self, X: Any) -> np.ndarray:
        coef = self.coef_ if self.coef_.ndim == 2 else self.coef_[None, :]
        if sparse.issparse(X) or sparse.issparse(coef):
            product = X @ coef.T
            product = product.toarray() if sparse.issparse(product) else np.asarray(product)
            return np.asarray(product + self.intercept_)
        outputs = np.empty((X.shape[0], coef.shape[0]))
        step = max(1, 4 * BLOCK_ENTRIES // X.shape[1])

        def some_rows(first: int, last: int) -> None:
            for top in range(first, last, step):
                rows = slice(top, min(top + step, last))
                np.matmul(X[rows].astype(np.float64, copy=False), coef.T, out=outputs[rows])

        with single_threaded_blas():
            in_parts(some_rows, X.shape[0], X.size)
        return np.asarray(outputs + self.intercept_)

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
            stored: Any = self.coef_
            self.coef_ = stored.toarray()
        return self


def _listed(one_or_more: Any) -> list[Any]:
    return one_or_more if isinstance(one_or_more, list) else [one_or_more]


def _known(previous: Any, count: int) -> list[Any]:
    """The solutions of a previous fit with the C they had, or nothing for each problem."""
    if previous is None or np.ndim(_listed(previous.solution_)[0].b) > 0:
        return [None] * count
    solutions = _listed(previous.solution_)
    if len(solutions) != count:
        return [None] * count
    return [(solution, previous._cost_) for solution in solutions]
