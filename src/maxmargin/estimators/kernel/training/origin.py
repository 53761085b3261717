"""Functions of original inputs, from those of machines trained on centred ones.

Coefficients a of centred inputs z = x − c whose sum r is not 0, since rounding has left something
of it, make of the original inputs the function

    Σ_i a_i ⟨x_i, x⟩ + b  =  Σ_i a_i ⟨z_i, z⟩ + r⟨c, z⟩ + s + b,   s = Σ_i a_i ⟨z_i, c⟩ + r⟨c, c⟩
    ‖w‖²  =  Σ_ij a_i a_j ⟨z_i, z_j⟩ + r Σ_i a_i ⟨z_i, c⟩ + rs

The intercept is b = b' − s for the b' of centred inputs, up to the digits that a float has.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ....dual.certificate import certificate_and_bias
from ....dual.problem import DualProblem, Float
from ...conditioning import intercept_at_origin
from ...distinct import Samples, chosen
from .problems import Trainer
from .tasks import Outcome, Task, coefficients


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
        written = Fraction(intercept + trainer.offset) - Fraction(trainer.offset)
        divisor = expansion.rho if expansion.rho > 0.0 else 1.0  # of the dual variables
        change = Change(
            rest=divisor * math.fsum(coef),
            constant=divisor * float(Fraction(expansion.intercept) - exact),
            intercept=divisor * float(written - exact),
        )
        own = divisor * samples.gathered(coef)
        inputs = samples.X
        if task.indices is not None:
            own, inputs = own[task.indices], chosen(inputs, task.indices)
        outcome = certified(task, outcome, own, change, inputs, centre, trainer)
        placed.append(outcome._replace(expansion=expansion._replace(intercept=intercept)))
    return placed


class Change(NamedTuple):
    """By what the function of the original inputs differs, in terms of the dual variables.

    Attributes
    ----------
    rest : float
        r, the sum of the coefficients.
    constant : float
        s.
    intercept : float
        What rounding has added to b.
    """

    rest: float
    constant: float
    intercept: float


def certified(
    task: Task,
    outcome: Outcome,
    coef: np.ndarray,
    change: Change,
    inputs: Any,
    centre: np.ndarray,
    trainer: Trainer,
) -> Outcome:
    """The outcome with the certificate of the function of the original inputs.

    Parameters
    ----------
    task : Task
    outcome : Outcome
    coef : float array
        The delivered coefficients, one for each of the task's samples.
    change : Change
    inputs : inputs
        The centred ones of the task.
    centre : float array
    trainer : Trainer
    """
    problem, solution = task.machine.problem, outcome.solution
    alpha = as_balanced(problem, trainer.delivered(task, solution.alpha), coef)
    expansion = inputs @ (inputs.T @ coef) + change.rest * (inputs @ centre)
    bias = solution.bias + change.intercept
    shown, _ = certificate_and_bias(problem, alpha, expansion, bias)
    of_norm = change.rest * change.constant
    dual, gap = shown.dual - 0.5 * of_norm, shown.gap + of_norm
    shown = replace(shown, primal=dual + gap, dual=dual, gap=gap)
    outcome = outcome._replace(certificate=task.as_posed(shown, alpha, expansion))
    return outcome.ended("precision") if trainer.falls_short(task, outcome) else outcome


def as_balanced(problem: DualProblem, alpha: Float, coef: Float) -> Float:
    """α with what balancing has added to the coefficients; of two variables for each sample the
    larger one takes it up."""
    rest = coef - problem.per_sample(alpha)
    size = np.abs(alpha).reshape(problem.copies, -1)
    larger = (np.arange(problem.copies)[:, None] == size.argmax(axis=0)).ravel()
    return np.where(problem.free(alpha) & larger, alpha + problem.of_samples(rest), alpha)
