"""Which errors a fit may raise, and when: everything else is a failure."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import maxmargin

from .kernels import is_definite
from .problems import Case
from .read import dense, weights_of

# float64 ends at 1.8e308 and float32 at 3.4e38. A kernel value below the root of that, times C and
# the number of samples, overflows nowhere.
LARGE, LARGE_SINGLE = 1e100, 1e19


class Refusal(NamedTuple):
    """An error that is allowed.

    Attributes
    ----------
    message : str
        Regular expression that finds it.
    reason : str
    holds : callable
        Whether the case gives reason to it.
    """

    message: str
    reason: str
    holds: Callable[[Case], bool]


def classes_with_weight(case: Case) -> int:
    return np.unique(case.y[weights_of(case) > 0]).size


def size_of_kernel(case: Case) -> float:
    """The largest kernel value, or number on the way to it."""
    X = dense(case.X)
    if case.parameters.get("kernel") == "precomputed":
        return float(np.abs(X).max(initial=0))
    square = (X**2).sum(axis=1).max(initial=0)
    kernel = case.parameters.get("kernel", "rbf")
    if kernel in ("linear",) or case.estimator not in KERNELS:
        return float(min(square, 1e300))
    gamma, base = argument_of_kernel(case, X, square)
    return float(min(max(base ** degree(case), base, square, gamma), 1e300))


def argument_of_kernel(case: Case, X: np.ndarray, square: float) -> tuple[float, float]:
    """γ, and the largest γ⟨x, x⟩ + |coef0|."""
    gamma = case.parameters.get("gamma", "scale")
    variance = X.var()
    if case.call.get("way") == "partial_fit":
        variance = X[: max(1, case.size // 2)].var()  # of the first part
    if gamma == "scale":
        gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    elif gamma == "auto":
        gamma = 1.0 / X.shape[1]
    return gamma, gamma * square + abs(case.parameters.get("coef0", 0.0))


def degree(case: Case) -> int:
    is_polynomial = case.parameters.get("kernel") == "poly"
    return int(case.parameters.get("degree", 3)) if is_polynomial else 1


KERNELS = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "OnlineSVC", "SVCSearch", "AutoSVC")


def overflows(case: Case) -> bool:
    """Whether something on the way may exceed the largest number of the precision in use."""
    single = case.parameters.get("precision") == "single" or getattr(
        case.X, "dtype", None
    ) == np.dtype(np.float32)
    weight = weights_of(case).max(initial=0.0)
    price = case.parameters.get("C", 1.0)
    price = (price if np.isfinite(price) else 1.0) * max(weight, 1.0)
    target = (
        np.abs(case.y).max(initial=0.0) if case.y is not None and case.y.dtype.kind in "fi" else 1.0
    )
    size = size_of_kernel(case)
    return size > (LARGE_SINGLE if single else LARGE) or size * price * max(target, 1.0) > 1e200


def may_be_indefinite(case: Case) -> bool:
    kernel, coef0 = case.parameters.get("kernel"), case.parameters.get("coef0", 0.0)
    if kernel == "precomputed":
        return not is_definite(dense(case.X))
    return kernel == "sigmoid" or (kernel == "poly" and coef0 < 0)


def underflows(case: Case) -> bool:
    """Whether squares of the inputs, or their powers in a polynomial, vanish."""
    X = dense(case.X)
    if not np.abs(X).max(initial=0) > 0:
        return False
    square = (X**2).sum(axis=1).max()
    return bool(square < 1e-200 or argument_of_kernel(case, X, square)[1] ** degree(case) < 1e-290)


def is_squared(case: Case) -> bool:
    return bool(case.parameters.get("loss") == "squared_hinge")


def largest_product(case: Case) -> float:
    """C times weight times the largest kernel value: of 1e15 and more, rounding is not below 1."""
    return case.parameters.get("C", 1.0) * float(weights_of(case).max()) * size_of_kernel(case)


def has_no_margin(case: Case) -> bool:
    """Whether ν leaves a margin of 0 up to rounding, without weights of classes: the coefficients
    were divided by it."""
    if case.estimator != "NuSVC" or case.parameters.get("class_weight") is None:
        return False
    model = maxmargin.NuSVC(**{**case.parameters, "class_weight": None})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coef = model.fit(case.X, case.y, sample_weight=case.weight).dual_coef_
    return float(abs(coef).max()) > 1e12


REFUSALS = (
    Refusal(
        "leaves no margin between the classes",
        "weights of classes multiply the C = 1/ρ that ν stands for",
        has_no_margin,
    ),
    Refusal(
        "number of classes has to be greater than one",
        "there is one class",
        lambda case: classes_with_weight(case) < 2,
    ),
    Refusal(
        "all samples with positive weights belong to the same class",
        "weights leave one class",
        lambda case: classes_with_weight(case) < 2,
    ),
    Refusal(
        "all samples have zero or negative weights",
        "weights leave nothing",
        lambda case: not (weights_of(case) > 0).any(),
    ),
    Refusal(
        "specified nu is infeasible",
        "ν must be at most twice the share of the smaller class",
        lambda case: case.estimator == "NuSVC",
    ),
    Refusal(
        "C must be finite",
        "without errors there may be no solution",
        lambda case: np.isinf(case.parameters.get("C", 1.0)),
    ),
    Refusal(
        "not positive semi-definite",
        "with squared errors the problem of an indefinite kernel has no bound",
        lambda case: is_squared(case) and may_be_indefinite(case),
    ),
    Refusal(
        "too large for float64",
        "with squared errors, rounding of large kernel values may leave no bound",
        lambda case: is_squared(case) and largest_product(case) > 1e15,
    ),
    Refusal(
        "(?i)overflow|too large|finite|large values",
        "numbers near the largest of their type",
        overflows,
    ),
    Refusal(
        "(?i)underflow|too small",
        "numbers near the smallest of their type",
        lambda case: underflows(case),
    ),
    Refusal(
        "(?i)at least|fewer|folds|two classes|least populated|n_splits|each class",
        "a search needs some samples of every class",
        lambda case: case.estimator in ("SVCSearch", "AutoSVC"),
    ),
)


def explained(case: Case, error: BaseException) -> str:
    """Why the error is right; empty if it is not."""
    if not isinstance(error, ValueError | TypeError | MemoryError):
        return ""
    for refusal in REFUSALS:
        if re.search(refusal.message, str(error)) and refusal.holds(case):
            return refusal.reason
    return ""
