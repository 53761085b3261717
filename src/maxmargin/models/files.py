"""Model files: `save` and `load` any fitted estimator of the library, without pickle."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .. import __version__, estimators, tuning
from ..archive import Contents, ModelFileError, read_archive, write_archive
from ..data.tables.conversion import Schema
from ..estimators.inputs import is_function
from ..estimators.kernel.prediction import like
from ..estimators.template import learned
from ..kernels.base import take
from .conforming import conforms
from .fitted import ESTIMATORS, SCHEMAS, check_fitted
from .training import Training
from .values import Decoder, Encoder

# The parts of a model file, and what JSON has for them.
PARTS: dict[str, Any] = {
    "maxmargin": str,
    "estimator": str,
    "parameters": dict,
    "attributes": dict,
    "schema": dict | None,
    "training": dict | None,
}
# Exceptions caused by invalid files.
ERRORS = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)
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

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.models import Model
    >>> model = Model(SVC().fit([[-1.0], [1.0]], [0, 1]))
    >>> model.estimator.predict([[0.5]]), model.schema is None
    (array([1]), True)
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
    """Write a fitted estimator to a file that contains no code.

    The file is a zip of JSON and arrays with checksums. It is written beside its place and moved
    there when it is complete: nobody ever sees half of it.

    Parameters
    ----------
    model : estimator or Model
        Of `AutoSVC`, `SVCSearch`, `AutoSVR` and `SVRSearch` the machine they chose is written, of
        `OnlineSVC` the `SVC` that it is at that time. Machines with a Python function as kernel
        are refused.
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
            f"{name}: for a pipeline, save the last step"
        )
    check_is_fitted(estimator)
    parameters = cast(Any, estimator).get_params(deep=False)
    if is_function(parameters.get("kernel")):
        raise ValueError(
            "kernel is a Python function, and model files hold no code: use a kernel of "
            "maxmargin.kernels or 'precomputed', or pickle the model"
        )
    check_fitted(estimator)
    encoder = Encoder(resumable)
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

    Checksums, types, shapes and values are checked; invalid files raise `ModelFileError`.

    Parameters
    ----------
    path : path

    Returns
    -------
    Model
        With the fitted estimator as `estimator`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from maxmargin import SVC
    >>> from maxmargin.models import load, save
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.mm")
    >>> save(SVC().fit([[0.0], [1.0]], ["no", "yes"]), path)
    >>> load(path).estimator.predict([[0.1], [0.9]])
    array(['no', 'yes'], dtype='<U3')
    """
    contents = read_archive(path)
    try:
        return _model(contents)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None
    except ERRORS as error:
        raise ModelFileError(
            f"{os.fspath(path)} does not contain a valid model: {error}"
        ) from error


def chosen_machine(estimator: Any) -> Any:
    """The machine chosen by an estimator that searches; the current machine of an online one."""
    if isinstance(estimator, estimators.OnlineSVC):
        check_is_fitted(estimator)
        return frozen(estimator)
    searches = {
        tuning.AutoSVC: "svc_",
        tuning.AutoSVR: "svr_",
        tuning.SVCSearch: "best_estimator_",
        tuning.SVRSearch: "best_estimator_",
    }
    for searching, chosen in searches.items():
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
    values, decoder = contents.values, Decoder(contents.arrays)
    _check_types(values)
    kind = ESTIMATORS.get(values["estimator"])
    if kind is None:
        raise ModelFileError(f"{values['estimator']!r} is no estimator of this maxmargin")
    estimator: Any = kind()
    estimator.set_params(**decoder.decode_all(values["parameters"]))
    estimator._check_parameters()
    known = SCHEMAS[kind.__name__].attributes
    for name, value in decoder.decode_all(values["attributes"]).items():
        if name not in known:
            raise ModelFileError(f"{name!r} is no attribute of a fitted {kind.__name__}")
        setattr(estimator, name, value)
    check_fitted(estimator)
    schema, training = decoder.decode(values["schema"]), decoder.decode(values["training"])
    if not conforms(schema, Schema | None) or not conforms(training, Training | None):
        raise ModelFileError("its schema or its record of training is none")
    features = getattr(estimator, "n_features_in_", None)
    if schema is not None and schema.width != features:
        raise ModelFileError("schema and machine differ in their features")
    decoder.check_complete()
    return Model(estimator, schema, training)


def _check_types(values: Any) -> None:
    if not isinstance(values, dict) or values.keys() != PARTS.keys():
        raise ModelFileError(f"its description must consist of {', '.join(PARTS)}")
    for name, kind in PARTS.items():
        if not isinstance(values[name], kind):
            raise ModelFileError(f"its {name} is of a wrong type")
