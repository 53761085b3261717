"""Model files: `save` and `load` any fitted estimator of the library, without pickle."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .. import __version__, estimators, tuning
from ..archive import Contents, ModelFileError, read_archive, write_archive
from ..data.tables import Schema
from ..estimators.base import KernelMachine, learned
from ..estimators.classifier import KernelClassifier
from ..estimators.expansion import like
from ..estimators.inputs import is_function, is_precomputed
from ..estimators.linear_base import LinearMachine
from ..kernels import Kernel
from ..kernels.base import take
from .training import Training
from .values import Decoder, Encoder

ESTIMATORS: dict[str, type] = {
    name: getattr(estimators, name)
    for name in estimators.__all__
    if name not in ("Certificates", "LabelCurve", "OnlineSVC")
}
# Fitted attributes: no parameter ends with an underscore.
ATTRIBUTE = re.compile(r"_?[a-zA-Z]\w*_")
# Parameters that do not outlive the process.
FLEETING = ("callback", "random_state")


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file holds.

    Attributes
    ----------
    estimator : estimator
        Fitted.
    schema : Schema or None
        How the columns of a table become the features of the estimator.
    training : Training or None
        What is known of the training run.
    """

    estimator: Any
    schema: Schema | None = None
    training: Training | None = None


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    training: Training | None = None,
    resumable: bool = False,
) -> None:
    """Write a fitted estimator to a file that holds no code.

    The file is a zip of JSON and arrays with checksums. It is written beside its place and moved
    there when it is complete: nobody ever sees half of it.

    Parameters
    ----------
    model : estimator or Model
        Of `AutoSVC` and `SVCSearch` the machine they chose is written, of `OnlineSVC` the `SVC`
        that it is at that time. Machines with a Python function as kernel are refused.
    path : path
        By convention with the ending ``.mm``.
    schema : Schema, optional
        How the columns of a table become the features.
    training : Training, optional
    resumable : bool
        Whether to keep the dual variables, so that ``fit`` with ``warm_start=True`` can go on
        after `load`.

    Examples
    --------
    >>> import tempfile
    >>> from maxmargin import SVC
    >>> from maxmargin.models import load, save
    >>> model = SVC(kernel="linear").fit([[-1.0], [1.0]], ["left", "right"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.mm")
    ...     load(f"{folder}/model.mm").estimator.predict([[0.5]])
    array(['right'], dtype='<U5')
    """
    if not isinstance(model, Model):
        model = Model(model, schema, training)
    estimator = chosen_machine(model.estimator)
    name = type(estimator).__name__
    if ESTIMATORS.get(name) is not type(estimator):
        raise ValueError(
            f"model must be an estimator of maxmargin ({', '.join(sorted(ESTIMATORS))}), got "
            f"{name}: of a pipeline, save the last step"
        )
    check_is_fitted(estimator)
    encoder = Encoder(resumable)
    parameters = estimator.get_params(deep=False)
    if is_function(parameters.get("kernel")):
        raise ValueError(
            "kernel is a Python function, and model files hold no code: use a kernel of "
            "maxmargin.kernels or 'precomputed', or pickle the model"
        )
    parameters = {key: value for key, value in parameters.items() if key not in FLEETING}
    values = {
        "maxmargin": __version__,
        "estimator": name,
        "parameters": _encoded(encoder, "parameters", parameters),
        "attributes": _encoded(encoder, "attributes", learned(estimator)),
        "schema": encoder.encode("schema", model.schema),
        "training": encoder.encode("training", model.training),
    }
    write_archive(path, Contents(values, encoder.arrays))


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file.

    Checksums, types, shapes and values are checked; whatever is wrong raises `ModelFileError`.

    Parameters
    ----------
    path : path

    Returns
    -------
    Model
    """
    contents = read_archive(path)
    try:
        return _model(contents)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as error:
        raise ModelFileError(
            f"{os.fspath(path)} holds no model that makes sense: {error}"
        ) from error


def chosen_machine(estimator: Any) -> Any:
    """Of an estimator that searches, the machine it chose; of one that goes on, what it is now."""
    if isinstance(estimator, estimators.OnlineSVC):
        check_is_fitted(estimator)
        return frozen(estimator)
    for searching, chosen in ((tuning.AutoSVC, "svc_"), (tuning.SVCSearch, "best_estimator_")):
        if isinstance(estimator, searching):
            check_is_fitted(estimator)
            return getattr(estimator, chosen)
    return estimator


def frozen(online: Any) -> Any:
    """The `SVC` with the function that an `OnlineSVC` has learned so far."""
    coef, inputs = online.dual_coef_, online.support_vectors_
    two = online.classes_.size == 2
    # An example has a positive coefficient in the machine of its own class.
    own = (coef[0] > 0).astype(int) if two else np.argmax(coef, axis=0)
    order = np.argsort(own, kind="stable")
    names = ("C", "degree", "gamma", "coef0", "tol", "class_weight", "precision")
    svc = estimators.SVC(
        kernel=online.kernel_, multi_class="ovr", **{name: getattr(online, name) for name in names}
    )
    svc.kernel_, svc.classes_ = online.kernel_, online.classes_
    svc.class_weight_ = online.class_weight_
    svc.support_ = np.asarray(online.support_)[order].astype(np.int32)
    svc.support_vectors_ = take(inputs, order)
    svc.dual_coef_ = coef[:, order]
    if sparse.issparse(svc.support_vectors_):
        svc.dual_coef_ = like(svc.support_vectors_, svc.dual_coef_)
    svc.intercept_ = online.intercept_
    svc.n_support_ = np.bincount(own, minlength=online.classes_.size).astype(np.int32)
    svc.probA_ = svc.probB_ = np.empty(0)
    svc.fit_status_ = 0
    for name in ("certificate_", "status_", "n_features_in_", "feature_names_in_", "n_iter_"):
        if hasattr(online, name):
            setattr(svc, name, getattr(online, name))
    svc.shape_fit_ = (int(online.n_seen_), getattr(online, "n_features_in_", 0))
    return svc


def _encoded(encoder: Encoder, place: str, named: dict[str, Any]) -> dict[str, Any]:
    return {name: encoder.encode(f"{place}.{name}", value) for name, value in named.items()}


def _model(contents: Contents) -> Model:
    values, strict = contents.values, Decoder(contents.arrays, finite=True)
    kind = ESTIMATORS.get(values["estimator"])
    if kind is None:
        raise ModelFileError(f"{values['estimator']!r} is no estimator of this maxmargin")
    parameters = {name: strict.decode(value) for name, value in values["parameters"].items()}
    estimator: Any = kind()
    estimator.set_params(**parameters)
    estimator._check_parameters()
    for name, value in values["attributes"].items():
        if not ATTRIBUTE.fullmatch(name) or name.endswith("__") or hasattr(kind, name):
            raise ModelFileError(f"{name!r} is no attribute of a fitted {kind.__name__}")
        setattr(estimator, name, strict.decode(value))
    if isinstance(estimator, KernelMachine):
        _check_kernel_machine(estimator)
    elif isinstance(estimator, LinearMachine):
        _check_linear_machine(estimator)
    lenient = Decoder(contents.arrays)
    schema, training = lenient.decode(values["schema"]), lenient.decode(values["training"])
    _require(schema is None or isinstance(schema, Schema), "its schema is none")
    _require(training is None or isinstance(training, Training), "its record of training is none")
    features = getattr(estimator, "n_features_in_", None)
    if schema is not None:
        schema.check()
        _require(schema.width == features, "schema and machine differ in their features")
    return Model(estimator, schema, training)


def _check_kernel_machine(estimator: Any) -> None:
    coef, n_support = estimator.dual_coef_, estimator.n_support_
    _require(isinstance(estimator.kernel_, Kernel), "kernel_ is no kernel")
    _require(coef.ndim == 2 and _real(coef), "dual_coef_ is no matrix")
    _require(n_support.ndim == 1 and n_support.dtype.kind == "i", "n_support_ holds no counts")
    _require((n_support >= 0).all() and n_support.sum() == coef.shape[1], "support vectors miss")
    _require(estimator.support_.shape == (coef.shape[1],), "support_ has the wrong length")
    functions, intercepts = 1, 1
    if isinstance(estimator, KernelClassifier):
        classes = estimator.classes_.size
        _require(estimator.classes_.ndim == 1 and classes >= 2, "there are no two classes")
        _require(n_support.size == classes, "n_support_ has the wrong length")
        functions = intercepts = 1 if classes == 2 else classes
        if classes > 2 and coef.shape[0] == classes - 1:
            functions, intercepts = classes - 1, classes * (classes - 1) // 2
        for sigmoid in (estimator.probA_, estimator.probB_):
            _require(sigmoid.size in (0, intercepts), "the sigmoids have the wrong length")
    _require(coef.shape[0] == functions, "dual_coef_ has the wrong number of rows")
    _require(estimator.intercept_.shape == (intercepts,), "intercept_ has the wrong length")
    if is_precomputed(estimator.kernel):
        columns = estimator.n_features_in_
        _require(((estimator.support_ >= 0) & (estimator.support_ < columns)).all(), "support_")
        return
    vectors = estimator.support_vectors_
    if hasattr(estimator, "n_features_in_"):
        shape = (coef.shape[1], estimator.n_features_in_)
        _require(vectors.shape == shape and _real(vectors), "support_vectors_ has a wrong shape")
        if shape[0]:
            estimator.kernel_(vectors[:1], vectors[:1])
    else:
        _require(len(vectors) == coef.shape[1], "support_vectors_ has the wrong length")
    _require(sparse.issparse(coef) == sparse.issparse(vectors), "dense and sparse are mixed")


def _check_linear_machine(estimator: Any) -> None:
    coef, intercept = estimator.coef_, np.atleast_1d(estimator.intercept_)
    functions = coef.shape[0] if coef.ndim == 2 else 1
    _require(_real(coef) and coef.shape[-1] == estimator.n_features_in_, "coef_ has a wrong shape")
    _require(intercept.ndim == 1 and _real(intercept), "intercept_ is no vector")
    _require(intercept.size in (1, functions), "intercept_ has the wrong length")
    if hasattr(estimator, "classes_"):
        classes = estimator.classes_.size
        _require(classes >= 2, "there are no two classes")
        _require(functions == (1 if classes == 2 else classes), "coef_ has a wrong shape")


def _real(array: Any) -> bool:
    return array.dtype.kind == "f"


def _require(fulfilled: Any, otherwise: str) -> None:
    if not fulfilled:
        raise ModelFileError(otherwise)
