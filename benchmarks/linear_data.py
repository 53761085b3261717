"""The data of the linear benchmark: text, web pages, census, digits, forests, and made-up ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
import realdata

SETS = ("news20", "a9a", "w8a", "mnist-1-7", "covtype")


def load(name: str) -> tuple[Any, np.ndarray]:
    """Inputs, dense or CSR as people have them, and labels −1 and +1.

    news20: the first ten groups against the rest, counts scaled to length 1. covtype: class 2
    against the rest, standardised. normal: 300,000 normal inputs with noisy labels.
    """
    match name:
        case "news20":
            X, group = realdata.load("news20")
            lengths = np.sqrt(X.multiply(X).sum(axis=1))
            X = sparse.csr_array(sparse.diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ X)
            X.sort_indices()
            return X, np.where(group < 10, 1, -1)
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
        case "normal":
            rng = np.random.default_rng(0)
            X = rng.standard_normal((300_000, 50))
            noise = 3.0 * rng.standard_normal(300_000)
            return X, np.where(X @ rng.standard_normal(50) + noise > 0, 1, -1)
    raise ValueError(f"no data set is called {name!r}; there are {', '.join(SETS)} and normal")
