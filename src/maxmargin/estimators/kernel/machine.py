"""Common base of all kernel machines: the steps of a fit, fitted attributes, and prediction."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ...dual.problem import ROUNDING, DualProblem, Float
from ...kernels import Linear, Precomputed
from ...kernels.precomputed import as_square, check_symmetric
from ...kernels.vector.base import VectorKernel
from ...runtime.buffers import pages_kept
from ...runtime.parallel import single_threaded_blas
from ...solvers import SELECTIONS, STATUSES, plan
from .. import parameters as p
from ..conditioning import (
    offset_of,
    weights_of_features,
    without,
)
from ..distinct import Samples, chosen, distinct, size_in_bytes
from ..inputs import (
    checked_weights,
    is_function,
    is_precomputed,
    may_be_indefinite,
    new_inputs,
    refuse_overflow,
    resolved_kernel,
    tag_inputs,
    training_inputs,
)
from ..progress import Reporter
from ..template import CertifiedMachine
from ..warn import warn_caller
from .prediction import expansion_values, like
from .training.gram_pool import Grams
from .training.origin import at_origin
from .training.problems import Trainer
from .training.sharded import comes_in_shards, local_shards, train_in_shards
from .training.tasks import Outcome, Settings, Task, delivered

SOLVERS = ("auto", "full", "blocks", "rows")
POLICIES = tuple(sorted(SELECTIONS))

# Messages for fits that ended before the optimum; `STATUSES` describes the others.
EARLY = {
    "step_limit": (
        "Solver terminated early (max_iter={max_iter}).  Consider pre-processing your data with "
        "StandardScaler or MinMaxScaler."
    ),
    "time_limit": "Solver terminated early (max_seconds={max_seconds:g}).",
}


class KernelMachine(CertifiedMachine):
    """A kernel expansion f(x) = Σ_i dual_coef_i k(x_i, x) + intercept, trained by its dual."""

    _rules: ClassVar[Any] = {
        "kernel": p.check_kernel,
        "degree": partial(p.check_number, low=0, closed="left", whole=True),
        "gamma": p.check_gamma,
        "coef0": p.check_number,
        "tol": partial(p.check_number, low=0),
        "gap": partial(p.check_number, low=0, closed="right"),
        "shrinking": p.check_boolean,
        "cache_size": p.check_cache_size,
        "verbose": p.check_verbose,
        "max_iter": partial(p.check_number, low=-1, closed="left", whole=True),
        "solver": partial(p.check_option, options=SOLVERS),
        "selection": partial(p.check_option, options=POLICIES),
        "planning": partial(p.check_number, low=0, closed="left", whole=True),
        "precision": partial(p.check_option, options=("auto", "single", "double")),
        "max_seconds": partial(p.check_number, low=0, closed="right", optional=True),
        "warm_start": p.check_boolean,
        "callback": p.check_callable,
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tag_inputs(tags.input_tags, self.kernel)
        return tags

    def _train(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        reporter: Reporter,
        data: dict[str, Any],
        previous: KernelMachine | None,
    ) -> bool:
        """Set all fitted attributes; returns whether Ctrl-C was pressed."""
        if type(X) is not np.ndarray and comes_in_shards(X):
            return train_in_shards(self, local_shards(X, y, sample_weight), reporter, data)
        X, y = training_inputs(self, X, y)
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        weight = checked_weights(sample_weight, count)
        targets, weight = self._targets(y, weight)
        with single_threaded_blas(), pages_kept():
            samples = self._samples(X, targets, weight)
            self.kernel_ = resolved_kernel(self, samples.X, samples.weight)
            largest = refuse_overflow(self.kernel_, samples.X)
            centre = None
            if isinstance(self.kernel_, Linear) and self._has_free_intercept:
                centre = offset_of(samples.X)
            if centre is not None:
                samples = samples._replace(X=without(samples.X, centre), centred=True)
                largest = refuse_overflow(self.kernel_, samples.X)
            self.shape_fit_ = X.shape if hasattr(X, "shape") else (count,)
            jobs = effective_n_jobs(self.n_jobs) if self._has_multiple_problems() else 1
            settings = self._settings(samples.weight.size, jobs)
            penalty = float(getattr(self, "C", 1.0))
            dtype = plan.working_dtype(
                self.precision, self.kernel_, samples.X, penalty, settings.tol
            )
            if self.solver == "full":
                p.check_full_matrix(self, samples.size, dtype.itemsize)
            grams = Grams(self.kernel_, samples.X, dtype, largest)
            as_delivered = partial(delivered, samples)
            trainer = Trainer(grams, settings, reporter.clock, reporter, jobs, as_delivered)
            trainer.offset = getattr(self, "_offset_", 0.0)
            tasks = self._tasks(samples, trainer)
            if previous is not None:
                tasks = resumed(tasks, previous, self)
            reporter.begin(len(tasks), **data)
            outcomes = self._solved(samples, tasks, trainer)
            self._refuse_unbounded(tasks, outcomes, largest)
            placed = outcomes
            if centre is not None:
                placed = at_origin(X, samples, tasks, outcomes, centre, trainer)
            self._write(X, samples, tasks, placed)
            self._penalty_ = penalty
            solutions, _, certificates, _ = zip(*placed)
            self._write_solutions([task.name for task in tasks], list(solutions), certificates)
            self._complete(samples, tasks, outcomes, trainer)
        if self.fit_status_:
            self._warn(tasks, placed)
        return trainer.interrupted

    @property
    def _has_free_intercept(self) -> bool:
        """Whether Σα = 0, so that inputs may be centred."""
        return bool(getattr(self, "fit_intercept", True))

    def _targets(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
        """Targets as numbers, and the weights with which samples are present."""
        raise NotImplementedError

    def _has_multiple_problems(self) -> bool:
        return False

    def _tasks(self, samples: Samples, trainer: Trainer) -> list[Task]:
        """The dual problems to solve."""
        raise NotImplementedError

    def _write(self, X: Any, samples: Samples, tasks: list[Task], outcomes: list[Outcome]) -> None:
        """Set the attributes that make up the function."""
        raise NotImplementedError

    def _solved(self, samples: Samples, tasks: list[Task], trainer: Trainer) -> list[Outcome]:
        del samples
        return trainer.run(tasks)

    def _complete(
        self, samples: Samples, tasks: list[Task], outcomes: list[Outcome], trainer: Trainer
    ) -> None:
        """Fit what depends on the finished function, such as probabilities."""

    def _samples(self, X: Any, targets: np.ndarray | None, weight: np.ndarray) -> Samples:
        named = isinstance(self.kernel, str)
        square = self.kernel == "precomputed" if named else is_precomputed(self.kernel)
        if not named and is_function(self.kernel):
            self._training_inputs_ = X
            X, square = self._function_values(X, X), True
            if X.shape != (weight.size, weight.size):
                raise ValueError(
                    f"kernel must return a matrix of shape {(weight.size, weight.size)} for "
                    f"kernel(X, X), got {X.shape}. X.shape[0] should be equal to X.shape[1]"
                )
        if square:
            X = as_square("X", X)
            check_symmetric(X)
        # Sorted by content, shuffled samples are the same problem to the last bit. With an
        # indefinite kernel even the solution would depend on the given order.
        # Inputs of more than 256 MB are not copied to sort them.
        cheap = not square and size_in_bytes(X) <= 1 << 28
        return distinct(X, targets, weight, square, ordered=cheap or may_be_indefinite(self))

    def _function_values(self, A: Any, B: Any) -> np.ndarray:
        block = self.kernel(A, B)
        block = block.toarray() if sparse.issparse(block) else np.asarray(block)
        if block.ndim != 2 or block.dtype.kind not in "biuf":
            raise ValueError(
                "kernel must return a 2-D array of numbers, got "
                f"{block.ndim} dimension(s) of dtype {block.dtype}"
            )
        block = block.astype(np.float64, order="C", copy=False)
        if not np.isfinite(block).all():
            raise ValueError("kernel returned NaN or infinity")
        return block

    def _settings(self, samples: int, jobs: int) -> Settings:
        return Settings(
            tol=float(self.tol),
            gap=float(self.gap),
            driver=self.solver,
            selection=self.selection,
            planning=int(self.planning),
            shrinking=bool(self.shrinking),
            cache_bytes=plan.memory_budget(self.cache_size, samples, jobs),
            max_steps=None if self.max_iter == -1 else int(self.max_iter),
            precision=self.precision,
            random_state=self._seed(),
        )

    def _refuse_unbounded(self, tasks: list[Task], outcomes: list[Outcome], largest: float) -> None:
        for task, outcome in zip(tasks, outcomes):
            status, is_squared = outcome.solution.status, bool(task.machine.problem.ridge.any())
            is_over = status in ("precision", "stuck") and np.isinf(outcome.certificate.primal)
            if is_over and is_squared:
                outcome = outcome.ended("unbounded")  # it grew until it overflowed
            is_unbounded = outcome.solution.status == "unbounded"
            if is_unbounded and not hasattr(self, "C"):
                raise ValueError(
                    f"nu={self.nu} leaves no margin between the classes of {task.name}, so that "
                    "class_weight cannot be applied: choose a smaller nu, or leave class_weight out"
                )
            known = is_unbounded and isinstance(self.kernel_, VectorKernel)
            if known and np.isfinite(self.C) and not may_be_indefinite(self):
                raise ValueError(
                    f"kernel values of these samples are too large for float64: rounding leaves "
                    f"the problem of {task.name} with kernel {self.kernel_!r} no solution. Scale "
                    "the inputs, for example with StandardScaler"
                )
            if is_unbounded and np.isfinite(self.C):
                raise ValueError(
                    f"kernel {self.kernel_!r} is not positive semi-definite on these samples: "
                    f"with loss='squared_hinge' the problem of {task.name} has no solution. Use "
                    "loss='hinge' or another kernel"
                )
            if is_unbounded:
                raise ValueError(
                    f"C must be finite: C={self.C} allows no error, but without error there is no "
                    f"solution for {task.name} with kernel {self.kernel_!r}"
                )
            if not np.isfinite([*outcome.expansion.coef, outcome.expansion.intercept]).all():
                if largest < 1e-300:  # whose reciprocal overflows soon
                    raise ValueError(
                        f"kernel values of these samples are too small for float64: k(x, x) with "
                        f"kernel {self.kernel_!r} is at most {largest:.3g}. Scale the inputs, for "
                        "example with StandardScaler"
                    )
                raise ValueError(
                    "The dual coefficients or intercepts are not finite. The input data may "
                    "contain large values and need to be preprocessed"
                )

    def _warn(self, tasks: list[Task], outcomes: list[Outcome]) -> None:
        """Warn about the remaining distance to the optimum if a budget ended the fit."""
        unfinished = [
            (outcome.certificate.violation, place)
            for place, outcome in enumerate(outcomes)
            if not outcome.finished and outcome.solution.status != "interrupted"
        ]
        if not unfinished:
            return
        place = max(unfinished)[1]
        worst = outcomes[place]
        status = worst.solution.status
        reason = EARLY.get(status, f"Solver terminated early: {STATUSES[status]}.")
        reason = reason.format(**self.get_params(deep=False))
        where = f" ({len(unfinished)} of {len(tasks)} problems, worst {tasks[place].name})"
        warn_caller(
            f"{reason} The duality gap is still {worst.certificate.gap:.3g}, "
            f"{worst.certificate.relative_gap:.2%} of the objective, and the largest violation "
            f"{worst.certificate.violation:.3g}; asked for were gap={self.gap:g} and "
            f"tol={self.tol:g}{where if len(tasks) > 1 else ''}. Go on from here with "
            "warm_start=True.",
            ConvergenceWarning,
        )

    def _functions(self) -> tuple[Any, np.ndarray]:
        """Coefficients of the support vectors, one row for each function, and the intercepts."""
        return self.dual_coef_, self.intercept_

    def _values(self, X: Any) -> np.ndarray:
        """Every function at every sample, shape (samples, functions)."""
        check_is_fitted(self)
        X = new_inputs(self, X)
        coef, intercept = self._functions()
        if self.n_support_.sum() != coef.shape[1]:
            raise ValueError(
                f"The internal representation of {type(self).__name__} was altered: n_support_ "
                f"counts {self.n_support_.sum()} support vectors, dual_coef_ {coef.shape[1]}"
            )
        values = expansion_values(self, X, coef) + intercept
        if not np.isfinite(values).all():
            raise ValueError(
                f"X holds values at which kernel {self.kernel_!r} overflows. Scale the inputs in "
                "the same way as at training time"
            )
        result: np.ndarray = values
        return result

    @property
    def coef_(self) -> Any:
        """Weights of the features, for a linear kernel; read-only."""
        if not hasattr(self, "kernel_") or self.kernel_ != Linear():
            raise AttributeError("coef_ is only available when using a linear kernel")
        coef = weights_of_features(self._functions()[0], self.support_vectors_)
        (coef.data if sparse.issparse(coef) else coef).flags.writeable = False
        return coef

    def _write_support(self, X: Any, coef: np.ndarray, support: np.ndarray) -> None:
        """Set the attributes of the support vectors: those of X at `support`, in that order."""
        self.support_ = support.astype(np.int32)
        if isinstance(self.kernel_, Precomputed):
            self.support_vectors_ = np.empty((0, 0))
        else:
            self.support_vectors_ = chosen(X, support)
        self.dual_coef_ = coef
        if sparse.issparse(self.support_vectors_):
            self.dual_coef_ = like(self.support_vectors_, coef)


def resumed(tasks: list[Task], previous: Any, estimator: Any) -> list[Task]:
    """The tasks, starting from the end of the previous fit of the same samples.

    If C has changed, all dual variables are scaled, so that those at a bound stay there.
    """
    known = previous.solution_ if isinstance(previous.solution_, list) else [previous.solution_]
    sizes = [task.machine.problem.size for task in tasks]
    if [solution.alpha.size for solution in known] != sizes:
        return tasks
    ratio = float(getattr(estimator, "C", 1.0)) / previous._penalty_
    if not (np.isfinite(ratio) and ratio > 0):
        ratio = 1.0
    return [
        task._replace(start=scaled(solution.alpha, ratio, task.machine.problem))
        for task, solution in zip(tasks, known)
    ]


def scaled(alpha: Float, ratio: float, problem: DualProblem) -> Float:
    """α times the ratio, at a bound where only rounding keeps it from there."""
    result = alpha * ratio
    for bound in (problem.lower, problem.upper):
        finite = np.where(np.isfinite(bound), bound, 0.0)
        result = np.where(np.abs(result - finite) <= ROUNDING * np.abs(finite), finite, result)
    return result
