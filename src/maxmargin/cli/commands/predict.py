"""`predict`: classes, decision values and probabilities of new samples, as a table."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...archive import ModelFileError, replacing
from ...data import DataError, Schema, Vectors, read_data, targets_of
from ...data.tables.conversion import MOST_FEATURES, checked_width
from ...data.tables.names import suggestion
from ...models import HeldOut, Model, load, read_libsvm
from ...report.measures import measured
from ..screen import Screen

# Rows predicted at a time.
BLOCK = 20_000
WRITERS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".arrow": "arrow"}


def load_any(path: str, n_features: int | None = None) -> Model:
    """Load a model file of either kind, told apart by content."""
    with open(path, "rb") as stream:
        text = stream.read(8) == b"svm_type"
    if not text:
        return load(path)
    machine = read_libsvm(path, n_features=n_features)
    return Model(machine, plain_schema(machine, path))


def plain_schema(machine: Any, path: str) -> Schema:
    """The schema of a machine whose inputs are not transformed."""
    width = machine.n_features_in_
    if width > MOST_FEATURES:
        raise ModelFileError(
            f"{path} is a model of {width:,} features; up to {MOST_FEATURES:,} are allowed: number "
            "the features without gaps"
        )
    thin = sparse.issparse(getattr(machine, "support_vectors_", None))
    return Schema((), None, np.zeros(width), np.ones(width), thin)


def inputs_for(path: str, model_path: str, format: str | None) -> tuple[Model, Any, Any]:
    """The model, the data as they are, and the inputs that the model takes."""
    model = load_any(model_path)
    width = getattr(model.estimator, "n_features_in_", None)
    if width is None:
        raise DataError(f"{model_path} is a model of sequences, which data files cannot hold")
    if model.schema is None:
        model = replace(model, schema=plain_schema(model.estimator, model_path))
    data = read_data(path, format=format)
    if isinstance(data, Vectors) and checked_width(data) != width and model.training is None:
        # Neither svmlight files nor LIBSVM models state the number of features.
        model = load_any(model_path, max(width, data.X.shape[1]))
        width = model.estimator.n_features_in_
    if isinstance(data, Vectors) and sparse.issparse(data.X) and data.X.shape[1] < width:
        X = sparse.csr_array(
            (data.X.data, data.X.indices, data.X.indptr), shape=(data.X.shape[0], width)
        )
        data = replace(data, X=X)
    assert model.schema is not None
    return model, data, model.schema.features(data)


def predicted(estimator: Any, X: Any, screen: Screen) -> HeldOut:
    """Predictions block by block; targets are left empty."""
    parts = []
    with screen.working("predicting") as bar:
        for start in range(0, X.shape[0], BLOCK):
            block = X[start : start + BLOCK]
            none = np.empty((block.shape[0], 0))
            decision = probability = none
            if hasattr(estimator, "decision_function"):
                decision = estimator.decision_function(block)
            if hasattr(estimator, "predict_proba"):
                probability = estimator.predict_proba(block)
            parts.append((estimator.predict(block), decision, probability))
            bar.update(min(1.0, (start + BLOCK) / X.shape[0]))
    columns = [np.concatenate(column) for column in zip(*parts)]
    return HeldOut(np.empty(0), *columns)


def as_columns(estimator: Any, predictions: HeldOut) -> dict[str, np.ndarray]:
    """The columns of the table, by name."""
    classes = getattr(estimator, "classes_", None)
    if classes is None and not predictions.decision.size:
        return {"value": predictions.predicted}
    columns = {"class": predictions.predicted}
    if predictions.decision.ndim == 1:
        columns["decision"] = predictions.decision
    elif classes is not None and predictions.decision.shape[1] == classes.size:
        for place, label in enumerate(classes):
            columns[f"decision[{label}]"] = predictions.decision[:, place]
    if predictions.probability.size and classes is not None:
        for place, label in enumerate(classes):
            columns[f"probability[{label}]"] = predictions.probability[:, place]
    return columns


def kept_columns(data: Any, names: list[str]) -> dict[str, Any]:
    """Columns of the data to write next to the predictions; "all" stands for every column."""
    if not names:
        return {}
    if isinstance(data, Vectors):
        raise DataError(f"{data.name} has no columns with names to keep")
    every = list(data.frame.columns)
    if names == ["all"] and "all" not in every:
        names = every
    for name in names:
        if name not in every:
            raise DataError(
                f"{data.name} has no column {name!r} to keep; {suggestion(name, every)}"
            )
    return {name: data.frame[name] for name in names}


def beside(kept: dict[str, Any], columns: dict[str, np.ndarray]) -> dict[str, Any]:
    """Kept columns, then predictions; a prediction whose name is taken is called "predicted …"."""
    renamed = {f"predicted {k}" if k in kept else k: column for k, column in columns.items()}
    return {**kept, **renamed}


def write_columns(columns: dict[str, Any], output: str | None) -> None:
    """Write a table, in the format of the file's ending; to standard output as CSV."""
    import polars

    frame = polars.DataFrame(
        {
            name: values.tolist() if isinstance(values, np.ndarray) else values
            for name, values in columns.items()
        }
    )
    if output is None or output == "-":
        sys.stdout.write(frame.write_csv())
        sys.stdout.flush()
        return
    kind = WRITERS.get(Path(output).suffix.lower())
    if kind is None:
        raise DataError(f"{output} must end with {', '.join(WRITERS)}")
    with replacing(output) as stream:
        if kind in ("csv", "tsv"):
            frame.write_csv(stream, separator="\t" if kind == "tsv" else ",")
        elif kind == "parquet":
            frame.write_parquet(stream)
        else:
            frame.write_ipc(stream)


def known_targets(model: Model, data: Any) -> Any:
    """Targets in the data, if any; numbers as texts where the model has learned them as such."""
    assert model.schema is not None
    target = targets_of(data, model.schema)
    classes = getattr(model.estimator, "classes_", None)
    if target is not None and classes is not None and classes.dtype.kind == "U":
        return target.astype(np.str_) if target.dtype.kind in "fiu" else target
    return target


def comparison(model: Model, data: Any, predictions: HeldOut) -> tuple[Any, ...]:
    """Quality of the predictions, if the data have the target."""
    assert model.schema is not None
    target = known_targets(model, data)
    estimator = model.estimator
    classes = getattr(estimator, "classes_", None)
    if target is None or not hasattr(estimator, "predict"):
        return ()
    if classes is not None:
        if target.dtype.kind != classes.dtype.kind and "U" in (
            target.dtype.kind,
            classes.dtype.kind,
        ):
            return ()
        if not np.isin(target, classes).any():
            return ()
        return measured(estimator, replace(predictions, target=target))
    if type(estimator).__name__ == "OneClassSVM" or target.dtype.kind not in "biuf":
        return ()
    return measured(estimator, replace(predictions, target=target))


def trained_on(model: Model, data: Any) -> bool:
    """Whether these are, by name and number, the samples that the model was trained on."""
    training = model.training
    return training is not None and (training.source, training.samples) == (data.name, data.samples)
