"""`convert`: models from one format to another."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...models import save, write_libsvm
from ..errors import UsageError
from .predict import load_any

LIBSVM, ONNX = (".libsvm", ".model", ".txt"), ".onnx"


def converted(source: str, destination: Path, *, codes: bool = False) -> list[str]:
    """Write the model in the format of the destination's suffix; return notes about the result."""
    model = load_any(source)
    ending = destination.suffix.lower()
    notes = []
    if ending == ".mm":
        save(model, destination)
    elif ending in LIBSVM:
        write_libsvm(model.estimator, destination, codes=codes)
        if model.schema is not None and model.schema.scaled:
            notes.append("it expects scaled inputs: (x − center) / scale")
        classes = getattr(model.estimator, "classes_", np.empty(0))
        if codes and classes.dtype.kind not in "iu":
            notes.append(", ".join(f"{code} is {label}" for code, label in enumerate(classes)))
    elif ending == ONNX:
        from ...models.onnx import write_onnx

        write_onnx(model, destination)
        if model.schema is not None and model.schema.scaled:
            notes.append("scaling is included: it expects features as they are in the data")
        if model.schema is not None:
            names = model.schema.feature_names
            notes.append(f"features of X: {', '.join(names[:8])}{', …' * (len(names) > 8)}")
    else:
        raise UsageError(f"{destination} must end with .mm, {', '.join(LIBSVM)} or {ONNX}")
    return notes
