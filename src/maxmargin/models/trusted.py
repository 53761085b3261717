"""Types that a saved model may contain, for readers with a list of trusted types (skops)."""

from __future__ import annotations

import numpy as np

from .. import estimators, kernels, tuning
from ..dual import Certificate
from ..estimators.certificates import Certificates
from ..estimators.online.committee import Committee
from ..estimators.tree import Tree
from ..solvers.linear import LinearSolution
from ..solvers.online.inputs import Frame
from ..solvers.online.machine import OnlineMachine, OnlineSettings, OnlineState
from ..solvers.plan import Plan
from ..solvers.result import Solution
from ..tuning.outcome import Chosen
from .fitted import ESTIMATORS

_RECORDS: tuple[type, ...] = (
    Certificate,
    Certificates,
    Chosen,
    Committee,
    Frame,
    LinearSolution,
    OnlineMachine,
    OnlineSettings,
    OnlineState,
    Plan,
    Solution,
    Tree,
    tuning.Outcome,
    tuning.Point,
    tuning.Result,
    tuning.Stage,
    tuning.TubePoint,
)
_SEARCHES: tuple[type, ...] = (
    tuning.AutoSVC,
    tuning.AutoSVR,
    tuning.SVCSearch,
    tuning.SVRSearch,
)
_KERNELS: tuple[type, ...] = tuple(
    kind
    for name in kernels.__all__
    if isinstance(kind := getattr(kernels, name), type) and issubclass(kind, kernels.Kernel)
)

_ESTIMATORS: tuple[type, ...] = (
    *ESTIMATORS.values(),
    estimators.OneClassSVM,
    estimators.OnlineSVC,
)
# Of other packages: what a metric freezes, and the types of a stream's inputs.
_OTHERS: tuple[type, ...] = (frozenset, np.dtype)

# For ``skops.io.load(path, trusted=TRUSTED_TYPES)``.
TRUSTED_TYPES: list[str] = sorted(
    f"{kind.__module__}.{kind.__qualname__}"
    for kind in {*_ESTIMATORS, *_SEARCHES, *_KERNELS, *_RECORDS, *_OTHERS}
)
