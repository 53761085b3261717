"""Two solvers from the lectures in readable form, on the same problem object.

`chunking` trains on a set of candidates, keeps the support vectors, adds the worst violators and
trains again. `projected_gradient` follows the whole gradient and projects back on box and sums.
Both are for study and comparison; use `solve` otherwise.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dual.problem import DualProblem, Float
from ...kernels import Gram
from ..result import Solution
from ..solver import as_gram, solve


def chunking(
    problem: DualProblem,
    gram: Any,
    *,
    chunk: int = 100,
    tol: float = 1e-3,
    max_rounds: int = 1000,
    random_state: int = 0,
) -> Solution:
    """Grow a candidate set by its worst violators until none is left outside.

    Parameters
    ----------
    problem : DualProblem
    gram : Gram or array
    chunk : int
        Size of the first candidate set, and number of violators added per round.
    tol : float
        Largest KKT violation of a pair at the end.
    max_rounds : int
    random_state : int
        Of the first candidates.

    Returns
    -------
    Solution
        `steps` counts rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers import chunking
    >>> x = np.linspace(-1, 1, 50)
    >>> solution = chunking(hinge(np.sign(x), C=1.0).problem, np.outer(x, x), chunk=10)
    >>> solution.status
    'converged'
    """
    began = time.perf_counter()
    gram = as_gram(gram)
    if chunk < 2:
        raise ValueError(f"chunk must be at least 2, got {chunk}")
    alpha = problem.feasible()
    gradient = _gradient(problem, gram, alpha)
    order = np.random.default_rng(random_state).permutation(problem.samples)
    candidates = np.union1d(order[:chunk], _in_use(problem, alpha))
    evaluations = problem.samples**2
    status, rounds = "step_limit", 0
    while rounds < max_rounds:
        rounds += 1
        variables = (np.arange(problem.copies)[:, None] * problem.samples + candidates).ravel()
        block = gram.rows(candidates, columns=candidates).astype(np.float64)
        sub = _restricted(problem, alpha, gradient, variables, block)
        inner = solve(sub, block, alpha=alpha[variables], tol=0.1 * tol)
        before = problem.value(alpha, gradient)
        alpha[variables] = inner.alpha
        gradient = _gradient(problem, gram, alpha)
        evaluations += block.size + problem.samples * candidates.size
        if problem.violation(alpha, gradient) <= tol:
            status = "converged"
            break
        excess = _excess(problem, alpha, gradient)
        excess[candidates] = 0.0
        worst = np.argsort(-excess, kind="stable")[:chunk]
        if problem.value(alpha, gradient) > before:
            candidates = _in_use(problem, alpha)
        candidates = np.union1d(candidates, worst[excess[worst] > 0])
    return _solution(problem, alpha, gradient, status, rounds, evaluations, began)


def projected_gradient(
    problem: DualProblem, gram: Any, *, tol: float = 1e-3, max_steps: int = 100_000
) -> Solution:
    """Ascent along the whole gradient, projected on the feasible set.

    ``d = P(α + ηG) − α``, then the exact line search along d inside the feasible set, with η the
    Barzilai–Borwein step sᵀs / sᵀQs of the last move s.

    Parameters
    ----------
    problem : DualProblem
    gram : Gram or array
    tol : float
        Largest KKT violation of a pair at the end.
    max_steps : int

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers import projected_gradient
    >>> x = np.linspace(-1, 1, 50)
    >>> projected_gradient(hinge(np.sign(x), C=1.0).problem, np.outer(x, x)).status
    'converged'
    """
    began = time.perf_counter()
    gram = as_gram(gram)
    K = gram.matrix().astype(np.float64)
    alpha = problem.feasible()

    def Q(d: Float) -> Float:
        return problem.of_samples(K @ problem.per_sample(d)) + problem.ridge * d

    gradient = problem.linear - Q(alpha)
    largest = float(np.abs(np.diagonal(K)).max() + problem.ridge.max()) or 1.0
    rate = 1.0 / (largest * problem.samples)
    status, steps = "step_limit", 0
    while steps < max_steps:
        if problem.violation(alpha, gradient) <= tol:
            status = "converged"
            break
        steps += 1
        direction = project(problem, alpha + rate * gradient) - alpha
        slope, bent = gradient @ direction, Q(direction)
        bend = float(direction @ bent)
        if not slope > 0:
            status = "precision"
            break
        step = min(1.0, float(slope / bend)) if bend > 0 else 1.0
        alpha = np.clip(alpha + step * direction, problem.lower, problem.upper)
        gradient = gradient - step * bent
        rate = float(direction @ direction) / bend if bend > 0 else 10.0 * rate
    evaluations = problem.samples**2
    return _solution(problem, alpha, gradient, status, steps, evaluations, began)


def project(problem: DualProblem, point: Float) -> Float:
    """The feasible point nearest to `point`: clip(point − λ_g) with λ_g found by bisection."""
    projected = np.clip(point, problem.lower, problem.upper)
    for g, total in enumerate(problem.totals):
        a = np.flatnonzero(problem.group == g)
        if not a.size:
            continue
        x, low, high = point[a], problem.lower[a], problem.upper[a]
        ends = np.concatenate([x - np.where(np.isfinite(high), high, x), x - low])
        ends = ends[np.isfinite(ends)]
        reach = 1.0 + np.abs(ends).max(initial=0.0) + np.abs(x).max() + abs(total)
        left, right = -reach, reach
        for _ in range(200):
            middle = 0.5 * (left + right)
            if not left < middle < right:
                break
            if np.clip(x - middle, low, high).sum() > total:
                left = middle
            else:
                right = middle
        projected[a] = np.clip(x - 0.5 * (left + right), low, high)
    return projected


def _gradient(problem: DualProblem, gram: Gram, alpha: Float) -> Float:
    coefficients = problem.per_sample(alpha)
    support = np.flatnonzero(coefficients)
    return problem.gradient(alpha, coefficients[support] @ gram.rows(support))


def _in_use(problem: DualProblem, alpha: Float) -> NDArray[np.intp]:
    """Samples with a variable that is not zero (two of one sample may cancel)."""
    return np.flatnonzero((alpha.reshape(problem.copies, problem.samples) != 0).any(axis=0))


def _restricted(
    problem: DualProblem, alpha: Float, gradient: Float, variables: NDArray[Any], block: Float
) -> DualProblem:
    """The problem over some samples, all others fixed."""
    samples = block.shape[0]
    inner = alpha[variables].reshape(-1, samples).sum(axis=0)
    pull = np.tile(block @ inner, problem.copies) + problem.ridge[variables] * alpha[variables]
    fixed_variables = np.setdiff1d(np.arange(problem.size), variables)
    fixed = np.bincount(
        problem.group[fixed_variables], alpha[fixed_variables], minlength=problem.totals.size
    )
    return DualProblem(
        linear=gradient[variables] + pull,
        lower=problem.lower[variables],
        upper=problem.upper[variables],
        ridge=problem.ridge[variables],
        group=problem.group[variables],
        totals=problem.totals - fixed,
        samples=samples,
    )


def _excess(problem: DualProblem, alpha: Float, gradient: Float) -> Float:
    """The violation of each sample at the bias, in the worst of its variables."""
    beyond = gradient - problem.bias(alpha, gradient)[problem.group]
    rising = np.where(problem.can_rise(alpha), beyond, 0.0)
    falling = np.where(problem.can_fall(alpha), -beyond, 0.0)
    excess = np.maximum(np.maximum(rising, falling), 0.0)
    return np.asarray(excess.reshape(problem.copies, problem.samples).max(axis=0))


def _solution(
    problem: DualProblem,
    alpha: Float,
    gradient: Float,
    status: str,
    steps: int,
    evaluations: int,
    began: float,
) -> Solution:
    return Solution(
        alpha=alpha,
        gradient=gradient,
        bias=problem.bias(alpha, gradient),
        dual=problem.value(alpha, gradient),
        violation=problem.violation(alpha, gradient),
        status=status,
        steps=steps,
        face_steps=0,
        planned_steps=0,
        kernel_evaluations=evaluations,
        row_hits=0,
        row_misses=0,
        seconds=time.perf_counter() - began,
    )
