"""The choice of a machine for a data set, and the reasons."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from .. import estimators
from ..tuning.auto.classifier import MOST_CLASSES, TEXT_FEATURES
from ..tuning.regression.strategies import REGRESSION_STRATEGIES
from .errors import UsageError
from .options import MachineOptions

# Number of samples from which both machines are tried on a subsample.
MANY_SAMPLES = 20_000


@dataclass(frozen=True)
class Plan:
    """What will be trained.

    Attributes
    ----------
    machine : str
        Name of an estimator.
    parameters : dict
        Those that were given.
    search : str
        How the others are found: "auto" (kernel and C), "kernel" (of a regression), "linear" (C),
        or "" where nothing is searched for.
    scale : bool
        Whether features are standardised.
    reasons : tuple of str
    """

    machine: str
    parameters: dict[str, Any] = field(default_factory=dict)
    search: str = ""
    scale: bool = True
    reasons: tuple[str, ...] = ()

    @property
    def regresses(self) -> bool:
        """Whether targets are numbers."""
        return self.machine.endswith(("SVR", "Regressor"))

    def estimator(self, **found: Any) -> Any:
        """The estimator with these parameters."""
        return getattr(estimators, self.machine)(**self.parameters, **found)


def planned(options: MachineOptions, X: Any, y: np.ndarray | None) -> Plan:
    """The plan for these samples."""
    refuse_contradictions(options)
    parameters = explicit_parameters(options)
    if options.tree:
        machine, search, reasons = _tree(options, y)
    elif options.one_class:
        machine, search, reasons = "OneClassSVM", "", ["asked for"]
    elif is_regression(options, y):
        machine, search, reasons = _regression(options, X, y)
    else:
        machine, search, reasons = _classification(options, X, y)
    known = getattr(estimators, machine)().get_params()
    unknown = [name for name in parameters if name not in known]
    if unknown:
        names = ", ".join(f"--{name}" for name in unknown)
        raise UsageError(f"{names} is not an option of {machine}, which was chosen: {reasons[0]}")
    by_strategy = machine == "SVR" and search == "kernel" and "epsilon" not in parameters
    if (options.strategy or options.metric) and not (search == "auto" or by_strategy):
        raise UsageError(
            f"--strategy and --metric choose how kernel and C are tuned; here {machine} is trained "
            f"({reasons[0]})"
        )
    if by_strategy and options.strategy not in (None, *REGRESSION_STRATEGIES):
        raise UsageError(
            f"--strategy of a regression must be one of {', '.join(REGRESSION_STRATEGIES)}, got "
            f"{options.strategy} ({reasons[0]})"
        )
    scale = options.scale if options.scale is not None else options.gamma is None
    if options.tree:
        scale = bool(options.scale)
    elif options.scale is None and not scale:
        reasons.append("features are not scaled, since gamma is given; --scale changes that")
    if "probability" in known:
        parameters["probability"] = likely(options, X, reasons)
    elif options.probability and not options.tree:
        raise UsageError(f"{machine} has no probabilities: leave out --probability")
    if "random_state" in known:
        parameters["random_state"] = options.seed
    return Plan(machine, parameters, search, scale, tuple(reasons))


def labels_for(plan: Plan, options: MachineOptions, y: Any) -> Any:
    """Targets as the machine takes them: numbers that --svc makes classes become texts where they
    look like measurements."""
    classifies = options.svc and not plan.regresses
    if classifies and y.dtype.kind in "fiu" and is_regression(replace(options, svc=False), y):
        return y.astype(np.str_)
    return y


def refuse_contradictions(options: MachineOptions) -> None:
    kinds = [name for name in ("svc", "svr", "one_class") if getattr(options, name)]
    if len(kinds) > 1:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in kinds)
        raise UsageError(f"{names} exclude each other: choose one")
    if options.one_class and (options.linear or options.online):
        raise UsageError("--one-class cannot be combined with --linear or --online")
    if options.tree and (options.one_class or options.linear or options.online):
        raise UsageError("--tree cannot be combined with --linear, --online or --one-class")
    if not options.tree and (options.max_depth is not None or options.max_leaves is not None):
        raise UsageError("--max-depth and --max-leaves are options of a tree: add --tree")
    if options.online and (options.linear or options.svr):
        raise UsageError("--online is a classifier with a kernel: leave out --linear and --svr")
    if options.linear and options.kernel not in (None, "linear"):
        raise UsageError(f"--linear and --kernel {options.kernel} exclude each other: choose one")


def explicit_parameters(options: MachineOptions) -> dict[str, Any]:
    names = ("kernel", "C", "degree", "coef0", "nu", "epsilon", "loss", "tol", "max_depth")
    parameters = {name: getattr(options, name) for name in names}
    parameters["max_leaf_nodes"] = options.max_leaves
    parameters["gamma"] = None if options.gamma is None else number_or_name(options.gamma)
    if options.linear:
        parameters["kernel"] = None
    return {name: value for name, value in parameters.items() if value is not None}


def number_or_name(gamma: str) -> float | str:
    if gamma in ("scale", "auto"):
        return gamma
    try:
        return float(gamma)
    except ValueError:
        raise UsageError(f"--gamma must be a number, 'scale' or 'auto', got {gamma!r}") from None


def is_regression(options: MachineOptions, y: Any) -> bool:
    if options.svr or options.svc or options.online:
        return options.svr
    return y.dtype.kind in "fiu" and (
        np.unique(y).size > MOST_CLASSES or not (np.asarray(y, float) % 1 == 0).all()
    )


def repeats(y: Any) -> bool:
    """Whether there are at least two samples of each number on average, as of classes."""
    return bool(2 * np.unique(y).size <= y.size)


def _tree(options: MachineOptions, y: Any) -> tuple[str, str, list[str]]:
    if is_regression(options, y):
        return "DecisionTreeRegressor", "", ["a tree as requested, with numbers as targets"]
    return "DecisionTreeClassifier", "", [f"a tree as requested, {np.unique(y).size} classes"]


def _regression(options: MachineOptions, X: Any, y: Any) -> tuple[str, str, list[str]]:
    if y.dtype.kind not in "biuf":
        raise UsageError(f"--svr needs numbers as targets, got strings such as {str(y[0])!r}")
    values = np.unique(y).size
    reason = "asked for" if options.svr else f"the target has {values:,} different numbers"
    if not options.svr:
        reason += ", so it is a measurement"
        reason += "; --svc would take them as classes" if repeats(y) else ""
    if options.linear:
        return "LinearSVR", "" if options.C else "linear", [reason]
    if not explicit(options):
        linear, why = prefers_linear(options, X, y, classifies=False)
        if linear:
            return "LinearSVR", "linear", [reason, *why]
        return "SVR", "kernel", [reason, *why]
    if options.nu is not None:
        return "NuSVR", "" if explicit(options) else "kernel", [reason]
    return "SVR", "" if explicit(options) else "kernel", [reason]


def _classification(options: MachineOptions, X: Any, y: Any) -> tuple[str, str, list[str]]:
    count = np.unique(y).size
    if count < 2:
        raise UsageError(
            f"the target has only one value, {str(y[0])!r}: there is nothing to classify; "
            "--one-class learns where samples are"
        )
    if options.svc and y.dtype.kind in "fiu" and not repeats(y):
        raise UsageError(
            f"--svc: the target has {count:,} different numbers in {y.size:,} samples, so it is a "
            "measurement and has no classes: leave out --svc"
        )
    reason = f"{count} classes"
    if options.online:
        return "OnlineSVC", "", [reason]
    if options.linear:
        return "LinearSVC", "" if options.C else "linear", [f"{reason}; linear as requested"]
    if options.nu is not None:
        return "NuSVC", "", [f"{reason}; nu is given"]
    if explicit(options):
        return "SVC", "", [f"{reason}; parameters are given, so none are searched for"]
    if options.strategy or options.metric:
        return "SVC", "auto", [f"{reason}; a Gaussian kernel, since only that can be tuned"]
    linear, why = prefers_linear(options, X, y, classifies=True)
    if linear:
        return "LinearSVC", "linear", [reason, *why]
    if why:
        return "SVC", "auto", [reason, *why]
    return "SVC", "auto", [f"{reason}; a Gaussian kernel, which fits most data"]


def explicit(options: MachineOptions) -> bool:
    """Whether the machine is given by its parameters."""
    return any(
        value is not None for value in (options.C, options.gamma, options.kernel, options.nu)
    )


def prefers_linear(
    options: MachineOptions, X: Any, y: Any, classifies: bool
) -> tuple[bool, list[str]]:
    """Whether a linear machine is the better start, and why."""
    samples, features = X.shape
    if sparse.issparse(X) and features > TEXT_FEATURES:
        return True, [f"linear, since {features:,} sparse features rarely need a kernel"]
    if samples <= MANY_SAMPLES or options.nu is not None:
        return False, []
    from .training.cost import compared

    found = compared(X, y, classifies, options.seed)
    linear = found.prefers_linear(options.max_seconds)
    return linear, found.in_words(linear)


def likely(options: MachineOptions, X: Any, reasons: list[str]) -> bool:
    """Whether to fit probabilities, by default of up to 10,000 samples."""
    if options.probability is not None:
        return options.probability
    if X.shape[0] > 10_000:
        reasons.append("without probabilities, which take five more fits; --probability adds them")
        return False
    return True
