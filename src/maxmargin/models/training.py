"""The record of a training run besides the model: data, choices, progress, tests."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


def _none() -> np.ndarray:
    return np.empty(0)


@dataclass(frozen=True)
class Measure:
    """A figure of quality with a 95 % confidence interval.

    Attributes
    ----------
    name : str
        For people: "accuracy".
    value, low, high : float

    Examples
    --------
    >>> from maxmargin.models import Measure
    >>> Measure("accuracy", 0.95, low=0.91, high=0.98).name
    'accuracy'
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class SearchTable:
    """What was tried: every evaluation of a search that is kept.

    Attributes
    ----------
    summary : str
        What was done, with which result.
    stage : array of str
    value : float array
        Of the objective of each stage.
    parameters : dict of float arrays
        Coordinates of the points: "log_C", "log_gamma", … NaN where a stage has none.
    chosen : dict of float
        Coordinates of the point that was chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.models import SearchTable
    >>> table = SearchTable("two values of C", np.array(["grid", "grid"]), np.array([0.1, 0.2]))
    >>> table.stage[np.argmin(table.value)].item()
    'grid'
    """

    summary: str
    stage: np.ndarray = field(default_factory=lambda: np.empty(0, dtype="U1"))
    value: np.ndarray = field(default_factory=_none)
    parameters: dict[str, np.ndarray] = field(default_factory=dict)
    chosen: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class FitCurve:
    """The progress of a fit, one entry per report of the solver.

    Attributes
    ----------
    seconds, violation, primal, dual : float arrays
    active : int array
        Variables that were not shrunk.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.models import FitCurve
    >>> curve = FitCurve(primal=np.array([9.0, 5.0]), dual=np.array([1.0, 4.0]))
    >>> curve.primal - curve.dual
    array([8., 1.])
    """

    seconds: np.ndarray = field(default_factory=_none)
    violation: np.ndarray = field(default_factory=_none)
    primal: np.ndarray = field(default_factory=_none)
    dual: np.ndarray = field(default_factory=_none)
    active: np.ndarray = field(default_factory=_none)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions for samples that took no part in training.

    Attributes
    ----------
    target : array
        What is true.
    predicted : array
    decision : float array
        Decision values; empty where there are none.
    probability : float array
        A column for each class; empty where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.models import HeldOut
    >>> held_out = HeldOut(np.array(["a", "b", "b"]), predicted=np.array(["a", "b", "a"]))
    >>> round(float((held_out.target == held_out.predicted).mean()), 2)
    0.67
    """

    target: np.ndarray
    predicted: np.ndarray
    decision: np.ndarray = field(default_factory=_none)
    probability: np.ndarray = field(default_factory=_none)


@dataclass(frozen=True, eq=False)
class Training:
    """A training run.

    Attributes
    ----------
    maxmargin : str
        Version that trained.
    command : str
        What to type to do it again.
    source : str
        Name of the data file.
    fingerprint : str
        Of the data and all settings; a checkpoint is taken up only by its equal.
    samples, features : int
    classes : dict of int
        Samples of each class; empty where there are no classes.
    seconds : float
    notes : tuple of str
        What was guessed and chosen, and why.
    measures : tuple of Measure
        On held-out samples, by a machine that never saw them.
    search : SearchTable or None
    curve : FitCurve or None
    held_out : HeldOut or None
    stage : str
        "done", or what was being done when the checkpoint was written.

    Examples
    --------
    >>> from maxmargin.models import Training
    >>> run = Training("0.1.0", "maxmargin train cells.csv", "cells.csv", "c0ffee", 569, 30)
    >>> run.stage
    'done'
    """

    maxmargin: str
    command: str
    source: str
    fingerprint: str
    samples: int
    features: int
    classes: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    search: SearchTable | None = None
    curve: FitCurve | None = None
    held_out: HeldOut | None = None
    stage: str = "done"
