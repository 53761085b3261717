"""Analyses of a report: baselines, classes, worst errors, importance of features."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from ..models.training import HeldOut
from .measures import absolute_error, square_error
from .plots.display import dense


class Table(NamedTuple):
    """A table of texts, and a sentence above it."""

    lead: str
    head: tuple[str, ...]
    lines: list[tuple[str, ...]]


def baselines(tested: HeldOut, classes: np.ndarray | None) -> Table:
    """The model beside a guess that ignores the inputs."""
    target, predicted = tested.target, tested.predicted
    if classes is None:
        true, said = np.asarray(target, float), np.asarray(predicted, float)
        middle, mean = np.full(true.size, np.median(true)), np.full(true.size, true.mean())
        lines: list[tuple[str, ...]] = [
            ("this model", f"{absolute_error(true, said):.4g}", f"{square_error(true, said):.4g}"),
            ("the median", f"{absolute_error(true, middle):.4g}", "–"),
            ("the mean", "–", f"{square_error(true, mean):.4g}"),
        ]
        lead = "Errors compared with those of the best constant prediction for each measure."
        return Table(lead, ("", "mean absolute error", "root mean square error"), lines)
    values, counts = np.unique(target, return_counts=True)
    common = counts.max() / counts.sum()
    lines = [
        ("this model", f"{100 * np.mean(target == predicted):.1f} %"),
        (f"always {values[np.argmax(counts)]}", f"{100 * common:.1f} %"),
        ("at random, in proportion", f"{100 * np.sum((counts / counts.sum()) ** 2):.1f} %"),
    ]
    lead = "Accuracy compared with that of guesses that ignore the inputs."
    return Table(lead, ("", "accuracy"), lines)


def by_class(tested: HeldOut, classes: np.ndarray, *, most: int = 48) -> Table:
    """Precision, recall and F1 of every class, or of the first `most`."""
    lines = []
    for label in classes[:most]:
        true, said = tested.target == label, tested.predicted == label
        hits = int(np.sum(true & said))
        precision = hits / said.sum() if said.any() else np.nan
        recall = hits / true.sum() if true.any() else np.nan
        both = int(true.sum() + said.sum())
        f1 = 2 * hits / both if both else np.nan
        shares = tuple(_share(value) for value in (precision, recall, f1))
        lines.append((str(label), *shares, f"{int(true.sum()):,}"))
    lead = (
        "Precision: fraction of correct predictions of a class. Recall: fraction of a class found. "
        "F1: their harmonic mean."
    )
    return Table(lead, ("class", "precision", "recall", "F1", "samples"), lines)


def worst_errors(tested: HeldOut, classes: np.ndarray | None, *, most: int = 8) -> Table | None:
    """The most confident errors of a classifier, or the largest errors of a regression."""
    if classes is None:
        true, said = np.asarray(tested.target, float), np.asarray(tested.predicted, float)
        order = np.argsort(-np.abs(true - said), kind="stable")[:most]
        lines: list[tuple[str, ...]] = [
            (f"{i + 1:,}", f"{true[i]:.4g}", f"{said[i]:.4g}", f"{true[i] - said[i]:+.4g}")
            for i in order
        ]
        lead = "The largest errors; the number is the position among the samples tested."
        return Table(lead, ("sample", "true", "predicted", "true − predicted"), lines)
    wrong = np.flatnonzero(tested.target != tested.predicted)
    if not wrong.size:
        return None
    sure = _sureness(tested, classes)
    order = wrong[np.argsort(-sure[wrong], kind="stable")][:most]
    told = tested.probability.size > 0
    lines = [
        (
            f"{i + 1:,}",
            str(tested.target[i]),
            str(tested.predicted[i]),
            f"{100 * sure[i]:.0f} %" if told else f"{sure[i]:.3g}",
        )
        for i in order
    ]
    lead = (
        "The most confident errors: check these samples first, some may be mislabelled. "
        "The number is the position among the samples tested."
    )
    return Table(lead, ("sample", "true", "predicted", "probability" if told else "margin"), lines)


def _sureness(tested: HeldOut, classes: np.ndarray) -> np.ndarray:
    """The probability of the class predicted, else how far the decision is from another."""
    if tested.probability.size:
        result: np.ndarray = np.asarray(tested.probability).max(axis=1)
        return result
    decision = np.asarray(tested.decision, dtype=np.float64)
    if decision.ndim == 1 and decision.size:
        return np.abs(decision)
    if decision.ndim == 2 and decision.shape[1] == classes.size:
        ranked = np.sort(decision, axis=1)
        return ranked[:, -1] - ranked[:, -2]
    return np.zeros(tested.target.size)


def importance(
    estimator: Any, X: Any, y: Any, names: Any, *, repeats: int = 3, most: int = 12
) -> Table | None:
    """How much worse predictions become when one feature is shuffled, `repeats` times.

    The `most` important features are listed. Of more than 200 features none is shuffled.
    """
    if not hasattr(X, "shape") or len(X.shape) != 2 or not 2 <= X.shape[1] <= 200:
        return None
    random = np.random.default_rng(0)
    rows = random.permutation(X.shape[0])[:1000]
    inputs, target = dense(X[rows]), np.asarray(y)[rows]
    counts = hasattr(estimator, "classes_")
    before = _quality(estimator, inputs, target, counts)
    drops = np.empty((inputs.shape[1], repeats))
    for feature in range(inputs.shape[1]):
        for repeat in range(repeats):
            shuffled = inputs.copy()
            shuffled[:, feature] = shuffled[random.permutation(rows.size), feature]
            drops[feature, repeat] = before - _quality(estimator, shuffled, target, counts)
    mean = drops.mean(axis=1)
    order = np.argsort(-mean, kind="stable")[:most]
    names = [f"x{i + 1}" for i in range(inputs.shape[1])] if names is None else names
    losses = [f"{100 * mean[i]:.1f} points" if counts else f"{mean[i]:.3g}" for i in order]
    lines: list[tuple[str, ...]] = [(str(names[i]), loss) for i, loss in zip(order, losses)]
    what = "accuracy" if counts else "mean absolute error"
    lead = (
        f"By how much the {what} gets worse when a feature is shuffled ({rows.size:,} of the given "
        "samples). Redundant features share their importance."
    )
    return Table(lead, ("feature", "loss when shuffled"), lines)


def _quality(estimator: Any, X: np.ndarray, target: np.ndarray, counts: bool) -> float:
    said = estimator.predict(X)
    return float(np.mean(said == target)) if counts else -absolute_error(target, said)


def remedy(status: str | None) -> str:
    """The remedy for a fit that ended before the optimum was proven."""
    return REMEDIES.get(status or "", REMEDIES[""])


REMEDIES = {
    "": "Train it again with maxmargin to get a certificate.",
    "step_limit": "Raise max_iter, or fit again with warm_start=True.",
    "time_limit": "Raise max_seconds (--max-seconds), or run the same command again to continue.",
    "stopped": "Fit again with warm_start=True, without the callback that stopped it.",
    "interrupted": "Run the same command again to continue.",
    "precision": "Scale the inputs (StandardScaler) or use a smaller C; float64 is at its limit.",
    "stationary": "Use a positive semi-definite kernel, for instance the Gaussian kernel.",
    "stuck": 'Use selection="second_order", the default.',
    "unbounded": "Use a finite C: these samples cannot be separated without error.",
}


def rounded(text: str, digits: int = 4) -> str:
    """A text in which long numbers have few digits.

    Examples
    --------
    >>> from maxmargin.report.analysis import rounded
    >>> rounded("Gaussian(gamma=0.2455540380014723)")
    'Gaussian(gamma=0.2456)'
    """
    number = re.compile(r"\d+\.\d{5,}(?:e[+-]?\d+)?|\d\.?\d*e[+-]\d+")
    return number.sub(lambda match: f"{float(match[0]):.{digits}g}", text)


def _share(value: float) -> str:
    return "–" if np.isnan(value) else f"{100 * value:.1f} %"
