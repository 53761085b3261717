"""The base of online estimators: passes over samples in memory, and the current function."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ...kernels import FromFunction, Kernel
from ...kernels.base import take
from ...kernels.vector.base import VectorKernel
from ...runtime.parallel import single_threaded_blas
from ...solvers import plan
from ...solvers.online.machine import OnlineSettings
from ..conditioning import KNOWN_TO
from ..distinct import Samples, distinct, size_in_bytes
from ..inputs import (
    checked_weights,
    is_function,
    new_inputs,
    refuse_overflow,
    resolved_kernel,
    training_inputs,
)
from ..kernel.training.gram_pool import Grams
from ..progress import Clock, Reporter
from ..template import CertifiedMachine
from ..warn import warn_caller
from . import state
from .classes import labels_of_stream, weighted_classes
from .committee import Committee
from .progress import Pace, warn_early


class TrainedOnline(CertifiedMachine):
    """A classifier whose fit is passes over a stream, and whose function changes with it."""

    classes_: np.ndarray
    class_weight_: np.ndarray
    machines_: Committee
    warm_start = False  # partial_fit goes on from where it is, fit begins anew

    def _train(
        self, X: Any, y: Any, sample_weight: Any, reporter: Reporter, data: Any, previous: Any
    ) -> bool:
        """Set all fitted attributes; return whether Ctrl-C was pressed."""
        del previous
        clock = Clock(self.max_seconds)
        X, y = training_inputs(self, X, y)
        X, y = without_frame(X), labels_of_stream(y)
        weight = checked_weights(sample_weight, y.size)
        present = weighted_classes(y, weight, self.class_weight)
        self.classes_, self.class_weight_ = present.classes, present.factors
        # Larger inputs are visited in the order of their content without sorting a copy.
        small = size_in_bytes(X) <= 1 << 24
        samples = distinct(X, present.codes, present.weight, ordered=bool(self.shuffle and small))
        self._begin(samples.X, samples.weight)
        self.n_seen_ = y.size
        reporter.begin(1, **data)
        tell = reporter.listen(0, type(self).__name__)
        pace = Pace(clock, tell, int(self.epochs) * samples.size)
        ended = self._passes(samples, pace)
        reporter.finish(0)
        if ended in ("time_limit", "stopped"):
            processed = f"{pace.seen:,} of {pace.total:,} examples were processed."
            warn_early(self, ended, processed)
        return ended == "interrupted"

    def _passes(self, samples: Samples, pace: Pace) -> str:
        random = np.random.default_rng(self._seed())
        codes = samples.targets.astype(np.int64)
        bound = self._bound(codes, samples.weight)
        # A copy stands for all: the first of them gives its index.
        present = np.flatnonzero(samples.member >= 0)[::-1]
        number = np.empty(samples.size, dtype=np.int64)
        number[samples.member[present]] = present
        places = [np.full(samples.member.size, -1) for _ in self.machines_.machines]
        # Sorted by content, equal samples come in equal order, whatever order they were given in.
        order = np.argsort(samples.keys, kind="stable") if self.shuffle else np.arange(samples.size)
        for _ in range(self.epochs):
            steps = self.n_iter_
            if self.shuffle:
                order = order[random.permutation(order.size)]
            ended = pace.taught(
                self.machines_, samples.X, codes, bound, number, places, order
            ).ended
            idle = self.n_iter_ == steps
            if ended or idle.all():
                break
        regular = np.where(idle, "converged", "epochs").tolist()
        if not ended:
            for place in np.flatnonzero(idle):
                regular[place] = self._proven(int(place), samples, codes, bound, number, places)
        self.status_ = one_or_all([ended or status for status in regular])
        return ended

    def _proven(
        self,
        place: int,
        samples: Samples,
        codes: np.ndarray,
        bound: np.ndarray,
        number: np.ndarray,
        places: list[np.ndarray],
    ) -> str:
        """ "converged" where no example violates optimality by more than tol in float64 either, as
        far as its digits tell; a pass knows only the sums that it has kept up to date."""
        members = places[place][number]
        alpha = np.where(members >= 0, self.machines_.machines[place].alpha[members], 0.0)
        largest = float(np.abs(self.kernel_.diagonal(samples.X)).max())
        rounding = KNOWN_TO * largest * float(np.linalg.norm(alpha))
        grams = Grams(self.kernel_, samples.X, np.float64, largest)
        if grams.most_rounding_of_arguments(alpha) > 0.5 * float(self.tol):
            rounding = max(rounding, grams.rounding_of_arguments(None, alpha))
        worst = max(self.machines_.violation(place, samples.X, codes, bound, alpha), rounding)
        if worst <= 1.000001 * float(self.tol):  # rounding differs from that of the solver
            return "converged"
        kind = self.machines_.machines[place].dtype
        warn_caller(
            f"Training ended early: no progress with kernel values in {kind}. The largest "
            f"violation may still be {worst:.3g} instead of tol={self.tol:g}. finish() works in "
            "float64; else scale the inputs, or lower C.",
            ConvergenceWarning,
        )
        return "precision"

    def _seed(self) -> int:
        seed = 0 if self.random_state is None else self.random_state
        if isinstance(seed, int | np.integer):
            return int(seed)
        return int(check_random_state(seed).randint(2**31 - 1))

    @single_threaded_blas()
    def _begin(self, X: Any, weight: np.ndarray) -> None:
        """An untrained machine for inputs like these."""
        kernel = self.kernel
        self.kernel_ = (
            FromFunction(kernel) if is_function(kernel) else resolved_kernel(self, X, weight)
        )
        settings = OnlineSettings(self.selection, int(self.reprocess), float(self.tol), self.budget)
        self._refuse_overflow(X)
        dtype = self._rows_dtype(X, self.kernel_)
        self.machines_ = Committee.new(self.classes_.size, self.kernel_, settings, dtype, X)

    def _refuse_overflow(self, X: Any) -> None:
        if isinstance(self.kernel_, VectorKernel):
            refuse_overflow(self.kernel_, X)

    def _rows_dtype(self, X: Any, kernel: Kernel) -> Any:
        single = self.precision == "single" or (
            self.precision == "auto" and getattr(X, "dtype", None) == np.float32
        )
        if not (single and plan.fits_single(kernel, X)):
            return np.float64
        enough = self.precision == "single" or self._single_is_enough(X, kernel)
        return np.float32 if enough else np.float64

    def _single_is_enough(self, X: Any, kernel: Kernel) -> bool:
        """Whether the rounding of float32 rows stays below tol once α is summed over them.

        Entries have errors of about a tenth of the largest, with random signs, and the norm of α is
        below C√n. `finish` corrects remaining errors in float64.
        """
        step = max(1, X.shape[0] // 1000)
        rounding = kernel.bind(X[::step], np.float32).rounding
        return bool(0.1 * rounding * self.C * np.sqrt(X.shape[0]) < self.tol)

    def _bound(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The bound on |α| of examples: C times the factor of their class and their weight."""
        result: np.ndarray = float(self.C) * self.class_weight_[codes] * weight
        return result

    def _next_inputs(self, X: Any) -> Any:
        return without_frame(new_inputs(self, X, self.machines_.machines[0].inputs))

    def _forget_end(self) -> None:
        """Remove attributes about the end of the last training."""
        for name in ("certificate_", "status_"):
            self.__dict__.pop(name, None)

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision function of each machine.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number, positive for ``classes_[1]``.
        """
        check_is_fitted(self, "machines_")
        values = self.machines_.values(self._next_inputs(X))
        result: np.ndarray = values.ravel() if self.classes_.size == 2 else values
        return result

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "machines_")
        result: np.ndarray = self.classes_[winners(self.decision_function(X))]
        return result

    @property
    def support_vectors_(self) -> Any:
        function = self.machines_.function()
        return take(function.inputs, function.used())

    @property
    def support_(self) -> np.ndarray:
        function = self.machines_.function()
        result: np.ndarray = function.number[function.used()]
        return result

    @property
    def dual_coef_(self) -> np.ndarray:
        function = self.machines_.function()
        result: np.ndarray = function.coef[:, function.used()]
        return result

    @property
    def intercept_(self) -> np.ndarray:
        result: np.ndarray = self.machines_.function().intercept
        return result

    @property
    def dual_(self) -> np.ndarray:
        return np.array([machine.dual for machine in self.machines_.machines])

    @property
    def n_iter_(self) -> np.ndarray:
        return np.array([machine.steps for machine in self.machines_.machines])

    def save(self, path: str | os.PathLike[str], *, rows: bool = True) -> None:
        """Write the model to a file, from which `load` continues.

        Parameters
        ----------
        path : path
        rows : bool
            Whether to save the Gram matrix of the support set too. With it, a resumed stream gives
            the same bits as one without interruption. Without it the file is small, and the rows
            are recomputed, which may round differently.
        """
        check_is_fitted(self)
        state.save(self, path, rows)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """The model that was saved to a file.

        Checksums, types, shapes and values are checked; invalid files raise
        `maxmargin.models.ModelFileError`, a ValueError.
        """
        return state.load(cls, path)


def winners(values: np.ndarray) -> np.ndarray:
    """The code of the class that the decision values predict."""
    return (values >= 0).astype(np.intp) if values.ndim == 1 else np.argmax(values, axis=1)


def one_or_all(statuses: list[str]) -> str | list[str]:
    """The entry of the only machine, or those of all."""
    return statuses[0] if len(statuses) == 1 else statuses


def without_frame(X: Any) -> Any:
    """Inputs as an array, if they are a data frame."""
    return X.to_numpy() if hasattr(X, "iloc") else X
