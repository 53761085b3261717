"""What is promised of a fit, checked on one case."""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from . import extras
from .certificates import certificate_failures
from .failure import Failure
from .fitting import described, trained, values
from .problems import KERNEL_MACHINES, Case
from .refusals import explained, overflows

# CPU seconds that a fit of under 100 samples may take.
LONGEST = 5.0
# What compiles for the first time takes long once, and a limit may end a fit before it all is.
ATTEMPTS = 3
FINISHED = ("converged", "stationary", "epochs", "one class")


class Fit(NamedTuple):
    """A fit and what came with it."""

    model: Any
    error: BaseException | None
    warnings: list[Any]
    seconds: float


def attempted(case: Case) -> Fit:
    """The fit, or the error it ended with."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        began, model, error = time.thread_time(), None, None
        try:
            model = trained(case)
        except (Exception, KeyboardInterrupt) as raised:
            error = raised
    return Fit(model, error, list(told), time.thread_time() - began)


def examine(case: Case) -> list[Failure]:
    """All failures of a case; empty where it was refused for a good reason."""
    before = snapshot(case)
    fit = attempted(case)
    failures = []
    limit = allowed_seconds(case)
    for _ in range(ATTEMPTS):
        if fit.seconds <= limit:
            break
        fit = attempted(case)
    if fit.seconds > limit:
        failures.append(Failure("time", f"fit took {fit.seconds:.2f} s, allowed are {limit:g}"))
    if snapshot(case) != before:
        failures.append(Failure("inputs", "fit has changed its inputs"))
    noise = [w for w in fit.warnings if issubclass(w.category, RuntimeWarning)]
    if noise and fit.error is None:
        where = f"{noise[0].filename.rpartition('maxmargin/')[2]}:{noise[0].lineno}"
        check = "overflow" if overflows(case) else "noise"
        failures.append(Failure(check, f"RuntimeWarning: {noise[0].message} ({where})"))
    if fit.error is not None:
        if not explained(case, fit.error):
            failures.append(Failure("error", described(fit.error)))
        return failures
    failures += function_failures(case, fit.model)
    failures += status_failures(case, fit)
    failures += certificate_failures(case, fit.model)
    for name in () if failures else case.extras:
        failures += extras.EXTRAS[name](case, fit.model)
    return failures


def allowed_seconds(case: Case) -> float:
    limit = case.parameters.get("max_seconds")
    if limit is None:
        return LONGEST
    # The fit that follows a search comes on top of its limit.
    last = LONGEST if case.estimator in ("SVCSearch", "AutoSVC") else 0.0
    return max(1.1 * limit, limit + 0.25) + last


def snapshot(case: Case) -> tuple[Any, ...]:
    """The bytes of everything that is handed to a fit."""
    parts = [case.y, case.weight]
    X = case.X
    parts += [X.data, X.indices, X.indptr] if sparse.issparse(X) else [np.asarray(X)]
    return tuple(None if part is None else np.asarray(part).tobytes() for part in parts)


def function_failures(case: Case, model: Any) -> list[Failure]:
    """Predictions are there and finite."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = values(case, model)
            predicted = model.predict(case.X)
        except Exception as error:
            return [Failure("predict", described(error))]
    failures = []
    if any(issubclass(w.category, RuntimeWarning) for w in told):
        check = "overflow" if overflows(case) else "noise"
        failures.append(Failure(check, f"RuntimeWarning in predict: {told[0].message}"))
    if not np.isfinite(found).all():
        check = "overflow" if overflows(case) else "finite"
        failures.append(Failure(check, "values of the function are not finite"))
    elif predicted.dtype.kind == "f" and not np.isfinite(predicted).all():
        failures.append(Failure("finite", "predictions are not finite"))
    return failures


def status_failures(case: Case, fit: Fit) -> list[Failure]:
    """What ended early says so, in every way there is."""
    model = fit.model
    if not hasattr(model, "status_"):
        return []
    statuses = model.status_ if isinstance(model.status_, list) else [model.status_]
    early = [status for status in statuses if status not in FINISHED]
    if case.call.get("way") == "fit_active":
        return []
    failures = []
    told = [w for w in fit.warnings if issubclass(w.category, ConvergenceWarning)]
    if early and not told:
        failures.append(Failure("warning", f"status {early[0]!r} without a ConvergenceWarning"))
    if told and not early:
        failures.append(Failure("warning", f"status {statuses} with warning: {told[0].message}"))
    if hasattr(model, "fit_status_") and model.fit_status_ != int(bool(early)):
        failures.append(
            Failure("status", f"fit_status_ is {model.fit_status_}, status_ {model.status_}")
        )
    limited = {"max_iter", "max_seconds"} & case.parameters.keys()
    if (
        case.estimator in KERNEL_MACHINES
        and not limited
        and set(early) & {"step_limit", "time_limit"}
    ):
        failures.append(Failure("status", f"status {early[0]!r} without a limit"))
    return failures
