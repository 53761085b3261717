"""The dual problems of a fit, and their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..dual import Certificate, Expansion, Machine
from ..dual.problem import Float
from ..solvers import Solution


class Task(NamedTuple):
    """One dual problem of a fit.

    Attributes
    ----------
    name : str
        Name in messages.
    machine : Machine
    samples : tuple of int arrays
        Its distinct samples: of one class, then of the other; empty for all samples.
    classes : tuple of int
        The two classes, if Gram blocks inside classes are shared.
    start : float array or None
        Starting point of the solver.
    remake : callable or None
        Makes the machine of some of the samples, from their labels, weights and class weights.
    restate : callable or None
        Makes of a certificate, α and Kα the certificate of the problem posed, where this one was
        solved in its place.
    """

    name: str
    machine: Machine
    samples: tuple[np.ndarray, ...] = ()
    classes: tuple[int, int] | None = None
    start: np.ndarray | None = None
    remake: Callable[..., Machine] | None = None
    restate: Callable[[Certificate, Float, Float], Certificate] | None = None

    @property
    def indices(self) -> np.ndarray | None:
        return np.concatenate(self.samples) if self.samples else None

    def as_posed(self, shown: Certificate, alpha: Float, sums: Float) -> Certificate:
        """The certificate of the problem posed, from that of `machine`; `sums` is Kα."""
        return shown if self.restate is None else self.restate(shown, alpha, sums)


class Outcome(NamedTuple):
    """A solved task."""

    solution: Solution
    expansion: Expansion
    certificate: Certificate

    @property
    def finished(self) -> bool:
        return self.solution.converged

    def ended(self, status: str) -> Outcome:
        """This outcome with another status."""
        return self._replace(solution=replace(self.solution, status=status))
