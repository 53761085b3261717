"""Functions of original inputs, from those of machines trained on centred ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dual import kernel_expansion
from ...dual.certificate import certificate_and_bias, rounding_is_small
from ..conditioning import intercept_at_origin
from ..distinct import Samples, chosen
from ..tasks import Outcome, Task
from .prediction import coefficients
from .training import ROUNDED, Trainer


def at_origin(
    X: Any,
    samples: Samples,
    tasks: list[Task],
    outcomes: list[Outcome],
    centre: np.ndarray,
    trainer: Trainer,
) -> list[Outcome]:
    """The outcomes for the original inputs, certified with the digits that their intercepts have.

    Parameters
    ----------
    X : inputs
        The original ones.
    samples : Samples
        The centred ones.
    tasks, outcomes : list
    centre : float array
        What was subtracted.
    trainer : Trainer
    """
    placed = []
    for task, outcome in zip(tasks, outcomes):
        coef, expansion = coefficients(task, outcome, samples), outcome.expansion
        exact = intercept_at_origin(expansion.intercept, coef, X, centre)
        intercept = float(exact)
        written = np.longdouble(intercept + trainer.offset) - np.longdouble(trainer.offset)
        outcome = shifted(task, outcome, float(written - exact), trainer)
        if outcome.finished and not is_balanced(task, outcome, coef, samples, centre, trainer):
            outcome = outcome.ended("precision")
        placed.append(outcome._replace(expansion=expansion._replace(intercept=intercept)))
    return placed


def shifted(task: Task, outcome: Outcome, shift: float, trainer: Trainer) -> Outcome:
    """The outcome with the certificate of its function plus a small number."""
    problem, shown = task.machine.problem, outcome.certificate
    unseen = ROUNDED * shown.magnitude
    if rounding_is_small(problem, outcome.solution.alpha, abs(shift), unseen):
        return outcome
    alpha = trainer.delivered(task, outcome.solution.alpha)
    exact = trainer.grams.exact(task.indices)
    expansion = kernel_expansion(problem.per_sample(alpha), exact)
    bias = certificate_and_bias(problem, alpha, expansion)[1]
    bias = bias + (outcome.expansion.intercept - task.machine.read(alpha, bias).intercept)
    certificate, _ = certificate_and_bias(problem, alpha, expansion, bias + shift)
    outcome = outcome._replace(certificate=certificate)
    return outcome.ended("precision") if trainer.falls_short(task, outcome) else outcome


def is_balanced(
    task: Task,
    outcome: Outcome,
    coef: np.ndarray,
    samples: Samples,
    centre: np.ndarray,
    trainer: Trainer,
) -> bool:
    """Whether it is within the promised gap that coefficients whose sum r is not 0 add rc to w."""
    rest, gap = abs(math.fsum(coef)), trainer.settings.gap
    if rest == 0.0 or np.isinf(gap):
        return True
    problem, shown, alpha = task.machine.problem, outcome.certificate, outcome.solution.alpha
    allowed = gap * shown.magnitude
    X = samples.X if task.indices is None else chosen(samples.X, task.indices)
    pull = np.abs(X @ centre)
    norms = rest * float(np.abs(problem.per_sample(alpha)) @ pull)
    norms += 0.5 * rest * rest * float(centre @ centre)
    most = rest * float(pull.max(initial=0.0))
    return norms <= allowed and rounding_is_small(problem, alpha, most, allowed)
