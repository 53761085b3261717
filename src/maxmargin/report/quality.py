"""Quality of decisions for all thresholds: ROC, precision–recall, calibration, label curves."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics

from .plots.display import BLUE, COLOURS, GREY, Display, colour_of

# Classes up to which each has a curve with a colour and a name of its own.
MOST_NAMED = len(COLOURS)


def _two_classes(estimator: Any) -> np.ndarray:
    classes = np.asarray(estimator.classes_)
    if classes.size != 2:
        raise ValueError(f"estimator must have two classes, got {classes.size}")
    return classes


class RocDisplay(Display):
    """True positives against false positives, for all thresholds of the decision function.

    With more than two classes there is a curve for each, against the rest, and `area` is the mean
    of their areas.

    Parameters
    ----------
    positive : bool array of shape (samples,) or (samples, classes)
        Which samples are of the second class, or of each class.
    decision : float array of the same shape
    name : str
        Of the second class.
    labels : list of str, optional
        Of the classes, where there is a column for each.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.data import two_blobs
    >>> from maxmargin.report import RocDisplay
    >>> X, y = two_blobs(200, random_state=0)
    >>> display = RocDisplay.from_estimator(SVC().fit(X[:100], y[:100]), X[100:], y[100:])
    >>> display.area > 0.5
    True
    """

    size = (5.2, 4.8)

    def __init__(
        self,
        *,
        positive: np.ndarray,
        decision: np.ndarray,
        name: str = "",
        labels: list[str] | None = None,
    ) -> None:
        self.positive, self.decision, self.name = positive, decision, name
        columns = zip(np.atleast_2d(positive.T), np.atleast_2d(decision.T))
        curves = [
            metrics.roc_curve(*pair)[:2] if 0 < pair[0].mean() < 1 else None for pair in columns
        ]
        names = [name] if labels is None else labels
        self.curves = {text: curve for text, curve in zip(names, curves) if curve is not None}
        if not self.curves:
            raise ValueError("positive must have samples of both kinds, got only one kind")
        self.areas = {text: float(metrics.auc(*curve)) for text, curve in self.curves.items()}
        self.area = float(np.mean(list(self.areas.values())))
        if labels is None:
            self.false_rate, self.true_rate = self.curves[name]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> RocDisplay:
        """Plot for a fitted classifier.

        Parameters
        ----------
        estimator : classifier
        X, y : samples and labels
        ax : Axes, optional
        """
        classes, decision = np.asarray(estimator.classes_), estimator.decision_function(X)
        if classes.size == 2:
            second = classes[1]
            return cls.from_predictions(np.asarray(y) == second, decision, name=str(second), ax=ax)
        if decision.shape[1] != classes.size:
            raise ValueError(
                f"decision_function must have a column for each of {classes.size} classes, got "
                f'{decision.shape[1]}: use decision_function_shape="ovr"'
            )
        return cls(
            positive=np.asarray(y)[:, None] == classes,
            decision=decision,
            labels=[str(label) for label in classes],
        ).plot(ax)

    @classmethod
    def from_predictions(
        cls, positive: Any, decision: Any, *, name: str = "", ax: Any = None
    ) -> RocDisplay:
        """Plot for decision values of two classes.

        Parameters
        ----------
        positive : bool array
        decision : float array
        name : str
        ax : Axes, optional
        """
        return cls(positive=np.asarray(positive), decision=np.asarray(decision), name=name).plot(ax)

    def _draw(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.4, label="chance")
        if self.positive.ndim == 1:
            self._draw_one(ax)
        else:
            self._draw_classes(ax)
        ax.set(xlabel="false positive rate", ylabel="true positive rate")
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(loc="lower right", fontsize=10)

    def _draw_one(self, ax: Any) -> None:
        rates = (self.false_rate, self.true_rate)
        ax.fill_between(*rates, color=BLUE, alpha=0.10, linewidth=0)
        ax.plot(*rates, color=BLUE, label=f"area {self.area:.3f}", clip_on=False)
        ax.set_title(f"ROC for {self.name!r}" if self.name else "ROC")

    def _draw_classes(self, ax: Any) -> None:
        """Curves of few classes have names; of many, the best and the worst have."""
        ranked = sorted(self.areas, key=lambda text: self.areas[text])
        named = list(self.curves) if len(ranked) <= MOST_NAMED else [ranked[0], ranked[-1]]
        for text, curve in self.curves.items():
            style = {"color": GREY, "linewidth": 0.8, "alpha": 0.6}
            if text in named:
                label = f"{text}: area {self.areas[text]:.3f}"
                style = {"color": colour_of(named.index(text)), "label": label}
            ax.plot(*curve, clip_on=False, **style)
        ax.set_title(f"ROC, each class against the rest: mean area {self.area:.3f}", fontsize=12)


class PrecisionRecallDisplay(Display):
    """Precision against recall, for all thresholds of the decision function.

    Parameters
    ----------
    positive : bool array
    decision : float array
    name : str

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.data import two_blobs
    >>> from maxmargin.report import PrecisionRecallDisplay
    >>> X, y = two_blobs(200, random_state=0)
    >>> model = SVC().fit(X[:100], y[:100])
    >>> bool(PrecisionRecallDisplay.from_estimator(model, X[100:], y[100:]).average > 0.5)
    True
    """

    size = (5.2, 4.8)

    def __init__(self, *, positive: np.ndarray, decision: np.ndarray, name: str = "") -> None:
        self.positive, self.decision, self.name = positive, decision, name
        self.precision, self.recall, _ = metrics.precision_recall_curve(positive, decision)
        self.average = float(metrics.average_precision_score(positive, decision))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None
    ) -> PrecisionRecallDisplay:
        """Plot for a fitted classifier of two classes.

        Parameters
        ----------
        estimator : classifier
        X, y : samples and labels
        ax : Axes, optional
        """
        second = _two_classes(estimator)[1]
        return cls.from_predictions(
            np.asarray(y) == second, estimator.decision_function(X), name=str(second), ax=ax
        )

    @classmethod
    def from_predictions(
        cls, positive: Any, decision: Any, *, name: str = "", ax: Any = None
    ) -> PrecisionRecallDisplay:
        """Plot for decision values.

        Parameters
        ----------
        positive : bool array
        decision : float array
        name : str
        ax : Axes, optional
        """
        return cls(positive=np.asarray(positive), decision=np.asarray(decision), name=name).plot(ax)

    def _draw(self, ax: Any) -> None:
        share = float(np.mean(self.positive))
        ax.axhline(share, color=GREY, linestyle=":", linewidth=1.4, label="chance")
        name = f"average precision {self.average:.3f}"
        ax.step(self.recall, self.precision, where="post", color=BLUE, label=name, clip_on=False)
        of = f" for {self.name!r}" if self.name else ""
        ax.set(xlabel="recall", ylabel="precision", title=f"precision and recall{of}")
        ax.set(xlim=(0, 1), ylim=(0, 1.0), aspect="equal")
        ax.legend(loc="lower left")


class CalibrationDisplay(Display):
    """Predicted probability of the second class against its observed frequency.

    Samples are divided into ten bins of equal size; bars are 95 % intervals of the frequency.

    Parameters
    ----------
    positive : bool array
    probability : float array
        Of the second class.
    name : str

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.data import two_blobs
    >>> from maxmargin.report import CalibrationDisplay
    >>> X, y = two_blobs(200, random_state=0)
    >>> model = SVC(probability=True).fit(X[:100], y[:100])
    >>> CalibrationDisplay.from_estimator(model, X[100:], y[100:]).probability.shape
    (100,)
    """

    size = (5.2, 4.8)

    def __init__(self, *, positive: np.ndarray, probability: np.ndarray, name: str = "") -> None:
        self.positive, self.probability, self.name = positive, probability, name
        order = np.argsort(probability, kind="stable")
        parts = [part for part in np.array_split(order, min(10, len(order))) if part.size]
        self.told = np.array([probability[part].mean() for part in parts])
        self.true = np.array([positive[part].mean() for part in parts])
        self.counts = np.array([part.size for part in parts])

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None
    ) -> CalibrationDisplay:
        """Plot for a fitted classifier of two classes with `predict_proba`.

        Parameters
        ----------
        estimator : classifier
        X, y : samples and labels
        ax : Axes, optional
        """
        second = _two_classes(estimator)[1]
        return cls.from_predictions(
            np.asarray(y) == second, estimator.predict_proba(X)[:, 1], name=str(second), ax=ax
        )

    @classmethod
    def from_predictions(
        cls, positive: Any, probability: Any, *, name: str = "", ax: Any = None
    ) -> CalibrationDisplay:
        """Plot for probabilities.

        Parameters
        ----------
        positive : bool array
        probability : float array
        name : str
        ax : Axes, optional
        """
        arguments = {"positive": np.asarray(positive), "probability": np.asarray(probability)}
        return cls(**arguments, name=name).plot(ax)

    def _draw(self, ax: Any) -> None:
        from .measures import share

        hits = np.round(self.true * self.counts).astype(int)
        intervals = [share("", int(h), int(n)) for h, n in zip(hits, self.counts)]
        below = self.true - np.array([interval.low for interval in intervals])
        above = np.array([interval.high for interval in intervals]) - self.true
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.4, label="perfect")
        errors = np.maximum([below, above], 0.0)
        style = {"color": BLUE, "marker": "o", "markersize": 6, "linewidth": 1.6, "capsize": 3}
        ax.errorbar(self.told, self.true, yerr=errors, label="this model", clip_on=False, **style)
        of = f" of {self.name!r}" if self.name else ""
        ax.set(
            xlabel=f"predicted probability{of}", ylabel="observed frequency", title="calibration"
        )
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(loc="upper left")


class LabelCurveDisplay(Display):
    """A quality measure against the number of labels requested.

    Parameters
    ----------
    curves : dict
        From the name of a way to choose samples to (labels, values), two arrays each.
    measure : str
        What the values are.

    Examples
    --------
    >>> from maxmargin.report import LabelCurveDisplay
    >>> chosen = ([10, 20, 40], [0.80, 0.90, 0.95])
    >>> at_random = ([10, 20, 40], [0.78, 0.84, 0.90])
    >>> display = LabelCurveDisplay.from_curves({"chosen": chosen, "at random": at_random})
    >>> display.ax_.get_xlabel()
    'labels'
    """

    def __init__(self, *, curves: dict[str, Any], measure: str = "accuracy") -> None:
        self.curves, self.measure = curves, measure

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str = "chosen", ax: Any = None) -> Any:
        """Plot the label curve of an `OnlineSVC` after `fit_active`.

        Parameters
        ----------
        estimator : OnlineSVC
        name : str
        ax : Axes, optional
        """
        curve = getattr(estimator, "label_curve_", None)
        if curve is None:
            raise ValueError("estimator has no label_curve_: call fit_active first")
        return cls.from_curves({name: (curve.labels, curve.accuracy)}, ax=ax)

    @classmethod
    def from_curves(
        cls, curves: dict[str, Any], *, measure: str = "accuracy", ax: Any = None
    ) -> LabelCurveDisplay:
        """Plot label curves, the first in front.

        Parameters
        ----------
        curves : dict
            From name to (labels, values).
        measure : str
        ax : Axes, optional
        """
        return cls(curves=curves, measure=measure).plot(ax)

    def _draw(self, ax: Any) -> None:
        styles = ("-", "--", "-.", ":")
        for place, (name, (labels, values)) in enumerate(self.curves.items()):
            style = {"color": colour_of(place), "linestyle": styles[place % 4]}
            ax.plot(labels, values, label=name, zorder=9 - place, **style)
        ax.set(xlabel="labels", ylabel=self.measure, title="value of labels")
        ax.xaxis.get_major_locator().set_params(integer=True)
        if len(self.curves) > 1:
            ax.legend(loc="best")
        if self.measure == "accuracy":
            ax.set_ylim(top=min(1.0, ax.get_ylim()[1]))
