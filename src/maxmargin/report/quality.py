"""How good predictions are: ROC, precision–recall, calibration, confusion, residuals."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics

from .display import BLUE, GREEN, GREY, Display, colour_of

BINS = 10
# Classes up to which a confusion matrix has a number in every cell.
MOST_NUMBERS = 20


def _two_classes(estimator: Any) -> np.ndarray:
    classes = np.asarray(estimator.classes_)
    if classes.size != 2:
        raise ValueError(f"estimator must tell two classes apart, got {classes.size}")
    return classes


class RocDisplay(Display):
    """True positives against false positives, for all thresholds of the decision function.

    Parameters
    ----------
    positive : bool array
        Which samples are of the second class.
    decision : float array
    name : str
        Of the second class.

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

    def __init__(self, *, positive: np.ndarray, decision: np.ndarray, name: str = "") -> None:
        self.positive, self.decision, self.name = positive, decision, name
        self.false_rate, self.true_rate, _ = metrics.roc_curve(positive, decision)
        self.area = float(metrics.auc(self.false_rate, self.true_rate))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> RocDisplay:
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
    ) -> RocDisplay:
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
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.4, label="chance")
        ax.fill_between(self.false_rate, self.true_rate, color=BLUE, alpha=0.10, linewidth=0)
        ax.plot(
            self.false_rate,
            self.true_rate,
            color=BLUE,
            label=f"area {self.area:.3f}",
            clip_on=False,
        )
        of = f" for {self.name!r}" if self.name else ""
        ax.set(xlabel="false positive rate", ylabel="true positive rate", title=f"ROC{of}")
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(loc="lower right")


class PrecisionRecallDisplay(Display):
    """Precision against recall, for all thresholds of the decision function.

    Parameters
    ----------
    positive : bool array
    decision : float array
    name : str
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
    """How often the second class came true, against the probability that was told.

    Samples are put into ten bins of equal count; bars are 95 % intervals of the share.

    Parameters
    ----------
    positive : bool array
    probability : float array
        Of the second class.
    name : str
    """

    size = (5.2, 4.8)

    def __init__(self, *, positive: np.ndarray, probability: np.ndarray, name: str = "") -> None:
        self.positive, self.probability, self.name = positive, probability, name
        order = np.argsort(probability, kind="stable")
        parts = [part for part in np.array_split(order, min(BINS, len(order))) if part.size]
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
        given = {"positive": np.asarray(positive), "probability": np.asarray(probability)}
        return cls(**given, name=name).plot(ax)

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
        ax.set(xlabel=f"probability told{of}", ylabel="share that came true", title="calibration")
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(loc="upper left")


class ConfusionDisplay(Display):
    """Which classes are taken for which: rows are true, columns predicted.

    Parameters
    ----------
    matrix : int array of shape (classes, classes)
    labels : list of str
    """

    def __init__(self, *, matrix: np.ndarray, labels: list[str]) -> None:
        self.matrix, self.labels = matrix, labels
        side = float(np.clip(0.42 * len(labels) + 2.4, 4.4, 9.0))
        self.size = (side + 0.8, side)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> ConfusionDisplay:
        """Plot for a fitted classifier.

        Parameters
        ----------
        estimator : classifier
        X, y : samples and labels
        ax : Axes, optional
        """
        return cls.from_predictions(y, estimator.predict(X), labels=estimator.classes_, ax=ax)

    @classmethod
    def from_predictions(
        cls, target: Any, predicted: Any, *, labels: Any = None, ax: Any = None
    ) -> ConfusionDisplay:
        """Plot for labels.

        Parameters
        ----------
        target, predicted : arrays of labels
        labels : array, optional
        ax : Axes, optional
        """
        known = np.unique(np.concatenate([target, predicted])) if labels is None else labels
        matrix = metrics.confusion_matrix(target, predicted, labels=known)
        return cls(matrix=matrix, labels=[str(label) for label in known]).plot(ax)

    def _draw(self, ax: Any) -> None:
        totals = np.maximum(self.matrix.sum(axis=1, keepdims=True), 1)
        shares = self.matrix / totals
        ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
        count = len(self.labels)
        if count <= MOST_NUMBERS:
            size = 12 if count <= 8 else 10
            for (i, j), number in np.ndenumerate(self.matrix):
                colour = "white" if shares[i, j] > 0.55 else "#222222"
                text = f"{number:,}" if number or i == j else "·"
                ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=size)
        wide = max(map(len, self.labels), default=0) > 4
        ax.set_xticks(range(count), self.labels, rotation=45 if wide else 0)
        if wide:
            for label in ax.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        ax.set_yticks(range(count), self.labels)
        right = np.trace(self.matrix) / max(self.matrix.sum(), 1)
        ax.set(xlabel="predicted", ylabel="true", title=f"confusion ({right:.1%} right)")
        ax.grid(False)
        for side in ax.spines.values():
            side.set_visible(False)


class ResidualDisplay(Display):
    """Predicted against true values of a regression.

    Parameters
    ----------
    target, predicted : float arrays
    epsilon : float
        Half the width of the tube; 0 draws none.
    """

    size = (5.2, 4.8)

    def __init__(self, *, target: np.ndarray, predicted: np.ndarray, epsilon: float = 0.0) -> None:
        self.target, self.predicted, self.epsilon = target, predicted, epsilon

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> ResidualDisplay:
        """Plot for a fitted regressor.

        Parameters
        ----------
        estimator : regressor
        X, y : samples and targets
        ax : Axes, optional
        """
        epsilon = float(getattr(estimator, "epsilon_", getattr(estimator, "epsilon", 0.0)))
        return cls.from_predictions(y, estimator.predict(X), epsilon=epsilon, ax=ax)

    @classmethod
    def from_predictions(
        cls, target: Any, predicted: Any, *, epsilon: float = 0.0, ax: Any = None
    ) -> ResidualDisplay:
        """Plot for values.

        Parameters
        ----------
        target, predicted : float arrays
        epsilon : float
        ax : Axes, optional
        """
        pair = {"target": np.asarray(target, float), "predicted": np.asarray(predicted, float)}
        return cls(**pair, epsilon=epsilon).plot(ax)

    def _draw(self, ax: Any) -> None:
        both = np.concatenate([self.target, self.predicted])
        low, high = float(both.min()), float(both.max())
        pad = 0.04 * (high - low or 1.0)
        line = np.array([low - pad, high + pad])
        if self.epsilon > 0:
            name = f"tube, ±{self.epsilon:.3g}"
            tube = {"color": GREEN, "alpha": 0.15, "linewidth": 0}
            ax.fill_between(line, line - self.epsilon, line + self.epsilon, label=name, **tube)
        ax.plot(line, line, color=GREY, linestyle=":", linewidth=1.4)
        size = 22 if self.target.size < 400 else 8
        style = {"color": BLUE, "s": size, "alpha": 0.6, "linewidths": 0}
        ax.scatter(self.target, self.predicted, **style)
        ax.set(xlabel="true", ylabel="predicted", title="predicted against true")
        ax.set(xlim=line, ylim=line, aspect="equal")
        if self.epsilon > 0:
            ax.legend(loc="upper left")


class LabelCurveDisplay(Display):
    """What labels are worth: a figure of quality against the number of labels asked for.

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
        ax.set(xlabel="labels", ylabel=self.measure, title="what labels are worth")
        ax.xaxis.get_major_locator().set_params(integer=True)
        if len(self.curves) > 1:
            ax.legend(loc="best")
        if self.measure == "accuracy":
            ax.set_ylim(top=min(1.0, ax.get_ylim()[1]))
