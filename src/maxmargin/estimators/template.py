"""The steps of every fit: check, train a blank copy, adopt its fitted attributes, and warn.

Order of calls::

    fit → _fit
      _check_parameters        the rules of all classes, for parameters that are not the default
      _prepare, _train         of a blank copy: inputs, targets, problems, solutions
        _write_solutions       solution_, certificate_, status_, fit_status_
      take_over                all or nothing: adopt the fitted attributes of the copy
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, cast

from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .certificates import Certificates
from .progress import CallbackSupportMixin, Reporter, with_callbacks


class CertifiedMachine(CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Common base of kernel machines and linear machines."""

    # How parameters are checked: functions of the estimator and the name of the parameter.
    _rules: ClassVar[dict[str, Callable[[Any, str], None]]] = {}

    def _check_parameters(self) -> None:
        """Raise `ParameterError` for the first parameter with a value that is not allowed."""
        for name, rule, default in rules_of(cast(Any, type(self))):
            if getattr(self, name) is not default:
                rule(self, name)

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any, previous: Any = None) -> Any:
        """Train a blank copy, then adopt its fitted attributes: all or nothing."""
        self._check_parameters()
        model = blank(self)
        model._prepare(self, X, y, sample_weight)
        if previous is None and self.warm_start and hasattr(self, "solution_"):
            previous = self
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        data = {"X": X, "y": y, "metadata": metadata}
        with Reporter(self) as reporter:
            interrupted = model._train(X, y, sample_weight, reporter, data, previous)
            reporter.end(take_over(self, model), **data)
        if interrupted:
            raise KeyboardInterrupt("fit was interrupted; the model so far is kept")
        return self

    def _prepare(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        """Preparation before training; `estimator` is the original of this copy."""

    def _train(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        reporter: Reporter,
        data: dict[str, Any],
        previous: Any,
    ) -> bool:
        """Set all fitted attributes; returns whether Ctrl-C was pressed."""
        raise NotImplementedError

    def _seed(self) -> int:
        """The random seed; always the same without `random_state`."""
        seed = getattr(self, "random_state", None)
        return 0 if seed is None else int(check_random_state(seed).randint(2**31 - 1))

    def _write_solutions(
        self, names: Sequence[str], solutions: list[Any], certificates: Sequence[Any]
    ) -> None:
        """One record for a single problem, a list (and `Certificates`) for several."""
        if len(solutions) == 1:
            self.solution_, self.certificate_ = solutions[0], certificates[0]
            self.status_ = solutions[0].status
            self.fit_status_ = int(not solutions[0].converged)
        else:
            self.fit_status_ = int(not all(solution.converged for solution in solutions))
            self.solution_ = solutions
            self.certificate_ = Certificates(tuple(names), tuple(certificates))
            self.status_ = [solution.status for solution in solutions]


@cache
def rules_of(kind: type) -> list[tuple[str, Callable[[Any, str], None], Any]]:
    """Name, rule and default of the parameters of a class, inherited rules first."""
    defaults = inspect.signature(kind).parameters
    rules: dict[str, Callable[[Any, str], None]] = {}
    for base in reversed(kind.__mro__):
        rules.update(vars(base).get("_rules", {}))
    return [
        (name, rule, defaults[name].default) for name, rule in rules.items() if name in defaults
    ]


def blank(estimator: Any) -> Any:
    """An unfitted copy with the same parameters."""
    model = object.__new__(type(estimator))
    vars(model).update(vars(estimator))
    for name in learned(estimator):
        delattr(model, name)
    return model


def take_over(estimator: Any, model: Any) -> dict[str, Any]:
    """Replace the fitted attributes of an estimator by those of its copy; returns them."""
    attributes = learned(model)
    unknown = vars(estimator).keys() - vars(model).keys()
    if unknown:
        for name in unknown & learned(estimator).keys():
            delattr(estimator, name)
    vars(estimator).update(attributes)
    return attributes


def learned(estimator: Any) -> dict[str, Any]:
    """The fitted attributes: those that end with an underscore."""
    attributes = {}
    for name, value in vars(estimator).items():
        if name[-1] == "_" and name[:2] != "__":
            attributes[name] = value
    return attributes
