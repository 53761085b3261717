"""What a fitted kernel machine says of itself: its functions on its distinct samples."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .certify import Function
from .kernels import LONG
from .problems import Case


class Samples(NamedTuple):
    """The distinct samples with weight.

    Attributes
    ----------
    X : longdouble array
        Inputs; of a Gram matrix the rows and columns.
    y : array or None
    weight : longdouble array
        Summed over copies.
    copies : int array
    member : int array
        For each sample of the case its place among these, −1 without weight.
    """

    X: np.ndarray
    y: np.ndarray | None
    weight: np.ndarray
    copies: np.ndarray
    member: np.ndarray


def dense(X: Any) -> np.ndarray:
    """Inputs as longdouble; entries that a sparse matrix has twice are added in its type."""
    if sparse.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        X = X.toarray()
    array = np.asarray(X)
    return array.astype(LONG if array.dtype.kind == "f" else np.float64).astype(LONG)


def weights_of(case: Case) -> np.ndarray:
    return np.ones(case.size) if case.weight is None else np.maximum(case.weight, 0.0)


def distinct(case: Case, y: np.ndarray | None = None) -> Samples:
    """Samples with equal inputs and targets taken as one, samples without weight left out."""
    X, weight = dense(case.X), weights_of(case)
    y = case.y if y is None else y
    if isinstance(case.parameters.get("class_weight"), dict):
        factors = case.parameters["class_weight"]
        weight = np.where([factors.get(label, 1.0) > 0 for label in case.y.tolist()], weight, 0.0)
    places: dict[Any, int] = {}
    member = np.full(len(X), -1)
    keys = X.astype(np.float64) + 0.0
    for i in np.flatnonzero(weight > 0):
        key = (keys[i].tobytes(), None if y is None else y[i])
        member[i] = places.setdefault(key, len(places))
    first = np.array([np.flatnonzero(member == k)[0] for k in range(len(places))], dtype=int)
    square = case.parameters.get("kernel") == "precomputed"
    present = member >= 0
    total = np.zeros(len(places), dtype=LONG)
    np.add.at(total, member[present], weight[present].astype(LONG))
    return Samples(
        X[np.ix_(first, first)] if square else X[first],
        None if y is None else y[first],
        total,
        np.bincount(member[present], minlength=len(places)),
        member,
    )


def sums(model: Any, case: Case) -> list[float]:
    """Σ of the coefficients of every function; before copies are added up, which rounds."""
    coef = model.dual_coef_
    coef = coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
    count = len(getattr(model, "classes_", ()))
    if count <= 2 or len(coef) == count:
        return [math.fsum(row) for row in coef]
    codes = np.searchsorted(model.classes_, case.y[model.support_])
    return [
        math.fsum([*coef[j - 1][codes == i], *coef[i][codes == j]])
        for i, j in combinations(range(count), 2)
    ]


def coefficients(model: Any, samples: Samples) -> np.ndarray:
    """`dual_coef_` with a column for each distinct sample."""
    coef = model.dual_coef_
    coef = coef.toarray() if sparse.issparse(coef) else np.asarray(coef)
    places = samples.member[model.support_]
    if (places < 0).any():
        raise AssertionError("a support vector has no weight")
    full = np.zeros((coef.shape[0], samples.weight.size), dtype=LONG)
    for row, values in zip(full, coef.astype(LONG)):
        np.add.at(row, places, values)
    return full


def functions(model: Any, case: Case, samples: Samples) -> list[Function]:
    """Every function of the model, as far as its problem is known from public attributes."""
    found = read(model, case, samples)
    return [replace(part, rest=rest) for part, rest in zip(found, sums(model, case), strict=True)]


def read(model: Any, case: Case, samples: Samples) -> list[Function]:
    coef = coefficients(model, samples)
    everything = np.arange(samples.weight.size)
    name, parameters = case.estimator, case.parameters
    if name in ("SVR", "NuSVR"):
        kind = "epsilon" if name == "SVR" else "nu_svr"
        epsilon = model.epsilon if name == "SVR" else model.epsilon_
        return [
            Function(
                kind, everything, samples.y.astype(LONG), LONG(model.C) * samples.weight,
                samples.copies, coef[0], float(model.intercept_[0]), float(epsilon),
                float(parameters.get("nu", 0.0)),
            )
        ]  # fmt: skip
    if name == "OneClassSVM":
        return [
            Function(
                "one_class", everything, np.zeros(everything.size), samples.weight,
                samples.copies, coef[0], float(model.intercept_[0]), nu=float(model.nu),
            )
        ]  # fmt: skip
    return list(classifier_functions(model, case, samples, coef))


def classifier_functions(model: Any, case: Case, samples: Samples, coef: np.ndarray) -> Any:
    classes = model.classes_
    codes = np.searchsorted(classes, samples.y)
    if case.estimator == "NuSVC":
        kind, price = "nu_svc", samples.weight
    else:
        # Without errors their squares are none either.
        squared = getattr(model, "loss", "hinge") == "squared_hinge" and np.isfinite(model.C)
        kind = "squared_hinge" if squared else "hinge"
        price = LONG(model.C) * model.class_weight_.astype(LONG)[codes] * samples.weight
    count = classes.size

    def function(name, members, positive, row, intercept):
        target = np.where(codes[members] == positive, 1.0, -1.0)
        weight = samples.weight[members]
        nu = 0.0
        if kind == "nu_svc":
            smaller = min(weight[target > 0].sum(), weight[target < 0].sum())
            largest = float(2 * smaller / weight.sum())
            nu = float(model.nu)
            nu = nu if nu <= largest or count == 2 else nu * largest
            nu = min(nu, largest)
        return Function(
            kind, members, target, price[members], samples.copies[members],
            row[members], float(intercept), nu=nu, name=name,
        )  # fmt: skip

    everything = np.arange(codes.size)
    if count == 2:
        yield function("", everything, 1, coef[0], model.intercept_[0])
        return
    if coef.shape[0] == count:
        for c, label in enumerate(classes):
            yield function(f"{label} vs rest", everything, c, coef[c], model.intercept_[c])
        return
    for (i, j), intercept in zip(combinations(range(count), 2), model.intercept_):
        row = np.where(codes == i, coef[j - 1], 0) + np.where(codes == j, coef[i], 0)
        members = np.flatnonzero((codes == i) | (codes == j))
        yield function(f"{classes[i]} vs {classes[j]}", members, i, row, intercept)


def listed(one_or_more: Any, count: int) -> list[Any]:
    """Certificates or statuses, one for each function."""
    return [one_or_more] if count == 1 else list(one_or_more)
