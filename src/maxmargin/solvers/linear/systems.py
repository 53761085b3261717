"""Newton systems of linear machines: three ways to the same step.

On the face J of samples whose β moves, with stiffness h, the step (dw, db) solves

    (I + Σ_J h x xᵀ) dw + (Σ_J h x) db = −g_w
    (Σ_J h x)·dw + (penalty + Σ_J h) db = −g_b

| system | unknowns | solved by | when |
|---|---|---|---|
| `FeatureSystem` | features | Cholesky of a d × d matrix, kept up to date | few features |
| `SampleSystem` | u = h(x·dw + db) on the face | Cholesky of (K_J + 1/h) | small face |
| `IterativeSystem` | the same u | preconditioned conjugate gradients | the rest |

The last two rest on dw = −g_w − Σ_J u x, Σ_J u + penalty·db = −g_b.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

from .losses import Float
from .matrix import Matrix

MOST_FEATURES = 512
MOST_SAMPLES = 1200
# Beyond this many features, `FeatureSystem` is no alternative for a large face.
MOST_FEATURES_IF_FACE_IS_LARGE = 1500
HEAVY_COLUMNS = 96


class Intercept:
    """How the intercept enters: `fitted` or absent, with ``½ penalty b²`` in the objective."""

    def __init__(self, fitted: bool, penalty: float = 0.0) -> None:
        self.fitted, self.penalty = fitted, penalty


def _factor(A: Float) -> Float:
    """Cholesky factor in the lower triangle, with the diagonal raised where rounding needs it."""
    factor, info = lapack.dpotrf(A, lower=1, clean=0)
    lift = 1e-14
    while info != 0:
        lifted = A.copy()
        lifted[np.diag_indices_from(A)] *= 1.0 + lift
        factor, info = lapack.dpotrf(lifted, lower=1, clean=0)
        lift *= 100.0
    return factor


def _solve(factor: Float, right: Float) -> Float:
    return lapack.dpotrs(factor, right, lower=1)[0]


class FeatureSystem:
    """Σ_J h x xᵀ is kept and changed by the samples whose h has changed."""

    def __init__(self, d: int, intercept: Intercept) -> None:
        self.d, self.intercept = d, intercept
        self.reset(0)

    def reset(self, n: int) -> None:
        self.gram = np.zeros((self.d, self.d))
        self.border = np.zeros(self.d)
        self.corner = 0.0
        self.counted = np.zeros(n)

    def restrict(self, kept: Any, n: int) -> None:
        """Follow a change of the samples: the new samples are the old ones `kept`, then others."""
        counted = np.zeros(n)
        counted[: len(kept)] = self.counted[kept]
        if counted.any() or not self.counted.any():
            self.counted = counted
        else:
            self.reset(n)

    def _update(self, matrix: Matrix, h: Float) -> None:
        if self.counted.size != h.size:
            self.reset(h.size)
        change = h - self.counted
        rows = np.flatnonzero(change)
        face = np.flatnonzero(h)
        if rows.size > face.size:
            self.reset(h.size)
            rows, change = face, h
        if rows.size:
            matrix.add_outer(rows, change[rows], self.gram, self.border)
        self.counted = h.copy()

    def step(self, matrix: Matrix, h: Float, scale: float, g_w: Float, g_b: float):
        self._update(matrix, h / scale)
        d = self.d
        size = d + 1 if self.intercept.fitted else d
        A = np.empty((size, size), order="F")
        np.multiply(self.gram, scale, out=A[:d, :d])
        A[np.arange(d), np.arange(d)] += 1.0
        if not self.intercept.fitted:
            return -_solve(_factor(A), g_w), 0.0
        A[d, :d] = scale * self.border
        corner = h.sum() + self.intercept.penalty
        A[d, d] = corner * (1.0 + 1e-12) if corner > 0 else 1.0
        both = -_solve(_factor(A), np.append(g_w, g_b if corner > 0 else 0.0))
        return both[:d], float(both[d]) if corner > 0 else 0.0


class SampleSystem:
    """Gram entries among all samples that were ever on the face are computed once."""

    def __init__(self, n: int, intercept: Intercept) -> None:
        self.intercept = intercept
        self.slot = np.full(n, -1)
        self.members = np.zeros(0, dtype=np.int64)
        self.gram = np.zeros((256, 256))

    def _admit(self, matrix: Matrix, face: Any) -> None:
        new = face[self.slot[face] < 0]
        if not new.size:
            return
        old = self.members.size
        self.slot[new] = old + np.arange(new.size)
        self.members = np.concatenate([self.members, new])
        size = self.members.size
        if size > self.gram.shape[0]:
            grown = np.zeros((max(size, 2 * self.gram.shape[0]),) * 2)
            grown[:old, :old] = self.gram[:old, :old]
            self.gram = grown
        block = matrix.inner(new, self.members)
        self.gram[old:size, :size] = block
        self.gram[:size, old:size] = block.T

    def step(self, matrix: Matrix, h: Float, g_w: Float, g_b: float):
        face = np.flatnonzero(h)
        if not face.size:
            return -g_w, 0.0
        self._admit(matrix, face)
        slots = self.slot[face]
        A = self.gram[slots][:, slots]
        A[np.diag_indices_from(A)] += 1.0 / h[face]
        right = np.ones((face.size, 2), order="F")
        right[:, 0] = -matrix.margins_at(face, g_w)
        solved = _solve(_factor(A), right)
        u, db = _with_intercept(self.intercept, solved[:, 0], solved[:, 1], g_b)
        return -g_w - matrix.combine_at(face, u), db


def _with_intercept(intercept: Intercept, p: Float, q: Float, g_b: float):
    """u = p + db·q such that Σu + penalty·db = −g_b."""
    if not intercept.fitted:
        return p, 0.0
    db = float((-g_b - p.sum()) / (q.sum() + intercept.penalty))
    return p + db * q, db


class IterativeSystem:
    """Preconditioned conjugate gradients for (K_J + 1/h + κ11ᵀ) u = right side.

    K_J = BBᵀ + rest, where B holds the heaviest columns; the preconditioner keeps BBᵀ and the
    diagonal of the rest. The intercept is one more column of B, of weight κ: a step of the
    intercept is damped by 1/κ, which slows nothing down and has no effect on the solution.
    """

    def __init__(self, matrix: Matrix, norms: Float, intercept: Intercept) -> None:
        self.intercept = intercept
        self.norms = norms
        count = min(HEAVY_COLUMNS, matrix.d, max(8, matrix.entries // (2 * matrix.n)))
        heavy = matrix.heavy_columns(count)
        self.rest = np.maximum(norms - np.einsum("ij,ij->i", heavy, heavy), 0.0)
        self.kappa = 0.0
        if intercept.fitted:
            scale = 1e3 * max(float(norms.mean()), 1e-300)
            self.kappa = 1.0 / max(intercept.penalty, 1.0 / scale)
            heavy = np.column_stack([heavy, np.full(matrix.n, np.sqrt(self.kappa))])
        self.heavy = heavy

    def step(self, matrix: Matrix, h: Float, g_w: Float, g_b: float, accuracy: float):
        face = np.flatnonzero(h)
        if not face.size:
            return -g_w, 0.0
        inverse = 1.0 / h[face]
        precondition = self._preconditioner(face, inverse)

        def apply(u: Float) -> Float:
            result = matrix.margins_at(face, matrix.combine_at(face, u))
            result += inverse * u + self.kappa * u.sum()
            return result

        right = -matrix.margins_at(face, g_w) - self.kappa * g_b
        u = _conjugate_gradients(apply, precondition, right, accuracy)
        db = -self.kappa * (float(u.sum()) + g_b)
        return -g_w - matrix.combine_at(face, u), db

    def _preconditioner(self, face: Any, inverse: Float):
        B = self.heavy[face]
        diagonal = self.rest[face] + inverse
        scaled = B / diagonal[:, None]
        core = scaled.T @ B
        core[np.diag_indices_from(core)] += 1.0
        factor = _factor(np.asfortranarray(core))

        def precondition(r: Float) -> Float:
            return r / diagonal - scaled @ _solve(factor, scaled.T @ r)

        return precondition


def _conjugate_gradients(apply: Any, precondition: Any, right: Float, accuracy: float) -> Float:
    x = np.zeros_like(right)
    r = right.copy()
    z = precondition(r)
    p = z.copy()
    rz = start = float(r @ z)
    for _ in range(250):
        if rz <= accuracy * accuracy * start:
            break
        Ap = apply(p)
        step = rz / float(p @ Ap)
        x += step * p
        r -= step * Ap
        z = precondition(r)
        last, rz = rz, float(r @ z)
        p *= rz / last
        p += z
    return x
