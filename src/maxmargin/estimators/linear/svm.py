"""Linear support vector machines: `LinearSVC` and `LinearSVR`."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...solvers.linear import REGRESSION, ChunkedMatrix, JointProblem, Point, fit_joint
from .. import parameters as p
from .base import Task
from .kinds import LinearClassifier, LinearRegressor


class LinearSVC(LinearClassifier):
    """Linear support vector classification, solved to a certified duality gap.

        minimise  ½‖w‖² + C Σ_i weight_i · max(0, 1 − y_i(w·x_i + b))²

    or with the plain hinge, or with ‖w‖₁ in place of ½‖w‖². The intercept b is not penalised
    unless `intercept_scaling` is given.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        ``penalty="l1"`` with the hinge is a linear program, solved by HiGHS.
    dual : "auto" or bool, default="auto"
        Accepted for compatibility; the solver works on both sides at once.
    tol : float, default=1e-6
        Duality gap relative to the objective at the end.
    C : float or "auto", default=1.0
        Weight of the loss relative to the penalty; "auto" chooses it by five-fold cross-validation
        along a path of warm starts. `numpy.inf` means no penalty: a model of least loss (with the
        hinge, the one of least norm), and for separable classes the hard-margin model.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        For more than two classes: one machine for each class against the rest, or the joint
        problem of Crammer and Singer, which ignores `penalty` and `loss`.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=None
        None leaves the intercept unpenalised. A number s adds the constant feature s, whose
        weight is penalised like any other: the intercept of LIBLINEAR.
    class_weight : dict or "balanced", default=None
        Factors of C for the classes.
    verbose : int, default=0
        Whether to show a live progress line on a terminal.
    random_state : int, RandomState instance or None, default=None
        Of the permutations of coordinate descent; the optimum does not depend on it.
    max_iter : int, default=1000
        Most epochs and Newton steps.
    solver : {"auto", "newton", "coordinate"}, default="auto"
        "coordinate" is plain dual coordinate descent.
    max_seconds : float, default=None
        Time limit of the fit.
    warm_start : bool, default=False
        Start from the solution of the previous fit, also after a change of C.
    callback : callable, default=None
        Called with the progress after every step; returning true stops the fit.

    Attributes
    ----------
    C_ : float
        What was chosen, with ``C="auto"``.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    certificate_ : Certificate or Certificates
        Objective at `coef_` and `intercept_`, dual value and gap, recomputed from the data.
    fit_status_ : int
        0 if every problem has converged, else 1.
    status_ : str or list of str
        "converged": the gap of the certificate is at most `tol` times the objective. Else why it
        is not: "step_limit", "time_limit", "stopped", "interrupted", or "precision" where float64
        has no more digits to give.
    solution_ : LinearSolution or list of LinearSolution
    n_iter_ : int
        Epochs and Newton steps of the longest problem.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from maxmargin import LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVC().fit(scale(X), y)
    >>> model.certificate_.relative_gap < 1e-6
    True
    >>> round(model.score(scale(X), y), 3)
    0.988
    """

    def __init__(
        self,
        penalty: Any = "l2",
        loss: Any = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: Any = 1e-6,
        C: Any = 1.0,
        multi_class: Any = "ovr",
        fit_intercept: Any = True,
        intercept_scaling: Any = None,
        class_weight: Any = None,
        verbose: Any = 0,
        random_state: Any = None,
        max_iter: Any = 1000,
        solver: Any = "auto",
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback

    _rules: ClassVar[Any] = {
        "loss": partial(p.check_option, options=("hinge", "squared_hinge")),
        "dual": partial(p.check_option, options=("auto", True, False)),
        "multi_class": partial(p.check_option, options=("ovr", "crammer_singer")),
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.multi_class == "crammer_singer":
            return
        kinked = self.loss == "hinge"
        if (self.penalty == "l1" and (kinked or self.dual is True) and self.dual != "auto") or (
            kinked and self.dual is False
        ):
            raise ValueError(
                "Unsupported set of arguments: as in LIBLINEAR the hinge goes with penalty='l2' "
                "and dual=True, penalty='l1' with loss='squared_hinge' and dual=False; "
                f"dual='auto' allows all of them. Got penalty={self.penalty!r}, "
                f"loss={self.loss!r}, dual={self.dual}"
            )

    def _check_without_penalty(self) -> None:
        plain = self.multi_class == "ovr" and self.penalty == "l2"
        if not plain or self.intercept_scaling is not None:
            raise p.ParameterError(
                "C of LinearSVC must be finite, got inf: it needs penalty='l2', multi_class='ovr' "
                "and intercept_scaling=None"
            )

    def _loss_name(self) -> str:
        result: str = self.loss
        return result

    def _learn(
        self,
        matrix: Any,
        y: np.ndarray,
        weight: np.ndarray,
        reporter: Any,
        data: Any,
        previous: Any,
    ) -> None:
        if self.multi_class != "crammer_singer":
            super()._learn(matrix, y, weight, reporter, data, previous)
            return
        if isinstance(matrix, ChunkedMatrix):
            raise ValueError(
                'multi_class="crammer_singer" needs X in memory, got chunks: load them, or use '
                'multi_class="ovr"'
            )
        name = "all classes"
        reporter.begin(1, **data)
        cost = self._cost() * weight
        solution = fit_joint(
            JointProblem(matrix, y, cost, self.classes_.size, self._intercept()),
            tol=float(self.tol),
            start=self._joint_start(previous, (matrix.n, self.classes_.size)),
            max_steps=self.max_iter,
            max_seconds=self._seconds_left(),
            callback=reporter.listen(0, name),
        )
        reporter.finish(0)
        self._cost_ = self._cost()
        self.solution_, self.certificate_ = solution, solution.certificate
        self.status_, self.n_iter_ = solution.status, solution.steps
        self.fit_status_ = int(not solution.converged)
        self.coef_, self.intercept_ = solution.w, np.asarray(solution.b)
        if self.classes_.size == 2:
            self.coef_ = self.coef_[1:] - self.coef_[:1]
            self.intercept_ = self.intercept_[1:] - self.intercept_[:1]
        self._warn([Task(name, None)], [solution])

    def _joint_start(self, previous: Any, shape: tuple[int, int]) -> Point | None:
        """Where a previous fit of as many samples and classes ended; a changed C takes β along."""
        last = None if previous is None else previous.solution_
        if last is None or isinstance(last, list) or last.beta.shape != shape:
            return None
        return Point(last.beta * (self._cost() / previous._cost_), None, last.b)


class LinearSVR(LinearRegressor):
    """Linear support vector regression, solved to a certified duality gap.

        minimise  ½‖w‖² + C Σ_i weight_i · max(0, |y_i − w·x_i − b| − ε)

    or with the square of that loss, or with ‖w‖₁ in place of ½‖w‖². The intercept b is not
    penalised unless `intercept_scaling` is given.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube inside which errors cost nothing.
    tol : float, default=1e-6
        Duality gap relative to the objective at the end.
    C : float or "auto", default=1.0
        Weight of the loss relative to the penalty; "auto" chooses it by five-fold cross-validation
        along a path of warm starts.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    penalty : {"l2", "l1"}, default="l2"
        ``penalty="l1"`` with the ε-insensitive loss is a linear program, solved by HiGHS.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=None
        None leaves the intercept unpenalised. A number s adds the constant feature s, whose
        weight is penalised like any other: the intercept of LIBLINEAR.
    dual : "auto" or bool, default="auto"
        Accepted for compatibility; the solver works on both sides at once.
    verbose : int, default=0
        Whether to show a live progress line on a terminal.
    random_state : int, RandomState instance or None, default=None
        Of the permutations of coordinate descent; the optimum does not depend on it.
    max_iter : int, default=1000
        Most epochs and Newton steps.
    solver : {"auto", "newton", "coordinate"}, default="auto"
    max_seconds : float, default=None
        Time limit of the fit.
    warm_start : bool, default=False
        Start from the solution of the previous fit, also after a change of C.
    callback : callable, default=None
        Called with the progress after every step; returning true stops the fit.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    certificate_ : Certificate
    fit_status_ : int
    status_ : str
        As for `LinearSVC`.
    solution_ : LinearSolution
    n_iter_ : int
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import LinearSVR
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(C=100.0).fit(X, y)
    >>> model.status_, model.certificate_.relative_gap < 1e-6
    ('converged', True)
    """

    def __init__(
        self,
        *,
        epsilon: Any = 0.0,
        tol: Any = 1e-6,
        C: Any = 1.0,
        loss: Any = "epsilon_insensitive",
        penalty: Any = "l2",
        fit_intercept: Any = True,
        intercept_scaling: Any = None,
        dual: Any = "auto",
        verbose: Any = 0,
        random_state: Any = None,
        max_iter: Any = 1000,
        solver: Any = "auto",
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback

    _rules: ClassVar[Any] = {
        "C": partial(p.check_number, low=0, or_text="auto"),
        "epsilon": partial(p.check_number, low=0, closed="left"),
        "penalty": partial(p.check_option, options=("l1", "l2")),
        "dual": partial(p.check_option, options=("auto", True, False)),
        "loss": partial(
            p.check_option, options=("epsilon_insensitive", "squared_epsilon_insensitive")
        ),
    }

    def _tasks(self, y: np.ndarray, weight: np.ndarray) -> list[Task]:
        make: Any = REGRESSION[self.loss]
        return [Task(type(self).__name__, make(y, self._cost() * weight, self.epsilon))]
