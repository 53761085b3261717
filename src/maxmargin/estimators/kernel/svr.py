"""Regression: `SVR` with a tube of given width, `NuSVR` with a bound on what lies outside."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import column_or_1d

from ...dual import Machine, epsilon_svr, nu_svr
from .. import parameters as p
from ..conditioning import middle_far_from_zero
from ..distinct import Samples
from ..targets import numeric_targets
from .single import SingleMachine
from .training.problems import FEASIBLE
from .training.tasks import Outcome, Task
from .training.tube import TubeSearch

# The first value of C, in units of the range of y, tried in place of an infinite one.
FIRST_LIMIT = 1e3


class KernelRegressor(RegressorMixin, SingleMachine):  # type: ignore[misc]
    """A machine for numbers."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples with target values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the Gram matrix, of shape (n_samples, n_samples). For a
            callable or a kernel on other things (sequences), a list of these.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        fitted: Self = self._fit(X, y, sample_weight)
        return fitted

    def _targets(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        targets = numeric_targets(column_or_1d(y, warn=True))
        if not np.isfinite(targets).all():
            raise ValueError("y contains NaN or infinity")
        # The function shifts with its targets; far from 0, α would magnify their rounding.
        present = targets[weight > 0]
        shift = middle_far_from_zero(float(present.min()), float(present.max()))
        self._offset_ = shift if self._has_free_intercept else 0.0
        return targets - self._offset_, weight

    def _write(self, X: Any, samples: Samples, tasks: list[Task], outcomes: list[Outcome]) -> None:
        super()._write(X, samples, tasks, outcomes)
        self.intercept_ = self.intercept_ + self._offset_
        del self._offset_

    def predict(self, X: Any) -> np.ndarray:
        """The value of the function at each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or (n_samples, n_training_samples) for ``kernel="precomputed"``, of which only the
            columns in `support_` matter.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._values(X).ravel()


class SVR(KernelRegressor):
    """Support vector regression::

        ½‖w‖² + C Σ_i weight_i max(0, |y_i − f(x_i)| − ε) → min,   f(x) = ⟨w, φ(x)⟩ + b

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, gap
        As of `SVC`.
    C : float, default=1.0
        Price of an error, positive. `numpy.inf` keeps all samples inside the tube.
    epsilon : float, default=0.1
        Half the width of the tube.
    fit_intercept : bool, default=True
        Whether f has an intercept. Without one it is 0, and the dual has no sum constraint.
    shrinking, cache_size, verbose, max_iter, solver, selection, planning, precision, max_seconds, \
warm_start, callback
        As of `SVC`.

    Attributes
    ----------
    certificate_ : Certificate
    status_ : str
    solution_ : Solution
    coef_ : ndarray of shape (1, n_features)
        For a linear kernel.
    dual_coef_ : ndarray of shape (1, n_support_vectors)
    fit_status_ : int
    intercept_ : ndarray of shape (1,)
    kernel_ : Kernel
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    n_iter_ : int
    n_support_ : ndarray of shape (1,)
    shape_fit_ : tuple
    support_ : ndarray of shape (n_support_vectors,)
    support_vectors_ : ndarray or sparse matrix of shape (n_support_vectors, n_features)

    Examples
    --------
    >>> from maxmargin import SVR
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit([[0.0], [1.0], [2.0]], [0, 2, 4])
    >>> model.predict([[3.0]])
    array([5.])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        tol: Any = 1e-3,
        gap: Any = 1e-4,
        C: Any = 1.0,
        epsilon: Any = 0.1,
        fit_intercept: Any = True,
        shrinking: Any = True,
        cache_size: Any = "auto",
        verbose: Any = False,
        max_iter: Any = -1,
        solver: Any = "auto",
        selection: Any = "second_order",
        planning: Any = 0,
        precision: Any = "auto",
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.gap = gap
        self.C = C
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.selection = selection
        self.planning = planning
        self.precision = precision
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback

    _rules: ClassVar[Any] = {
        "C": partial(p.check_number, low=0, closed="right"),
        "epsilon": partial(p.check_number, low=0, closed="left"),
        "fit_intercept": p.check_boolean,
    }

    def _machine(self, targets: Any, weight: Any) -> Machine:
        C = FIRST_LIMIT * spread(targets) if np.isinf(self.C) else self.C
        return epsilon_svr(targets, C * weight, self.epsilon, bool(self.fit_intercept))

    def _solved(self, samples: Any, tasks: Any, trainer: Any) -> Any:
        """An infinite C is one that limits no variable: try larger ones until it is found."""
        outcomes = trainer.run(tasks)
        factor = FIRST_LIMIT
        if not np.isinf(self.C):
            return outcomes
        missing = (
            f"C must be finite: no function of kernel {self.kernel_!r} stays within "
            f"epsilon={self.epsilon} of y"
        )
        while outcomes[0].solution.status in ("converged", "stationary", "precision"):
            if not limits_some(tasks[0].machine, outcomes[0].solution.alpha):
                break
            factor *= 1e4
            if factor > 1e15:
                raise ValueError(missing)
            penalty = factor * spread(samples.y) * samples.weight
            machine = epsilon_svr(samples.y, penalty, self.epsilon, bool(self.fit_intercept))
            tasks[0] = tasks[0]._replace(machine=machine, start=outcomes[0].solution.alpha)
            outcomes = trainer.run(tasks)
            if outcomes[0].solution.status == "precision":
                raise ValueError(f"{missing}, as far as float64 can tell")
        return outcomes


def spread(targets: np.ndarray) -> float:
    return float(np.ptp(targets)) or 1.0


def limits_some(machine: Machine, alpha: np.ndarray) -> bool:
    """Whether a variable is at the far end of its box."""
    problem = machine.problem
    above, below = problem.upper > 0, problem.lower < 0
    return bool((above & (alpha >= problem.upper) | below & (alpha <= problem.lower)).any())


class NuSVR(KernelRegressor):
    """Support vector regression that finds ε itself::

        ½‖w‖² + C Σ_i weight_i (ν·ε + max(0, |y_i − f(x_i)| − ε)) → min over f and ε ≥ 0

    The fraction of samples outside the tube is at most ν, that of support vectors at least ν.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1].
    C : float, default=1.0
        Price of an error, positive and finite.
    fit_intercept : bool, default=True
        Whether f has an intercept. Without one it is 0.
    kernel, degree, gamma, coef0, shrinking, tol, gap, cache_size, verbose, max_iter, solver, \
selection, planning, precision, max_seconds, warm_start, callback
        As of `SVC`.

    Attributes
    ----------
    epsilon_ : float
        Half the width of the tube.
    certificate_, status_, solution_, coef_, dual_coef_, fit_status_, intercept_, kernel_, \
n_features_in_, feature_names_in_, n_iter_, n_support_, shape_fit_, support_, support_vectors_
        As of `SVR`.

    Examples
    --------
    >>> from maxmargin import NuSVR
    >>> model = NuSVR(kernel="linear", C=10.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 2, 4, 6])
    >>> model.predict([[4.0]]).round(3)
    array([8.])
    """

    def __init__(
        self,
        *,
        nu: Any = 0.5,
        fit_intercept: Any = True,
        C: Any = 1.0,
        kernel: Any = "rbf",
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        shrinking: Any = True,
        tol: Any = 1e-3,
        gap: Any = 1e-4,
        cache_size: Any = "auto",
        verbose: Any = False,
        max_iter: Any = -1,
        solver: Any = "auto",
        selection: Any = "second_order",
        planning: Any = 0,
        precision: Any = "auto",
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
    ) -> None:
        self.nu = nu
        self.fit_intercept = fit_intercept
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.gap = gap
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.selection = selection
        self.planning = planning
        self.precision = precision
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback

    _rules: ClassVar[Any] = {
        "nu": partial(p.check_number, low=0, high=1, closed="right"),
        "C": partial(p.check_number, low=0),
        "fit_intercept": p.check_boolean,
    }

    def _machine(self, targets: Any, weight: Any) -> Machine:
        return nu_svr(targets, self.nu, self.C * weight, bool(self.fit_intercept))

    def _solved(self, samples: Any, tasks: Any, trainer: Any) -> Any:
        """As posed, if that is soon done; else by way of `SVR`.

        With a price C so large that the tube closes, or nearly so, both variables of a sample are
        of the size of C, and their difference is lost in rounding. The problem of `SVR` has this
        difference as its variable.
        """
        allowed = trainer.settings
        if allowed.max_steps is None:  # then ν-SVR takes longer than a search over ε-SVR
            trainer.settings = allowed._replace(max_steps=200 * samples.size)
        outcomes = trainer.run(tasks)
        trainer.settings = allowed
        outcome = outcomes[0]
        limited = outcome.solution.status == "step_limit" and allowed.max_steps is not None
        if limited or outcome.solution.status not in ("converged", "precision", "step_limit"):
            return outcomes
        # A narrower tube may be rounding.
        if outcome.finished and outcome.expansion.epsilon > 10.0 * self.tol:
            return outcomes
        penalty, own = self.C * samples.weight, bool(self.fit_intercept)
        found = TubeSearch(penalty, self.nu, samples.y, trainer, own).run(tasks[0])
        if not found.outcome.finished:
            shown = found.outcome.certificate
            feasible = shown.infeasibility <= FEASIBLE
            if outcome.certificate.relative_gap <= shown.relative_gap or not feasible:
                return [outcome if outcome.finished else outcome.ended("precision")]
            found = found._replace(outcome=found.outcome.ended("precision"))
        tasks[:] = [found.task]
        return [found.outcome]

    def _write(self, X: Any, samples: Any, tasks: Any, outcomes: Any) -> None:
        super()._write(X, samples, tasks, outcomes)
        self.epsilon_ = outcomes[0].expansion.epsilon
