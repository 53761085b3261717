"""Certificates as stated beside certificates as recomputed.

A fit that says "converged" must have an exact violation of at most tol, plus the rounding of a
computation in float64, of which no more than tol counts: where float64 cannot tell, there is
nothing to be said. The same holds for the relative gap, but a gap of 1e-14 of the losses at f = 0
is none: where all samples are met exactly, the optimum may vanish.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .certify import INFEASIBLE, Exact, exact, tube_is_closed
from .certify_linear import linear_exact
from .failure import Failure
from .fitting import described
from .kernels import Gram, gram, is_definite, is_known
from .problems import KERNEL_MACHINES, LINEAR_MACHINES, Case
from .read import distinct, functions, listed

SETTLED = ("converged", "stationary")
# Box and sums of models that are not claimed to be optimal may be off by this part.
UNSETTLED = 1e-9
# Objectives below the normal numbers of float64 have no relative gap there.
SMALLEST = np.finfo(np.float64).tiny


def certificate_failures(case: Case, model: Any) -> list[Failure]:
    if case.estimator in LINEAR_MACHINES:
        return linear_failures(case, model)
    if case.estimator in KERNEL_MACHINES:
        return kernel_failures(case, model)
    if case.estimator == "OnlineSVC":
        return online_failures(case, model)
    chosen = model.svc_ if case.estimator == "AutoSVC" else model.best_estimator_
    parameters = {"C": chosen.C}
    return kernel_failures(Case("SVC", parameters, case.X, case.y, None), chosen)


def kernel_failures(case: Case, model: Any) -> list[Failure]:
    """Of machines with `dual_coef_`."""
    if not is_known(model.kernel_):
        return []
    try:
        samples = distinct(case)
        parts = functions(model, case, samples)
    except AssertionError as error:
        return [Failure("support", str(error))]
    failures = gamma_failures(model, samples) if "gamma" in case.parameters else []
    if case.estimator == "NuSVC" and case.parameters.get("class_weight"):
        return failures  # the price 1/ρ is not among the public attributes
    balanced, sparse = case.estimator != "OneClassSVM", issparse(case.X)
    matrix = gram(model.kernel_, samples.X, balanced, sparse)
    values = matrix.values + matrix.constant
    if not np.isfinite(values).all() or np.abs(values).max(initial=0) > 1e151:
        return [Failure("overflow", "kernel values beyond float64 were accepted")]
    definite = is_definite(values)
    certificates, statuses = (listed(x, len(parts)) for x in (model.certificate_, model.status_))
    for part, stated, status in zip(parts, certificates, statuses):
        found = exact(part, matrix)
        where = f" of {part.name}" if part.name else ""
        failures += feasibility(found, where, INFEASIBLE if status in SETTLED else UNSETTLED)
        if status in SETTLED:
            failures += promise(case, model, part, found, where, definite)
        closed = part.kind == "nu_svr" and tube_is_closed(part)
        if found.certain:
            # An infinite C of regression is a large one until no sample is held back by it.
            known = not closed and (np.isfinite(part.bound).all() or status in SETTLED)
            failures += agreement(found, stated, where, with_violation=known)
    return failures


def feasibility(found: Exact, where: str, limit: float = INFEASIBLE) -> list[Failure]:
    if found.infeasibility <= limit:
        return []
    return [
        Failure(
            "feasible",
            f"dual_coef_{where} leaves box or sum by {found.infeasibility:.1e} of its size",
        )
    ]


def promise(
    case: Case, model: Any, part: Any, found: Exact, where: str, definite: bool
) -> list[Failure]:
    """Converged means that the delivered model is as good as promised."""
    failures = []
    tol, violation = float(model.tol), found.values.violation
    limit = tol + min(found.rounding.violation, tol) + found.own.violation
    if not violation <= limit:
        failures.append(
            Failure(
                "violation",
                f"converged{where} with violation {float(violation):.2e} at tol {tol:g} "
                f"(rounding {float(found.rounding.violation):.1e})",
            )
        )
    hard = np.isinf(case.parameters.get("C", 1.0)) and part.kind == "epsilon"
    target = getattr(model, "gap", None)
    if target is not None and definite and not hard and found.scale >= SMALLEST:
        share = found.rounding.gap / found.scale if found.scale > 0 else 0.0
        limit = target + min(share, target)
        if found.scale > 0:
            limit += (found.own.gap + found.floor) / found.scale
            if found.scale <= 2 * found.floor:  # an optimum of 0, up to rounding
                limit += min(found.rounding.gap, found.floor) / found.scale
        if not found.relative_gap <= limit:
            failures.append(
                Failure(
                    "gap",
                    f"converged{where} with relative gap {float(found.relative_gap):.2e} at gap "
                    f"{target:g} (rounding {float(share):.1e})",
                )
            )
    return failures


def agreement(found: Exact, stated: Any, where: str, with_violation: bool = True) -> list[Failure]:
    """The certificate says what is found, within the rounding of float64."""
    failures = []
    if stated.dual == -np.inf:
        return []  # time ran out before anything could be said
    for name in ("primal", "dual", "gap"):
        said, true = getattr(stated, name), getattr(found.values, name)
        off = getattr(found.rounding, name) + getattr(found.own, name)
        if np.isnan(true):
            continue  # not known from public attributes
        if not (said == true or abs(said - true) <= off):
            failures.append(
                Failure(
                    "stated",
                    f"certificate_{where} says {name} {said:.9g}, it is {float(true):.9g} "
                    f"(rounding {float(off):.1e})",
                )
            )
    if with_violation and np.isfinite(stated.violation):
        off = found.rounding.violation + found.own.violation
        if not found.values.violation - off <= stated.violation <= found.most_violation + off:
            failures.append(
                Failure(
                    "stated",
                    f"certificate_{where} says violation {stated.violation:.3g}, it is "
                    f"{float(found.values.violation):.3g} (rounding {float(off):.1e})",
                )
            )
    return failures


def gamma_failures(model: Any, samples: Any) -> list[Failure]:
    """γ = "scale" is 1 / (features · variance), copies counted."""
    if model.gamma != "scale" or not hasattr(model.kernel_, "gamma"):
        return []
    X, weight = samples.X, samples.weight
    total = weight.sum() * X.shape[1]
    mean = (weight @ X).sum() / total
    variance = (weight @ (X - mean) ** 2).sum() / total
    size = (weight @ X**2).sum() / total
    gamma = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
    # Rounding of a sum of squares, of which that of the mean is subtracted.
    off = (X.size + 10) * 2.0**-53 * (size / variance if variance > 0 else 1.0)
    if off > 0.1 or abs(model.kernel_.gamma - gamma) <= 2 * off * gamma:
        return []
    return [Failure("gamma", f"gamma='scale' is {model.kernel_.gamma:.9g}, not {float(gamma):.9g}")]


def linear_failures(case: Case, model: Any) -> list[Failure]:
    """Of machines with `coef_`."""
    found = linear_exact(model, case)
    failures = []
    certificates, statuses = (listed(x, len(found)) for x in (model.certificate_, model.status_))
    for place, (true, stated, status) in enumerate(zip(found, certificates, statuses)):
        where = f" of function {place}" if len(found) > 1 else ""
        off = true.rounding_primal + true.own
        if not abs(stated.primal - true.primal) <= off:
            failures.append(
                Failure(
                    "stated",
                    f"certificate_{where} says primal {stated.primal:.9g}, it is "
                    f"{float(true.primal):.9g} (rounding {float(off):.1e})",
                )
            )
        off = true.rounding_gap + true.own
        if not true.gap <= stated.gap + off:
            failures.append(
                Failure(
                    "stated",
                    f"certificate_{where} says gap {stated.gap:.3g}, it is {float(true.gap):.3g} "
                    f"(rounding {float(off):.1e})",
                )
            )
        if status in SETTLED and true.scale > 0:
            share = true.rounding_gap / true.scale
            limit = model.tol + min(share, model.tol) + (true.own + true.floor) / true.scale
            if not true.gap / true.scale <= limit:
                failures.append(
                    Failure(
                        "gap",
                        f"converged{where} with relative gap {float(true.gap / true.scale):.2e} at "
                        f"tol {model.tol:g} (rounding {float(share):.1e})",
                    )
                )
    return failures


def online_failures(case: Case, model: Any) -> list[Failure]:
    """After `finish` with the data, where all of them were learned from."""
    if not is_known(model.kernel_) or case.call.get("way", "fit") != "fit":
        return []
    samples = distinct(case)
    matrix: Gram = gram(model.kernel_, samples.X)
    if not np.isfinite(matrix.values).all() or np.abs(matrix.values).max(initial=0) > 1e151:
        return [Failure("overflow", "kernel values beyond float64 were accepted")]
    failures = []
    statuses = model.status_ if isinstance(model.status_, list) else [model.status_]
    for part, status in zip(functions(model, case, samples), statuses):
        found = exact(part, matrix)
        failures += feasibility(found, "")
        budget = case.parameters.get("budget")
        if status == "converged" and budget is None:
            failures += promise(case, model, part, found, "", definite=False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.finish(case.X, case.y, case.weight)
    except Exception as error:
        return [*failures, Failure("finish", f"finish: {described(error)}")]
    parts = functions(model, case, samples)
    for part, stated in zip(parts, listed(model.certificate_, len(parts))):
        failures += agreement(exact(part, matrix), stated, f" {part.name} after finish")
    return failures
