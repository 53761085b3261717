"""What else is promised: copies, order, threads, processes, files, scikit-learn's optimum."""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.svm
from scipy import sparse

import maxmargin
from maxmargin.kernels import Polynomial
from maxmargin.models import load, save
from maxmargin.models.files import chosen_machine

from .certificates import certificate_failures
from .certify import INFEASIBLE, exact
from .failure import Failure
from .fitting import described, trained, values
from .kernels import UNIT, gram, is_definite, is_known
from .problems import KERNEL_MACHINES, Case
from .read import dense, distinct, functions
from .refusals import explained

# Steps that scikit-learn may take.
PATIENCE = 200_000
# A fit that gave up may be so much worse than scikit-learn's, relatively.
GIVEN_UP = 1e-3
# A part ν of all samples that is all of them up to rounding.
NEARLY_ALL = 1.0 - 1e-6
# CPU seconds of a forked child.
CHILD_SECONDS = 30


def refitted(case: Case) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return trained(case)


def is_repeatable(case: Case) -> bool:
    """Whether no clock decides."""
    return "max_seconds" not in case.parameters


def with_samples(case: Case, places: np.ndarray, weight: np.ndarray | None) -> Case:
    """The case of some of its samples, in that order."""
    X = case.X
    if case.parameters.get("kernel") == "precomputed":
        X = np.ascontiguousarray(np.asarray(X)[np.ix_(places, places)])
    elif isinstance(X, list):
        X = [X[i] for i in places]
    else:
        X = X[places]
    return replace(case, X=X, y=None if case.y is None else case.y[places], weight=weight)


def compared(case: Case, model: Any, other: Case, what: str, rows: np.ndarray) -> list[Failure]:
    """Whether another way to give the same problem has led to the same function.

    `rows` says which samples of the other case are those of this one; of a Gram matrix, where its
    columns are.
    """
    try:
        again = refitted(other)
        if case.parameters.get("kernel") == "precomputed":
            X = np.asarray(case.X)[:, rows]
        else:
            X = case.X
        first, second = values(case, model), values(other, again, X)
    except Exception as error:
        return [Failure(what, f"{what}: {described(error)}")]
    if first.shape != second.shape:
        return [Failure(what, f"{what}: shapes {first.shape} and {second.shape}")]
    allowed = sum_of_sizes(model, case.X, first) + sum_of_sizes(again, X, second)
    off = np.abs(first - second)
    if (off <= allowed).all():
        return []
    worst = np.unravel_index(np.argmax(off - allowed), off.shape)
    return [
        Failure(
            what,
            f"{what}: {first[worst]:.9g} and {second[worst]:.9g} (rounding {allowed[worst]:.1e}), "
            f"status {model.status_} and {again.status_}",
        )
    ]


def sum_of_sizes(model: Any, X: Any, like: np.ndarray) -> np.ndarray:
    """How far rounding may move Σ a_i k(x_i, x) + b: (n + d + 8)u Σ|a_i| |k|, |k| without signs."""
    unit = float(UNIT)
    if getattr(X, "dtype", None) == np.float32 or getattr(model, "precision", "") == "single":
        unit = 2.0**-24  # kernel values of predictions are float32
    size = np.abs(np.asarray(model.intercept_, dtype=float)).max(initial=0.0)
    if hasattr(model, "dual_coef_"):
        coef = model.dual_coef_
        coef = np.abs(coef.toarray() if sparse.issparse(coef) else np.asarray(coef)).sum(axis=0)
        name = type(model.kernel_).__name__
        if name == "Precomputed":
            terms = np.abs(np.asarray(X)[:, model.support_]) @ coef
        elif name in ("Linear", "Polynomial"):
            vectors = np.abs(dense(model.support_vectors_))
            products = np.abs(dense(X)) @ vectors.T
            if name == "Polynomial":
                kernel = model.kernel_
                products = (kernel.gamma * products + abs(kernel.coef0)) ** int(kernel.degree)
            terms = (products @ coef).astype(float)
        else:
            # Exponents are off by about their size times u, values by as much at most.
            X = dense(X)
            spread = np.abs(X - X.mean(axis=0)).max(initial=0) ** 2 * X.shape[1]
            slope = 1.0 + 4.0 * float(getattr(model.kernel_, "gamma", 1.0) * spread)
            terms = np.full(len(X), coef.sum() * min(slope, 1 / unit))
        many = coef.size + 8
    else:
        w = np.abs(np.atleast_2d(model.coef_)).sum(axis=0)
        terms, many = (np.abs(dense(X)) @ w).astype(float), w.size + 8
    allowed = many * unit * (terms + size)
    return allowed.reshape((-1,) + (1,) * (like.ndim - 1)) + np.zeros_like(like)


def tight(case: Case) -> bool:
    """Whether the function is the same to the last bits however the problem is given."""
    if case.estimator not in KERNEL_MACHINES:
        return False
    return is_repeatable(case) and not case.parameters.get("probability")


def copies(case: Case, model: Any) -> list[Failure]:
    """A weight of 3 is three copies."""
    del model
    if not tight(case):
        return []
    weight = np.ones(case.size) if case.weight is None else case.weight
    whole = np.random.default_rng(0).integers(0, 4, case.size).astype(float)
    if case.weight is not None and (weight == np.round(weight)).all() and weight.max() <= 4:
        whole = weight.copy()
    if case.y is not None and case.estimator in ("SVC", "NuSVC"):
        for label in np.unique(case.y):
            whole[np.flatnonzero(case.y == label)[0]] = 1.0
    if not whole.any():
        whole[0] = 1.0
    weighted = replace(case, weight=whole)
    try:
        first = refitted(weighted)
    except Exception as error:
        reason = explained(weighted, error)
        return [] if reason else [Failure("copies", f"copies: {described(error)}")]
    places = np.repeat(np.arange(case.size), whole.astype(int))
    return compared(weighted, first, with_samples(case, places, None), "copies", places)


def absence(case: Case, model: Any) -> list[Failure]:
    """A weight of 0 is absence."""
    if not tight(case) or case.weight is None or (case.weight > 0).all():
        return []
    places = np.flatnonzero(case.weight > 0)
    other = with_samples(case, places, case.weight[places])
    return compared(case, model, other, "absence", places)


def shuffle(case: Case, model: Any) -> list[Failure]:
    """The order of samples changes nothing."""
    if not tight(case):
        return []
    places = np.random.default_rng(1).permutation(case.size)
    weight = None if case.weight is None else case.weight[places]
    if case.parameters.get("kernel") == "precomputed":
        return []  # a Gram matrix is not brought into an order of its own
    return compared(case, model, with_samples(case, places, weight), "shuffle", places)


def bits(model: Any) -> tuple[bytes, ...]:
    names = ("dual_coef_", "support_", "intercept_", "coef_")
    parts = []
    for name in names:
        value = getattr(model, name, None)
        value = value.toarray() if sparse.issparse(value) else value
        parts.append(b"" if value is None else np.asarray(value).tobytes())
    return tuple(parts)


def thread(case: Case, model: Any) -> list[Failure]:
    """A fit in another thread gives the same bits."""
    del model
    if not is_repeatable(case) or case.estimator in ("SVCSearch", "AutoSVC"):
        return []
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(refitted(case))
        except BaseException as error:
            found.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    if isinstance(found[0], BaseException):
        return [Failure("thread", f"thread: {described(found[0])}")]
    again = refitted(case)
    if bits(found[0]) == bits(again):
        return []
    return [Failure("thread", f"thread: {difference(found[0], again)}")]


def difference(first: Any, second: Any) -> str:
    """By how much attributes of two models differ."""
    for name in ("support_", "dual_coef_", "intercept_", "coef_"):
        one, two = getattr(first, name, None), getattr(second, name, None)
        if one is None:
            continue
        one, two = (v.toarray() if sparse.issparse(v) else np.asarray(v) for v in (one, two))
        if one.shape != two.shape:
            return f"{name} has shapes {one.shape} and {two.shape}"
        if one.tobytes() != two.tobytes():
            return f"{name} differs by {np.abs(one - two).max():.1e}"
    return "nothing differs"


def fork(case: Case, model: Any) -> list[Failure]:
    """A forked child predicts the same."""
    expected = values(case, model).tobytes()
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(here)
        signal.setitimer(signal.ITIMER_PROF, CHILD_SECONDS)
        signal.alarm(10 * CHILD_SECONDS)
        try:
            answer = b"same" if values(case, model).tobytes() == expected else b"other values"
        except BaseException as error:
            answer = described(error).encode()
        os.write(there, answer[:2000])
        os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as pipe:
        answer = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    if answer == "same":
        return []
    return [Failure("fork", f"fork: {answer or f'child ended with status {status}'}")]


def file(case: Case, model: Any) -> list[Failure]:
    """What is saved and loaded gives equal values."""
    if case.parameters.get("kernel") == "precomputed" and case.estimator == "OnlineSVC":
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.mm")
        try:
            if case.estimator == "OnlineSVC":
                model.save(path)
                again = maxmargin.OnlineSVC.load(path)
            else:
                save(model, path)
                again = load(path).estimator
            model = chosen_machine(model) if case.estimator in ("AutoSVC", "SVCSearch") else model
            first, second = values(case, model), values(case, again)
        except Exception as error:
            return [Failure("file", f"file: {described(error)}")]
    if first.tobytes() == second.tobytes():
        return []
    return [Failure("file", f"file: values differ by {np.abs(first - second).max():.1e}")]


def pickled(case: Case, model: Any) -> list[Failure]:
    again = pickle.loads(pickle.dumps(model))
    if values(case, model).tobytes() == values(case, again).tobytes():
        return []
    return [Failure("pickle", "pickle: values differ")]


def warm_start(case: Case, model: Any) -> list[Failure]:
    """A second fit goes on from the first and keeps its promises, also at another C."""
    if case.estimator in ("OnlineSVC", "SVCSearch", "AutoSVC"):
        return []
    failures = []
    for change in ({}, {"C": 10.0}):
        if change and "C" not in case.parameters:
            continue
        again = pickle.loads(pickle.dumps(model)).set_params(warm_start=True, **change)
        changed = replace(case, parameters={**case.parameters, **change})
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                trained(changed, again)
        except Exception as error:
            if not explained(changed, error):
                failures.append(Failure("warm_start", f"warm_start: {described(error)}"))
            continue
        failures += [
            Failure("warm_start", f"warm_start, {change or 'nothing changed'}: {f.message}")
            for f in certificate_failures(changed, again)
        ]
    return failures


def sklearn_beside(case: Case, model: Any) -> list[Failure]:
    """Not worse than scikit-learn at tol 1e-10, and no better than is possible."""
    if case.estimator not in KERNEL_MACHINES or not is_known(model.kernel_):
        return []
    name, kernel = case.estimator, model.kernel_
    unlike = case.parameters.get("loss") == "squared_hinge" or (
        name == "NuSVC" and case.parameters.get("class_weight")
    )
    multiple = name in ("SVC", "NuSVC") and model.classes_.size > 2
    # There LIBSVM writes beyond the end of its arrays, when weights sum up to less by rounding.
    crashing = name == "OneClassSVM" and case.parameters["nu"] > NEARLY_ALL
    if unlike or crashing or multiple or np.isinf(case.parameters.get("C", 1.0)):
        return []
    options = {"kernel": case.parameters["kernel"], "tol": 1e-10, "max_iter": PATIENCE}
    for key in ("C", "nu", "epsilon"):
        if key in case.parameters:
            options[key] = case.parameters[key]
    for key in ("gamma", "degree", "coef0"):
        if hasattr(kernel, key):
            options[key] = getattr(kernel, key)
    samples = distinct(case)
    weight = np.ones(case.size) if case.weight is None else case.weight
    if name == "SVC":
        codes = np.searchsorted(model.classes_, case.y)
        weight = weight * model.class_weight_[np.clip(codes, 0, model.classes_.size - 1)]
    kept = np.flatnonzero(weight > 0)
    part = with_samples(case, kept, None)
    other = getattr(sklearn.svm, name)(**options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X = dense(part.X).astype(np.float64)
            other.fit(X, part.y, sample_weight=weight[kept])
    except ValueError:
        return []
    finite = np.isfinite(other.dual_coef_).all() and np.isfinite(other.intercept_).all()
    if not finite:
        return []
    other.support_ = kept[other.support_]
    for attribute in ("class_weight_", "epsilon_", "epsilon"):
        if hasattr(model, attribute):
            setattr(other, attribute, getattr(model, attribute))
    matrix = gram(kernel, samples.X)
    if not is_definite(matrix.values) or not np.isfinite(matrix.values).all():
        return []
    if isinstance(kernel, Polynomial) and kernel.coef0 < 0:
        return []  # beside large eigenvalues those below 0 are lost in rounding
    if name == "NuSVR":
        return []  # scikit-learn does not tell its ε
    ours, theirs = (exact(functions(m, case, samples)[0], matrix) for m in (model, other))
    return worse(case, model, ours, theirs)


def worse(case: Case, model: Any, ours: Any, theirs: Any) -> list[Failure]:
    failures = []
    off = ours.own.gap + theirs.own.gap + ours.rounding.dual + theirs.rounding.primal
    feasible = ours.infeasibility <= INFEASIBLE
    if feasible and not ours.values.dual <= theirs.values.primal + off:
        failures.append(
            Failure(
                "sklearn",
                f"dual value {float(ours.values.dual):.12g} above scikit-learn's primal value "
                f"{float(theirs.values.primal):.12g}: one of the two is computed wrongly",
            )
        )
    # Where float64 has no digits left, it is chance who ends nearer to the optimum.
    if {"max_iter", "max_seconds"} & case.parameters.keys() or model.status_ == "precision":
        return failures
    # Without a rule about the gap, `converged` is about the violation alone.
    allowed = getattr(model, "gap", np.inf) if model.status_ == "converged" else GIVEN_UP
    limit = (
        theirs.values.primal
        + off
        + ours.floor
        + (allowed * theirs.scale if theirs.scale > 0 else 0)
    )
    if not ours.values.primal <= limit:
        failures.append(
            Failure(
                "sklearn",
                f"primal value {float(ours.values.primal):.9g} ({model.status_}), scikit-learn has "
                f"{float(theirs.values.primal):.9g}",
            )
        )
    return failures


EXTRAS = {
    "copies": copies,
    "absence": absence,
    "shuffle": shuffle,
    "thread": thread,
    "fork": fork,
    "file": file,
    "pickle": pickled,
    "warm_start": warm_start,
    "sklearn": sklearn_beside,
}
