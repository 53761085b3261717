"""Common base of machines with squared loss: one linear system for all functions, certified."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...dual import Certificate, certify_least_squares
from ...kernels import Linear
from ...kernels.vector.base import VectorKernel
from ...runtime.buffers import memory_share, pages_kept
from ...runtime.parallel import single_threaded_blas
from ...solvers.plan import fits_single
from ...solvers.ridge import RidgeSolution, RidgeSystem, leave_one_out, solve_ridge
from ...solvers.ridge.preconditioner import FullFactor
from ...solvers.ridge.solver import Plan, Watch
from ...solvers.ridge.system import product
from .. import parameters as p
from ..certificates import Certificates
from ..conditioning import (
    intercept_at_origin,
    offset_of,
    without,
)
from ..distinct import Samples
from ..inputs import (
    checked_weights,
    may_be_indefinite,
    refuse_overflow,
    resolved_kernel,
    training_inputs,
)
from ..progress import Clock, OutOfTime, Reporter
from ..warn import warn_caller
from .machine import KernelMachine
from .training.problems import FEASIBLE


class Functions(NamedTuple):
    """The targets of every function on the distinct samples, and their names."""

    targets: np.ndarray
    names: tuple[str, ...]


class LeastSquaresMachine(KernelMachine):
    """½ Σ_i w_i (t_i − f(x_i))² + ½λ‖f‖² → min for one or more targets."""

    warm_start = False
    precision = "auto"

    @property
    def tol(self) -> float:
        """The target that progress is measured against."""
        return float(self.gap)

    _rules: ClassVar[Any] = {
        "fit_intercept": p.check_boolean,
        "leave_one_out": p.check_boolean,
    }

    def _penalty(self) -> float:
        """λ"""
        raise NotImplementedError

    def _coded(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A code per sample that identifies its targets, and the weights of the samples."""
        raise NotImplementedError

    def _functions_of(self, codes: np.ndarray) -> Functions:
        """The targets of these codes."""
        raise NotImplementedError

    def _factors(self, codes: np.ndarray) -> np.ndarray:
        """Factors on the weights of samples."""
        return np.ones(codes.size)

    def _train(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        reporter: Reporter,
        data: dict[str, Any],
        previous: Any,
    ) -> bool:
        """Set all fitted attributes."""
        del previous
        clock = Clock(self.max_seconds)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X, _ = training_inputs(self, X, None)
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        weight = checked_weights(sample_weight, count)
        codes, weight = self._coded(y, weight)
        with single_threaded_blas(), pages_kept():
            samples = self._samples(X, codes, weight)
            self.kernel_ = resolved_kernel(self, samples.X, samples.weight)
            refuse_overflow(self.kernel_, samples.X)
            is_linear = isinstance(self.kernel_, Linear) and self.fit_intercept
            centre = offset_of(samples.X) if is_linear else None
            if centre is not None:
                samples = samples._replace(X=without(samples.X, centre))
            self.shape_fit_ = X.shape if hasattr(X, "shape") else (count,)
            functions = self._functions_of(samples.targets)
            system = self._system(samples, functions)
            means = self._centre_targets(system)
            reporter.begin(1, **data)
            watch = self._watch(clock, reporter)
            solution = self._solved(system._replace(targets=system.targets - means), watch)
            solution = solution._replace(intercept=solution.intercept + means)
            certificates = self._certified(system, solution, clock)
            reporter.finish(0)
            self._write(X, samples, solution, centre)
            self._write_results(functions, system, solution, certificates)
            if self.leave_one_out:
                self.loo_residuals_ = self._left_out(samples, system, solution)
        self._warn(certificates)
        return False

    def _system(self, samples: Samples, functions: Functions) -> RidgeSystem:
        gram = self.kernel_.bind(samples.X, np.float64)
        weight = samples.weight * self._factors(samples.targets)
        intercept = bool(self.fit_intercept)
        return RidgeSystem(gram, functions.targets, weight, self._penalty(), intercept)

    def _centre_targets(self, system: RidgeSystem) -> np.ndarray:
        """Means to subtract from the targets, which a free bias absorbs: this reduces rounding."""
        if not system.intercept:
            return np.zeros(system.targets.shape[1])
        return np.asarray(system.weight @ system.targets / system.weight.sum())

    def _watch(self, clock: Clock, reporter: Reporter) -> Watch:
        def ended() -> str | None:
            return "time_limit" if clock.left() <= 0 else None

        return Watch(clock.overtime, ended, reporter.listen(0, type(self).__name__))

    def _solved(  # type: ignore[override]  # one system instead of tasks
        self, system: RidgeSystem, watch: Watch
    ) -> RidgeSolution:
        if self.leave_one_out and system.penalty == 0:
            raise p.ParameterError(
                "leave_one_out must be False without a penalty: give a small one instead"
            )
        low_precision = None
        is_vector = isinstance(self.kernel_, VectorKernel)
        if is_vector and fits_single(self.kernel_, system.gram.X):
            low_precision = self.kernel_.bind(system.gram.X, np.float32)
        try:
            solution = solve_ridge(
                system,
                gap=float(self.gap),
                memory=self._memory(),
                low_precision=low_precision,
                leave_one_out=self.leave_one_out,
                watch=watch,
            )
        except OutOfTime:
            nothing = np.zeros_like(system.targets)
            solution = RidgeSolution(nothing, np.zeros(nothing.shape[1]), "time_limit", Plan(""))
        if solution.status == "converged" and self._is_indefinite(system):
            return solution._replace(status="stationary")
        return solution

    def _memory(self) -> float:
        if self.cache_size == "auto":
            return 0.5 * memory_share()
        return float(self.cache_size) * 1e6

    def _is_indefinite(self, system: RidgeSystem) -> bool:
        """Whether the matrix has negative eigenvalues; checked only for kernels that may."""
        gram = system.gram
        if gram.whole is None and not may_be_indefinite(self):
            return False
        matrix = gram.matrix() if gram.whole is None else gram.whole.copy()
        # Smaller eigenvalues below 0 are rounding.
        lift = 1e-9 * float(np.abs(matrix.diagonal()).max(initial=0.0)) or 1e-9
        return FullFactor.of(matrix, np.full(len(matrix), lift)) is None

    def _certified(
        self, system: RidgeSystem, solution: RidgeSolution, clock: Clock
    ) -> list[Certificate]:
        """One certificate per target, from recomputed kernel values."""
        try:
            kernel_coef = product(system.gram, solution.coef, clock.overtime)
        except OutOfTime:
            unknown = Certificate(np.inf, -np.inf, np.inf, np.inf, 0.0)
            return [unknown] * solution.intercept.size
        return [
            certify_least_squares(
                system.targets[:, k],
                system.weight,
                system.penalty,
                solution.coef[:, k],
                float(solution.intercept[k]) if system.intercept else None,
                kernel_coef[:, k],
            )
            for k in range(solution.intercept.size)
        ]

    def _left_out(
        self, samples: Samples, system: RidgeSystem, solution: RidgeSolution
    ) -> np.ndarray:
        """The residual of every given sample, for the machine trained without it."""
        member, codes = samples.member, samples.targets
        weights = np.where(member >= 0, samples.given_weight * self._factors(codes)[member], 0.0)
        rows = system._replace(weight=system.weight[member])
        assert solution.inverse is not None
        residuals = leave_one_out(rows, solution.coef[member], solution.inverse[member], weights)
        residuals[member < 0] = np.nan
        return residuals

    def _write(  # type: ignore[override]  # one solution instead of tasks
        self, X: Any, samples: Samples, solution: RidgeSolution, centre: Any
    ) -> None:
        coef = np.stack([samples.spread(column) for column in solution.coef.T])
        support = np.flatnonzero(coef.any(axis=0))
        self._write_support(X, coef[:, support], support)
        self.n_support_ = np.array([support.size], dtype=np.int32)
        self.intercept_ = solution.intercept.astype(np.float64)
        if centre is not None:
            pairs = zip(self.intercept_, coef)
            self.intercept_ = np.array(
                [float(intercept_at_origin(b, row, X, centre)) for b, row in pairs]
            )
        self.n_iter_ = solution.iterations

    def _write_results(
        self,
        functions: Functions,
        system: RidgeSystem,
        solution: RidgeSolution,
        certificates: list[Certificate],
    ) -> None:
        single = len(certificates) == 1
        self.certificate_ = (
            certificates[0] if single else Certificates(functions.names, tuple(certificates))
        )
        self.status_ = self._status(system, solution, certificates)
        self.fit_status_ = int(self.status_ not in ("converged", "stationary"))
        self.method_ = str(solution.plan.method)

    def _status(
        self, system: RidgeSystem, solution: RidgeSolution, certificates: list[Certificate]
    ) -> str:
        """The certificate decides whether the requested gap was reached."""
        if solution.status not in ("converged", "precision"):
            return solution.status
        sizes = 0.5 * system.weight @ (system.targets * system.targets)
        # A gap below this fraction of ½ Σ w t² is rounding.
        resolved = 1e-24 if system.penalty > 0 else 1e-12
        proven = all(
            shown.gap <= max(self.gap * abs(shown.primal), resolved * size)
            and shown.infeasibility <= FEASIBLE
            for shown, size in zip(certificates, sizes)
        )
        return "converged" if proven else "precision"

    def _warn(self, certificates: list[Certificate]) -> None:  # type: ignore[override]
        if not self.fit_status_ or self.status_ == "stopped":
            return
        worst = max(shown.relative_gap for shown in certificates)
        reason = {
            "time_limit": f"max_seconds={self.max_seconds} was reached",
            "step_limit": f"{self.n_iter_} conjugate gradient steps were not enough",
        }.get(self.status_, "float64 allows no further progress")
        warn_caller(
            f"Solver terminated early: {reason}. The duality gap is still {worst:.3g} of the "
            f"objective; asked for was gap={self.gap:g}. A larger penalty makes it easier.",
            ConvergenceWarning,
        )
