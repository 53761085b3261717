"""`warmup`: every compiled function called once, so that Numba keeps it on disk."""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ... import estimators
from ...data.svmlight import read_svmlight_text
from ...kernels import Oligo, Polynomial, Sigmoid
from ...tuning import AutoSVC


def compile_everything(tell: Callable[[float, str], None]) -> float:
    """Fit one small machine of each kind; the seconds it took."""
    began = time.perf_counter()
    works = works_of()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place, (name, work) in enumerate(works):
            tell(place / len(works), name)
            work()
    return time.perf_counter() - began


def works_of() -> list[tuple[str, Callable[[], Any]]]:
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    inputs = {"float64": X, "float32": X.astype(np.float32), "sparse": sparse.csr_array(X)}
    two, three = (X[:, 0] > 0).astype(int), (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    works: list[tuple[str, Callable[[], Any]]] = []

    def add(name: str, model: Any, *data: Any) -> None:
        works.append((name, lambda: model.fit(*data)))

    for kind, A in inputs.items():
        for driver in ("full", "blocks", "rows"):
            for precision in ("single", "double"):
                machine = estimators.SVC(solver=driver, precision=precision)
                add(f"SVC, {kind}, {driver}", machine, A, two)
        for kernel in (Polynomial(2), Sigmoid(0.1)):
            add(f"{type(kernel).__name__} kernel, {kind}", estimators.SVC(kernel=kernel), A, two)
        for name in ("LinearSVC", "LogisticRegression"):
            add(f"{name}, {kind}", getattr(estimators, name)(), A, three)
        for name in ("LinearSVR", "RidgeRegression"):
            add(f"{name}, {kind}", getattr(estimators, name)(), A, X[:, 0])
        for criterion in ("gini", "entropy"):
            tree = estimators.DecisionTreeClassifier(criterion=criterion)
            add(f"DecisionTreeClassifier, {kind}", tree, A, three)
        add(f"DecisionTreeRegressor, {kind}", estimators.DecisionTreeRegressor(), A, X[:, 0])
        add(f"l1, {kind}", estimators.LinearSVC(penalty="l1"), A, two)
        add(f"OnlineSVC, {kind}", estimators.OnlineSVC(), A, three)
        joint = estimators.LinearSVC(multi_class="crammer_singer")
        add(f"Crammer–Singer, {kind}", joint, A, three)
    for precision in ("single", "double"):
        add("planning", estimators.SVC(planning=2, precision=precision), X, two)
    add("squared hinge", estimators.SVC(loss="squared_hinge"), X, three)
    for name in ("NuSVC", "SVR", "NuSVR", "OneClassSVM"):
        add(name, getattr(estimators, name)(), X, two if name == "NuSVC" else X[:, 0])
    for name in ("MeanClassifier", "KernelNeighborsClassifier"):
        add(name, getattr(estimators, name)(kernel="rbf"), X, three)
    for name in ("KernelNeighborsRegressor", "LinearRegression"):
        add(name, getattr(estimators, name)(), X, X[:, 0])
    sequences = ["ACGTACGTAA", "ACGTTTGTAA", "GGGGCCCCTT", "GGGACCCCTT"]
    add("sequences", estimators.SVC(kernel=Oligo(2, 1.0)), sequences, [0, 0, 1, 1])
    works.append(("svmlight text", lambda: read_svmlight_text(io.BytesIO(b"1 1:0.5\n"), "")))
    for metric in ("radial", "full"):
        add("tuning", AutoSVC(metric=metric, strategy="kta"), X, two)
    return works
