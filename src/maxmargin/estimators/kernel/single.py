"""Machines with one function and no classes: regression and novelty detection."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from ...dual import Machine
from ..distinct import Samples
from .machine import KernelMachine
from .training.problems import Trainer
from .training.tasks import Outcome, Task, coefficients


class SingleMachine(KernelMachine):
    """One problem, one function."""

    @abstractmethod
    def _machine(self, targets: Any, weight: np.ndarray) -> Machine:
        """The machine for targets (None where there are none) and weights."""

    def _tasks(self, samples: Samples, trainer: Trainer) -> list[Task]:
        del trainer
        return [Task(type(self).__name__, self._machine(samples.y, samples.weight))]

    def _write(self, X: Any, samples: Samples, tasks: list[Task], outcomes: list[Outcome]) -> None:
        coef = coefficients(tasks[0], outcomes[0], samples)
        support = np.flatnonzero(coef)
        self._write_support(X, coef[None, support], support)
        self.n_support_ = np.array([support.size], dtype=np.int32)
        self.intercept_ = np.array([outcomes[0].expansion.intercept])
        self.n_iter_ = outcomes[0].solution.steps
