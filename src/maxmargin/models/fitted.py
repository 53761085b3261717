"""The attributes of each fitted estimator: the schema that `save` and `load` check.

A schema names all fitted attributes with their types and shapes, and what must hold between them.
A new estimator needs one entry in `SCHEMAS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .. import estimators
from ..archive import ModelFileError
from ..dual import Certificate
from ..estimators import Certificates
from ..estimators.conditioning import widened
from ..estimators.inputs import is_precomputed, refuse_overflow, takes_strings
from ..estimators.template import learned
from ..estimators.tree import Candidates, Tree
from ..kernels import Kernel
from ..solvers import Solution
from ..solvers.linear import LinearSolution
from .conforming import conforms

Sizes = dict[str, int]


class Array(NamedTuple):
    """An array of numbers.

    Attributes
    ----------
    kind : {"real", "whole"}
        float32 or float64; int32 or int64, none of them negative.
    sizes : tuple of str
        Names of the lengths: those of one name are equal in all of an estimator. "one" is 1.
    sparse : bool
        Whether it may be a CSR matrix.
    """

    kind: str
    sizes: tuple[str, ...]
    sparse: bool = False


class Size(NamedTuple):
    """A length as a number."""

    size: str


class Labels(NamedTuple):
    """Different labels of any one type, or of mixed ones."""

    size: str


class Names(NamedTuple):
    """Texts."""

    size: str


class Optional(NamedTuple):
    """What not every fitted estimator has."""

    rule: Any


class Schema(NamedTuple):
    """All attributes of a fitted estimator by name, and what must hold between them."""

    attributes: dict[str, Any]
    relations: Callable[[Any, Sizes], None]


def check_fitted(estimator: Any) -> None:
    """Raise `ModelFileError` where a fitted estimator is not what its schema says."""
    kind = type(estimator).__name__
    schema, found = SCHEMAS[kind], learned(estimator)
    unknown = sorted(found.keys() - schema.attributes.keys())
    if unknown:
        raise ModelFileError(f"{unknown[0]!r} is no attribute of a fitted {kind}")
    sizes: Sizes = {"one": 1}
    for name, rule in schema.attributes.items():
        inner = rule.rule if isinstance(rule, Optional) else rule
        if name in found:
            _check_attribute(name, found[name], inner, sizes)
        elif rule is inner:
            raise ModelFileError(f"{name!r} is missing, which every fitted {kind} has")
    schema.relations(estimator, sizes)


def _check_attribute(name: str, value: Any, rule: Any, sizes: Sizes) -> None:
    match rule:
        case Array():
            shape = _shape_of_numbers(name, value, rule)
            _agree(name, shape, rule.sizes, sizes)
        case Size(size):
            _require(conforms(value, int) and value >= 1, f"{name} must be positive, got {value!r}")
            _agree(name, (value,), (size,), sizes)
        case Labels(size):
            _check_labels(name, value)
            _agree(name, value.shape, (size,), sizes)
        case Names(size):
            texts = isinstance(value, np.ndarray) and value.dtype.kind in "OU"
            _require(texts and all(isinstance(x, str) for x in value.ravel()), f"{name} is no text")
            _agree(name, value.shape, (size,), sizes)
        case list():
            # Alternatives: the first whose number of dimensions is right.
            dims = np.ndim(value) if not sparse.issparse(value) else 2
            fitting = [r for r in rule if not isinstance(r, Array) or len(r.sizes) == dims]
            _require(fitting, f"{name} has {dims} dimensions")
            _check_attribute(name, value, fitting[0], sizes)
        case _:
            _require(conforms(value, rule), f"{name} is of a wrong type: {type(value).__name__}")


def _shape_of_numbers(name: str, value: Any, rule: Array) -> tuple[int, ...]:
    thin = sparse.issparse(value)
    _require(isinstance(value, np.ndarray) or (thin and rule.sparse), f"{name} is no array")
    dtypes = (np.float32, np.float64) if rule.kind == "real" else (np.int32, np.int64)
    _require(
        any(value.dtype == dtype for dtype in dtypes),
        f"{name} must hold {rule.kind} numbers, got dtype {value.dtype}",
    )
    entries = value.data if thin else value
    _require(np.isfinite(entries).all(), f"{name} contains NaN or infinity")
    _require(rule.kind == "real" or (entries >= 0).all(), f"{name} has negative entries")
    return tuple(value.shape)


def _agree(name: str, shape: tuple[int, ...], names: tuple[str, ...], sizes: Sizes) -> None:
    _require(len(shape) == len(names), f"{name} must have {len(names)} dimensions, got {shape}")
    for length, size in zip(shape, names):
        known = sizes.setdefault(size, length)
        _require(known == length, f"{name} has shape {shape}, but there are {known} {size}")


def _check_labels(name: str, value: Any) -> None:
    _require(isinstance(value, np.ndarray) and value.ndim == 1, f"{name} is no list of labels")
    _require(value.dtype.kind in "biufUSO", f"{name} is no list of labels")
    _require(value.dtype.kind != "f" or np.isfinite(value).all(), f"{name} contains NaN")
    plain = all(isinstance(label, bool | int | float | str | bytes) for label in value.tolist())
    _require(plain, f"{name} holds what is no label")
    _require(len(set(value.tolist())) == value.size, f"{name} holds a label twice")


def _kernel_classifier(estimator: Any, sizes: Sizes) -> None:
    classes = sizes["classes"]
    _require(classes >= 2, f"there are {classes} classes; two are needed")
    pairs = (classes - 1, classes * (classes - 1) // 2)
    possible = ((1, 1),) if classes == 2 else (pairs, (classes, classes))
    _require(
        (sizes["rows"], sizes["functions"]) in possible,
        f"dual_coef_ and intercept_ are of {sizes['rows']} and {sizes['functions']} functions, "
        f"which {classes} classes never have",
    )
    _require(sizes["sigmoids"] in (0, sizes["functions"]), "probA_ has the wrong length")
    _require((estimator.class_weight_ >= 0).all(), "class_weight_ has negative entries")
    _kernel_expansion(estimator, sizes)


def _one_function(estimator: Any, sizes: Sizes) -> None:
    _kernel_expansion(estimator, sizes)
    if hasattr(estimator, "offset_"):
        _require((estimator.offset_ == -estimator.intercept_).all(), "offset_ is not -intercept_")


def _multiple_functions(estimator: Any, sizes: Sizes) -> None:
    single = sizes["functions"] == 1
    _require(single or not estimator._one_target_, "there are several functions for one target")
    _kernel_expansion(estimator, sizes)


def _least_squares_classifier(estimator: Any, sizes: Sizes) -> None:
    _linear_classifier(estimator, sizes)
    _require((estimator.class_weight_ >= 0).all(), "class_weight_ has negative entries")
    _kernel_expansion(estimator, sizes)


def _kernel_expansion(estimator: Any, sizes: Sizes) -> None:
    vectors, inputs, kernel = sizes["vectors"], estimator.support_vectors_, estimator.kernel_
    _require(estimator.n_support_.sum() == vectors, "n_support_ does not add up to dual_coef_")
    precomputed = is_precomputed(estimator.kernel)
    same = precomputed == is_precomputed(kernel)
    same &= takes_strings(estimator.kernel) == takes_strings(kernel)
    _require(same, "kernel and kernel_ are for different inputs")
    if precomputed:
        _require((estimator.support_ < sizes["features"]).all(), "support_ is out of range")
        _require(np.shape(inputs) == (0, 0), "support_vectors_ must be empty")
        return
    if takes_strings(kernel):
        _require("features" not in sizes, "sequences have no features")
        _require(_are_texts(inputs), "support_vectors_ are no texts")
        _require(len(inputs) == vectors, "support_vectors_ has the wrong length")
    else:
        _require("features" in sizes, "'n_features_in_' is missing")
        _check_attribute("support_vectors_", inputs, VECTORS, sizes)
    _require(
        sparse.issparse(inputs) == sparse.issparse(estimator.dual_coef_),
        "one of support_vectors_ and dual_coef_ is sparse, the other is not",
    )
    if vectors:
        first = widened(inputs[:1])
        _require(np.isfinite(kernel(first, first)).all(), "kernel_ is not finite")
        if not takes_strings(kernel):
            _refuse_values_that_overflow(estimator)


def _refuse_values_that_overflow(estimator: Any) -> None:
    """f(x) = Σ_i α_i k(x_i, x) is finite at the support vectors, as a fit would have ensured."""
    try:
        top = refuse_overflow(estimator.kernel_, widened(estimator.support_vectors_))
    except ValueError as error:
        raise ModelFileError(f"support_vectors_ are too large: {error}") from error
    coef = estimator.dual_coef_
    entries = coef.data if sparse.issparse(coef) else coef
    with np.errstate(over="ignore"):
        total = float(np.abs(entries).sum()) * top
    _require(np.isfinite(total), "dual_coef_ times kernel values overflow")


def _linear_classifier(estimator: Any, sizes: Sizes) -> None:
    del estimator
    classes, functions = sizes["classes"], sizes["functions"]
    _require(classes >= 2, f"there are {classes} classes; two are needed")
    expected = 1 if classes == 2 else classes
    _require(functions == expected, f"coef_ has {functions} rows for {classes} classes")


def _tree(estimator: Any, sizes: Sizes) -> None:
    tree, answers = estimator.tree_, sizes.get("classes", 1)
    features = sizes["features"]
    _require(tree.n_features == features, f"tree_ has {tree.n_features} features, not {features}")
    found = tree.value.shape[2]
    _require(found == answers, f"leaves of tree_ have {found} values for {answers} classes")


def _mean(estimator: Any, sizes: Sizes) -> None:
    _require(sizes["classes"] >= 2, f"there are {sizes['classes']} classes; two are needed")
    _stored_samples(estimator, sizes)


def _neighbors(estimator: Any, sizes: Sizes) -> None:
    _require((estimator.sample_weight_ > 0).all(), "sample_weight_ must be positive")
    if "classes" in sizes:
        _require((estimator.y_fit_ < sizes["classes"]).all(), "y_fit_ is out of range")
    _stored_samples(estimator, sizes)


def _stored_samples(estimator: Any, sizes: Sizes) -> None:
    inputs, centre, kernel = estimator.X_fit_, sizes["centre"], estimator.kernel_
    same = is_precomputed(estimator.kernel) == is_precomputed(kernel)
    same &= takes_strings(estimator.kernel) == takes_strings(kernel)
    _require(same, "kernel and kernel_ are for different inputs")
    if takes_strings(kernel):
        _require(_are_texts(inputs), "X_fit_ are no texts")
        _require(len(inputs) == sizes["vectors"], "X_fit_ has the wrong length")
        _require(centre == 0, "center_ must be empty")
        return
    _require("features" in sizes, "'n_features_in_' is missing")
    if is_precomputed(kernel):
        _check_attribute("X_fit_", inputs, Array("whole", ("vectors",)), sizes)
        _require((inputs < sizes["features"]).all(), "X_fit_ is out of range")
    else:
        _check_attribute("X_fit_", inputs, VECTORS, sizes)
    _require(centre in (0, sizes["features"]), f"center_ has {centre} entries")


def _nothing(estimator: Any, sizes: Sizes) -> None:
    del estimator, sizes


def _are_texts(inputs: Any) -> bool:
    if isinstance(inputs, np.ndarray):
        if inputs.ndim != 1 or inputs.dtype.kind not in "USO":
            return False
        inputs = inputs.tolist()
    return isinstance(inputs, list) and all(isinstance(text, str | bytes) for text in inputs)


def _require(fulfilled: Any, otherwise: str) -> None:
    if not fulfilled:
        raise ModelFileError(otherwise)


VECTORS = Array("real", ("vectors", "features"), sparse=True)
EVERY = {
    "feature_names_in_": Optional(Names("features")),
    "status_": Optional(str | list[str]),
    "certificate_": Optional(Certificate | Certificates),
}
KERNEL_MACHINE = {
    "n_features_in_": Optional(Size("features")),
    "kernel_": Kernel,
    "support_": Array("whole", ("vectors",)),
    "support_vectors_": Any,
    "dual_coef_": Array("real", ("rows", "vectors"), sparse=True),
    "intercept_": Array("real", ("functions",)),
    "shape_fit_": tuple[int, ...],
    "fit_status_": int,
    "_penalty_": Optional(float),
    "solution_": Optional(Solution | list[Solution]),
    **EVERY,
}
KERNEL_CLASSIFIER = {
    **KERNEL_MACHINE,
    "classes_": Labels("classes"),
    "class_weight_": Array("real", ("classes",)),
    "n_support_": Array("whole", ("classes",)),
    "n_iter_": Optional(Array("whole", ("problems",))),
    "probA_": Array("real", ("sigmoids",)),
    "probB_": Array("real", ("sigmoids",)),
}
ONE_FUNCTION = {
    **KERNEL_MACHINE,
    "dual_coef_": Array("real", ("one", "vectors"), sparse=True),
    "intercept_": Array("real", ("one",)),
    "n_support_": Array("whole", ("one",)),
    "n_iter_": Optional(int),
}
LEAST_SQUARES = {
    **KERNEL_MACHINE,
    "dual_coef_": Array("real", ("functions", "vectors"), sparse=True),
    "n_support_": Array("whole", ("one",)),
    "n_iter_": Optional(int),
    "method_": Optional(str),
    "loo_residuals_": Optional(np.ndarray),
}
LINEAR_MACHINE = {
    "n_features_in_": Size("features"),
    "n_iter_": int,
    "fit_status_": Optional(int),
    "_cost_": Optional(float),
    "C_": Optional(float),
    "solution_": Optional(LinearSolution | list[LinearSolution]),
    **EVERY,
}
LINEAR_CLASSIFIER = {
    **LINEAR_MACHINE,
    "classes_": Labels("classes"),
    "coef_": Array("real", ("functions", "features"), sparse=True),
    "intercept_": Array("real", ("functions",)),
}
LINEAR_REGRESSOR = {
    **LINEAR_MACHINE,
    "coef_": [
        Array("real", ("features",)),
        Array("real", ("one", "features"), sparse=True),
    ],
    "intercept_": Array("real", ("one",)),
}

STORED_SAMPLES = {
    "n_features_in_": Optional(Size("features")),
    "feature_names_in_": Optional(Names("features")),
    "kernel_": Kernel,
    "X_fit_": Any,
    "center_": Array("real", ("centre",)),
}
NEIGHBORS = {
    **STORED_SAMPLES,
    "squares_": Array("real", ("vectors",)),
    "sample_weight_": Array("real", ("vectors",)),
    "y_fit_": Array("real", ("vectors",)),
}
MEAN = {
    **STORED_SAMPLES,
    "classes_": Labels("classes"),
    "dual_coef_": Array("real", ("classes", "vectors")),
    "offsets_": Array("real", ("classes",)),
    "between_": float,
}
GENERALISED_INVERSE = {
    "n_features_in_": Size("features"),
    "feature_names_in_": Optional(Names("features")),
    "coef_": [Array("real", ("features",)), Array("real", ("targets", "features"))],
    "intercept_": Array("real", ("targets",)),
    "rank_": int,
    "singular_values_": Array("real", ("values",)),
}
TREE = {
    "n_features_in_": Size("features"),
    "feature_names_in_": Optional(Names("features")),
    "n_outputs_": int,
    "max_features_": int,
    "tree_": Tree,
    "splits_": Optional(list[Candidates]),
}

SCHEMAS: dict[str, Schema] = {
    "SVC": Schema(KERNEL_CLASSIFIER, _kernel_classifier),
    "NuSVC": Schema(KERNEL_CLASSIFIER, _kernel_classifier),
    "SVR": Schema(ONE_FUNCTION, _one_function),
    "NuSVR": Schema({**ONE_FUNCTION, "epsilon_": Optional(float)}, _one_function),
    "KernelRidge": Schema({**LEAST_SQUARES, "_one_target_": bool}, _multiple_functions),
    "LeastSquaresSVC": Schema(
        {
            **LEAST_SQUARES,
            "classes_": Labels("classes"),
            "class_weight_": Array("real", ("classes",)),
        },
        _least_squares_classifier,
    ),
    "OneClassSVM": Schema({**ONE_FUNCTION, "offset_": Array("real", ("one",))}, _one_function),
    "LinearSVC": Schema(LINEAR_CLASSIFIER, _linear_classifier),
    "LogisticRegression": Schema(LINEAR_CLASSIFIER, _linear_classifier),
    "LinearSVR": Schema(LINEAR_REGRESSOR, _nothing),
    "SoftmaxRegression": Schema(LINEAR_CLASSIFIER, _linear_classifier),
    "Lasso": Schema(LINEAR_REGRESSOR, _nothing),
    "RidgeRegression": Schema(LINEAR_REGRESSOR, _nothing),
    "DecisionTreeClassifier": Schema(
        {**TREE, "classes_": Labels("classes"), "n_classes_": int}, _tree
    ),
    "DecisionTreeRegressor": Schema(TREE, _tree),
    "MeanClassifier": Schema(MEAN, _mean),
    "KernelNeighborsClassifier": Schema(
        {**NEIGHBORS, "y_fit_": Array("whole", ("vectors",)), "classes_": Labels("classes")},
        _neighbors,
    ),
    "KernelNeighborsRegressor": Schema(NEIGHBORS, _neighbors),
    "LinearRegression": Schema(GENERALISED_INVERSE, _nothing),
}
ESTIMATORS: dict[str, type] = {name: getattr(estimators, name) for name in SCHEMAS}
