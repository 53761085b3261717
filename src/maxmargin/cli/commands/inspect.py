"""`inspect` and `version`: describe a model, and what is installed."""

from __future__ import annotations

from importlib import metadata
from platform import python_version
from typing import Any

import numpy as np

from ... import __version__
from ...models import Model
from ...report.words import certificate_lines, measure_in_words
from ...tuning.outcome import rounded

PARTS = ("numpy", "scipy", "scikit-learn", "numba", "polars", "matplotlib", "typer")
# Parameters of the training, not of the model.
ASIDE = ("cache_size", "verbose", "callback", "warm_start", "max_seconds", "n_jobs", "random_state")


def described(model: Model) -> list[tuple[str, str]]:
    """The description of a model: subject and text, line by line."""
    machine, training = model.estimator, model.training
    lines = [("machine", type(machine).__name__)]
    if hasattr(machine, "kernel_"):
        lines.append(("kernel", shortened(rounded(repr(machine.kernel_)))))
    for name in ("C", "nu", "epsilon", "loss"):
        if name in machine.get_params(deep=False):
            value = getattr(machine, name)
            lines.append((name, f"{value:.6g}" if isinstance(value, float) else str(value)))
    if hasattr(machine, "classes_"):
        lines.append(("classes", shortened(", ".join(map(str, machine.classes_)))))
    if hasattr(machine, "n_support_"):
        count = int(np.sum(machine.n_support_))
        lines.append(("support", f"{count:,} support vectors"))
    if hasattr(machine, "tree_"):
        leaves, depth = machine.get_n_leaves(), machine.get_depth()
        lines.append(("tree", f"{leaves:,} leaves, depth {depth}"))
    lines.append(("features", f"{machine.n_features_in_:,}{_scales(model)}"))
    if model.schema is not None and model.schema.columns:
        lines.append(("columns", shortened(", ".join(c.name for c in model.schema.columns))))
        lines.append(("target", str(model.schema.target)))
    if hasattr(machine, "certificate_"):
        lines += [
            ("" if place else "certificate", f"{name}: {text}")
            for place, (name, text) in enumerate(certificate_lines(machine.certificate_))
        ]
    elif not hasattr(machine, "tree_"):
        lines.append(("certificate", "none: the file it was converted from has none"))
    if training is not None:
        lines += _of_training(training)
    return lines


def _of_training(training: Any) -> list[tuple[str, str]]:
    lines = [
        ("data", f"{training.source}: {training.samples:,} samples"),
        ("trained", f"in {training.seconds:.1f} s by maxmargin {training.maxmargin}"),
        ("", training.command),
    ]
    for place, measure in enumerate(training.measures):
        lines.append(("" if place else "tested", measure_in_words(measure)))
    if training.search is not None:
        lines.append(("searched", training.search.summary))
    return lines


def _scales(model: Model) -> str:
    return ", standardised" if model.schema is not None and model.schema.scaled else ""


def shortened(text: str, most: int = 90) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def versions() -> dict[str, str]:
    """Versions of maxmargin, Python and the relevant packages that are installed."""
    found = {"maxmargin": __version__, "Python": python_version()}
    for name in PARTS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
