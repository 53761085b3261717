"""Newton systems of linear machines: three ways to the same step.

On the face J of samples whose β moves, with stiffness h, the step (dw, db) solves

    (I + Σ_J h x xᵀ) dw + (Σ_J h x) db = −g_w
    (Σ_J h x)·dw + (penalty + Σ_J h) db = −g_b

| system | unknowns | solved by |
|---|---|---|
| `FeatureSystem` | features | Cholesky of a d × d matrix, updated by the samples that changed |
| `SampleSystem` | u = h(x·dw + db) on the face | Cholesky of K_J + 1/h, Gram entries kept |
| `IterativeSystem` | the same u | conjugate gradients, preconditioned by the heaviest columns |

The last two rest on dw = −g_w − Σ_J u x and Σ_J u + penalty·db = −g_b. `NewtonSystem` takes the
cheapest of the three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack

from ....linalg.jitter import factor, factored_solve
from ..costs import COSTS
from ..data.matrix import Matrix
from ..losses import Float
from ..records import Intercept

# Seconds between checks of the clock inside a step.
PIECE = 0.05


class Step(NamedTuple):
    """A step and, if it is inexact, its u."""

    w: Float
    b: float
    u: Float | None = None


Check = Callable[[], None]


def never() -> None:
    """A run without limits."""


def in_pieces(rows: Any, nanoseconds: float) -> Iterator[Any]:
    """The rows in pieces of about PIECE seconds, at `nanoseconds` per row."""
    step = max(1, int(1e9 * PIECE / max(nanoseconds, 1e-3)))
    for start in range(0, len(rows), step):
        yield slice(start, start + step)


class FeatureSystem:
    """Σ_J h x xᵀ, changed by the samples whose h has changed."""

    def __init__(self, d: int, n: int, intercept: Intercept, check: Check = never) -> None:
        self.d, self.intercept, self.check = d, intercept, check
        self.reset(n)

    def reset(self, n: int) -> None:
        self.gram = np.zeros((self.d, self.d))
        self.border = np.zeros(self.d)
        self.counted = np.zeros(n)

    def restrict(self, matrix: Matrix, rows: Any) -> None:
        kept = self.counted[rows]
        self.counted[rows] = 0.0
        gone = np.flatnonzero(self.counted)
        if gone.size:
            matrix.add_outer(gone, -self.counted[gone], self.gram, self.border)
        self.counted = kept

    def extend(self, index: Any, n: int) -> None:
        counted = np.zeros(n)
        counted[index] = self.counted
        self.counted = counted

    def cost(self, matrix: Matrix, h: Float, face: int) -> float:
        changed = min(int(np.count_nonzero(h != self.counted)), face)
        return changed * matrix.row_cost.outer + _cholesky_cost(self.d)

    def step(self, matrix: Matrix, h: Float, scale: float, g_w: Float, g_b: float) -> Step:
        self._update(matrix, h)
        d = self.d
        size = d + 1 if self.intercept.fitted else d
        A = np.empty((size, size), order="F")
        np.multiply(self.gram, scale, out=A[:d, :d])
        A[np.arange(d), np.arange(d)] += 1.0
        if not self.intercept.fitted:
            return Step(-factored_solve(factor(A), g_w), 0.0)
        corner = scale * h.sum() + self.intercept.penalty
        if corner == 0.0:
            return Step(-g_w, 0.0)
        A[d, :d] = scale * self.border
        A[d, d] = corner * (1.0 + 1e-12)
        both = -factored_solve(factor(A), np.append(g_w, g_b))
        return Step(both[:d], float(both[d]))

    def _update(self, matrix: Matrix, h: Float) -> None:
        change = h - self.counted
        rows = np.flatnonzero(change)
        face = np.flatnonzero(h)
        if rows.size > face.size:
            self.reset(h.size)
            rows, change = face, h
        for piece in in_pieces(rows, matrix.row_cost.outer):
            self.check()
            matrix.add_outer(rows[piece], change[rows[piece]], self.gram, self.border)
        self.counted = h.copy()


class SampleSystem:
    """Gram entries among all samples that were ever on the face, computed once."""

    def __init__(self, n: int, intercept: Intercept, check: Check = never) -> None:
        self.intercept, self.check = intercept, check
        self.slot = np.full(n, -1)
        self.size = 0
        self.gram = np.zeros((256, 256))

    def restrict(self, rows: Any) -> None:
        self.slot = self.slot[rows]

    def extend(self, index: Any, n: int) -> None:
        slot = np.full(n, -1)
        slot[index] = self.slot
        self.slot = slot

    def cost(self, matrix: Matrix, h: Float, face: int) -> float:
        new = int(np.count_nonzero(self.slot[h != 0.0] < 0))
        return new * (self.size + 0.5 * new) * matrix.row_cost.inner + _cholesky_cost(face)

    def step(self, matrix: Matrix, h: Float, g_w: Float, g_b: float) -> Step:
        face = np.flatnonzero(h)
        self._admit(matrix, face[self.slot[face] < 0])
        slots = self.slot[face]
        A = self.gram[slots][:, slots]
        A[np.diag_indices_from(A)] += 1.0 / h[face]
        right = np.ones((face.size, 2), order="F")
        right[:, 0] = -matrix.margins_at(face, g_w)
        p, q = factored_solve(factor(A), right).T
        db = 0.0
        if self.intercept.fitted:
            db = float((-g_b - p.sum()) / (q.sum() + self.intercept.penalty))
        return Step(-g_w - matrix.combine_at(face, p + db * q), db)

    def _admit(self, matrix: Matrix, new: Any) -> None:
        if not new.size:
            return
        if self.size + new.size > COSTS.most_samples:
            self.slot[:] = -1
            self.size = 0
        old, size = self.size, self.size + new.size
        self.slot[new] = np.arange(old, size)
        known = np.flatnonzero(self.slot >= 0)
        members = np.full(size, -1)
        members[self.slot[known]] = known
        if size > self.gram.shape[0]:
            grown = np.zeros((max(size, 2 * self.gram.shape[0]),) * 2)
            grown[:old, :old] = self.gram[:old, :old]
            self.gram = grown
        present = np.flatnonzero(members >= 0)
        for piece in in_pieces(new, matrix.row_cost.inner * present.size):
            self.check()
            block = matrix.inner(new[piece], members[present])
            places = np.arange(old, size)[piece]
            self.gram[places[:, None], present] = block
            self.gram[present[:, None], places] = block.T
        self.size = size


class IterativeSystem:
    """Preconditioned conjugate gradients for (K_J + 1/h + κ11ᵀ) u = right side.

    K_J = BBᵀ + rest, where B holds the heaviest columns; the preconditioner keeps BBᵀ and the
    diagonal of the rest. The intercept is one more column of B, of weight κ: a step of the
    intercept is damped by 1/κ, which slows nothing down and has no effect on the solution.

    With the residual r of this system, ½Σ h r² is the duality gap of the Newton problem; the
    iteration ends when that is a small fraction of what the step gains.
    """

    def __init__(self, matrix: Matrix, intercept: Intercept, check: Check = never) -> None:
        self.check, norms = check, matrix.squared_norms
        self.most = min(COSTS.heavy_columns, matrix.d, max(8, matrix.entries // matrix.n))
        self.heavy = matrix.heavy_columns(min(COSTS.first_columns, self.most))
        self.norms = norms
        self.kappa = 0.0
        if intercept.fitted:
            damping = 0.1 / max(float(norms.mean()), 1e-300)
            self.kappa = 1.0 / max(intercept.penalty, damping)
        self.iterations = 0

    def restrict(self, rows: Any) -> None:
        self.heavy, self.norms = self.heavy[rows], self.norms[rows]

    def step(
        self, matrix: Matrix, h: Float, g_w: Float, g_b: float, guess: Float, accuracy: float
    ) -> Step:
        if self.iterations > COSTS.many_iterations and self.heavy.shape[1] < self.most:
            self.heavy = matrix.heavy_columns(min(2 * self.heavy.shape[1], self.most))
        face = np.flatnonzero(h)
        stiffness = h[face]
        inverse = 1.0 / stiffness
        precondition = self._preconditioner(face, inverse)
        part, used = matrix.compact(face)
        u = guess[face]
        v, total = part.combine(u), float(u.sum())
        r = -part.margins(g_w[used] + v) - inverse * u - self.kappa * (total + g_b)
        slope = float(g_w @ g_w) + self.kappa * g_b * g_b
        # Twice the gain of the step is slope − left; `left` grows by length·rz an iteration.
        left = 2.0 * float(r @ u) + float(v @ v) + float((inverse * u) @ u)
        left += self.kappa * total * total
        z = precondition(r)
        p, rz = z, float(r @ z)
        self.iterations = 0
        while self.iterations < 500 and rz > 0.0:
            self.iterations += 1
            self.check()
            q = part.combine(p)
            Ap = part.margins(q)
            Ap += inverse * p + self.kappa * p.sum()
            curvature = float(p @ Ap)
            if not curvature > 0.0:
                break
            length = rz / curvature
            u += length * p
            v += length * q
            r -= length * Ap
            left += length * rz
            if float((stiffness * r) @ r) <= accuracy * (slope - left):
                break
            z = precondition(r)
            last, rz = rz, float(r @ z)
            p *= rz / last
            p += z
        dw = -g_w
        dw[used] -= v
        everywhere = np.zeros(h.size)
        everywhere[face] = u
        return Step(dw, -self.kappa * (float(u.sum()) + g_b), everywhere)

    def _preconditioner(self, face: Any, inverse: Float) -> Any:
        """(BBᵀ + κ11ᵀ + diagonal)⁻¹ by Woodbury's identity, in single precision where that has
        the digits for what the identity cancels."""
        B = self.heavy[face]
        diagonal = np.maximum(self.norms[face] - np.einsum("ij,ij->i", B, B), 0.0) + inverse
        for kind in (np.float32, np.float64):
            root = (1.0 / np.sqrt(diagonal)).astype(kind)
            scaled = np.empty((face.size, B.shape[1] + 1), dtype=kind)
            scaled[:, :-1] = B
            scaled[:, -1] = np.sqrt(self.kappa)
            scaled *= root[:, None]
            core = scaled.T @ scaled
            if float(core.diagonal().max()) < 1e5:
                break
        core[np.diag_indices_from(core)] += 1.0
        lower = factor(core.astype(np.float64)).astype(kind)
        solve = lapack.spotrs if kind is np.float32 else lapack.dpotrs

        def precondition(r: Float) -> Float:
            r = root * r.astype(kind)
            r -= scaled @ solve(lower, scaled.T @ r, lower=1)[0]
            result: Float = (root * r).astype(np.float64)
            return result

        return precondition


class NewtonSystem:
    """Chooses among the three systems and carries them from step to step."""

    def __init__(self, matrix: Matrix, intercept: Intercept, check: Check = never) -> None:
        self.intercept, self.check = intercept, check
        self.iterations = COSTS.first_iterations
        self.features: FeatureSystem | None = None
        self.samples = SampleSystem(matrix.n, intercept, check)
        self.iterative: IterativeSystem | None = None
        if matrix.d <= COSTS.most_features:
            self.features = FeatureSystem(matrix.d, matrix.n, intercept, check)
        self.inexact = False

    def restrict(self, matrix: Matrix, rows: Any) -> None:
        """Only these samples are left."""
        self.samples.restrict(rows)
        if self.features is not None:
            self.features.restrict(matrix, rows)
        if self.iterative is not None:
            self.iterative.restrict(rows)

    def extend(self, index: Any, n: int) -> None:
        """The samples become the places `index` among n."""
        self.samples.extend(index, n)
        if self.features is not None:
            self.features.extend(index, n)
        self.iterative = None

    def step(
        self,
        matrix: Matrix,
        h: Float,
        unit: float,
        g_w: Float,
        g_b: float,
        guess: Float,
        accuracy: float,
    ) -> Step:
        """The step for stiffness h·unit; an inexact one begins with u = `guess`."""
        face = int(np.count_nonzero(h))
        self.inexact = False
        if face == 0:
            return Step(-g_w, 0.0)
        costs = {"iterative": self._iterative_cost(matrix, face)}
        if face <= COSTS.most_samples:
            costs["samples"] = self.samples.cost(matrix, h, face)
        if self.features is not None:
            costs["features"] = self.features.cost(matrix, h, face)
        chosen = min(costs, key=lambda name: costs[name])
        self.inexact = chosen == "iterative"
        if chosen == "features" and self.features is not None:
            return self.features.step(matrix, h, unit, g_w, g_b)
        if chosen == "samples":
            return self.samples.step(matrix, h * unit, g_w, g_b)
        if self.iterative is None:
            self.iterative = IterativeSystem(matrix, self.intercept, self.check)
        step = self.iterative.step(matrix, h * unit, g_w, g_b, guess, accuracy)
        self.iterations = 0.5 * (self.iterations + self.iterative.iterations)
        return step

    def _iterative_cost(self, matrix: Matrix, face: int) -> float:
        setup = 0.0 if self.iterative else _heavy_cost(matrix)
        return setup + COSTS.inexactness * _iterations_cost(matrix, face, self.iterations)


def cost_of_run(matrix: Matrix, face: int, smooth: bool) -> float:
    """Nanoseconds that a run of Newton steps may take whose face has about this size."""
    steps = COSTS.smooth_steps if smooth else COSTS.inexact_steps
    costs = [_heavy_cost(matrix) + steps * _iterations_cost(matrix, face, COSTS.first_iterations)]
    if face <= COSTS.most_samples:
        gram = 0.5 * face**2 * matrix.row_cost.inner
        costs.append(gram + COSTS.exact_steps * _cholesky_cost(face))
    if matrix.d <= COSTS.most_features:
        gram = face * matrix.row_cost.outer
        costs.append(gram + COSTS.exact_steps * _cholesky_cost(matrix.d))
    result: float = min(costs) + COSTS.exact_steps * 2.0 * matrix.n * matrix.row_cost.product
    return result


def _cholesky_cost(size: int) -> float:
    return size**3 / 3 * COSTS.cholesky + 4.0 * size**2


def _heavy_cost(matrix: Matrix) -> float:
    return 4.0 * matrix.entries


def _iterations_cost(matrix: Matrix, face: int, iterations: float) -> float:
    each = 2.0 * matrix.row_cost.product + 0.4 * COSTS.heavy_columns
    return face * (iterations * each + 0.04 * COSTS.heavy_columns**2)
