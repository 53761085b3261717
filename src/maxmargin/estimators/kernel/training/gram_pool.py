"""The Gram matrices of a fit: of all samples, of two classes, of a fold; computed once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.linalg.blas import dnrm2

from ....dual import DualProblem
from ....dual.batch import Parts
from ....kernels import Gaussian, Gram, Kernel, Precomputed, Sigmoid
from ....kernels.base import STRIPE
from ....kernels.precomputed import PrecomputedGram
from ....kernels.row_sums import KnownSums, StoredRows
from ....runtime.buffers import buffer
from ....runtime.parallel import in_parts
from ....solvers import plan
from ...conditioning import widened
from ...distinct import chosen
from ...inputs import refuse_overflow

# Kernel values in memory at a time if they are only summed.
COMBINED_BLOCK = 1 << 22
NO_MATRIX = np.empty((0, 0))


class CachedGram(Gram):
    """A Gram matrix that is cached once computed as a whole; rows and sums offered by a solver are
    kept until released."""

    def __init__(self, inner: Gram) -> None:
        super().__init__(inner.kernel, inner.X, inner.dtype)
        self.inner, self.whole, self.tiled = inner, inner.whole, inner.tiled
        self._computing = threading.Lock()

    def keep_rows(self, rows: StoredRows) -> None:
        if self.whole is None and self.stored_rows is None:
            self.stored_rows = rows

    def keep_sums(self, sums: KnownSums) -> None:
        self.summed = sums

    def release(self) -> None:
        self.summed = self.stored_rows = None

    @property
    def source(self) -> Gram:
        return self.inner if self.whole is None else self

    def rows(self, indices: Any, columns: Any = None, out: Any = None) -> np.ndarray:
        if self.whole is None:
            return self.inner.rows(indices, columns, out)
        block = self.whole[indices] if columns is None else self.whole[np.ix_(indices, columns)]
        if out is None:
            return block
        out[...] = block
        result: np.ndarray = out
        return result

    def diagonal(self) -> np.ndarray:
        return self.inner._diagonal

    def transposed_points(self) -> np.ndarray | None:
        return self.inner.transposed_points()

    def transposed_width(self) -> int:
        return self.inner.transposed_width()

    def among(self, samples: np.ndarray) -> Gram:
        return self.inner.among(samples)

    def matrix_among(
        self, samples: np.ndarray, pause: Callable[[], object] | None = None
    ) -> np.ndarray:
        return self.inner.matrix_among(samples, pause)

    def matrix(self, pause: Callable[[], object] | None = None) -> np.ndarray:
        with self._computing:
            if self.whole is None:
                self.whole = self.inner.matrix(pause)
        return self.whole


class WidenedGram(Gram):
    """The Gram matrix in float64 of inputs in any precision, converted a few at a time."""

    def __init__(self, kernel: Kernel, X: Any) -> None:
        super().__init__(kernel, X, np.float64)

    def rows(self, indices: Any, columns: Any = None, out: Any = None) -> np.ndarray:
        columns = np.arange(self.n) if columns is None else np.asarray(columns)
        if out is None:
            out = buffer((len(indices), columns.size), np.float64)
        left = chosen(self.X, indices).astype(np.float64, copy=False)
        # Inputs are converted to float64 in blocks of 16 MB.
        step = max(64, (1 << 21) // max(self.X.shape[1], len(indices)))
        for start in range(0, columns.size, step):
            part = slice(start, start + step)
            right = chosen(self.X, columns[part]).astype(np.float64, copy=False)
            out[:, part] = self.kernel(left, right)
        result: np.ndarray = out
        return result


class Shared(NamedTuple):
    """Gram matrix or points of the samples in the order of their classes: see `Parts`."""

    matrix: np.ndarray
    points: np.ndarray
    of_class: list[slice]
    evaluations: int = 0  # kernel evaluations made for it

    def places(self, classes: tuple[int, ...]) -> np.ndarray:
        """Places of the samples of some classes."""
        parts = [self.of_class[c] for c in classes]
        return np.concatenate([np.arange(part.start, part.stop) for part in parts])

    def parts(self, problems: list[DualProblem], places: list[np.ndarray]) -> Parts:
        """Problems on the samples at some places, to be solved in one batch."""
        return Parts.of(problems, places, self.matrix, self.points)


class Grams:
    """The Gram matrices of the training samples, and of any subset.

    Parameters
    ----------
    kernel : Kernel
    X : inputs
        For a precomputed kernel the Gram matrix itself.
    dtype : float32 or float64
        Precision of the rows for solvers.
    largest_entry : float, optional
        Of the matrix of all samples, if it is known.
    """

    def __init__(
        self, kernel: Kernel, X: Any, dtype: Any, largest_entry: float | None = None
    ) -> None:
        self.kernel, self.X, self.dtype = kernel, X, np.dtype(dtype)
        if largest_entry is None:
            largest_entry = refuse_overflow(kernel, X)
        self.largest_entry = largest_entry
        self.square = isinstance(kernel, Precomputed)
        self._blocks: dict[int, np.ndarray] = {}
        self.shared: Shared | None = None
        self._all: Gram | None = None
        self._bound_inputs: Gram | None = None
        self._whole: CachedGram | None = None

    @property
    def count(self) -> int:
        return self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)

    def largest_entry_of(self, samples: np.ndarray | None) -> float:
        """The largest entry of the matrix of some samples, or of all."""
        if samples is None:
            return self.largest_entry
        return refuse_overflow(self.kernel, self._inputs(samples))

    def whole(self, alone: bool = True) -> CachedGram:
        """The matrix of all samples, cached; not shared between threads unless it is in memory."""
        if self._whole is None:
            self._whole = CachedGram(self._bound_once())
        elif not alone and self._whole.whole is None:
            self._whole = self.of()
        return self._whole

    def for_loop(self, cheap: bool) -> tuple[np.ndarray | None, np.ndarray | None]:
        """What the compiled loop takes rows of all samples from: points, if rows are cheap to
        compute and the kernel supports it, or the whole matrix, which is kept."""
        points = None
        if cheap and (self._whole is None or self._whole.whole is None):
            points = self._bound_once().transposed_points()
        return points, self.whole().matrix() if points is None else None

    def _bound_once(self) -> Gram:
        if self._bound_inputs is None:
            self._bound_inputs = self._bound(None, self.dtype)
        return self._bound_inputs

    def part(self, samples: np.ndarray) -> Gram:
        """The matrix of some samples, copied from the whole matrix if that is in memory."""
        if self._whole is not None and self._whole.whole is not None:
            matrix = self._whole.whole[np.ix_(samples, samples)]
            return PrecomputedGram(Precomputed(), matrix)
        return self.of(samples)

    def combined(self, rows: np.ndarray, columns: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Σ_j coef_j k(x_i, x_j) for the samples i in `rows` and j in `columns`."""
        if self._whole is not None and self._whole.whole is not None:
            result: np.ndarray = self._whole.whole[np.ix_(rows, columns)] @ coef
            return result
        values = np.empty(rows.size)
        step = max(1, COMBINED_BLOCK // max(columns.size, 1))
        of = widened if self.dtype == np.float64 else lambda inputs: inputs
        right = columns if self.square else of(self._inputs(columns))
        for start in range(0, rows.size, step):
            part = slice(start, start + step)
            values[part] = self.kernel(of(chosen(self.X, rows[part])), right) @ coef
        return values

    def of(self, samples: np.ndarray | None = None) -> CachedGram:
        """The matrix of all samples, or of some."""
        return CachedGram(self._bound(samples, self.dtype))

    def exact(self, samples: np.ndarray | None = None) -> Gram:
        """The matrix in float64, for certificates: inputs are not copied as a whole."""
        X = self.X if samples is None else self._inputs(samples)
        dense = isinstance(X, np.ndarray) and X.ndim == 2
        if not self.square and (dense or getattr(X, "dtype", None) == np.float32):
            return WidenedGram(self.kernel, X)
        return self._bound(samples, np.float64)

    def double(self, samples: np.ndarray | None = None) -> CachedGram:
        """The matrix in float64, for solvers."""
        return CachedGram(self._bound(samples, np.float64))

    @cached_property
    def _argument_rounding(self) -> float:
        """Rounding of the arguments of exp and tanh in float64: inner products may be much larger
        than the values of these functions."""
        if not isinstance(self.kernel, Gaussian | Sigmoid):
            return 0.0
        bound = self._bound_inputs
        if bound is None or bound.dtype != np.float64:
            some = chosen(self.X, np.arange(0, self.count, max(1, self.count // 256)))
            bound = self.kernel.bind(some, np.float64)
        return float(bound.rounding)

    def most_rounding_of_arguments(self, coef: np.ndarray) -> float:
        """A bound of `rounding_of_arguments`, cheap to compute."""
        return self._argument_rounding * float(dnrm2(coef))

    def rounding_of_arguments(self, samples: np.ndarray | None, coef: np.ndarray) -> float:
        """What rounding of the arguments of exp and tanh does to Kα, at most and about."""
        if self._argument_rounding == 0.0:
            return 0.0
        if isinstance(self.kernel, Sigmoid):
            return min(self._argument_rounding, 2.0) * float(dnrm2(coef))
        exact, support, squares = self.exact(samples), np.flatnonzero(coef), np.zeros(coef.size)
        step = max(1, COMBINED_BLOCK // coef.size)
        for start in range(0, support.size, step):
            rows = support[start : start + step]
            errors = self._errors_of_rows(exact, rows)
            errors[np.arange(rows.size), rows] = 0.0  # k(x, x) = 1 is not computed
            squares += np.square(coef[rows]) @ np.square(errors)
        return float(np.sqrt(squares.max()))

    def _errors_of_rows(self, exact: Gram, rows: np.ndarray) -> np.ndarray:
        """exp(u + error) − exp(u), at most 1, of rows of the matrix of a Gaussian."""
        if self._argument_rounding <= 50.0:  # values of exp that underflow stay negligible
            relative = float(np.expm1(self._argument_rounding))
            return np.minimum(relative * exact.rows(rows), 1.0)
        # Values of 0 may be those of equal inputs, whose exponents are nothing but rounding.
        X = widened(exact.X)
        exponents = cast(Gaussian, self.kernel).exponents(chosen(X, rows), X)
        result: np.ndarray = np.exp(np.minimum(exponents + self._argument_rounding, 0.0))
        return result

    def _bound(self, samples: np.ndarray | None, dtype: Any) -> Gram:
        X = self.X if samples is None else self._inputs(samples)
        if self.square:
            return PrecomputedGram(
                cast(Precomputed, self.kernel), np.require(X, dtype, ["C", "W"]), dtype
            )
        return self.kernel.bind(X, dtype)

    def _inputs(self, samples: np.ndarray) -> Any:
        return chosen(self.X, samples, self.square)

    def share(
        self,
        classes: list[np.ndarray],
        budget: float,
        pause: Callable[[], object] | None = None,
        jobs: int = 1,
    ) -> int:
        """Keep the matrix of all classes, for the pairs of them, or the blocks inside each class.

        If computing values is faster than looking them up, only the inputs are prepared: in the
        order of the classes, or unchanged if pairs are large. The shared data, and twice the
        matrices of `jobs` pairs at a time, take at most `budget` bytes. Returns the bytes of the
        shared data; `pause` may raise.
        """
        self._blocks, self.shared, self._all = {}, None, None
        sizes = [samples.size for samples in classes]
        item = self.dtype.itemsize
        kept = plan.shared_by_pairs(self.kernel, self.X, sizes, item, budget, jobs)
        if kept in ("inputs", "blocks"):
            self._all = self._bound(None, self.dtype)
        if kept == "blocks":
            blocks = [self._bound(samples, self.dtype).matrix(pause) for samples in classes]
            self._blocks = dict(enumerate(blocks))
            return sum(block.nbytes for block in blocks)
        if kept in ("points", "matrix"):
            ends = np.cumsum(sizes).tolist()
            of_class = [slice(end - size, end) for end, size in zip(ends, sizes)]
            ordered = self._bound(np.concatenate(classes), self.dtype)
            self.shared = self._shared(ordered, of_class, kept == "points", pause)
        return 0 if self.shared is None else self.shared.matrix.nbytes

    @staticmethod
    def _shared(
        gram: Gram,
        of_class: list[slice],
        cheap: bool,
        pause: Callable[[], object] | None = None,
    ) -> Shared:
        """Points from which the loop computes rows, if they are cheap and the kernel supports it;
        else the matrix."""
        points = gram.transposed_points() if cheap and gram.whole is None else None
        if points is not None:
            return Shared(NO_MATRIX, points, of_class)
        evaluations = gram.n**2 if gram.whole is None else 0
        return Shared(gram.matrix(pause), NO_MATRIX, of_class, evaluations)

    def as_one_class(self) -> Shared | None:
        """All samples as one class, if they are few enough for a batch of problems."""
        if not plan.are_few(self.kernel, self.X, self.count):
            return None
        return self._shared(self.whole(), [slice(0, self.count)], plan.has_cheap_rows(self.X))

    def of_pair(
        self,
        places: tuple[int, int],
        samples: tuple[np.ndarray, np.ndarray],
        pause: Callable[[], object],
    ) -> Gram:
        """The matrix of the samples of two classes; shared values are not computed again."""
        whole = NO_MATRIX if self.shared is None else self.shared.matrix
        if not (whole.size or self._blocks):
            both = np.concatenate(samples)
            return self.of(both) if self._all is None else CachedGram(self._all.among(both))
        corner = samples[0].size
        matrix = buffer((corner + samples[1].size,) * 2, self.dtype)
        if self.shared is not None:
            first, second = (self.shared.of_class[place] for place in places)

            def some_rows(start: int, stop: int) -> None:
                for top, bottom, rows in ((0, corner, first), (corner, len(matrix), second)):
                    here = slice(max(start, top), min(stop, bottom))
                    if here.start < here.stop:
                        shift = rows.start - top
                        there = whole[here.start + shift : here.stop + shift]
                        matrix[here, :corner] = there[:, first]
                        matrix[here, corner:] = there[:, second]

            in_parts(some_rows, len(matrix), matrix.size)
            return PrecomputedGram(Precomputed(), matrix)
        assert self._all is not None
        halves = slice(corner), slice(corner, None)
        for half, place in zip(halves, places):
            matrix[half, half] = self._blocks[place]
        for start in range(0, corner, STRIPE):
            part = slice(start, min(start + STRIPE, corner))
            self._all.rows(samples[0][part], samples[1], out=matrix[part, corner:])
            pause()
        matrix[corner:, :corner] = matrix[:corner, corner:].T
        return PrecomputedGram(Precomputed(), matrix)
