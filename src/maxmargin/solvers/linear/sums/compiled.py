"""Compiled sums over dense rows, in float64 whatever the precision of the inputs."""

from __future__ import annotations

import math
from typing import Any

from ....runtime.jit import borrowing
from ..losses import Float


@borrowing
def outputs(X: Any, w: Float, b: float, z: Float) -> None:
    """Fills z = Xw + b."""
    for i in range(X.shape[0]):
        row = X[i]
        total = 0.0
        for j in range(row.size):
            total += row[j] * w[j]
        z[i] = total + b


@borrowing
def weigh(
    X: Any, beta: Float, h: Float, largest: float, combined: Float, border: Float, weighted: Any
) -> int:
    """Adds Σβx to `combined` and Σhx to `border`, and fills the first rows of `weighted`, in the
    precision of the inputs, with x √(h / largest) of the samples with h; returns their number."""
    count = 0
    for i in range(X.shape[0]):
        row, answer, stiffness = X[i], beta[i], h[i]
        if answer != 0.0:
            for j in range(row.size):
                combined[j] += answer * row[j]
        if stiffness != 0.0:
            for j in range(row.size):
                border[j] += stiffness * row[j]
            line, factor = weighted[count], math.sqrt(stiffness / largest)
            for j in range(row.size):
                line[j] = factor * row[j]
            count += 1
    return count
