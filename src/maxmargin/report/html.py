"""`report.html`: a model, its quality, and its origin, in one page."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .. import __version__
from ..archive import replacing
from ..kernels import Gaussian, MetricGaussian
from ..models.files import Model
from ..models.training import HeldOut, Measure
from .analysis import Table, baselines, by_class, importance, remedy, rounded, worst_errors
from .measures import measured, predictions
from .page import (
    bullets,
    code,
    figure,
    figures,
    heading,
    measures_table,
    page,
    paragraph,
    rows,
    section,
    table,
)
from .plots.boundary import DecisionBoundaryDisplay
from .plots.convergence import ConvergenceDisplay
from .plots.display import Display
from .plots.metric import MetricDisplay
from .plots.predictions import ConfusionDisplay, ResidualDisplay
from .plots.tree import PartitionDisplay, TreeDisplay
from .plots.tuning import TuningDisplay
from .quality import CalibrationDisplay, PrecisionRecallDisplay, RocDisplay
from .words import certificate_lines, gap_in_words, measure_in_figures


def write_report(
    model: Model,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    y: Any = None,
    source: str | None = None,
) -> None:
    """Write a self-contained page about a model.

    Parameters
    ----------
    model : Model
        From `maxmargin.models.load`, or made by hand from a fitted estimator.
    path : path
    X : inputs, optional
        As the estimator takes them, for the plots; its training samples for support vectors.
    y : array, optional
        Targets, to compare predictions with. Where training held samples out and these are the
        training data, those samples are shown instead.
    source : str, optional
        Where X and y come from, if not from training.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from maxmargin import SVC
    >>> from maxmargin.data import two_blobs
    >>> from maxmargin.models import Model
    >>> from maxmargin.report.html import write_report
    >>> X, y = two_blobs(60, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Model(SVC().fit(X, y)), f"{folder}/report.html", X=X, y=y)
    ...     "best possible objective" in Path(folder, "report.html").read_text("utf-8")
    True
    """
    text = Report(model, X, y, source).html()
    with replacing(path) as stream:
        stream.write(text.encode())


class Report:
    """The parts of the page, in their order."""

    def __init__(self, model: Model, X: Any, y: Any, source: str | None) -> None:
        self.model, self.X, self.y, self.source = model, X, y, source
        self.machine, self.training = model.estimator, model.training
        self.classes = getattr(self.machine, "classes_", None)
        self.tested, self.measures, self.on = self._tested()

    def _tested(self) -> tuple[HeldOut | None, tuple[Measure, ...], str]:
        """What predictions are compared with, the figures, and which samples these are."""
        training, source = self.training, self.source
        is_training = training is not None and source in (None, training.source)
        if training is not None and is_training and training.held_out is not None:
            count = training.held_out.target.size
            text = (
                f"{count:,} samples were held out. The figures are those of a machine with the "
                "same parameters that never saw them; the model was then trained on all samples."
            )
            return training.held_out, training.measures, text
        usable = self.y is not None and self.X is not None
        if not usable or not (self.classes is not None or is_regressor(self.machine)):
            return None, (), ""
        if self.classes is not None and not np.isin(self.y, self.classes).any():
            return None, (), ""
        tested = predictions(self.machine, self.X, np.asarray(self.y))
        where = f"on {len(tested.target):,} samples" + (f" of {source}" if source else "")
        text = f"Figures {where}."
        if is_training or source is None:
            text += " If these are the training samples, results on new samples will be worse."
        return tested, measured(self.machine, tested), text

    def html(self) -> str:
        name = type(self.machine).__name__
        title = f"{name} for {self._subject()}"
        sections = [
            self._summary(),
            section("Data", rows(self._data())),
            self._choices(),
            self._certificate(),
            self._tests(),
            section("Plots", figures(self._plots())),
            self._reproduction(),
        ]
        kind = "decision tree" if hasattr(self.machine, "tree_") else "support vector machine"
        return page(title, f"maxmargin {__version__} · report of a {kind}", sections)

    def _subject(self) -> str:
        schema, training = self.model.schema, self.training
        source = training.source if training is not None else self.source or "data"
        if schema is not None and schema.target:
            return f"“{schema.target}” of {source}"
        return source

    def _summary(self) -> str:
        sentences = []
        if self.measures:
            first = self.measures[0]
            if first.name == "accuracy":
                value, low, high = measure_in_figures(first)
                sentences.append(f"Test accuracy: {value} (95 % interval {low} – {high} %).")
            else:
                sentences.append(f"{first.name} on test samples is {first.value:.3g}.")
        certificate = getattr(self.machine, "certificate_", None)
        if certificate is not None:
            sentences.append(f"The solution is {gap_in_words(certificate)}.")
        return paragraph(" ".join(sentences), "lead") if sentences else ""

    def _data(self) -> list[tuple[str, str]]:
        pairs = []
        training, schema = self.training, self.model.schema
        if training is not None:
            pairs.append(("file", training.source))
            pairs.append(("samples", f"{training.samples:,}"))
            pairs.append(("features", f"{training.features:,}"))
            if training.classes:
                total = sum(training.classes.values())
                shown = list(training.classes.items())[:30]
                texts = [f"{label}: {count:,} ({count / total:.0%})" for label, count in shown]
                more = len(training.classes) - len(shown)
                pairs.append(("classes", ", ".join(texts) + (f" and {more} more" if more else "")))
        elif self.X is not None:
            pairs.append(("samples", f"{self.X.shape[0]:,}"))
            pairs.append(("features", f"{self.X.shape[1]:,}"))
        if schema is not None and schema.columns:
            kinds = [f"{c.name} ({_kind(c)})" for c in schema.columns[:40]]
            more = len(schema.columns) - len(kinds)
            pairs.append(("columns", ", ".join(kinds) + (f" and {more} more" if more > 0 else "")))
        if schema is not None and schema.scaled:
            centred = "numbers are brought to mean 0 and standard deviation 1"
            divided = "features are divided by their largest entry"
            pairs.append(("scale", centred if np.any(schema.center) else divided))
        return pairs

    def _choices(self) -> str:
        machine, training = self.machine, self.training
        pairs = [("machine", type(machine).__name__)]
        if hasattr(machine, "kernel_"):
            text = rounded(repr(machine.kernel_))
            pairs.append(("kernel", text if len(text) < 400 else text[:399] + "…"))
        for name in ("C", "nu", "epsilon", "loss", "class_weight"):
            value = getattr(machine, name, None)
            if value is not None:
                shown = f"{value:.6g}" if isinstance(value, float) else str(value)
                pairs.append((name, shown))
        if hasattr(machine, "n_support_"):
            pairs.append(("support vectors", f"{int(np.sum(machine.n_support_)):,}"))
        if hasattr(machine, "tree_"):
            pairs.append(("leaves", f"{machine.get_n_leaves():,}"))
            pairs.append(("depth", f"{machine.get_depth():,}"))
        notes = bullets(list(training.notes)) if training is not None else ""
        tried = ""
        if training is not None and training.search is not None:
            tried = paragraph("Points tried:") + code(training.search.summary)
        return section("Parameters tried and chosen", rows(pairs), notes, tried)

    def _certificate(self) -> str:
        certificate = getattr(self.machine, "certificate_", None)
        if certificate is None and hasattr(self.machine, "tree_"):
            return ""
        if certificate is None:
            text = "The file that this model was converted from contains no certificate."
            return section("Certificate", paragraph(f"{text} {remedy(None)}", "warning"))
        proven = np.isfinite(certificate.relative_gap) and certificate.relative_gap < 1e-2
        claim = gap_in_words(certificate)
        text = (
            f"This solution is {claim}. Primal and dual value were recomputed in double precision "
            "from the data and the solution alone; the best possible value lies between them."
        )
        kind = "certificate" if proven else "warning"
        if not proven:
            text += f" What to do: {remedy(getattr(self.machine, 'status_', None))}"
        return section(
            "Certificate", paragraph(text, kind), rows(certificate_lines(certificate)[1:])
        )

    def _tests(self) -> str:
        if not self.measures:
            return ""
        parts = [paragraph(self.on), measures_table(self.measures)]
        for title, found in self._analyses():
            if found is not None:
                parts += [heading(title), paragraph(found.lead), table(found.head, found.lines)]
        return section("Test", *parts)

    def _analyses(self) -> list[tuple[str, Table | None]]:
        if self.tested is None:
            return []
        found: list[tuple[str, Table | None]]
        found = [("Baselines", baselines(self.tested, self.classes))]
        if self.classes is not None and self.classes.size > 1:
            found.append(("Class by class", by_class(self.tested, self.classes)))
        found.append(("Worst errors", worst_errors(self.tested, self.classes)))
        if self.X is not None and self.y is not None:
            names = self.model.schema.feature_names if self.model.schema is not None else None
            features = importance(self.machine, self.X, self.y, names)
            found.append(("Importance of features", features))
        return found

    def _reproduction(self) -> str:
        training = self.training
        if training is None:
            return ""
        pairs = [
            ("trained by", f"maxmargin {training.maxmargin}, in {training.seconds:.1f} s"),
            ("fingerprint", training.fingerprint),
        ]
        text = paragraph(
            "The same command on the same file gives the same model; the fingerprint is that of "
            "the data and all settings."
        )
        return section("How to reproduce", code(training.command), text, rows(pairs))

    def _plots(self) -> list[str]:
        """Pictures with their captions, as far as they suit the model."""
        pictures = []

        def add(draw: Callable[[], Display], caption: str) -> None:
            display = draw()
            pictures.append(figure(display.image(), caption, wide=display.panels[1] > 1))

        if self.tested is not None:
            self._add_quality(add, self.tested)
        if self._drawable():
            names = self.model.schema.feature_names if self.model.schema is not None else None
            labels = self.y if self.classes is not None else None
            arguments: dict[str, Any] = {"feature_names": names}
            add(
                lambda: DecisionBoundaryDisplay.from_estimator(
                    self.machine, self.X, labels, **arguments
                ),
                "Decision boundary; rings mark support vectors.",
            )
            if self._has_metric():
                add(
                    lambda: MetricDisplay.from_estimator(self.machine, self.X, labels, **arguments),
                    "The range of a sample's influence.",
                )
        if hasattr(self.machine, "tree_"):
            self._add_tree(add)
        training = self.training
        if training is not None and training.search is not None and training.search.value.size:
            table = training.search
            add(lambda: TuningDisplay.from_table(table), "Points tried, and the choice.")
        if training is not None and training.curve is not None:
            curve, tol = training.curve, getattr(self.machine, "tol", None)
            caption = "Convergence of the last fit: the optimum lies between primal and dual value."
            add(lambda: ConvergenceDisplay.from_curve(curve, tol=tol), caption)
        return pictures

    def _add_tree(self, add: Any) -> None:
        names = self.model.schema.feature_names if self.model.schema is not None else None
        add(
            lambda: TreeDisplay.from_estimator(self.machine, feature_names=names),
            "The rules of the tree, from the root down; levels too deep to read are left out.",
        )
        if self.X is not None and self.y is not None and self.X.shape[1] == 2:
            add(
                lambda: PartitionDisplay.from_estimator(
                    self.machine, self.X, self.y, feature_names=names
                ),
                "The plane as the tree divides it.",
            )

    def _add_quality(self, add: Any, tested: HeldOut) -> None:
        if self.classes is None:
            epsilon = float(getattr(self.machine, "epsilon_", getattr(self.machine, "epsilon", 0)))
            pair = (tested.target, tested.predicted)
            add(
                lambda: ResidualDisplay.from_predictions(*pair, epsilon=epsilon),
                "Residuals, and predictions against true values"
                + ("; errors inside the tube cost nothing." if epsilon else "."),
            )
            return
        if self.classes.size <= 40:  # a larger confusion matrix is not readable
            add(
                lambda: ConfusionDisplay.from_predictions(
                    tested.target, tested.predicted, labels=self.classes
                ),
                "Confusion matrix: true classes against predicted ones.",
            )
        positive = tested.target == self.classes[-1]
        if (
            self.classes.size != 2
            or not tested.decision.size
            or tested.decision.ndim != 1
            or positive.all()
            or not positive.any()
        ):
            return
        name = str(self.classes[1])
        add(
            lambda: RocDisplay.from_predictions(positive, tested.decision, name=name),
            "ROC curve: true against false positive rate, for all thresholds.",
        )
        add(
            lambda: PrecisionRecallDisplay.from_predictions(positive, tested.decision, name=name),
            "Precision against recall, for all thresholds.",
        )
        if tested.probability.size:
            told = tested.probability[:, 1]
            add(
                lambda: CalibrationDisplay.from_predictions(positive, told, name=name),
                "Predicted probability against observed frequency.",
            )

    def _drawable(self) -> bool:
        if self.X is None or not hasattr(self.machine, "decision_function"):
            return False
        if not hasattr(self.machine, "n_features_in_") or hasattr(self.machine, "epsilon"):
            return False
        samples, features = self.X.shape
        # The plane of the picture is found from all inputs: larger ones take seconds.
        return bool(features >= 2 and samples * features <= 20_000_000)

    def _has_metric(self) -> bool:
        kernel = getattr(self.machine, "kernel_", None)
        return isinstance(kernel, MetricGaussian) or (
            isinstance(kernel, Gaussian) and not kernel.radial
        )


def _kind(column: Any) -> str:
    if column.kind == "category":
        return f"{len(column.categories)} categories"
    return str(column.kind)
