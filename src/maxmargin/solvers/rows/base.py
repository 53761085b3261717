"""What drivers require of the storage of Gram rows."""

from __future__ import annotations

from typing import Any, Protocol

from ...dual.problem import Float, Int
from ...kernels.base import Array
from ..smo.state import RowStore


class Rows(Protocol):
    """Rows of a Gram matrix over a set of samples, its columns."""

    @property
    def evaluations(self) -> int: ...

    @property
    def misses(self) -> int: ...

    def combine(self, samples: Int, coefficients: Float) -> Float:
        """Σ coefficients·rows over all columns, in float64."""


class LoopRows(Rows, Protocol):
    """Rows that the compiled loop works on."""

    store: RowStore

    def block(self, samples: Int, dtype: Any = ...) -> Array:
        """The square block of some samples."""

    def restricted(self, keep: Int) -> LoopRows:
        """The rows of fewer columns."""
