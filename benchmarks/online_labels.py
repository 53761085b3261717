"""Label curves: how accuracy grows when samples are chosen, and when they are random."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from maxmargin import OnlineSVC
from maxmargin.estimators.online.active import LabelCurve

from .problems import MNIST, realdata

# Accuracy asked for, as a part of that with all labels, and the part of the labels it may take.
ENOUGH, SHARE = 0.995, 0.2
SHOWN = 0.25


class Curves(NamedTuple):
    """Of one data set, by strategy."""

    name: str
    size: int
    full: float
    curves: Mapping[str, LabelCurve]


def load(name: str, samples: int | None) -> tuple[Any, ...]:
    X, y = realdata.load(name, dtype=np.float32)
    X_test, y_test = realdata.load(name, "test", np.float32)
    X, y = X[:samples], y[:samples]
    if name == "usps":
        return X, y, (X_test, y_test), {"C": 10.0, "gamma": 2.0 / 256}
    split = [np.where(labels < 5, -1, 1) for labels in (y, y_test)]
    return X / 255, split[0], (X_test / 255, split[1]), dict(MNIST)


def label_curves(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """One row for each data set and strategy; all ten digits of USPS, two groups of MNIST's."""
    found = []
    for name in given.sets or ("usps", "mnist"):
        X, y, test, parameters = load(name, given.samples)
        full = OnlineSVC(epochs=2, **parameters).fit(X, y).score(*test)
        curves = {}
        for querying in ("margin", "auto", "random"):
            model = OnlineSVC(querying=querying, **parameters)
            began = time.perf_counter()
            model.fit_active(X, y.__getitem__, max_labels=int(SHOWN * y.size), test=test)
            seconds = time.perf_counter() - began
            curves[querying] = curve = model.label_curve_
            yield {
                "data": name,
                "querying": querying,
                "all labels %": round(100 * full, 2),
                f"at {SHARE:.0%} %": round(100 * accuracy_at(curve, SHARE * y.size), 2),
                f"labels for {ENOUGH:.1%} of that": share(needed(curve, ENOUGH * full), y.size),
                "ended by": f"{curve.reason} at {curve.labels[-1] / y.size:.1%}",
                "seconds": round(seconds, 1),
            }
        found.append(Curves(name, y.size, full, curves))
    if given.plot:
        plot(found, given.plot)


def accuracy_at(curve: LabelCurve, labels: float) -> float:
    return float(curve.accuracy[max(0, np.searchsorted(curve.labels, labels, "right") - 1)])


def needed(curve: LabelCurve, accuracy: float) -> float:
    """Labels after which the accuracy is first that high."""
    reached = np.flatnonzero(curve.accuracy >= accuracy)
    return float(curve.labels[reached[0]]) if reached.size else np.inf


def share(labels: float, size: int) -> str:
    return f"{labels / size:.1%}" if np.isfinite(labels) else "more"


def plot(found: list[Curves], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(found), figsize=(5.5 * len(found), 4), squeeze=False)
    for panel, (name, size, full, curves) in zip(panels[0], found):
        for querying, curve in curves.items():
            panel.plot(100 * curve.labels / size, 100 * curve.accuracy, label=querying)
        goal = 100 * ENOUGH * full
        known = f"{ENOUGH:.1%} of that with all labels"
        panel.axhline(goal, color="black", linewidth=0.8, linestyle="--", label=known)
        panel.set(xlabel="labels, % of the pool", ylabel="test accuracy, %", title=name.upper())
        panel.set_ylim(goal - 12, None)
        panel.legend(title="querying", loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
