"""The training of online machines: passes over samples in memory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ...kernels import FromFunction, Kernel
from ...kernels.vector.base import VectorKernel
from ...runtime.parallel import single_threaded_blas
from ...solvers import plan
from ...solvers.online.machine import OnlineSettings
from ..clock import Clock
from ..conditioning import refuse_overflow
from ..distinct import Samples, distinct, size_in_bytes
from ..inputs import checked_weights, is_function, resolved_kernel, training_inputs
from ..progress import Reporter
from ..template import CertifiedMachine
from .classes import labels_of_stream
from .committee import Committee
from .progress import Pace, warn_early

# Inputs of more bytes are visited in the order of their content without sorting a copy.
LARGEST_REORDERED = 1 << 24
# A violation of this many times tol counts as within tol, because of different rounding.
ROUNDING = 1.000001
# Samples from which the rounding of float32 is estimated.
PROBED = 1000


class TrainedOnline(CertifiedMachine):
    """An estimator whose fit is passes over a stream."""

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
        codes, weight = self._begin_classes(y, weight)
        small = size_in_bytes(X) <= LARGEST_REORDERED
        samples = distinct(X, codes, weight, ordered=bool(self.shuffle and small))
        self._begin(samples.X, samples.weight)
        self.n_seen_ = y.size
        reporter.begin(1, **data)
        tell = reporter.listen(0, type(self).__name__)
        pace = Pace(clock, tell, int(self.epochs) * samples.size)
        ended = self._passes(samples, pace)
        reporter.finish(0)
        if ended in ("time_limit", "stopped"):
            processed = f"{pace.seen:,} of {pace.total:,} examples were processed."
            warn_early(self, ended, processed, 5)
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
        """ "converged" where no example violates optimality by more than tol in float64 either;
        a pass knows only the sums that it has kept up to date."""
        members = places[place][number]
        alpha = np.where(members >= 0, self.machines_.machines[place].alpha[members], 0.0)
        worst = self.machines_.violation(place, samples.X, codes, bound, alpha)
        if worst <= ROUNDING * float(self.tol):
            return "converged"
        kind = self.machines_.machines[place].dtype
        warnings.warn(
            f"Training ended early: no progress with kernel values in {kind}. The largest "
            f"violation is still {worst:.3g} instead of tol={self.tol:g}. finish() works in "
            "float64; else scale the inputs, or lower C.",
            ConvergenceWarning,
            stacklevel=7,
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
        step = max(1, X.shape[0] // PROBED)
        rounding = kernel.bind(X[::step], np.float32).rounding
        return bool(0.1 * rounding * self.C * np.sqrt(X.shape[0]) < self.tol)

    def _forget_end(self) -> None:
        """Remove attributes about the end of the last training."""
        for name in ("certificate_", "status_"):
            self.__dict__.pop(name, None)


def one_or_all(statuses: list[str]) -> str | list[str]:
    """The entry of the only machine, or those of all."""
    return statuses[0] if len(statuses) == 1 else statuses


def without_frame(X: Any) -> Any:
    """Inputs as an array, if they are a data frame."""
    return X.to_numpy() if hasattr(X, "iloc") else X
