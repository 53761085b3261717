"""Classification: `SVC` with a penalty on errors, `NuSVC` with a bound on their fraction."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...dual import Machine, hinge, nu_svc, squared_hinge
from .. import parameters as p
from ..targets import OneClassLeft
from ..warn import warn_caller
from .classifier import KernelClassifier
from .multiclass import labels_of


class SVC(KernelClassifier):
    """Support vector classification::

        ½‖w‖² + C Σ_i weight_i max(0, 1 − y_i f(x_i)) → min,   f(x) = ⟨w, φ(x)⟩ + b

    (``loss="squared_hinge"`` squares the maximum.) It takes the parameters of scikit-learn's SVC
    and sets the same attributes, finds the exact optimum and proves it: see `certificate_`.

    Parameters
    ----------
    C : float, default=1.0
        Price of an error, positive. `numpy.inf` allows none.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="rbf"
        A kernel of `maxmargin.kernels` takes its own parameters along. A callable gets two batches
        of inputs, always with all training inputs as the second, and returns the Gram block; wrap
        it in `FromFunction` to have it asked for support vectors only.
    degree : int, default=3
        Of the kernel "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf", "poly" and "sigmoid". "scale" is 1 / (n_features · variance of X), where weights
        count as copies; "auto" is 1 / n_features.
    coef0 : float, default=0.0
        Of "poly" and "sigmoid".
    shrinking : bool, default=True
        Whether the solver leaves aside variables that sit at a bound.
    probability : bool or "platt", default=False
        Whether to fit sigmoids for `predict_proba`, which costs five more fits on ⅘ of the data.
        True fits one parameter, so that ½ lies on the boundary; "platt" fits two.
    tol : float, default=1e-3
        Largest violation of the optimality conditions. The result is often far better: the end of
        a fit is polished by Newton steps where they cost little.
    gap : float, default=1e-4
        Largest duality gap, as a part of the objective: a fit ends when its certificate shows that
        both `tol` and `gap` are met. `numpy.inf` leaves the end to `tol` alone, as LIBSVM does.
    cache_size : float or "auto", default="auto"
        Megabytes for kernel values: rows and blocks of the Gram matrix, and factors of these. A
        number is a limit that is kept; besides, a fit takes up to 64 MB of working memory, three
        times the memory of its inputs and 1 kB a sample. "auto" takes up to 1,600 MB (for each of
        `n_jobs`), but no more than half of the memory that is free in the machine or container,
        of which worker processes count their share. scikit-learn's default is the number 200.
    class_weight : dict or "balanced", default=None
        Factors on C of each class. "balanced" weighs classes by the inverse of their weight.
    verbose : bool or int, default=False
        Whether to show one live line on the terminal.
    max_iter : int, default=-1
        Limit on the steps of the solver for each problem; -1 is none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Columns of `decision_function` for more than two classes: classes or pairs.
    break_ties : bool, default=False
        Whether decision values break ties between classes with equal votes.
    random_state : int, RandomState or None, default=None
        For the folds of `probability`. None stands for 0: every fit is repeatable.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The squared one costs C max(0, …)², as in LIBLINEAR. Texts that write C/2 max(0, …)², such
        as Glasmachers' thesis, have a C twice as large for the same machine.
    fit_intercept : bool, default=True
        Whether f has an intercept. Without one it is 0, and the dual has no sum constraint.
    multi_class : {"ovo", "ovr"}, default="ovo"
        With more than two classes: a machine for each pair, which vote, or one for each class
        against the rest, of which the largest decision wins.
    solver : {"auto", "full", "blocks", "rows"}, default="auto"
        How Gram rows are kept: the whole matrix, blocks of the samples that matter, or a cache.
    selection : str, default="second_order"
        Which pair of variables moves next, see `maxmargin.solve`.
    planning : int, default=0
        Recent pairs to plan ahead with, see `maxmargin.solve`.
    precision : {"auto", "single", "double"}, default="auto"
        Of Gram rows. "auto" takes float32 for large inputs where rounding stays below tol, "single"
        for all. Both go on in float64 where the certificate shows that this was not enough.
    max_seconds : float, default=None
        Time limit for `fit`.
    warm_start : bool, default=False
        Whether `fit` begins where the previous one ended, also after a change of C or gamma.
    callback : callable, default=None
        Called with a `maxmargin.solvers.Progress` now and then; a true answer ends the fit.
    n_jobs : int, default=None
        Threads for several problems (pairs of classes, folds of `probability`); None is as many
        as NumPy's BLAS has, if memory for all of them is within `cache_size`.

    Attributes
    ----------
    certificate_ : Certificate or Certificates
        Primal and dual value, gap and violation, recomputed from the solution; one for each
        problem where there are several.
    status_, solution_ : str and Solution, or lists of them
        How the solver ended, and its record.
    class_weight_ : ndarray of shape (n_classes,)
    classes_ : ndarray of shape (n_classes,)
        Those that have weight.
    coef_ : ndarray of shape (n_problems, n_features)
        For a linear kernel.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support_vectors)
        Laid out by pairs, see `maxmargin.estimators.kernel.multiclass`; with
        ``multi_class="ovr"`` and more than two classes, a row for each class.
    fit_status_ : int
        0 at the optimum, 1 where a budget ended the fit.
    intercept_ : ndarray of shape (n_problems,)
    kernel_ : Kernel
        The kernel with all its parameters.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    n_iter_ : ndarray of shape (n_problems,)
        Steps of the solver.
    n_support_ : ndarray of shape (n_classes,)
    probA_, probB_ : ndarray of shape (n_problems,)
        The sigmoids 1 / (1 + exp(A·f + B)) of the first class of each problem.
    shape_fit_ : tuple
    support_ : ndarray of shape (n_support_vectors,)
        Indices, grouped by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_support_vectors, n_features)

    Examples
    --------
    >>> from maxmargin import SVC
    >>> X = [[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]]
    >>> model = SVC(kernel="linear", C=10.0).fit(X, ["left", "left", "right", "right"])
    >>> model.predict([[-0.8, -1.0]])
    array(['left'], dtype='<U5')
    >>> model.certificate_
    Certificate(primal=0.25, dual=0.25, relative gap 0.0e+00, violation 0.0e+00)
    """

    def __init__(
        self,
        *,
        C: Any = 1.0,
        kernel: Any = "rbf",
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        shrinking: Any = True,
        probability: Any = False,
        tol: Any = 1e-3,
        gap: Any = 1e-4,
        cache_size: Any = "auto",
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: Any = -1,
        decision_function_shape: Any = "ovr",
        break_ties: Any = False,
        random_state: Any = None,
        loss: Any = "hinge",
        fit_intercept: Any = True,
        multi_class: Any = "ovo",
        solver: Any = "auto",
        selection: Any = "second_order",
        planning: Any = 0,
        precision: Any = "auto",
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
        n_jobs: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.gap = gap
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.solver = solver
        self.selection = selection
        self.planning = planning
        self.precision = precision
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs

    _rules: ClassVar[Any] = {
        "C": partial(p.check_number, low=0, closed="right"),
        "loss": partial(p.check_option, options=("hinge", "squared_hinge")),
        "fit_intercept": p.check_boolean,
    }

    def _machine(self, labels: Any, weight: Any, factor: Any, strict: Any = False) -> Machine:
        del strict
        loss = squared_hinge if self.loss == "squared_hinge" else hinge
        return loss(labels, self.C * factor * weight, bool(self.fit_intercept))


class NuSVC(KernelClassifier):
    """Support vector classification with ν in place of C::

        ½‖w‖² − ν·Σweight·ρ + Σ_i weight_i max(0, ρ − y_i f(x_i)) → min over f and ρ

    The fraction of samples inside the margin is at most ν, that of support vectors at least ν.
    The model is f/ρ, whose margin is 1.

    Parameters
    ----------
    nu : float, default=0.5
        In (0, 1], and at most twice the share of the smaller class. Where this holds for some
        pairs of classes and not for others, ν is taken as a fraction of the largest possible value
        in the others, with a warning.
    fit_intercept : bool, default=True
        Whether f has an intercept. Without one it is 0, and ν may be anything up to 1.
    class_weight : dict or "balanced", default=None
        Without it, ν determines a price C = 1/ρ of errors. With it, this C is multiplied by the
        weight of each class, and the machine is that of `SVC`.
    kernel, degree, gamma, coef0, shrinking, probability, tol, gap, cache_size, verbose, max_iter, \
decision_function_shape, break_ties, random_state, multi_class, solver, selection, \
planning, precision, max_seconds, warm_start, callback, n_jobs
        As of `SVC`.

    Attributes
    ----------
    certificate_, status_, solution_, class_weight_, classes_, coef_, dual_coef_, fit_status_, \
intercept_, kernel_, n_features_in_, feature_names_in_, n_iter_, n_support_, probA_, probB_, \
shape_fit_, support_, support_vectors_
        As of `SVC`. The certificate is that of the problem above, before the division by ρ.

    Examples
    --------
    >>> from maxmargin import NuSVC
    >>> X = [[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]]
    >>> NuSVC(kernel="linear").fit(X, [0, 0, 1, 1]).predict([[-0.8, -1.0]])
    array([0])
    """

    def __init__(
        self,
        *,
        nu: Any = 0.5,
        fit_intercept: Any = True,
        kernel: Any = "rbf",
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        shrinking: Any = True,
        probability: Any = False,
        tol: Any = 1e-3,
        gap: Any = 1e-4,
        cache_size: Any = "auto",
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: Any = -1,
        decision_function_shape: Any = "ovr",
        break_ties: Any = False,
        random_state: Any = None,
        multi_class: Any = "ovo",
        solver: Any = "auto",
        selection: Any = "second_order",
        planning: Any = 0,
        precision: Any = "auto",
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
        n_jobs: Any = None,
    ) -> None:
        self.nu = nu
        self.fit_intercept = fit_intercept
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.gap = gap
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.solver = solver
        self.selection = selection
        self.planning = planning
        self.precision = precision
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback
        self.n_jobs = n_jobs

    _rules: ClassVar[Any] = {
        "nu": partial(p.check_number, low=0, high=1, closed="right"),
        "fit_intercept": p.check_boolean,
    }

    def _targets(self, y: Any, weight: Any) -> tuple[Any, np.ndarray]:
        try:
            return super()._targets(y, weight)
        except OneClassLeft as error:
            raise OneClassLeft(f"specified nu is infeasible. {error}") from None

    def _machine(self, labels: Any, weight: Any, factor: Any, strict: Any = False) -> Machine:
        del factor
        largest = largest_nu(labels, weight) if self.fit_intercept else 1.0
        possible = self.nu if strict or self.nu <= largest else self.nu * largest
        return nu_svc(labels, possible, weight, bool(self.fit_intercept))

    def _tasks(self, samples: Any, trainer: Any) -> Any:
        tasks = super()._tasks(samples, trainer)
        if len(tasks) > 1 and self.fit_intercept:
            self._check_nu(samples, tasks)
        return tasks

    def _check_nu(self, samples: Any, tasks: Any) -> None:
        """Refuse ν where it is too large for every problem, warn where it is for some."""
        uneven = []
        for task in tasks:
            weight = samples.weight if task.indices is None else samples.weight[task.indices]
            if self.nu > largest_nu(labels_of(task.machine), weight):
                uneven.append(task.name)
        if len(uneven) == len(tasks):
            raise ValueError(
                f"specified nu is infeasible: nu={self.nu} is more than twice the share of the "
                "smaller class in every pair of classes; choose a smaller nu"
            )
        if uneven:
            warn_caller(
                f"nu={self.nu} is more than twice the share of the smaller class for "
                f"{', '.join(uneven[:3])}{', …' if len(uneven) > 3 else ''}; it is taken as a "
                "fraction of the largest possible value there",
                UserWarning,
            )

    def _solved(self, samples: Any, tasks: Any, trainer: Any) -> Any:
        """With class weights: C-SVC at the C = 1/ρ that ν stands for, times these weights."""
        outcomes = trainer.run(tasks)
        if self.class_weight is None or trainer.stopped.is_set():
            return outcomes
        codes = samples.y.astype(np.int64)
        for k, (task, outcome) in enumerate(zip(tasks, outcomes)):
            if outcome.expansion.rho <= 0 or not outcome.finished:
                continue
            C = 1.0 / outcome.expansion.rho
            indices = np.arange(samples.size) if task.indices is None else task.indices
            remake = partial(weighted_hinge, C=C, intercept=bool(self.fit_intercept))
            factor = self.class_weight_[codes[indices]]
            machine = remake(labels_of(task.machine), samples.weight[indices], factor)
            start = C * outcome.solution.alpha
            tasks[k] = task._replace(machine=machine, start=start, remake=remake)
        return trainer.run(tasks)


def largest_nu(labels: np.ndarray, weight: np.ndarray) -> float:
    """Twice the share of the smaller class."""
    result: float = 2.0 * min(weight[labels > 0].sum(), weight[labels < 0].sum()) / weight.sum()
    return result


def weighted_hinge(
    labels: Any, weight: Any, factor: Any, strict: Any = False, *, C: Any, intercept: bool
) -> Machine:
    del strict
    return hinge(labels, C * factor * weight, intercept)
