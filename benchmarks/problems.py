"""The problems of the speed benchmark: which data, which machine, which parameters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_classification,
    make_friedman1,
    make_hastie_10_2,
    make_moons,
)
from sklearn.preprocessing import normalize

from maxmargin.data import chess_board

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
import realdata

# The data sets that come with scikit-learn.
SHIPPED = {
    "iris": load_iris,
    "wine": load_wine,
    "diabetes": load_diabetes,
    "wisconsin": load_breast_cancer,
    "digits": load_digits,
}
# Those that it makes up.
MADE_UP = {
    "moons": partial(make_moons, noise=0.2, random_state=0),
    "thin-moons": partial(make_moons, noise=0.1, random_state=0),
    "circles": partial(make_circles, noise=0.15, factor=0.5, random_state=0),
    "five-blobs": partial(make_blobs, centers=5, n_features=10, cluster_std=4.0, random_state=0),
    "four-classes": partial(
        make_classification, n_features=20, n_informative=10, n_classes=4, random_state=0
    ),
    "hastie": partial(make_hastie_10_2, random_state=0),
    "friedman": partial(make_friedman1, noise=1.0, random_state=0),
}
# Prediction is timed on the test part, or else on this many training inputs.
NEW_INPUTS = 10_000
QUICK = 5_000


class Data(NamedTuple):
    """Training inputs and targets (None where there are none), and inputs to predict."""

    X: Any
    y: np.ndarray | None
    X_new: Any


@dataclass(frozen=True)
class Problem:
    """A training problem with the Gaussian kernel exp(−γ‖x−x'‖²), or a linear one.

    Attributes
    ----------
    name : str
    samples, features : int
    parameters : mapping
        Of the estimator.
    dataset : str
        A case of `load`; by default the name.
    estimator : {"SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"}
    csr : bool
        Whether inputs are given as a sparse matrix.
    """

    name: str
    samples: int
    features: int
    parameters: Mapping[str, Any]
    dataset: str = field(default="", kw_only=True)
    estimator: str = field(default="SVC", kw_only=True)
    csr: bool = field(default=False, kw_only=True)


RAETSCH_FEATURES = {
    "banana": 2,
    "breast-cancer": 9,
    "diabetis": 8,
    "flare-solar": 9,
    "german": 20,
    "heart": 13,
    "image": 18,
    "ringnorm": 20,
    "splice": 60,
    "thyroid": 5,
    "titanic": 3,
    "twonorm": 20,
    "waveform": 21,
}
# Width 3500 of the pixels 0…255, which are divided by 255.
MNIST = {"C": 50.0, "gamma": 255.0**2 / (2 * 3500.0**2)}
ZEROS = {"nu": 0.1, "gamma": MNIST["gamma"]}
HARD_BOARD = {"C": 1e6, "gamma": 0.5}


def _published(name: str, features: int) -> Problem:
    row = realdata.TABLE_7_1[name]
    return Problem(name, row.samples, features, {"C": row.C, "gamma": row.gamma})


def board(samples: int, name: str = "", C: float = 1e6) -> Problem:
    """A chess board of some size."""
    name = name or f"chess-board-{samples}"
    return Problem(name, samples, 2, {**HARD_BOARD, "C": C}, dataset="chess-board")


def digits(samples: int) -> Problem:
    """Small against large digits, on the first pictures."""
    return Problem(f"mnist-{samples}", samples, 784, MNIST, dataset="mnist")


_ALL = (
    *(_published(name, features) for name, features in RAETSCH_FEATURES.items()),
    Problem("spambase", 4_601, 57, {"C": 50.0, "gamma": 1 / 200}, dataset="spambase-standardised"),
    _published("ionosphere", 34),
    _published("tic-tac-toe", 9),
    board(1_000),
    board(10_000),
    board(100_000),
    board(10_000, "chess-board-10000-soft", C=1e3),
    Problem("a9a", 32_561, 123, {"C": 1.0, "gamma": 0.05}),
    Problem("a9a-csr", 32_561, 123, {"C": 1.0, "gamma": 0.05}, dataset="a9a", csr=True),
    Problem("w8a", 49_749, 300, {"C": 8.0, "gamma": 0.05}),
    _published("connect-4", 42),
    Problem("krkopt", 28_056, 6, {"C": 10.0, "gamma": 0.5}, dataset="king-rook-vs-king"),
    Problem("usps", 7_291, 256, {"C": 10.0, "gamma": 1 / 128}),
    digits(10_000),
    digits(60_000),
    Problem("cadata", 20_640, 8, {"C": 10.0, "gamma": 0.125, "epsilon": 0.1}, estimator="SVR"),
    Problem("mnist-zeros", 5_923, 784, ZEROS, estimator="OneClassSVM"),
)


def _other(name: str, samples: int, features: int, C: float, estimator: str = "SVC") -> Problem:
    tube = {"epsilon": 0.1} if estimator == "SVR" else {}
    parameters = {"C": C, "gamma": 1 / features, **tube}
    return Problem(name, samples, features, parameters, estimator=estimator)


def _linear(name: str, samples: int, features: int, C: float, **more: str) -> Problem:
    tube = {"epsilon": 0.1} if more.get("estimator") == "SVR" else {}
    parameters = {"kernel": "linear", "C": C, **tube}
    return Problem(f"{name}-linear", samples, features, parameters, **{"dataset": name} | more)


# Sets that nothing here was made for: those that come with scikit-learn or are made up by it, and
# more of the shared ones. All features are standardised.
OTHERS = (
    _other("iris", 150, 4, 1.0),
    _other("wine", 178, 13, 1.0),
    _other("heart-cleveland", 297, 13, 1.0),
    _other("diabetes", 442, 10, 1.0, "SVR"),
    _other("wisconsin", 569, 30, 1.0),
    _other("banknote", 1_372, 4, 1.0),
    _other("digits", 1_797, 64, 10.0),
    _other("abalone", 4_177, 8, 1.0, "SVR"),
    _other("cpusmall", 8_192, 12, 10.0, "SVR"),
    _other("covtype", 15_120, 54, 10.0),
    _other("moons", 3_000, 2, 1.0),
    _other("thin-moons", 6_000, 2, 10.0),
    _other("circles", 12_000, 2, 1.0),
    _other("five-blobs", 1_500, 10, 1.0),
    _other("four-classes", 3_000, 20, 1.0),
    _other("hastie", 6_000, 10, 1.0),
    _other("friedman", 700, 10, 1.0, "SVR"),
)
# Machines that the others leave out: many classes, a ν in place of C, sparse text, linear kernels.
MACHINES = (
    Problem("covtype-7-classes", 15_120, 54, {"C": 10.0, "gamma": 1 / 54}),
    Problem("krkopt-18-classes", 28_056, 6, {"C": 10.0, "gamma": 0.5}),
    Problem("made-26-classes", 20_000, 16, {"C": 10.0, "gamma": 1 / 16}),
    Problem("nu-banana", 5_300, 2, {"nu": 0.25, "gamma": 1.0}, estimator="NuSVC"),
    Problem("nu-waveform", 5_000, 21, {"nu": 0.2, "gamma": 1 / 21}, estimator="NuSVC"),
    Problem("nu-cadata", 3_000, 8, {"C": 1.0, "nu": 0.5, "gamma": 1 / 8}, estimator="NuSVR"),
    Problem("nu-cpusmall", 8_192, 12, {"C": 10.0, "nu": 0.5, "gamma": 1 / 12}, estimator="NuSVR"),
    Problem("sms-text", 5_574, 8_713, {"C": 10.0, "gamma": 1.0}, csr=True),
    Problem("news-text", 2_000, 75_878, {"C": 10.0, "gamma": 1.0}, csr=True),
    _linear("wisconsin", 569, 30, 100.0),
    _linear("spambase", 4_601, 57, 1.0, dataset="spambase-standardised"),
    _linear("cpusmall", 8_192, 12, 1.0, estimator="SVR"),
)
GROUPS = {"tuned": _ALL, "others": OTHERS, "machines": MACHINES}
EVERY = {problem.name: problem for group in GROUPS.values() for problem in group}
PROBLEMS = {problem.name: problem for problem in _ALL}

# Its C is so small that every sample ends at its bound and is a support vector, for any solver.
PREDICTION = Problem("predict-2000", 2_000, 784, {**MNIST, "C": 1e-4}, dataset="mnist-balanced")
GROWTH = {
    "mnist": [digits(n) for n in (5_000, 10_000, 20_000, 40_000, 60_000)],
    "chess-board": [board(n) for n in (1_000, 3_000, 10_000, 30_000, 100_000)],
}


def selected(
    patterns: Iterable[str] | None, quick: bool = False, group: str | None = "tuned"
) -> list[Problem]:
    """The problems of a group (None stands for all groups) whose names match one of the patterns,
    and with `quick` only the small ones."""
    found = list(EVERY.values() if group is None else GROUPS[group])
    names = [problem.name for problem in found]
    if patterns is not None:
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise ValueError(
                    f"--problems: no problem is called {pattern!r}; there are {', '.join(names)}"
                )
        found = [p for p in found if any(fnmatchcase(p.name, pattern) for pattern in patterns)]
    return [p for p in found if not quick or p.samples < QUICK]


def add_groups(option: Callable[..., object]) -> None:
    """Options of a command that choose another group of problems."""
    for name, what in (
        ("others", "problems that nothing here was made for instead"),
        ("machines", "many classes, ν, text and linear kernels instead"),
    ):
        option(
            f"--{name}", action="store_const", const=name, default="tuned", dest="group", help=what
        )


def missing(problem: Problem) -> str | None:
    """Why a problem cannot be posed, if it cannot."""
    name = problem.dataset or problem.name
    made_up = name == "chess-board" or name in {**SHIPPED, **MADE_UP}
    return None if made_up or realdata.folder() is not None else realdata.ABSENT


def load(problem: Problem, dtype: str = "float64") -> Data:
    """The data of a problem, with inputs (and real targets) in a float."""
    X, y, X_new = _arrays(problem)
    X_new = X[:NEW_INPUTS] if X_new is None else X_new
    if y is not None and y.dtype.kind == "f":
        y = y.astype(dtype)
    return Data(_inputs(problem, X, dtype), y, _inputs(problem, X_new, dtype))


def _inputs(problem: Problem, X: Any, dtype: str) -> Any:
    if not sparse.issparse(X):
        X = np.ascontiguousarray(X, dtype=dtype)
    return sparse.csr_matrix(X, dtype=dtype) if problem.csr else X


def _arrays(problem: Problem) -> tuple[Any, np.ndarray | None, Any]:
    name, n = problem.dataset or problem.name, problem.samples
    match name:
        case "chess-board":
            return *chess_board(n, random_state=0), None
        case "mnist" | "mnist-zeros" | "mnist-balanced":
            X, digit = realdata.load("mnist")
            X_new = realdata.load("mnist", "test")[0] / 255.0
            if name == "mnist-zeros":
                return X[digit == 0] / 255.0, None, X_new
            y = np.where(digit < 5, -1, 1)
            kept = np.arange(n) if name == "mnist" else _balanced(y, n)
            return X[kept] / 255.0, y[kept], X_new
        case "a9a" | "usps":
            return *realdata.load(name), realdata.load(name, "test")[0]
        case "cadata" | "abalone" | "cpusmall":
            X, y = realdata.load(name)
            return _standardised(X), _standardised(y.astype(np.float64)), None
        case "banknote" | "heart-cleveland":
            X, y = realdata.load(name)
            return _standardised(X), y, None
        case "covtype" | "covtype-7-classes":
            X, y = realdata.load("covtype-15120")
            return _standardised(X), np.where(y == 2, 1, -1) if name == "covtype" else y, None
        case "krkopt-18-classes":
            return *realdata.load("krkopt"), None
        case "made-26-classes":
            X, y = make_classification(
                n, 16, n_informative=12, n_redundant=2, n_classes=26, class_sep=2.0, random_state=0
            )
            return _standardised(X), y, None
        case "nu-banana" | "nu-waveform" | "nu-cadata" | "nu-cpusmall":
            X, y = realdata.load(name.removeprefix("nu-"))
            some = np.random.default_rng(0).permutation(len(y))[:n]
            y = _standardised(y[some]) if problem.estimator == "NuSVR" else y[some]
            return _standardised(X[some]), y, None
        case "sms-text" | "news-text":
            X, y = realdata.load("sms-spam" if name == "sms-text" else "news20")
            some = np.sort(np.random.default_rng(0).permutation(len(y))[:n])
            X = sparse.csr_array(normalize(X[some].astype(np.float64)))
            X.sort_indices()
            return X, y[some] if name == "sms-text" else np.where(y[some] < 10, 1, -1), None
        case name if name in SHIPPED or name in MADE_UP:
            X, y = MADE_UP[name](n) if name in MADE_UP else SHIPPED[name](return_X_y=True)
            y = _standardised(y) if problem.estimator == "SVR" else y
            return _standardised(X), y, None
    return *realdata.load(name), None


def _balanced(y: np.ndarray, n: int) -> np.ndarray:
    """The first n / 2 of each class, in their order."""
    return np.sort(np.concatenate([np.flatnonzero(y == c)[: n // 2] for c in (-1, 1)]))


def _standardised(values: np.ndarray) -> np.ndarray:
    spread = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
