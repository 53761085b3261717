"""Random parameters of every estimator."""

from __future__ import annotations

from typing import Any

import numpy as np


def some_C(rng: np.random.Generator, infinite: bool = False) -> float:
    if infinite and rng.random() < 0.06:
        return np.inf
    reach = rng.random()
    if reach < 0.5:
        return float(10.0 ** rng.integers(-2, 4))
    return float(10.0 ** (rng.uniform(-4, 6) if reach < 0.8 else rng.uniform(-8, 12)))


def some_kernel(rng: np.random.Generator, precomputed: bool = True) -> dict[str, Any]:
    odds = [0.35, 0.3, 0.15, 0.08, 0.12 if precomputed else 0.0]
    names = ["rbf", "linear", "poly", "sigmoid", "precomputed"]
    kernel = str(rng.choice(names, p=np.array(odds) / sum(odds)))
    parameters: dict[str, Any] = {"kernel": kernel}
    if kernel in ("rbf", "poly", "sigmoid"):
        kind = rng.choice(["scale", "auto", "usual", "wide"])
        reach = 10.0 if kind == "wide" else 2.0
        parameters["gamma"] = (
            str(kind) if kind in ("scale", "auto") else float(10.0 ** rng.uniform(-reach, reach))
        )
    if kernel == "poly":
        parameters["degree"] = int(rng.choice([0, 1, 2, 3, 5, 9]))
    if kernel in ("poly", "sigmoid"):
        parameters["coef0"] = float(rng.choice([0.0, 1.0, -1.0, 1e3, rng.normal()]))
    return parameters


def kernel_options(rng: np.random.Generator) -> dict[str, Any]:
    """What all kernel machines have."""
    options: dict[str, Any] = {"tol": some_tol(rng)}
    if rng.random() < 0.3:
        options["precision"] = str(rng.choice(["single", "double"]))
    if rng.random() < 0.4:
        options["solver"] = str(rng.choice(["full", "blocks", "rows"]))
    if rng.random() < 0.15:
        options["shrinking"] = False
    if rng.random() < 0.1:
        options["selection"] = str(rng.choice(["mvp", "second_order"]))
    if rng.random() < 0.1:
        options["planning"] = int(rng.integers(1, 4))
    return options


def some_tol(rng: np.random.Generator) -> float:
    return 1e-3 if rng.random() < 0.4 else float(10.0 ** rng.integers(-10, 0))


def class_weights(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    """Balanced or none: labels get their names later."""
    del y
    return {"class_weight": "balanced"} if rng.random() < 0.2 else {}


def for_svc(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    parameters = {"C": some_C(rng, infinite=True), **some_kernel(rng), **kernel_options(rng)}
    parameters |= class_weights(rng, y)
    if rng.random() < 0.2:
        parameters["loss"] = "squared_hinge"
    if rng.random() < 0.3:
        parameters["multi_class"] = "ovr"
    if rng.random() < 0.05:
        parameters["probability"] = True
    return parameters


def for_nu_svc(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    parameters = {**some_kernel(rng), **kernel_options(rng), **class_weights(rng, y)}
    counts = np.bincount(y)
    counts = np.sort(counts[counts > 0])
    largest = 2.0 * counts[0] / (counts[0] + counts[1])
    share = rng.choice([1.0, 1.0 - 1e-12, 1.01, 1e-8, rng.random()], p=[0.1, 0.1, 0.05, 0.1, 0.65])
    parameters["nu"] = float(np.clip(share * largest, 1e-12, 1.0))
    if rng.random() < 0.3:
        parameters["multi_class"] = "ovr"
    return parameters


def for_svr(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    parameters = {"C": some_C(rng, infinite=True), **some_kernel(rng), **kernel_options(rng)}
    spread = float(np.ptp(y)) or 1.0
    parameters["epsilon"] = float(rng.choice([0.0, 0.1, 0.1 * spread, 10 * spread, 1e-9]))
    return parameters


def for_nu_svr(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    del y
    nu = rng.choice([0.5, 1.0, 1e-9, 1.0 - 1e-9, 1e-3, 0.05 + 0.9 * rng.random()])
    return {"C": some_C(rng), "nu": float(nu), **some_kernel(rng), **kernel_options(rng)}


def for_one_class(rng: np.random.Generator, y: Any) -> dict[str, Any]:
    del y
    nu = rng.choice([0.5, 1.0, 1e-9, 1.0 - 1e-9, 0.05, 0.05 + 0.9 * rng.random()])
    return {"nu": float(nu), **some_kernel(rng), **kernel_options(rng)}


def linear_options(rng: np.random.Generator) -> dict[str, Any]:
    """What all linear machines have."""
    options: dict[str, Any] = {}
    if rng.random() < 0.5:
        options["tol"] = float(10.0 ** rng.integers(-10, -1))
    if rng.random() < 0.2:
        options["fit_intercept"] = False
    elif rng.random() < 0.3:
        options["intercept_scaling"] = float(10.0 ** rng.integers(-3, 4))
    if rng.random() < 0.3:
        options["solver"] = str(rng.choice(["newton", "coordinate"]))
    return options


def for_linear_svc(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    parameters = {"C": some_C(rng), **linear_options(rng), **class_weights(rng, y)}
    kind = rng.choice(["squared", "hinge", "l1", "joint"], p=[0.35, 0.35, 0.2, 0.1])
    if kind == "hinge":
        parameters["loss"] = "hinge"
    elif kind == "l1":
        parameters["penalty"] = "l1"
    elif kind == "joint":
        parameters["multi_class"] = "crammer_singer"
    return parameters


def for_linear_svr(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    spread = float(np.ptp(y)) or 1.0
    parameters = {"C": some_C(rng), **linear_options(rng)}
    parameters["epsilon"] = float(rng.choice([0.0, 0.1 * spread, 10 * spread, 1e-9]))
    if rng.random() < 0.4:
        parameters["loss"] = "squared_epsilon_insensitive"
    return parameters


def for_logistic(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    parameters = {"C": some_C(rng), **linear_options(rng), **class_weights(rng, y)}
    if parameters.get("solver") == "coordinate":
        del parameters["solver"]  # it has no logistic loss
    if rng.random() < 0.3:
        parameters["penalty"] = "l1"
    return parameters


def for_ridge(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    del y
    return {"alpha": some_C(rng), **linear_options(rng)}


def for_online(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    parameters = {"C": some_C(rng), **some_kernel(rng, precomputed=False), "tol": some_tol(rng)}
    parameters |= class_weights(rng, y)
    parameters["epochs"] = int(rng.choice([1, 2, 20]))
    if rng.random() < 0.2:
        parameters["selection"] = "mvp"
    if rng.random() < 0.2:
        parameters["reprocess"] = int(rng.integers(0, 4))
    if rng.random() < 0.15:
        parameters["budget"] = int(rng.integers(2, 10))
    if rng.random() < 0.2:
        parameters["shuffle"] = False
    if rng.random() < 0.3:
        parameters["precision"] = str(rng.choice(["single", "double"]))
    return parameters


def for_search(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    del y
    strategy = str(rng.choice(["kta", "grid", "span", "likelihood", "radius_margin", "posterior"]))
    return {"strategy": strategy, "max_seconds": 1.0, "cv": 2}


def for_auto(rng: np.random.Generator, y: np.ndarray) -> dict[str, Any]:
    del rng, y
    return {"max_seconds": 1.0, "cv": 2}


DRAWERS = {
    "SVC": for_svc,
    "NuSVC": for_nu_svc,
    "SVR": for_svr,
    "NuSVR": for_nu_svr,
    "OneClassSVM": for_one_class,
    "LinearSVC": for_linear_svc,
    "LinearSVR": for_linear_svr,
    "LogisticRegression": for_logistic,
    "RidgeRegression": for_ridge,
    "OnlineSVC": for_online,
    "SVCSearch": for_search,
    "AutoSVC": for_auto,
}


def common_limits(rng: np.random.Generator, estimator: str, parameters: dict[str, Any]) -> None:
    """Sometimes a limit on steps or seconds."""
    if estimator in ("SVCSearch", "AutoSVC"):
        return
    if rng.random() < 0.1 and estimator != "OnlineSVC":
        parameters["max_iter"] = int(rng.choice([0, 1, 5, 50]))
    if rng.random() < 0.1:
        parameters["max_seconds"] = float(rng.choice([1e-6, 0.01, 0.3]))
