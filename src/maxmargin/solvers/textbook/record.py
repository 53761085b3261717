"""The state of a textbook solver, and a detailed trace of it.

A `Recorder` owns α and the gradient G = linear − Qα, moves them, counts kernel values, and writes
down each step. Solvers decide which variables move and how far.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dual.certificate import certify_expansion
from ...dual.problem import DualProblem, Float
from ..result import Solution, Trace
from ..smo.state import CLIPPED, FACE, FREE, PLANNED, STEP_KINDS

__all__ = ["CLIPPED", "FACE", "FREE", "PLANNED", "STEP_KINDS", "DetailedTrace", "Recorder"]

NONE = -1


@dataclass(frozen=True)
class DetailedTrace(Trace):
    """One entry per step; `violation` is that before the step, everything else that after it.

    Attributes
    ----------
    violation, dual, kind, ratio, active, free : arrays
        As of `Trace`; `ratio` is the step in units of the Newton step.
    i, j : int arrays
        The variables that moved: j = −1 where one did, both where more than two did.
    before, after : float arrays of shape (steps, 2)
        α of both; NaN where there is none.
    gap : float array
        Duality gap.
    bias : float array
    kernel_evaluations : int array
        Different kernel values computed so far.
    alpha : float array of shape (steps + 1, variables), or None
        α at the start and after every step, if asked for.
    samples : bool array of shape (steps + 1, samples), or None
        Which samples were active under shrinking, with `alpha`; recorded by `watch` only.
    rows_cached : bool array of shape (steps + 1, samples), or None
        Which rows of the Gram matrix were in memory, with `alpha`; recorded by `watch` only.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.textbook import smo
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.kernels import Linear
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1, 1, 1])
    >>> trace = smo(hinge(y, C=1.0).problem, Linear()(X), trace=True).trace
    >>> len(trace), trace.rows()[0]["pair"]
    (1, [1, 0])
    """

    i: NDArray[np.int64]
    j: NDArray[np.int64]
    before: Float
    after: Float
    gap: Float
    bias: Float
    kernel_evaluations: NDArray[np.int64]
    alpha: Float | None = None
    samples: NDArray[np.bool_] | None = None
    rows_cached: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return self.i.size

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per step, of plain numbers and strings, for pages and tables."""
        return [
            {
                "step": k + 1,
                "pair": [int(a) for a in (self.i[k], self.j[k]) if a >= 0],
                "before": self.before[k].tolist(),
                "after": self.after[k].tolist(),
                "kind": STEP_KINDS[int(self.kind[k])],
                "dual": float(self.dual[k]),
                "violation": float(self.violation[k]),
                "gap": float(self.gap[k]),
                "bias": float(self.bias[k]),
                "kernel_evaluations": int(self.kernel_evaluations[k]),
            }
            for k in range(len(self))
        ]


class CountedMatrix:
    """A Gram matrix that counts the distinct values used."""

    def __init__(self, K: Any) -> None:
        matrix = np.asarray(K, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"K must be a square Gram matrix, got shape {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise ValueError("K contains NaN or infinity")
        self.matrix = matrix
        self.seen = np.zeros(matrix.shape, dtype=bool)

    def row(self, sample: int) -> Float:
        self.seen[sample] = self.seen[:, sample] = True
        return np.asarray(self.matrix[sample])

    def value(self, first: int, second: int) -> float:
        self.seen[first, second] = self.seen[second, first] = True
        return float(self.matrix[first, second])

    @property
    def evaluations(self) -> int:
        """Values of the upper triangle: K is symmetric."""
        return int(np.count_nonzero(np.triu(self.seen)))


class Recorder:
    """α, G and the trace of a run.

    Parameters
    ----------
    problem : DualProblem
    K : array of shape (samples, samples)
    trace : bool or "alpha"
        Whether to record every step, and with it all of α.
    alpha : array, optional
        Where to begin; a feasible point when absent.
    summed : bool
        Whether the sums of α are constraints. If not, the bias is 0.
    """

    def __init__(
        self,
        problem: DualProblem,
        K: Any,
        trace: bool | str = False,
        alpha: Float | None = None,
        summed: bool = True,
    ) -> None:
        self.problem, self.K, self.summed = problem, CountedMatrix(K), summed
        if len(self.K.matrix) != problem.samples:
            raise ValueError(f"K has {len(self.K.matrix)} samples, the problem {problem.samples}")
        if summed or alpha is not None:
            self.alpha = problem.feasible(alpha)
        else:
            self.alpha = np.clip(np.zeros(problem.size), problem.lower, problem.upper)
        self.gradient = problem.linear.copy()
        for a in np.flatnonzero(self.alpha):
            self.gradient -= self.alpha[a] * self.q_row(int(a))
        self.began = time.perf_counter()
        self.trace, self.steps = trace, 0
        self.entries: list[tuple[Any, ...]] = []
        self.alphas = [self.alpha.copy()] if trace == "alpha" else []

    def q_row(self, a: int) -> Float:
        """Row a of Q."""
        row = self.problem.of_samples(self.K.row(a % self.problem.samples)).copy()
        row[a] += self.problem.ridge[a]
        return row

    def curvature(self, i: int, j: int) -> float:
        """(e_i − e_j)ᵀ Q (e_i − e_j)"""
        n, ridge = self.problem.samples, self.problem.ridge
        a, b = i % n, j % n
        bend = self.K.value(a, a) + self.K.value(b, b) - 2.0 * self.K.value(a, b)
        return float(bend + ridge[i] + ridge[j])

    def reach(self, i: int, j: int) -> float:
        """The longest step along e_i − e_j."""
        p, alpha = self.problem, self.alpha
        return float(min(p.upper[i] - alpha[i], alpha[j] - p.lower[j]))

    @property
    def can_rise(self) -> NDArray[np.bool_]:
        return self.problem.can_rise(self.alpha)

    @property
    def can_fall(self) -> NDArray[np.bool_]:
        return self.problem.can_fall(self.alpha)

    def violation(self) -> float:
        """ψ(α); without sums the largest projected gradient."""
        if self.summed:
            return self.problem.violation(self.alpha, self.gradient)
        return float(np.abs(self.projected_gradient()).max(initial=0.0))

    def projected_gradient(self) -> Float:
        """The projected gradient: 0 where it points out of the box."""
        G = self.gradient
        rising, falling = self.can_rise, self.can_fall
        return np.where((G > 0) & rising | (G < 0) & falling, G, 0.0)

    def bias(self) -> Float:
        if self.summed:
            return self.problem.bias(self.alpha, self.gradient)
        return np.zeros(self.problem.totals.size)

    def gap(self) -> float:
        """The duality gap, computed from α and Kα."""
        p, alpha = self.problem, self.alpha
        Kalpha = (p.linear - self.gradient - p.ridge * alpha)[: p.samples]
        if self.summed:
            return float(certify_expansion(p, alpha, Kalpha).gap)
        return box_gap(p, alpha, Kalpha)

    def move_pair(self, i: int, j: int, step: float, kind: int, ratio: float) -> None:
        """α ← α + step·(e_i − e_j), snapped to a bound that is reached."""
        violation, before = self.violation(), (self.alpha[i], self.alpha[j])
        change = step * (self.q_row(i) - self.q_row(j))
        self._set(i, self.alpha[i] + step)
        self._set(j, self.alpha[j] - step)
        self.gradient = self.gradient - change
        self._write(violation, i, j, before, kind, ratio)

    def move_one(self, i: int, step: float, kind: int, ratio: float) -> None:
        """α ← α + step·e_i"""
        violation, before = self.violation(), (self.alpha[i], np.nan)
        change = step * self.q_row(i)
        self._set(i, self.alpha[i] + step)
        self.gradient = self.gradient - change
        self._write(violation, i, NONE, before, kind, ratio)

    def move(self, variables: NDArray[Any], steps: Float, kind: int) -> None:
        """α ← α + steps, of any variables."""
        violation = self.violation()
        for a, step in zip(variables.tolist(), steps.tolist()):
            self.gradient = self.gradient - step * self.q_row(a)
            self._set(a, self.alpha[a] + step)
        self._write(violation, NONE, NONE, (np.nan, np.nan), kind, np.nan)

    def _set(self, a: int, value: float) -> None:
        """Snap to bounds that are reached up to rounding."""
        low, high = self.problem.lower[a], self.problem.upper[a]
        unit = 1e-14 * max(abs(value), abs(self.alpha[a]))
        if value <= low + unit:
            value = low
        elif value >= high - unit:
            value = high
        self.alpha[a] = value

    def _write(
        self,
        violation: float,
        i: int,
        j: int,
        before: tuple[Any, ...],
        kind: int,
        ratio: float,
    ) -> None:
        self.steps += 1
        if not self.trace:
            return
        after = tuple(self.alpha[a] if a >= 0 else np.nan for a in (i, j))
        dual = self.problem.value(self.alpha, self.gradient)
        bias, free = float(self.bias()[0]), int(self.problem.free(self.alpha).sum())
        facts = (violation, dual, kind, ratio, self.problem.size, free)
        more = (i, j, before, after, self.gap(), bias, self.K.evaluations)
        self.entries.append((*facts, *more))
        if self.trace == "alpha":
            self.alphas.append(self.alpha.copy())

    def finished(self, status: str) -> Solution:
        """The solution, with the gradient computed from scratch."""
        p = self.problem
        Kalpha = self.K.matrix @ p.per_sample(self.alpha)
        self.gradient = p.gradient(self.alpha, Kalpha)
        return Solution(
            alpha=self.alpha,
            gradient=self.gradient,
            bias=self.bias(),
            dual=p.value(self.alpha, self.gradient),
            violation=self.violation(),
            status=status,
            steps=self.steps,
            face_steps=0,
            planned_steps=sum(entry[2] == PLANNED for entry in self.entries),
            kernel_evaluations=self.K.evaluations,
            row_hits=0,
            row_misses=0,
            seconds=time.perf_counter() - self.began,
            trace=self._trace() if self.trace else None,
        )

    def _trace(self) -> DetailedTrace:
        columns = list(zip(*self.entries)) or [()] * 13

        def real(column: Any) -> Float:
            return np.array(column, dtype=np.float64)

        def whole(column: Any) -> NDArray[np.int64]:
            return np.array(column, dtype=np.int64)

        violation, dual, kind, ratio, active, free, i, j, before, after, gap, bias, count = columns
        return DetailedTrace(
            violation=real(violation),
            dual=real(dual),
            kind=whole(kind),
            ratio=real(ratio),
            active=whole(active),
            free=whole(free),
            i=whole(i),
            j=whole(j),
            before=real(before).reshape(-1, 2),
            after=real(after).reshape(-1, 2),
            gap=real(gap),
            bias=real(bias),
            kernel_evaluations=whole(count),
            alpha=np.array(self.alphas) if self.alphas else None,
        )


def box_gap(problem: DualProblem, alpha: Float, kernel_alpha: Float) -> float:
    """The duality gap of a problem without sums (a machine without bias)::

    Σ_a loss_a − (e_a α_a − ½ ridge_a α_a²),   e = linear − Kα,   loss_a as in `dual.certificate`
    """
    e = problem.linear - problem.of_samples(kernel_alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(problem.ridge > 0, e / problem.ridge, np.sign(e) * np.inf)
    best = np.clip(np.where(e == 0, 0.0, best), problem.lower, problem.upper)
    with np.errstate(invalid="ignore"):
        loss = e * best - 0.5 * problem.ridge * best * best
        loss = np.where(e == 0, 0.0, loss)
        own = e * alpha - 0.5 * problem.ridge * alpha * alpha
    return float(np.sum(loss - own))
