"""A case as a few lines of Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .failure import Failure
from .problems import Case

# Numbers that are written out; data with more are drawn again.
MOST_NUMBERS = 120


def snippet(case: Case, failure: Failure | None = None) -> str:
    """Lines that show the failure, without this package where the data are small."""
    lines = []
    if failure is not None:
        lines.append(f"# {case.label}: {failure.check}: {failure.message}")
    if size(case) <= MOST_NUMBERS:
        lines += ["import numpy as np", f"from maxmargin import {case.estimator}"]
        lines += written("X", case.X)
        for name, values in (("y", case.y), ("weight", case.weight)):
            lines += [] if values is None else written(name, values)
    else:
        seed, number = case.label.split()[1::2][:2]
        only = case.label.partition("--only ")[2]
        names = f", {tuple(only.split(','))!r}" if only else ""
        lines += [
            f"from maxmargin import {case.estimator}",
            "from tests.fuzz.problems import draw",
            f"case = draw({seed}, {number}{names})",
            "X, y, weight = case.X, case.y, case.weight",
        ]
    arguments = ", ".join(f"{key}={value!r}" for key, value in case.parameters.items())
    arguments = arguments.replace("=inf", "=np.inf")
    lines.append(f"model = {case.estimator}({arguments})")
    given = "X" if case.y is None else "X, y"
    weight = "" if case.weight is None else ", sample_weight=weight"
    lines.append(f"{way(case)}({given}{weight})")
    lines.append("print(model.status_, model.certificate_)")
    return "\n".join(lines)


def way(case: Case) -> str:
    return f"model.{case.call.get('way', 'fit')}"


def size(case: Case) -> int:
    X = case.X
    if sparse.issparse(X):
        return 3 * X.nnz
    return int(np.asarray(X).size)


def written(name: str, values: Any) -> list[str]:
    """An assignment of all numbers."""
    if sparse.issparse(values):
        kind = type(values).__name__
        data = f"np.array({values.data.tolist()}, dtype=np.{values.dtype})"
        return [
            f"from scipy.sparse import {kind}",
            f"{name} = {kind}(({data}, {values.indices.tolist()}, {values.indptr.tolist()}), "
            f"shape={values.shape})",
        ]
    if isinstance(values, list):
        return [f"{name} = {values}"]
    options = "" if values.dtype.kind in "iUb" or values.dtype == float else f", np.{values.dtype}"
    if values.ndim == 2 and values.flags.f_contiguous and not values.flags.c_contiguous:
        options += ", order='F'"
    lines = [f"{name} = np.array({values.tolist()}{options})"]
    if not values.flags.writeable:
        lines.append(f"{name}.flags.writeable = False")
    return lines
