"""Arguments of machines, checked: labels, targets, prices and fractions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .problem import Float


def as_vector(name: str, values: ArrayLike) -> Float:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be a vector with an entry a sample, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity")
    return array


def as_labels(y: ArrayLike) -> Float:
    labels = as_vector("y", y)
    other = np.abs(labels) != 1.0
    if other.any():
        raise ValueError(
            f"y must hold labels -1 and +1 only, got {labels[other].min():g}: encode the classes"
        )
    return labels


def as_penalties(name: str, values: ArrayLike, samples: int, finite: bool = False) -> Float:
    entries = np.asarray(values, dtype=np.float64)
    if np.isnan(entries).any():
        raise ValueError(f"{name} contains NaN")
    if entries.ndim == 0:
        if entries <= 0:
            raise ValueError(f"{name} must be positive, got {entries}")
        entries = np.full(samples, float(entries))
    if entries.shape != (samples,):
        raise ValueError(
            f"{name} must be one number or one for each of the {samples} samples, "
            f"got shape {entries.shape}"
        )
    if (entries < 0).any():
        raise ValueError(f"{name} must not be negative, got {entries.min()}")
    if not (entries > 0).any():
        raise ValueError(f"{name} must be positive for at least one sample, got only zeros")
    if finite and np.isinf(entries).any():
        raise ValueError(f"{name} must be finite for this machine, got infinity: use a large value")
    return entries


def require_both_classes(labels: Float, penalty: Float) -> None:
    for label in (-1, 1):
        if not (penalty[labels == label] > 0).any():
            raise ValueError(
                f"y must hold both classes, -1 and +1, with positive weight; there is no {label:+d}"
            )


def as_fraction(nu: float) -> float:
    nu = float(nu)
    if not 0 < nu <= 1:
        raise ValueError(f"nu must be in (0, 1], got {nu}")
    return nu
