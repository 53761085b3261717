"""`solve_ridge`: kernel ridge regression, direct if memory allows, else iterative.

Order of calls:

1. `planned` says what will run: the spectrum (no penalty), a float64 Cholesky factor, a float32
   matrix with iterations, or iterations that recompute kernel values every time.
2. `refined` repeats: exact residual in float64, duality gap from it, correction by the factor or
   by conjugate gradients; until the gap is small or rounding leaves nothing to gain.
3. If the matrix is not positive definite, it falls back to the spectrum.

With the residual ρ = t − b − (K + λW⁻¹)β and 1ᵀβ = 0 the duality gap of (β, b) is ½ Σ_i w_i ρ_i².
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels import Gram
from ..result import Progress
from .conjugate import Budget, conjugate_gradients
from .leave_one_out import inverse_diagonal
from .preconditioner import FullFactor, PartialFactor
from .spectrum import solve_by_spectrum
from .system import Float, Pause, RidgeSystem, blockwise_product, matrix_product, product


class Rules(NamedTuple):
    """Which method solves kernel ridge regression, and when it ends; measured by
    `python -m benchmarks.ridge`."""

    # Up to this many samples a float64 factor is always the fastest method.
    small: int = 2000
    # Directions of the partial factor, as a fraction of the samples, and at most.
    rank_share: float = 0.1
    most_rank: int = 1500
    # Kernels of at most this rank, as a fraction of the samples, are solved by their directions
    # alone.
    low_rank: float = 0.25
    # Iterations per sample that take as long as a Cholesky factor, and at least.
    iterations_a_sample: float = 1.0 / 120.0
    least_iterations: int = 20
    # Iteration limit if there is no factor to fall back on.
    most_iterations: int = 2000
    # A pass that reduces the gap by a smaller factor is the last one: the rest is rounding.
    least_progress: float = 4.0
    most_passes: int = 40
    # A gap below this fraction of ½ Σ w t² is rounding.
    resolved: float = 1e-26


RULES = Rules()


class Plan(NamedTuple):
    """What will run.

    Attributes
    ----------
    method : {"spectrum", "cholesky", "mixed", "iterative"}
    rank : int
        Directions of the partial factor.
    """

    method: str
    rank: int = 0

    def __str__(self) -> str:
        return {
            "spectrum": "eigenvalues of the whole matrix",
            "cholesky": "float64 Cholesky factor",
            "mixed": f"float32 matrix, {self.rank} directions, float64 refinement",
            "iterative": f"conjugate gradients, {self.rank} directions, no matrix in memory",
        }[self.method]


class RidgeSolution(NamedTuple):
    """Coefficients and how they were found.

    Attributes
    ----------
    coef : float array of shape (samples, targets)
    intercept : float array of shape (targets,)
    status : str
        One of `maxmargin.solvers.STATUSES`.
    plan : Plan
    iterations : int
        Conjugate gradient steps.
    passes : int
        Products with the exact matrix.
    inverse : float array or None
        The diagonal of C, where leave-one-out residuals were asked for.
    """

    coef: Float
    intercept: Float
    status: str
    plan: Plan
    iterations: int = 0
    passes: int = 0
    inverse: Float | None = None


class Watch(NamedTuple):
    """Callbacks of a run.

    Attributes
    ----------
    pause : callable
        Called between blocks; may raise.
    ended : callable
        The status with which to end now, or None.
    listener : callable or None
        Called with a `Progress`; a true answer ends the run.
    """

    pause: Pause | None = None
    ended: Callable[[], str | None] = lambda: None
    listener: Callable[[Progress], Any] | None = None


def planned(
    system: RidgeSystem, rank: float, memory: float, single: bool, direct: bool = False
) -> Plan:
    """The plan for a kernel of this rank and `memory` bytes.

    `single` says whether float32 rows are precise enough, `direct` that the factor is needed.
    """
    n = system.size
    directions = int(min(rank, max(RULES.rank_share * n, 1), RULES.most_rank))
    if system.penalty == 0:
        return Plan("spectrum")
    if direct:
        return Plan("cholesky")
    if n <= RULES.small and 8.0 * n * n <= memory:
        return Plan("cholesky")
    if rank <= RULES.low_rank * n and rank <= RULES.most_rank:
        return Plan("iterative", int(rank))
    if single and 4.0 * n * n <= memory:
        return Plan("mixed", directions)
    if 8.0 * n * n <= memory:
        return Plan("cholesky")
    return Plan("iterative", directions)


def solve_ridge(
    system: RidgeSystem,
    *,
    gap: float = 1e-6,
    memory: float = np.inf,
    low_precision: Gram | None = None,
    leave_one_out: bool = False,
    watch: Watch | None = None,
) -> RidgeSolution:
    """Solve (K + λW⁻¹)β + b = t for all targets, to a duality gap.

    Parameters
    ----------
    system : RidgeSystem
    gap : float
        Largest duality gap at the end, relative to the objective, of every target.
    memory : float
        Bytes that the matrix may take.
    low_precision : Gram, optional
        The same Gram in float32.
    leave_one_out : bool
        Whether the diagonal that `leave_one_out` needs is computed.
    watch : Watch, optional

    Returns
    -------
    RidgeSolution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.solvers.ridge import RidgeSystem, solve_ridge
    >>> gram = Linear().bind(np.array([[-1.0], [0.0], [1.0]]), np.float64)
    >>> system = RidgeSystem(gram, np.array([[0.0], [1.0], [2.0]]), np.ones(3), 2.0, True)
    >>> solution = solve_ridge(system)
    >>> solution.coef.ravel().round(6), solution.intercept.round(6)
    (array([-0.25,  0.  ,  0.25]), array([1.]))
    """
    watch = Watch() if watch is None else watch
    rank = float(system.gram.kernel.rank(system.gram.X))
    plan = planned(system, rank, memory, low_precision is not None, leave_one_out)
    run = Run(system, gap, plan, memory, low_precision, watch)
    if plan.method == "spectrum":
        return run.by_spectrum()
    if plan.method == "cholesky":
        return run.by_factor(leave_one_out)
    return run.by_iteration()


class Run:
    """One run of `solve_ridge`."""

    def __init__(
        self,
        system: RidgeSystem,
        gap: float,
        plan: Plan,
        memory: float,
        low_precision: Gram | None,
        watch: Watch,
    ) -> None:
        self.system, self.gap, self.plan, self.memory = system, gap, plan, memory
        self.low_precision, self.watch = low_precision, watch
        self.iterations = self.passes = 0
        self.began = time.perf_counter()

    def by_spectrum(self) -> RidgeSolution:
        found = solve_by_spectrum(self.system, self._matrix())
        status = "converged" if found.semidefinite else "stationary"
        return RidgeSolution(found.coef, found.intercept, status, Plan("spectrum"))

    def by_factor(self, leave_one_out: bool = False) -> RidgeSolution:
        factor = FullFactor.of(self._matrix(), self.system.ridge)
        if factor is None:
            self.plan = Plan("spectrum")
            if leave_one_out:
                raise ValueError(
                    "alpha must be larger for leave-one-out residuals: K + alpha is not positive "
                    "definite in float64"
                )
            return self.by_spectrum()
        inverse = inverse_diagonal(self.system, factor) if leave_one_out else None
        return self.refined(factor)._replace(inverse=inverse)

    def by_iteration(self) -> RidgeSolution:
        matrix = None
        source = self.system.gram if self.low_precision is None else self.low_precision
        if self.plan.method == "mixed":
            matrix = source.matrix(self.watch.pause)
        partial = PartialFactor.of(source, self.system.ridge, self.plan.rank, 0, self.watch.pause)
        found = self.refined(partial, matrix)
        factor = None
        if not self._is_over(found) and matrix is not None:
            # Too many iterations: factoring the matrix in memory is faster.
            factor = FullFactor.of(matrix, self.system.ridge)
        if factor is not None:
            found = self.refined(factor)
        del matrix, factor
        if self._is_over(found) or 8.0 * self.system.size**2 > self.memory:
            return found
        return self.by_factor()

    @staticmethod
    def _is_over(found: RidgeSolution) -> bool:
        return found.status in ("converged", "stopped", "time_limit")

    def refined(
        self, factor: FullFactor | PartialFactor, matrix: NDArray[Any] | None = None
    ) -> RidgeSolution:
        """Corrections by a factor until the exact residual is small."""
        system = self.system
        right = system.right_sides()
        solved, residual = np.zeros_like(right), right
        best, status = np.inf, "precision"
        for _ in range(RULES.most_passes):
            aim = self._aim(solved, residual)
            step, ended = self._correction(factor, matrix, residual, aim)
            solved = solved + step
            residual = self._residual(right, solved)
            share = self._share_of_gap(solved, residual)
            if ended is not None:
                status = ended
                break
            if self._tell(share):
                status = "stopped"
                break
            if share <= 1.0:
                status = "converged"
                break
            if not share * RULES.least_progress < best:
                break
            best = share
        coef, bias = system.combined(solved)
        return RidgeSolution(coef, bias, status, self.plan, self.iterations, self.passes)

    def _correction(
        self,
        factor: FullFactor | PartialFactor,
        matrix: NDArray[Any] | None,
        residual: Float,
        aim: float,
    ) -> tuple[Float, str | None]:
        if isinstance(factor, FullFactor):
            return factor.solve(residual), self.watch.ended()
        limit = RULES.most_iterations
        if matrix is not None:
            limit = max(RULES.least_iterations, int(RULES.iterations_a_sample * self.system.size))
        budget = Budget(limit - self.iterations, matrix is not None, self.watch.ended)
        found = conjugate_gradients(
            lambda B: self._low_precision_product(matrix, B),
            factor.solve,
            residual,
            self.system.weight,
            aim,
            budget,
        )
        self.iterations += found.iterations
        return found.solution, found.ended

    def _low_precision_product(self, matrix: NDArray[Any] | None, B: Float) -> Float:
        ridge = self.system.ridge[:, None]
        if matrix is not None:
            values = matrix_product(matrix, B.astype(matrix.dtype))
        elif self.low_precision is not None:
            values = blockwise_product(self.low_precision, B, self.watch.pause)
        else:
            values = product(self.system.gram, B, self.watch.pause)
        return values + ridge * B

    def _residual(self, right: Float, solved: Float) -> Float:
        self.passes += 1
        applied = product(self.system.gram, solved, self.watch.pause)
        return np.asarray(right - applied - self.system.ridge[:, None] * solved)

    def _aim(self, solved: Float, residual: Float) -> float:
        """The factor by which the norm of the residual must be reduced."""
        share = self._share_of_gap(solved, residual)
        return 0.3 / np.sqrt(share) if np.isfinite(share) and share > 1 else 0.3

    def _share_of_gap(self, solved: Float, residual: Float) -> float:
        """The largest duality gap of a target, relative to the requested one."""
        system, weight = self.system, self.system.weight
        if not solved.any():
            return 1.0 / self.gap
        _, bias = system.combined(solved)
        coef = solved[:, : system.targets.shape[1]]
        left = residual
        if system.intercept:
            coef = coef - np.outer(solved[:, -1], bias)
            left = residual[:, :-1] - np.outer(residual[:, -1], bias)
        gaps = 0.5 * weight @ (left * left)
        # At the optimum the objective is ½λ t·β; t − b counts, as Σβ = 0.
        objective = 0.5 * system.penalty * np.einsum("ij,ij->j", coef, system.targets - bias)
        least = RULES.resolved * 0.5 * weight @ (system.targets * system.targets)
        allowed = np.maximum(self.gap * np.abs(objective), least)
        return float(np.max(np.divide(gaps, allowed, out=np.zeros_like(gaps), where=gaps > 0)))

    def _tell(self, share: float) -> bool:
        if self.watch.listener is None:
            return False
        n = self.system.size
        seconds = time.perf_counter() - self.began
        told = Progress(
            self.iterations, share * self.gap, np.nan, share * self.gap, seconds, n, n, n
        )
        return bool(self.watch.listener(told))

    def _matrix(self) -> Float:
        """The whole matrix in float64, to be overwritten."""
        gram = self.system.gram
        return gram.matrix(self.watch.pause) if gram.whole is None else gram.whole.copy()
