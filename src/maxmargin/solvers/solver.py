"""`solve`: one door to all drivers.

Between slabs of compiled steps live everything slow, optional or human: fetching rows,
shrinking, face steps, budgets, callbacks, Ctrl-C and the check before the end.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..dual.problem import DualProblem
from ..kernels import Gram, Precomputed
from ..runtime.parallel import single_threaded_blas
from .drivers import continuation as nested
from .drivers.decomposition import BlockRun
from .drivers.full import TOO_MANY_ROWS, PairRun
from .interrupt import held_interrupts
from .result import Progress, Solution
from .settings import Settings, default_steps

# Up to so many samples the whole matrix is faster than blocks of it; more if it exists already.
LARGEST_FULL, LARGEST_AT_HAND = 3500, 5000
# Up to so many, rows that arrive are faster than blocks, if there turn out to be few.
LARGEST_TENTATIVE = 8000
# So few are often done with in a millisecond.
FEW_SAMPLES = 1000


def solve(
    problem: DualProblem,
    gram: Gram | np.ndarray,
    *,
    driver: str = "auto",
    tol: float = 1e-3,
    gap: float = np.inf,
    selection: str = "second_order",
    planning: int = 0,
    overstep: float = 1.0,
    shrinking: bool = True,
    face: bool = True,
    alpha: np.ndarray | None = None,
    cache_bytes: float = 1 << 30,
    max_steps: float | None = None,
    max_seconds: float | None = None,
    target: float | None = None,
    callback: Callable[[Progress], Any] | None = None,
    trace: bool = False,
    random_state: int = 0,
) -> Solution:
    """Maximise ``linear·α − ½ αᵀQα`` over the box and the sums of a `DualProblem`.

    Parameters
    ----------
    problem : DualProblem
    gram : Gram or array of shape (samples, samples)
        The Gram matrix of the samples, from ``kernel.bind(X)`` or as an array.
    driver : {"auto", "full", "blocks", "rows"}
        `full` keeps the matrix in memory, computed at once or, where few rows seem to be enough,
        row by row; `blocks` optimises blocks of about a thousand violating samples and computes
        their rows in one product; `rows` computes single rows on demand into an LRU cache. `auto`
        takes `full` up to some thousand samples, then `blocks`.
    tol : float
        Largest KKT violation of a pair at the end.
    gap : float
        Largest duality gap at the end, as a part of the dual value: a run within `tol` goes on
        until it is reached, or until rounding leaves nothing to gain.
    selection : str
        Which pair moves next: "second_order", "mvp", "max_gain", "hybrid_max_gain", "greedy",
        "platt" or "random".
    planning : int
        Plan ahead with this many recent pairs (chapter 7); 0 takes Newton steps.
    overstep : float
        Factor on the Newton step.
    shrinking : bool
    face : bool
        Take Newton steps on all free variables when free steps dominate, and to polish the end.
    alpha : array, optional
        Where to start; made feasible first.
    cache_bytes : float
        Memory for rows; blocks and their factors may take two fifths of it besides.
    max_steps, max_seconds, target : float, optional
        Budgets: pair steps, time, dual value.
    callback : callable, optional
        Called with a `Progress` between slabs; a true answer stops the run.
    trace : bool
        Record every step.
    random_state : int
        Of the selection "random".

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import solve
    >>> from maxmargin.dual import hinge
    >>> K = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> solve(hinge(np.array([1.0, -1.0]), C=10.0).problem, K).alpha
    array([ 1., -1.])
    """
    settings = Settings(
        tol=float(tol),
        gap=float(gap),
        selection=selection,
        planning=planning,
        overstep=float(overstep),
        shrinking=shrinking,
        face=face,
        cache_bytes=cache_bytes,
        max_steps=default_steps(problem) if max_steps is None else max_steps,
        max_seconds=np.inf if max_seconds is None else max_seconds,
        target=np.inf if target is None else float(target),
        callback=callback,
        trace=trace,
        random_state=random_state,
    )
    gram = as_gram(gram)
    if gram.n != problem.samples:
        raise ValueError(f"the Gram matrix has {gram.n} samples, the problem {problem.samples}")
    tentative = driver == "auto" and gram.n <= LARGEST_TENTATIVE and not trace
    driver = chosen_driver(driver, gram, settings)
    briefly = problem.samples <= FEW_SAMPLES and callback is None
    with single_threaded_blas(), held_interrupts(briefly) as interrupt:

        def finished(problem, settings, alpha):
            if driver != "blocks":
                full = driver == "full"
                return PairRun(problem, gram, settings, alpha, interrupt, full).finish()
            begun = None
            if tentative and alpha is None:
                begun = PairRun(problem, gram, settings, None, interrupt, True, True).finish()
                if begun.status != TOO_MANY_ROWS:
                    return begun
                # Where it has got to is no place to begin for blocks.
                settings = nested.after(problem, settings, begun)
            return BlockRun(problem, gram, settings, alpha, interrupt).finish().after(begun)

        *smaller, _ = nested.box_sizes(problem, gram, settings) if alpha is None else [1.0]
        spent = None
        for box, next_box in pairwise([*(nested.in_box(problem, s) for s in smaller), problem]):
            found = finished(box, nested.roughly(problem, settings, spent), alpha)
            spent = found.after(spent)
            if found.status not in ("converged", "precision"):
                return nested.read_in(problem, spent)
            alpha = nested.start_in(next_box, found, box)
            gram.release()
        return finished(problem, nested.after(problem, settings, spent), alpha).after(spent)


def as_gram(gram: Gram | np.ndarray) -> Gram:
    if isinstance(gram, Gram):
        return gram
    gram = np.asarray(gram)
    if not np.isfinite(gram).all():
        raise ValueError("gram contains NaN or infinity")
    return Precomputed().bind(gram)


def matrix_bytes(gram: Gram) -> int:
    return gram.n**2 * gram.dtype.itemsize


def chosen_driver(driver: str, gram: Gram, settings: Settings) -> str:
    if driver == "auto":
        # Shrinking makes a second matrix.
        fits = gram.whole is not None or 2 * matrix_bytes(gram) <= settings.cache_bytes
        small = gram.n <= (LARGEST_FULL if gram.whole is None else LARGEST_AT_HAND)
        driver = "full" if (fits and small) or settings.selection == "greedy" else "blocks"
    if driver not in ("full", "blocks", "rows"):
        raise ValueError(f'driver must be "auto", "full", "blocks" or "rows", got {driver!r}')
    if driver != "full" and settings.selection == "greedy":
        raise ValueError('selection="greedy" needs the whole matrix: use driver="full"')
    return driver
