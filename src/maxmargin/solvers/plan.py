"""What will run, and why: driver, rows, precision, block size.

Everything that depends on the size of a problem is decided here, by comparing with `costs`. The
`Plan` is a plain record; it prints itself as a sentence and is kept as `Solution.plan`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..dual.problem import DualProblem
from ..kernels import Gram, Kernel, Precomputed
from ..kernels.vector.base import VectorKernel
from ..kernels.vector.exp import COMPILED
from ..runtime.buffers import memory_share
from ..runtime.costs import DIRECT_FEATURES
from ..runtime.parallel import own_threads
from . import costs
from .settings import Settings

DRIVERS = ("full", "blocks", "rows")


@dataclass(frozen=True, slots=True)
class Plan:
    """What will run.

    Attributes
    ----------
    samples : int
    driver : {"batch", "full", "rows", "blocks"}
    dtype : str
        Precision of the rows; α and gradients are float64.
    on_demand : bool
        Rows of the whole matrix are computed when they are first needed.
    tentative : bool
        Rows on demand are tried first, and blocks if too many rows are needed.
    boxes : tuple of float
        The problem is solved in boxes of these fractions of its own box, one after the other.
    block, largest_block : int
        Samples of a block, and the largest number that fits into memory.
    row_bytes : float
        Memory for rows.
    features : float
        Numbers per input; 0 if inputs are not vectors.
    recompute : bool
        Kernel values of a block are recomputed instead of read from cached rows.
    polish : bool
        Newton steps lead from the tolerance to the exact optimum, if that is cheap.
    threads : int
    """

    samples: int
    driver: str
    dtype: str
    on_demand: bool = False
    tentative: bool = False
    boxes: tuple[float, ...] = (1.0,)
    block: int = 0
    largest_block: int = 0
    row_bytes: float = 0.0
    features: float = 0.0
    recompute: bool = False
    polish: bool = True
    threads: int = 1

    def __str__(self) -> str:
        return f"{self.samples:,} samples: {', '.join(self._parts())}"

    def _parts(self) -> list[str]:
        rows = f"{self.dtype} rows"
        parts = {
            "batch": ["solved together with others like it in one call", f"{self.dtype} matrix"],
            "full": [f"the whole matrix in {self.dtype}"],
            "rows": [f"{rows} in a cache of {self.row_bytes / 1e6:,.0f} MB"],
            "blocks": [f"blocks of {self.block:,}", rows],
        }[self.driver]
        if self.tentative:
            parts.insert(0, "rows on demand while few are needed, then")
            parts[:2] = [" ".join(parts[:2])]
        elif self.on_demand:
            parts = [f"{rows} on demand"]
        if len(self.boxes) > 1:
            parts.append(f"C in {len(self.boxes)} steps")
        parts.append("1 thread" if self.threads == 1 else f"{self.threads} threads")
        if self.polish:
            parts.append("exact end")
        return parts


def planned(problem: DualProblem, gram: Gram, settings: Settings, driver: str, begun: bool) -> Plan:
    """The plan for one problem; `begun` means that there is an α to start from."""
    name = chosen_driver(driver, gram, settings)
    boxes = (1.0,) if begun else box_sizes(problem, gram, settings)
    common: dict[str, Any] = {
        "samples": problem.samples,
        "driver": name,
        "dtype": gram.dtype.name,
        "boxes": boxes,
        "row_bytes": settings.cache_bytes,
        "polish": settings.face and gram.dtype == np.float64,
        "threads": own_threads(),
    }
    tentative = (
        driver == "auto"
        and name == "blocks"
        and not problem.totals.any()  # else most samples have α ≠ 0 from the start
        and gram.n <= costs.LARGEST_TENTATIVE
        and not settings.trace
        and rows_on_demand(gram, settings, tentative=True)
    )
    if name != "blocks":
        on_demand = name == "full" and rows_on_demand(gram, settings, tentative=False)
        return Plan(**common, on_demand=on_demand)
    numbers = features(gram.X)
    largest = settings.affordable_side(costs.BLOCK_MATRICES * gram.dtype.itemsize)
    cheap = 0 < numbers < costs.CHEAP_FEATURES
    if cheap:
        common["row_bytes"] = min(settings.cache_bytes, costs.ENOUGH_FOR_CHEAP_ROWS)
    return Plan(
        **common,
        tentative=tentative,
        block=block_size(problem, numbers, largest),
        largest_block=largest,
        features=numbers,
        recompute=0 < numbers <= costs.CHEAP_FEATURES,
    )


def chosen_driver(driver: str, gram: Gram, settings: Settings) -> str:
    """The requested driver, or the one for this number of samples."""
    if driver == "auto":
        # Shrinking needs a second matrix.
        matrix_bytes = gram.n**2 * gram.dtype.itemsize
        fits = gram.whole is not None or 2 * matrix_bytes <= settings.cache_bytes
        largest = costs.LARGEST_FULL if gram.whole is None else costs.LARGEST_IN_MEMORY
        full = (fits and gram.n <= largest) or settings.selection == "greedy"
        driver = "full" if full else "blocks"
    if driver not in DRIVERS:
        raise ValueError(f'driver must be "auto", "full", "blocks" or "rows", got {driver!r}')
    if driver != "full" and settings.selection == "greedy":
        raise ValueError('selection="greedy" needs the whole matrix: use driver="full"')
    return driver


def rows_on_demand(gram: Gram, settings: Settings, tentative: bool) -> bool:
    """Whether the compiled loop computes rows when it first needs them: for Gaussians with few
    features and the default selection, if the whole matrix would cost more."""
    usual = settings.selection == "second_order" and not settings.planning
    if gram.whole is not None or not usual or not COMPILED:
        return False
    width = gram.transposed_width()
    if not width or (tentative and width > costs.TENTATIVE_FEATURES):
        return False
    cheapest = width <= costs.CHEAPEST_FEATURES
    least = costs.ON_DEMAND_SAMPLES_IF_CHEAP if cheapest else costs.ON_DEMAND_SAMPLES
    rows = settings.cache_bytes / (gram.n * gram.dtype.itemsize)
    return gram.n >= least and rows > costs.FIRST_ON_DEMAND


def block_size(problem: DualProblem, numbers: float, largest: int) -> int:
    """Samples of a block: larger products are faster, which pays off with many features."""
    block = costs.BLOCK if problem.samples >= costs.MANY_SAMPLES else costs.SMALL_BLOCK
    if numbers >= costs.MANY_FEATURES:
        block = costs.LARGE_BLOCK
    # A block must hold at least the most violating pair of every group.
    return min(max(min(block, largest), 4 * problem.totals.size), problem.samples)


def box_sizes(problem: DualProblem, gram: Gram, settings: Settings) -> tuple[float, ...]:
    """The boxes to solve in, as fractions of the box of the problem, which is the last."""
    low_rank = costs.SAMPLES_PER_DIMENSION * gram.kernel.rank(gram.X) <= problem.samples
    if not low_rank or problem.totals.any() or settings.trace:
        return (1.0,)
    largest = float(np.maximum(np.abs(problem.lower), np.abs(problem.upper)).max())
    if np.isinf(largest):
        return (1.0,)
    step = 1.0 / (float(gram.diagonal().mean()) or 1.0)
    sizes = [1.0]
    if problem.samples * largest < costs.WORTH_STEPS * step:
        return (1.0,)
    while costs.BOX_RATIO * step < sizes[0] * largest and len(sizes) < costs.MOST_BOXES:
        sizes.insert(0, sizes[0] / costs.BOX_RATIO)
    return tuple(sizes)


def features(X: Any) -> float:
    """Numbers per input, the cost of a kernel value; 0 if inputs are not vectors."""
    if sparse.issparse(X):
        return float(X.nnz / max(1, X.shape[0]))
    return X.shape[1] if np.ndim(X) == 2 else 0


def is_small(problem: DualProblem) -> bool:
    """Whether a problem is small enough for a batch."""
    return problem.size <= costs.LARGEST_IN_BATCH and problem.is_common


def batched(problem: DualProblem) -> Plan:
    """The plan for a problem in a batch."""
    return Plan(problem.samples, "batch", "float64", threads=own_threads())


def single(problem: DualProblem, kernel: Kernel, X: Any) -> Plan | None:
    """The plan for a problem on all samples that is small enough for one compiled call; None if it
    is not."""
    if not (are_few(kernel, X, problem.samples) and problem.is_common):
        return None
    return batched(problem)


def are_few(kernel: Kernel, X: Any, samples: int) -> bool:
    """Whether problems on all samples are solved in one compiled call, which saves the setup of the
    larger drivers. Kernels of low rank have another method (`box_sizes`)."""
    if samples > costs.LARGEST_ALONE_IN_BATCH or not isinstance(kernel, VectorKernel):
        return False
    return not np.isfinite(kernel.rank(X))


def has_cheap_rows(X: Any) -> bool:
    """Whether computing rows from transposed points is faster than reading them."""
    return features(X) <= DIRECT_FEATURES


def shared_by_pairs(
    kernel: Kernel, X: Any, sizes: list[int], itemsize: int, budget: float, jobs: int
) -> str:
    """What problems on pairs of classes share:

    "inputs"   prepared once, if values are cheaper to compute than to look up
    "points"   in the order of the classes, from which the loop computes rows
    "matrix"   of all classes
    "blocks"   inside each class
    "nothing"  if memory is short

    Together with twice the matrices of `jobs` pairs it takes at most `budget` bytes.
    """
    pair = sum(sorted(sizes)[-2:]) ** 2
    most = budget / itemsize - 2 * jobs * pair
    if isinstance(kernel, Precomputed):
        return "nothing"
    if isinstance(kernel, VectorKernel):
        large = 2 * sum(sizes) > costs.LARGEST_IN_BATCH * len(sizes)
        if 0 < features(X) <= costs.CHEAP_FEATURES and large:
            return "inputs"
        if has_cheap_rows(X):
            return "points"
        # One product is faster even if some values are computed twice; not for expensive kernels.
        if sum(sizes) ** 2 <= most:
            return "matrix"
    return "blocks" if sum(size * size for size in sizes) <= most else "nothing"


def keeps_matrix(samples: int, itemsize: int, driver: str, budget: float) -> bool:
    """Whether problems on all samples share one matrix in memory."""
    fits = samples * samples * itemsize <= costs.SHARED_MATRIX_SHARE * budget
    return driver in ("auto", "full") and fits


def side_by_side(largest: int, budget: float, taken: float) -> int:
    """Number of problems that are solved at the same time if the user has not said: one per thread,
    provided that the matrices of all of them fit. Results do not depend on it."""
    threads = own_threads()
    return threads if 16.0 * threads * largest**2 <= budget - taken else 1


def row_budget(budget: float, taken: float, jobs: int) -> float:
    """Bytes for the rows of one of `jobs` problems, from a budget of which `taken` are used."""
    return costs.ROWS_SHARE * max(0.0, budget - taken) / jobs


def memory_budget(cache_size: float | str, samples: int, jobs: int = 1) -> float:
    """Bytes for the Gram matrix, whole or in part, and everything derived from it: `cache_size` in
    MB, or "auto"."""
    few = 8.0 * samples * samples <= costs.MODEST / 4
    if cache_size == "auto" and few:
        return costs.MODEST
    if cache_size == "auto":
        share = memory_share()
        least = min(costs.MODEST, costs.MOST_OF_FREE * share)
        return max(least, min(costs.GENEROUS * jobs, 0.5 * share))
    asked = float(cache_size) * 1e6
    if few or asked <= costs.MODEST:
        return asked
    return min(asked, costs.MOST_OF_FREE * memory_share())


def working_dtype(
    precision: str, kernel: Kernel, X: Any, penalty: float, tol: float
) -> np.dtype[Any]:
    """The precision of rows: float32 if requested, or if it saves much and costs no accuracy."""
    if precision == "single":
        single = fits_single(kernel, X)
    else:
        single = precision == "auto" and _is_large(X) and _is_precise(kernel, X, penalty, tol)
    return np.dtype(np.float32 if single else np.float64)


def fits_single(kernel: Kernel, X: Any) -> bool:
    """Whether kernel values of the inputs are finite in float32."""
    if isinstance(kernel, Precomputed):
        top = float(np.abs(X).max(initial=0.0))
    elif not isinstance(kernel, VectorKernel):
        return True
    else:
        entries = X.data if sparse.issparse(X) else X
        largest = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))
        with np.errstate(over="ignore", invalid="ignore"):
            scale = float(np.max(kernel._scale()))
            diagonal = np.abs(kernel.diagonal(X)).max(initial=0.0)
            top = float(max(scale, diagonal, (largest * scale) ** 2 * X.shape[1]))
    return top <= 1e-8 * float(np.finfo(np.float32).max)  # so that sums are finite


def _is_large(X: Any) -> bool:
    """Whether the inputs are large enough for float32 rows to pay off."""
    if getattr(X, "dtype", None) == np.float32:
        return bool(X.shape[0] > costs.SINGLE_OF_SINGLE)
    if np.ndim(X) != 2 or X.shape[0] <= costs.SINGLE_OF_SINGLE:
        return False
    return bool(X.shape[0] > costs.SINGLE_OF_DOUBLE or np.prod(X.shape) > costs.SINGLE_ENTRIES)


def _is_precise(kernel: Kernel, X: Any, penalty: float, tol: float) -> bool:
    """Whether the rounding of float32 rows, summed with α, stays below tol.

    Errors of entries have either sign and are measured on some samples. The norm of α is below C√n,
    usually far enough below it to cover the largest of many errors; the certificate checks it.
    """
    if isinstance(kernel, Precomputed):
        return bool(X.dtype == np.float32)
    some = X[:: max(1, X.shape[0] // costs.PROBED)]
    rows = np.arange(0, some.shape[0], costs.PROBED // costs.PROBED_ROWS)
    single, double = (kernel.bind(some, dtype).rows(rows) for dtype in (np.float32, np.float64))
    error = float(np.sqrt(np.mean(np.square(single - double))))
    return bool(error * penalty * np.sqrt(X.shape[0]) < tol)
