"""Fits whose results must be the same bits wherever they run; a script that prints their digests.

``python samebits.py`` fits every problem and prints its name and a digest of what it learned.
"""

import hashlib
import os
import sys
import warnings

import numpy as np
from scipy import sparse

from maxmargin import SVC, SVR, LinearSVC, LogisticRegression, OneClassSVM, OnlineSVC
from maxmargin.data import chess_board


def blobs(n, d, classes=2, seed=0):
    """Overlapping classes."""
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=n)
    return random.normal(size=(n, d)) + random.normal(size=(classes, d))[y] * 0.7, y


def sparse_blobs(n, d, seed=0):
    X, y = blobs(n, d, seed=seed)
    X[np.random.default_rng(1).random(X.shape) < 0.95] = 0.0
    return sparse.csr_array(X), y


def chess(n):
    return chess_board(n, random_state=0)


def as_float32(data):
    return data[0].astype(np.float32), data[1]


# Large enough that threads share the work wherever they do.
PROBLEMS = {
    "full": lambda: SVC(C=10.0).fit(*blobs(1500, 20)),
    "full, few features": lambda: SVC(C=10.0, gamma=2.0).fit(*chess(2500)),
    "blocks": lambda: SVC(C=1.0, solver="blocks").fit(*blobs(4200, 30)),
    "blocks, many features": lambda: SVC(C=1.0, solver="blocks").fit(*blobs(2600, 150)),
    "blocks, little memory": lambda: SVC(solver="blocks", cache_size=9).fit(*blobs(4200, 10)),
    "rows": lambda: SVC(C=1.0, solver="rows").fit(*blobs(800, 20)),
    "float32": lambda: SVC(C=1.0).fit(*as_float32(blobs(4200, 30))),
    "single": lambda: SVC(C=1.0, precision="single", tol=1e-2).fit(*blobs(4200, 80)),
    "sparse": lambda: SVC(C=1.0).fit(*sparse_blobs(1600, 400)),
    "polynomial": lambda: SVC(kernel="poly", C=0.1, coef0=1.0).fit(*blobs(1500, 20)),
    "squared hinge": lambda: SVC(loss="squared_hinge", C=1.0).fit(*blobs(1800, 20)),
    "many classes": lambda: SVC(C=10.0).fit(*blobs(1500, 12, classes=6)),
    "few classes": lambda: SVC(C=10.0).fit(*blobs(3300, 20, classes=3)),
    "SVR": lambda: SVR(C=1.0, epsilon=0.1).fit(*regression(1500)),
    "one class": lambda: OneClassSVM(nu=0.3).fit(blobs(1600, 15)[0]),
    "online": lambda: OnlineSVC(C=1.0, random_state=0).fit(*blobs(1200, 20)),
    "LinearSVC": lambda: LinearSVC(C=1.0).fit(*blobs(30_000, 40)),
    "sparse LinearSVC": lambda: LinearSVC(C=1.0).fit(*sparse_blobs(20_000, 800)),
    "hinge LinearSVC": lambda: LinearSVC(loss="hinge", C=0.1).fit(*blobs(20_000, 40)),
    "LogisticRegression": lambda: LogisticRegression().fit(*blobs(20_000, 60, classes=3)),
}


def regression(n):
    X, _ = blobs(n, 12)
    return X, np.sin(X[:, 0]) + 0.1 * np.random.default_rng(2).normal(size=n)


def digest(name):
    """Of all that a fit learned, and of its decisions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PROBLEMS[name]()
    solutions = getattr(model, "solution_", [])
    solutions = solutions if isinstance(solutions, list) else [solutions]
    found = [getattr(solution, "alpha", solution.__dict__.get("beta")) for solution in solutions]
    for attribute in ("dual_coef_", "coef_", "intercept_"):
        value = getattr(model, attribute, None)
        if value is not None:
            found.append(value.toarray() if sparse.issparse(value) else value)
    new = np.random.default_rng(3).normal(size=(9000, model.n_features_in_))
    found.append(getattr(model, "decision_function", model.predict)(new))
    content = b"".join(np.ascontiguousarray(array, dtype=np.float64).tobytes() for array in found)
    return hashlib.sha256(content).hexdigest()[:16]


if __name__ == "__main__":
    for name in sys.argv[1:] or PROBLEMS:
        print(f"{name}: {digest(name)}", flush=True)
    sys.stdout.flush()
    os._exit(0)
