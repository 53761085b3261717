"""The machines of an online classifier: one for two classes, else one per class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...dual import Certificate, certify_expansion, hinge, kernel_expansion
from ...kernels import Kernel
from ...kernels.base import count, take
from ...runtime.parallel import single_threaded_blas
from ...solvers import Solution
from ...solvers.interrupt import deferred_interrupts
from ...solvers.online.inputs import stacked
from ...solvers.online.machine import (
    NEVER_TWICE,
    OnlineMachine,
    OnlineSettings,
    chunks,
    refuse_overflow,
)
from ..conditioning import widened
from ..distinct import distinct
from ..kernel.prediction import PREDICTION_BLOCK
from ..kernel.training.gram_pool import Grams
from ..progress import Clock


class Function(NamedTuple):
    """f(x) = Σ_i coef_i k(x_i, x) + intercept, a row of coefficients for each machine."""

    inputs: Any
    coef: np.ndarray
    intercept: np.ndarray
    number: np.ndarray  # numbers of the examples

    def used(self) -> np.ndarray:
        """Places of the inputs that have a coefficient."""
        return np.flatnonzero(self.coef.any(axis=0))


class Lesson(NamedTuple):
    """The result of learning from examples.

    Attributes
    ----------
    learned : int
        Examples that were processed.
    last : int
        Index of the last of them; -1 if there was none.
    ended : str
        Why the others were not; empty at the regular end.
    """

    learned: int
    last: int
    ended: str


def never(learned: int) -> str:
    """A pause that never ends the training."""
    del learned
    return ""


class Committee:
    """Machines that learn from one stream: the class with code 1 against that with code 0, or
    each class against the rest.

    Parameters
    ----------
    machines : list of OnlineMachine
    """

    def __init__(self, machines: list[OnlineMachine]) -> None:
        self.machines = machines
        self._function: Function | None = None

    @classmethod
    def new(
        cls, classes: int, kernel: Kernel, settings: OnlineSettings, dtype: Any, X: Any
    ) -> Committee:
        """Untrained machines for inputs like X."""
        machines = [
            OnlineMachine(kernel, settings, dtype) for _ in range(1 if classes == 2 else classes)
        ]
        for machine in machines:
            machine.begin(X)
        return cls(machines)

    def labels(self, codes: np.ndarray, place: int) -> np.ndarray:
        """±1 for the machine at that place."""
        positive = 1 if len(self.machines) == 1 else place
        return np.where(codes == positive, 1.0, -1.0)

    @single_threaded_blas()
    def learn(
        self,
        X: Any,
        codes: np.ndarray,
        bound: np.ndarray,
        number: np.ndarray | None = None,
        places: list[np.ndarray] | None = None,
        order: np.ndarray | None = None,
        pause: Callable[[int], str] = never,
    ) -> Lesson:
        """Let every machine process the examples; see `OnlineMachine.learn`.

        All learn a chunk before any continues with the next one. After each, `pause` is called with
        the number of examples learned; a non-empty return value ends the training, as does Ctrl-C.
        """
        self._function = None
        number = np.arange(count(X)) if number is None else number
        known = [NEVER_TWICE] * len(self.machines) if places is None else places
        signs = [self.labels(codes, place) for place in range(len(self.machines))]
        last, learned = -1, 0
        with deferred_interrupts() as interrupt:
            for these, chunk in chunks(self.machines[0].kernel, X, bound, order, self._members):
                for machine, sign, place in zip(self.machines, signs, known):
                    machine.learn_chunk(chunk, sign[these], bound[these], number[these], place)
                last, learned = int(these[-1]), learned + these.size
                ended = pause(learned)
                if interrupt.pressed or ended:
                    return Lesson(learned, last, "interrupted" if interrupt.pressed else ended)
        return Lesson(learned, last, "")

    @single_threaded_blas()
    def finish(
        self, tol: float, clock: Clock, listen: Callable[[int], Any]
    ) -> tuple[list[Solution | None], str]:
        """The solution of each machine, and the reason if some are missing.

        Parameters
        ----------
        tol : float
        clock : Clock
        listen : callable
            Returns the callback for the machine with an index.
        """
        self._function = None
        solutions: list[Solution | None] = []
        for place, machine in enumerate(self.machines):
            share = clock.left() / (len(self.machines) - place)
            limit = None if np.isinf(share) else share
            solutions.append(machine.finish(tol, limit, listen(place)))
            status = getattr(solutions[-1], "status", "")
            if status in ("interrupted", "stopped"):
                return solutions, status
        return solutions, ""

    def _members(self) -> int:
        """Total number of support vectors of all machines."""
        return sum(machine.size for machine in self.machines)

    @property
    def steps(self) -> int:
        return sum(machine.steps for machine in self.machines)

    def __getstate__(self) -> dict[str, Any]:
        return {"machines": self.machines, "_function": None}

    def function(self) -> Function:
        """The current functions of the machines; rebuilt only after they have changed."""
        if self._function is None:
            self._function = self._joined()
        return self._function

    def _joined(self) -> Function:
        intercept = np.array([machine.bias for machine in self.machines])
        if len(self.machines) == 1:
            only = self.machines[0]
            return Function(only.inputs, only.alpha[None].copy(), intercept, only.number.copy())
        number = np.unique(np.concatenate([machine.number for machine in self.machines]))
        coef = np.zeros((len(self.machines), number.size))
        place = np.full(number.size, -1)
        inputs = take(self.machines[0].inputs, np.arange(0))
        for row, machine in zip(coef, self.machines):
            columns = np.searchsorted(number, machine.number)
            row[columns] = machine.alpha
            new = np.flatnonzero(place[columns] < 0)
            place[columns[new]] = count(inputs) + np.arange(new.size)
            inputs = stacked(inputs, take(machine.inputs, new))
        return Function(take(inputs, place), coef, intercept, number)

    @single_threaded_blas()
    def values(self, X: Any) -> np.ndarray:
        """Every function at every input, shape (inputs, machines)."""
        function = self.function()
        kernel, wide = self.machines[0].kernel, self.machines[0].dtype == np.float64
        values = np.tile(function.intercept, (count(X), 1))
        size = function.coef.shape[1]
        if not size:
            return values
        refuse_overflow(kernel, X)
        right = widened(function.inputs) if wide else function.inputs
        step = max(1, PREDICTION_BLOCK // size)
        for start in range(0, count(X), step):
            block = slice(start, start + step)
            left = widened(X[block]) if wide else X[block]
            with np.errstate(over="ignore", invalid="ignore"):
                values[block] += kernel(left, right) @ function.coef.T
        if not np.isfinite(values).all():
            raise ValueError(
                f"X has entries for which {kernel!r} overflows {self.machines[0].dtype}: scale the "
                "inputs, in training as well"
            )
        return values

    def violation(
        self, place: int, X: Any, codes: np.ndarray, bound: np.ndarray, alpha: np.ndarray
    ) -> float:
        """The largest violation of optimality by a pair of examples, computed in float64 from the
        final function.

        Parameters
        ----------
        place : int
            Of the machine.
        X, codes, bound
            As of `learn`.
        alpha : float array
            The coefficients that the machine gives to the examples.
        """
        machine, labels = self.machines[place], self.labels(codes, place)
        gradient = labels.copy()
        right, step = widened(machine.inputs), max(1, PREDICTION_BLOCK // max(1, machine.size))
        for start in range(0, count(X) if machine.size else 0, step):
            block = slice(start, start + step)
            gradient[block] -= machine.kernel(widened(X[block]), right) @ machine.alpha
        rise = np.where(labels > 0, alpha < bound, alpha < 0)
        fall = np.where(labels > 0, alpha > 0, alpha > -bound)
        top = gradient[rise & (bound > 0)].max(initial=-np.inf)
        return max(0.0, float(top - gradient[fall & (bound > 0)].min(initial=np.inf)))

    def certificates(self, X: Any, codes: np.ndarray, bound: np.ndarray) -> list[Certificate]:
        """One for each machine, on these examples and the members of its support set that are
        not among them."""
        return [
            certificate(machine, X, self.labels(codes, place), bound)
            for place, machine in enumerate(self.machines)
        ]


@single_threaded_blas()
def certificate(
    machine: OnlineMachine, X: Any, labels: np.ndarray, bound: np.ndarray
) -> Certificate:
    """The certificate of a machine on the union of examples and its support set."""
    n = machine.size
    samples = distinct(
        stacked(take(machine.inputs, np.arange(n)), X),
        np.append(machine.labels, labels),
        np.append(machine.bound, bound),
    )
    own, others = samples.member[:n], samples.member[n:]
    present = others >= 0
    allowed = np.bincount(others[present], bound[present], minlength=samples.size)
    needed = np.bincount(own, machine.bound, minlength=samples.size)
    alpha = np.bincount(own, machine.alpha, minlength=samples.size).astype(np.float64, copy=False)
    # Sums of the bounds of copies may differ by rounding, and α would not be at its bound.
    same = np.isclose(allowed, needed, rtol=1e-12, atol=0.0)
    problem = hinge(samples.targets, np.where(same, needed, np.maximum(allowed, needed))).problem
    gram = Grams(machine.kernel, samples.X, np.float64).exact()
    expansion = kernel_expansion(alpha, gram)
    return certify_expansion(problem, alpha, expansion, np.array([machine.bias]))
