"""The data of the linear benchmark: text, web pages, census, digits, forests, and made-up ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import normalize

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
import realdata

SETS = ("news20", "a9a", "w8a", "mnist-1-7", "covtype")
# Not part of the targets.
MORE = ("normal", "long", "breast", "wide", "wide-sparse", "text-2000", "correlated")


def load(name: str) -> tuple[Any, np.ndarray]:
    """Inputs, dense or CSR as people have them, and labels −1 and +1.

    news20: the first ten groups against the rest, counts scaled to length 1; text-2000: 2,000 of
    these documents. covtype: class 2 against the rest, standardised. breast: 569 samples that ship
    with scikit-learn, standardised. The others are made up: normal inputs (long: 19,000 of 10
    features), correlated ones, more features than samples, and rows of some 55 among 50,000
    features, all with noisy labels.
    """
    match name:
        case "news20":
            X, group = realdata.load("news20")
            X = sparse.csr_array(normalize(X))
            X.sort_indices()
            return X, np.where(group < 10, 1, -1)
        case "text-2000":
            X, y = load("news20")
            some = np.random.default_rng(0).choice(y.size, 2000, replace=False)
            return X[np.sort(some)], y[np.sort(some)]
        case "a9a" | "w8a":
            X, y = realdata.load(name)
            return sparse.csr_array(X), y
        case "mnist-1-7":
            X, digit = realdata.load("mnist")
            kept = np.isin(digit, (1, 7))
            return X[kept] / 255.0, np.where(digit[kept] == 1, 1, -1)
        case "covtype":
            X, kind = realdata.load("covtype-15120")
            spread = X.std(axis=0)
            return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), np.where(
                kind == 2, 1, -1
            )
        case "breast":
            X, kind = load_breast_cancer(return_X_y=True)
            return (X - X.mean(axis=0)) / X.std(axis=0), np.where(kind == 1, 1, -1)
        case "normal" | "long" | "wide" | "correlated":
            rng = np.random.default_rng(0)
            n, d = {
                "normal": (300_000, 50),
                "long": (19_000, 10),
                "wide": (1000, 3000),
                "correlated": (5000, 100),
            }[name]
            X = rng.standard_normal((n, d))
            noise = 3.0 * rng.standard_normal(n)
            if name == "correlated":
                X = X @ rng.standard_normal((d, d)) + 3.0 * rng.standard_normal((n, 1))
            return X, np.where(X @ rng.standard_normal(d) + noise > 0, 1, -1)
        case "wide-sparse":
            rng = np.random.default_rng(0)
            n, d, each = 5000, 50_000, 60
            frequency = np.arange(1.0, d + 1.0) ** -0.9
            columns = rng.choice(d, n * each, p=frequency / frequency.sum()).astype(np.int32)
            rows = np.repeat(np.arange(n, dtype=np.int32), each)
            X = sparse.csr_array((np.ones(n * each), (rows, columns)), shape=(n, d))
            X.sum_duplicates()
            X = normalize(X.log1p())
            noise = 0.3 * rng.standard_normal(n)
            return X, np.where(X @ rng.standard_normal(d) + noise > 0, 1, -1)
    raise ValueError(f"no data set is called {name!r}; there are {', '.join(SETS + MORE)}")
