"""Types that a saved model may contain, for readers with a list of trusted types (skops)."""

from __future__ import annotations

from .. import estimators, kernels, tuning
from ..dual import Certificate
from ..estimators.certificates import Certificates
from ..solvers.linear import LinearSolution
from ..solvers.plan import Plan
from ..solvers.result import Solution
from ..tuning.outcome import Chosen
from .fitted import ESTIMATORS

_RECORDS: tuple[type, ...] = (
    Certificate,
    Certificates,
    Chosen,
    LinearSolution,
    Plan,
    Solution,
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

# For ``skops.io.load(path, trusted=TRUSTED_TYPES)``.
TRUSTED_TYPES: list[str] = sorted(
    f"{kind.__module__}.{kind.__qualname__}"
    for kind in {*ESTIMATORS.values(), estimators.OneClassSVM, *_SEARCHES, *_KERNELS, *_RECORDS}
)
