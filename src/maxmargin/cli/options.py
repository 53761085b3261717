"""The options of `train` and `tune` that describe the machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MachineOptions:
    """Command-line options that describe the machine."""

    linear: bool = False
    tree: bool = False
    max_depth: int | None = None
    max_leaves: int | None = None
    online: bool = False
    svr: bool = False
    svc: bool = False
    one_class: bool = False
    kernel: str | None = None
    C: float | None = None
    gamma: str | None = None
    degree: int | None = None
    coef0: float | None = None
    nu: float | None = None
    epsilon: float | None = None
    loss: str | None = None
    tol: float | None = None
    strategy: str | None = None
    metric: str | None = None
    probability: bool | None = None
    scale: bool | None = None
    seed: int = 0
    max_seconds: float | None = None
