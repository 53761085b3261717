"""Newton steps for stiff problems: an orthogonal factorisation in place of normal equations.

With responses β of stiffness h, the Newton step minimises

    ½‖w + dw‖² + ½ penalty (b + db)² + Σ_J ½h (x·dw + db − β/h)² − Σ_rest β (x·dw + db)

over (dw, db), where J are the samples with h > 0. That is a least squares problem, whose rows are
of very different size where h·‖x‖² is large: products such as Σ h x xᵀ or x·x' would round the
small ones away. Householder's method with rows by size and pivoted columns keeps each.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..costs import COSTS
from ..data.chunked import dense
from ..data.matrix import Matrix
from ..losses import Float
from ..records import Intercept
from .systems import Step


def is_stiff(matrix: Matrix, h: Float, norms: Float) -> bool:
    """Whether a step needs the factorisation, and it is affordable.

    Up to h·‖x‖² = 1e8 the normal equations are precise enough.
    """
    if (matrix.n + matrix.d) * matrix.d**2 > COSTS.stiff_work:
        return False
    return bool((h * norms).max(initial=0.0) > 1e8)


def stiff_step(
    matrix: Matrix, intercept: Intercept, h: Float, beta: Float, w: Float, b: float
) -> Step | None:
    """The step, or None if it is not finite."""
    X, d, face = dense(matrix), matrix.d, h > 0.0
    root = np.sqrt(h[face])
    rest = np.where(face, 0.0, beta)
    rows = [np.eye(d), root[:, None] * X[face]]
    right = [rest @ X - w, beta[face] / root]
    linear = np.zeros(d)
    if intercept.fitted:
        rows = [np.column_stack([rows[0], np.zeros(d)]), np.column_stack([rows[1], root])]
        linear = np.append(linear, rest.sum())
        if intercept.penalty > 0.0:
            scale = np.sqrt(intercept.penalty)
            rows.append(np.append(np.zeros(d), scale)[None, :])
            right.append(np.array([-scale * b]))
    M, r = np.concatenate(rows), np.concatenate(right)
    order = np.argsort(-np.abs(M).max(axis=1), kind="stable")
    if not np.isfinite(M).all() or not np.isfinite(r).all():
        return None
    Q, R, pivots = linalg.qr(M[order], mode="economic", pivoting=True, check_finite=False)
    if not (np.abs(np.diag(R)) > 0.0).all():
        return None
    seen = Q.T @ r[order] + linalg.solve_triangular(R, linear[pivots], trans=1, check_finite=False)
    step = np.empty(linear.size)
    step[pivots] = linalg.solve_triangular(R, seen, check_finite=False)
    if not np.isfinite(step).all():
        return None
    return Step(step[:d], float(step[d]) if intercept.fitted else 0.0)
