"""LIBSVM's model files: text, read and written, all five machines and all four kernels.

LIBSVM decides by f(x) = Σ coef_i k(x_i, x) − rho, which is positive for the first label of a pair.
The model of two classes here is −f, positive for the second; of more classes both agree.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..archive import ModelFileError, replacing
from ..data.svmlight import LARGEST_INDEX
from ..estimators import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from ..kernels import Gaussian, Kernel, Linear, Polynomial, Sigmoid
from .files import chosen_machine

MACHINES = {
    "c_svc": SVC,
    "nu_svc": NuSVC,
    "one_class": OneClassSVM,
    "epsilon_svr": SVR,
    "nu_svr": NuSVR,
}
CLASSIFIERS = ("c_svc", "nu_svc")
KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid"}


class Head(NamedTuple):
    """The lines before the support vectors."""

    machine: str
    kernel: str
    degree: int
    gamma: float
    coef0: float
    classes: int
    total: int
    rho: np.ndarray
    label: np.ndarray
    n_support: np.ndarray
    slope: np.ndarray
    offset: np.ndarray


def write_libsvm(model: Any, path: str | os.PathLike[str], *, codes: bool = False) -> None:
    """Write a fitted machine as LIBSVM's ``svm-train`` would.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR or OneClassSVM
        With a linear, polynomial, (radial) Gaussian or sigmoid kernel; also an `AutoSVC` or
        `SVCSearch` that chose one.
    path : path
    codes : bool
        Whether to write 0, 1, … in place of labels that are no whole numbers, which LIBSVM cannot
        have. Without it they are an error.

    Examples
    --------
    >>> import tempfile
    >>> from maxmargin import SVC
    >>> from maxmargin.models import read_libsvm, write_libsvm
    >>> model = SVC(kernel="linear").fit([[-1.0], [1.0]], [3, 8])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_libsvm(model, f"{folder}/model.libsvm")
    ...     read_libsvm(f"{folder}/model.libsvm").predict([[0.5]])
    array([8])
    """
    model = chosen_machine(model)
    machine = next((name for name, kind in MACHINES.items() if type(model) is kind), None)
    if machine is None:
        raise ValueError(
            f"LIBSVM files hold SVC, NuSVC, SVR, NuSVR and OneClassSVM, got {type(model).__name__}"
        )
    check_is_fitted(model)
    lines = [f"svm_type {machine}", *kernel_lines(model.kernel_)]
    coef = _dense(model.dual_coef_)
    if machine in CLASSIFIERS:
        classes = model.classes_.size
        if classes > 2 and coef.shape[0] != classes - 1:
            raise ValueError(
                "LIBSVM files hold machines of pairs of classes; this model has "
                "multi_class='ovr': train it with 'ovo'"
            )
        sign = -1.0 if classes == 2 else 1.0
        coef, rho = sign * coef, -sign * model.intercept_
        lines += [f"nr_class {classes}", f"total_sv {coef.shape[1]}", _line("rho", rho)]
        lines.append(_line("label", whole_labels(model.classes_, codes)))
        if model.probA_.size:
            lines += [_line("probA", model.probA_), _line("probB", model.probB_)]
        lines.append(_line("nr_sv", model.n_support_))
    else:
        lines += ["nr_class 2", f"total_sv {coef.shape[1]}", _line("rho", -model.intercept_)]
    with replacing(path) as stream:
        stream.write(("\n".join([*lines, "SV"]) + "\n").encode())
        vectors = sparse.csr_array(model.support_vectors_)
        for place in range(coef.shape[1]):
            part = slice(vectors.indptr[place], vectors.indptr[place + 1])
            order = np.argsort(vectors.indices[part], kind="stable")
            indices, values = vectors.indices[part][order], vectors.data[part][order]
            entries = [_number(c) for c in coef[:, place]]
            entries += [f"{i + 1}:{_number(v)}" for i, v in zip(indices, values)]
            stream.write((" ".join(entries) + " \n").encode())


def kernel_lines(kernel: Kernel) -> list[str]:
    match kernel:
        case Linear():
            return ["kernel_type linear"]
        case Gaussian(gamma=float(gamma)):
            return ["kernel_type rbf", f"gamma {_number(gamma)}"]
        case Sigmoid():
            lines = ["kernel_type sigmoid"]
        case Polynomial():
            lines = ["kernel_type polynomial", f"degree {kernel.degree}"]
        case _:
            raise ValueError(
                "LIBSVM supports linear, polynomial, sigmoid and Gaussian kernels with one gamma, "
                f"got {type(kernel).__name__}. A Gaussian kernel with a metric becomes one with "
                "gamma=1 when the inputs are scaled by it before training"
            )
    return [*lines, f"gamma {_number(kernel.gamma)}", f"coef0 {_number(kernel.coef0)}"]


def whole_labels(classes: np.ndarray, codes: bool) -> np.ndarray:
    """Labels as LIBSVM can have them: integers."""
    numeric = classes.dtype.kind in "biuf"
    if numeric and (np.abs(classes.astype(float)) < 2**31).all() and (classes % 1 == 0).all():
        return classes.astype(np.int64)
    if codes:
        return np.arange(classes.size)
    raise ValueError(
        f"labels must be whole numbers in LIBSVM files, got {classes[0]!r}: "
        "codes=True (--codes) writes 0, 1, … in their place"
    )


def read_libsvm(path: str | os.PathLike[str], *, n_features: int | None = None) -> Any:
    """Read a model written by LIBSVM (or by `write_libsvm`).

    Parameters
    ----------
    path : path
    n_features : int, optional
        Number of features of the inputs, which the file does not state; by default the largest
        index in it.

    Returns
    -------
    SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted. Its `classes_` have the order of the file, on which LIBSVM's way to break ties
        depends. C, nu and epsilon are not in the file: the parameters have their defaults.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from maxmargin import SVC
    >>> from maxmargin.models import read_libsvm, write_libsvm
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.libsvm")
    >>> write_libsvm(SVC(kernel="linear").fit([[0.0], [1.0]], [0, 1]), path)
    >>> read_libsvm(path).predict([[0.1], [0.9]])
    array([0, 1])
    """
    name = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as stream:
            head = read_head(stream)
            coef, vectors = read_vectors(stream, head, n_features)
        return machine_of(head, coef, vectors)
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from None
    except (ValueError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"{name} is not a LIBSVM model, or is damaged: {error}") from error


def read_head(stream: Any) -> Head:
    values: dict[str, list[str]] = {}
    for line in stream:
        key, *rest = line.split() or [""]
        if key == "SV":
            break
        if key in values or len(values) > 20:
            raise ModelFileError(f"the line {key!r} is repeated, or there are too many")
        values[key] = rest
    else:
        raise ModelFileError("it has no line 'SV' before the support vectors")
    machine, kernel = _one(values, "svm_type"), _one(values, "kernel_type")
    if machine not in MACHINES:
        raise ModelFileError(f"svm_type must be one of {', '.join(MACHINES)}, got {machine!r}")
    if kernel not in KERNELS:
        raise ModelFileError(f"kernel_type must be one of {', '.join(KERNELS)}, got {kernel!r}")
    classes = _count(values, "nr_class", 10_000)
    pairs = classes * (classes - 1) // 2
    none = np.empty(0)
    label = n_support = np.empty(0, dtype=np.int64)
    total = _count(values, "total_sv", LARGEST_INDEX)
    if machine in CLASSIFIERS:
        if classes < 2:
            raise ModelFileError(f"nr_class must be at least 2, got {classes}")
        label = _integers(values, "label", classes)
        n_support = _integers(values, "nr_sv", classes)
        if np.unique(label).size < classes:
            raise ModelFileError("two classes have the same label")
        if (n_support < 0).any() or n_support.sum() != total:
            raise ModelFileError("nr_sv does not add up to total_sv")
    elif classes != 2:
        raise ModelFileError(f"nr_class must be 2 for {machine}, got {classes}")
    slope = _reals(values, "probA", pairs) if "probA" in values else none
    offset = _reals(values, "probB", pairs) if machine in CLASSIFIERS and slope.size else none
    return Head(
        machine,
        KERNELS[kernel],
        _count(values, "degree", 10**6) if "degree" in values else 3,
        float(_reals(values, "gamma", 1)[0]) if "gamma" in values else 0.0,
        float(_reals(values, "coef0", 1)[0]) if "coef0" in values else 0.0,
        classes,
        total,
        _reals(values, "rho", pairs),
        label,
        n_support,
        slope,
        offset,
    )


def read_vectors(stream: Any, head: Head, n_features: int | None) -> tuple[np.ndarray, Any]:
    """Coefficients, a row for each but one of the classes, and support vectors."""
    rows = head.classes - 1
    coef, values, indices, ends = [], [], [], [0]
    for line in stream:
        cells = line.split()
        if not cells:
            continue
        if len(ends) > head.total or len(cells) < rows:
            raise ModelFileError(f"it has not {head.total} support vectors of {rows} coefficients")
        coef.append([float(cell) for cell in cells[:rows]])
        last = 0
        for cell in cells[rows:]:
            index, _, value = cell.partition(":")
            place = int(index)
            if not last < place <= LARGEST_INDEX:
                raise ModelFileError(f"indices must be positive and rise, got {index} after {last}")
            indices.append(place - 1)
            values.append(float(value))
            last = place
        ends.append(len(values))
    if len(coef) != head.total:
        raise ModelFileError(f"it has {len(coef)} support vectors, total_sv says {head.total}")
    found = max(indices, default=-1) + 1
    width = max(found, 1) if n_features is None else n_features
    if width < found:
        raise ModelFileError(f"n_features must be at least {found}, got {n_features}")
    data = np.array(values, dtype=np.float64)
    table = np.array(coef, dtype=np.float64).reshape(len(coef), rows)
    if not (np.isfinite(data).all() and np.isfinite(table).all()):
        raise ModelFileError("it contains NaN or infinity")
    parts = (data, np.array(indices, dtype=np.int32), np.array(ends, dtype=np.int32))
    vectors = sparse.csr_array(parts, shape=(len(coef), width))
    full = data.size > 0.5 * len(coef) * width
    return table.T.copy(), vectors.toarray() if full else vectors


def machine_of(head: Head, coef: np.ndarray, vectors: Any) -> Any:
    """The fitted estimator."""
    kinds: dict[str, Callable[[], Kernel]] = {
        "linear": Linear,
        "rbf": lambda: Gaussian(head.gamma),
        "sigmoid": lambda: Sigmoid(head.gamma, head.coef0),
        "poly": lambda: Polynomial(head.degree, head.gamma, head.coef0),
    }
    kernel = kinds[head.kernel]()
    parameters: dict[str, Any] = {"kernel": head.kernel, "degree": head.degree}
    parameters |= {"gamma": head.gamma, "coef0": head.coef0}
    classifies = head.machine in CLASSIFIERS
    sign = -1.0 if classifies and head.classes == 2 else 1.0
    model: Any = MACHINES[head.machine](**parameters)
    model.kernel_ = kernel
    model.support_vectors_ = vectors
    model.dual_coef_ = sign * coef + 0.0
    if sparse.issparse(vectors):
        model.dual_coef_ = sparse.csr_array(model.dual_coef_)
    model.intercept_ = -sign * head.rho + 0.0
    model.support_ = np.arange(head.total, dtype=np.int32)
    model.n_support_ = np.array([head.total], dtype=np.int32)
    model.shape_fit_ = vectors.shape
    model.n_features_in_ = vectors.shape[1]
    model.fit_status_ = 0
    if classifies:
        model.probability = "platt" if head.slope.size else False
        model.classes_, model.class_weight_ = head.label, np.ones(head.classes)
        model.n_support_ = head.n_support.astype(np.int32)
        model.probA_, model.probB_ = head.slope, head.offset
    if head.machine == "one_class":
        model.offset_ = -model.intercept_
    return model


def _one(values: dict[str, list[str]], key: str) -> str:
    return _entries(values, key, 1)[0]


def _entries(values: dict[str, list[str]], key: str, count: int) -> list[str]:
    if key not in values:
        raise ModelFileError(f"it has no line {key!r}")
    if len(values[key]) != count:
        raise ModelFileError(f"{key} must have {count} entries, got {len(values[key])}")
    return values[key]


def _count(values: dict[str, list[str]], key: str, most: int) -> int:
    count = int(_one(values, key))
    if not 0 <= count <= most:
        raise ModelFileError(f"{key} must lie between 0 and {most}, got {count}")
    return count


def _integers(values: dict[str, list[str]], key: str, count: int) -> np.ndarray:
    return np.array([int(entry) for entry in _entries(values, key, count)], dtype=np.int64)


def _reals(values: dict[str, list[str]], key: str, count: int) -> np.ndarray:
    numbers = [float(entry) for entry in _entries(values, key, count)]
    if not all(map(math.isfinite, numbers)):
        raise ModelFileError(f"{key} contains NaN or infinity")
    return np.array(numbers)


def _line(key: str, values: Any) -> str:
    return " ".join([key, *(_number(value) for value in values)])


def _number(value: Any) -> str:
    """The shortest text that reads back as the same number."""
    value = value.item() if isinstance(value, np.generic) else value
    return str(value) if isinstance(value, int) else f"{value!r}"


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
