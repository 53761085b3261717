"""Which γ the training part of USPS asks for, zero against the other digits, C 10.

The rule: of γ = 2ᵏ/256, k = −2 … 5, the one with the fewest errors in cross-validation with five
folds, counted over `--repeats` divisions into folds; where these are equal, the larger area under
the ROC curve. Neither test part nor online machine is looked at.

What other methods choose from the same samples is printed beside it: the median distance between
classes, kernel target alignment, and the likelihood of cross-fitted probabilities, the latter two
with a C of their own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from maxmargin import SVC
from maxmargin.tuning import SVCSearch, median_gamma

from .problems import realdata

PIXELS, C, FOLDS = 256, 10.0, 5
POWERS = range(-2, 6)
STRATEGIES = ("kta", "likelihood")


class Quality(NamedTuple):
    """Of one γ: errors in each division into folds, and means over the divisions."""

    gamma: float
    errors: np.ndarray
    balanced: float
    area: float

    def rank(self) -> tuple[float, float]:
        return float(self.errors.sum()), -self.area


def choose_gamma(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    X, digit = realdata.load("usps")
    X, digit = X[: given.samples], digit[: given.samples]
    y = np.where(digit == 0, 1, -1)
    found = []
    for power in POWERS:
        found.append(cross_validated(X, y, 2.0**power / PIXELS, given.repeats))
        yield line(found[-1])
    best = min(found, key=Quality.rank)
    yield {"the rule": in_pixels(best.gamma)}
    yield {"median distance": in_pixels(median_gamma(X, y))}
    for strategy in STRATEGIES:
        search = SVCSearch(SVC(), strategy, max_seconds=given.max_seconds).fit(X, y)
        chosen = search.best_params_
        yield {strategy: in_pixels(chosen["kernel"].gamma), "C": float(f"{chosen['C']:.3g}")}


def cross_validated(X: np.ndarray, y: np.ndarray, gamma: float, repeats: int) -> Quality:
    errors, balanced, area = [], [], []
    for repeat in range(repeats):
        decision = np.empty(y.size)
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(X, y):
            model = SVC(C=C, gamma=gamma).fit(X[train], y[train])
            decision[test] = model.decision_function(X[test])
        predicted = np.where(decision >= 0, 1, -1)
        errors.append((predicted != y).sum())
        balanced.append(balanced_accuracy_score(y, predicted))
        area.append(roc_auc_score(y, decision))
    return Quality(gamma, np.array(errors), float(np.mean(balanced)), float(np.mean(area)))


def line(quality: Quality) -> dict[str, Any]:
    return {
        "gamma": in_pixels(quality.gamma),
        "errors": " ".join(str(count) for count in quality.errors),
        "mean": round(float(quality.errors.mean()), 1),
        "balanced %": round(100.0 * quality.balanced, 3),
        "AUC %": round(100.0 * quality.area, 4),
    }


def in_pixels(gamma: float) -> str:
    """γ as a multiple of 1/256."""
    return f"{PIXELS * gamma:.3g}/{PIXELS}"
