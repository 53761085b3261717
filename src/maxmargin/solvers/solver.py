"""`solve`: the entry point to all drivers.

Everything slow, optional or interactive happens between slabs of compiled steps: fetching rows,
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
from .drivers import continuation
from .drivers.decomposition import BlockRun
from .drivers.full import TOO_MANY_ROWS, PairRun
from .interrupt import Interrupt, deferred_interrupts
from .no_bias import posed, read_back
from .plan import Plan, planned
from .result import Progress, Solution
from .settings import Settings, default_steps


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
    """Maximise ``linear·α − ½ αᵀQα`` over the box and the sums of a `DualProblem`, or over the box
    alone where it has no bias.

    Parameters
    ----------
    problem : DualProblem
    gram : Gram or array of shape (samples, samples)
        The Gram matrix of the samples, from ``kernel.bind(X)`` or as an array.
    driver : {"auto", "full", "blocks", "rows"}
        `full` keeps the matrix in memory, computed at once or, if few rows seem to be enough, row
        by row; `blocks` optimises blocks of about a thousand violating samples and computes
        their rows in one product; `rows` computes single rows on demand into an LRU cache. `auto`
        uses `full` up to some thousand samples, then `blocks`.
    tol : float
        Largest KKT violation of a pair at the end.
    gap : float
        Largest duality gap at the end, as a fraction of the dual value: a run within `tol`
        continues until it is reached, or until rounding prevents further progress.
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
        Starting point; made feasible first.
    cache_bytes : float
        Memory for rows; blocks and their factors may take another two fifths of it.
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
    if problem.biased:
        return optimum(problem, gram, settings, driver, alpha)
    other = posed(problem, gram, alpha)
    return read_back(problem, optimum(other.problem, other.gram, settings, driver, other.start))


def optimum(
    problem: DualProblem, gram: Gram, settings: Settings, driver: str, alpha: np.ndarray | None
) -> Solution:
    """The solution of a problem with a bias, by what the plan says."""
    plan = planned(problem, gram, settings, driver, begun=alpha is not None)
    # Runs of so few samples often take less than a millisecond.
    briefly = problem.samples <= 1000 and settings.callback is None
    # The status reports overflow.
    quiet = np.errstate(over="ignore", invalid="ignore")
    with single_threaded_blas(), deferred_interrupts(briefly) as interrupt, quiet:
        spent = None
        boxes = [*(continuation.in_box(problem, size) for size in plan.boxes[:-1]), problem]
        for box, next_box in pairwise(boxes):
            coarse = continuation.coarse_settings(problem, settings, spent)
            found = run(plan, box, gram, coarse, alpha, interrupt)
            spent = found.after(spent)
            if found.status not in ("converged", "precision"):
                return continuation.read_in(problem, spent)
            alpha = continuation.start_in(next_box, found, box)
            gram.release()
        rest = settings.after(spent, problem.samples)
        return run(plan, problem, gram, rest, alpha, interrupt).after(spent)


def run(
    plan: Plan,
    problem: DualProblem,
    gram: Gram,
    settings: Settings,
    alpha: np.ndarray | None,
    interrupt: Interrupt,
) -> Solution:
    """Solve a problem from α with the driver of the plan."""
    if plan.driver != "blocks":
        return PairRun(problem, gram, settings, plan, alpha, interrupt).finish()
    begun = None
    if plan.tentative and alpha is None:
        begun = PairRun(problem, gram, settings, plan, None, interrupt).finish()
        if begun.status != TOO_MANY_ROWS:
            return begun
        # The point reached is not a good start for blocks.
        settings = settings.after(begun, problem.samples)
    return BlockRun(problem, gram, settings, plan, alpha, interrupt).finish().after(begun)


def as_gram(gram: Gram | np.ndarray) -> Gram:
    if isinstance(gram, Gram):
        return gram
    gram = np.asarray(gram)
    if not np.isfinite(gram).all():
        raise ValueError("gram contains NaN or infinity")
    return Precomputed().bind(gram)
