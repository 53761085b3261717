"""`train`: read, choose, search, test, fit, certify and save; resume after a stop."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ... import __version__
from ...data import DataError, Schema, read_data, schema_of, standardised, targets_of
from ...models import Checkpoint, Model, Training, save
from ...report.measures import measured, predictions
from ...report.words import certificate_lines, measure_in_words
from ...tuning import JournalError
from ..errors import UsageError
from ..options import MachineOptions
from ..plan import Plan, labels_for, planned
from ..screen import Screen
from ..training.baselines import compared_with_baselines
from ..training.fitting import Recorder, finished, fitted, solutions_of
from ..training.resuming import Course, Keeper, fingerprint_of
from ..training.searching import Found, searched
from ..training.splitting import split_for_test


@dataclass(frozen=True)
class Reading:
    """The options of a command that concern its data."""

    format: str | None = None
    target: str | None = None
    impute: str | None = None
    drop: tuple[str, ...] = ()
    include: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Samples:
    """Data in the form that estimators take."""

    name: str
    X: Any
    y: np.ndarray | None
    schema: Schema
    notes: tuple[str, ...]

    @property
    def size(self) -> int:
        return int(self.X.shape[0])


def read_samples(path: str, reading: Reading, unlabelled: bool = False) -> Samples:
    """Inputs and targets from a file, with the guesses made about it."""
    data = read_data(path, format=reading.format)
    schema, notes = schema_of(
        data,
        target=reading.target,
        impute=reading.impute,
        drop=reading.drop,
        include=reading.include,
        unlabelled=unlabelled,
    )
    y = targets_of(data, schema)
    if y is None and not unlabelled:
        raise DataError(f"{data.name} has no targets to learn: --one-class needs none")
    return Samples(data.name, schema.features(data), y, schema, notes)


class TrainingRun:
    """One run of `train`, from samples to a model."""

    def __init__(
        self,
        samples: Samples,
        options: MachineOptions,
        *,
        screen: Screen,
        output: Path,
        holdout: float,
        command: str,
        fresh: bool = False,
    ) -> None:
        self.options, self.screen = options, screen
        self.output, self.command = output, command
        self.began = time.perf_counter()
        with screen.working("choosing a machine"):
            self.plan = planned(options, samples.X, samples.y)
        samples = self.samples = replace(samples, y=labels_for(self.plan, options, samples.y))
        self.rows, self.split_notes = self._split(holdout)
        schema = samples.schema
        if self.plan.scale:
            schema = standardised(schema, samples.X[self.rows[0]])
        self.schema = schema
        self.X = scaled(samples.X, schema)
        fingerprint = fingerprint_of(samples.X, samples.y, options, holdout=holdout)
        path = output.with_name(output.name + ".checkpoint")
        self.keeper = Keeper(path, fingerprint, screen, fresh, self._check)
        self.curve: Any = None

    def _split(self, holdout: float) -> tuple[tuple[np.ndarray, np.ndarray], list[str]]:
        """Rows to train and to test with, and notes about them.

        Of fewer than 40 samples none are held out.
        """
        if not 0 <= holdout < 1:
            raise UsageError(f"--holdout must be at least 0 and less than 1, got {holdout}")
        everything, nothing = np.arange(self.samples.size), np.arange(0)
        y = self.samples.y
        if y is None or self.options.one_class or not holdout or y.size < 40:
            return (everything, nothing), []
        classifies = not self.plan.regresses
        return split_for_test(self.samples.X, y, holdout, self.options.seed, classifies)

    def _check(self, state: Checkpoint) -> None:
        """Raise ValueError if this run cannot resume from a checkpoint."""
        if state.stage == "test" and not self.rows[1].size:
            raise ValueError("it tests, and no samples are held out")
        state.begun(self.plan.estimator())._check_parameters()

    def run(self) -> Model:
        """Train and save."""
        notes = [self._described_data(), *self.samples.notes, *self.split_notes]
        self.screen.say_all("data", notes)
        self.screen.say_all("machine", [f"{self.plan.machine}: {self.plan.reasons[0]}"])
        self.screen.say_all("", self.plan.reasons[1:])
        state = self.keeper.found
        try:
            if state is None or state.stage == "search":
                state = self._searched()
            if state.stage == "test":
                state = self._tested(state)
            machine = self._trained(state, np.arange(self.samples.size))
        except KeyboardInterrupt:
            if not self.keeper.path.exists():
                raise
            raise self.keeper.stopped() from None
        model = Model(machine, self.schema, self._record(state))
        save(model, self.output)
        self.keeper.forget()
        self._tell(machine)
        return model

    def _searched(self) -> Checkpoint:
        train, test = self.rows
        if self.plan.search:
            assert self.samples.y is not None  # only one-class machines have none
            X, y = self.X[train], self.samples.y[train]
            found = resumable_search(self.plan, self.options, X, y, self.keeper, self.screen)
            assert found.table is not None
            self.screen.say("searched", found.table.summary)
            parameters, table = found
        else:
            parameters, table = {}, None
        stage = "test" if test.size else "all"
        state = Checkpoint(self.keeper.fingerprint, stage, parameters, search=table)
        self.keeper.keep(state)
        return state

    def _tested(self, state: Checkpoint) -> Checkpoint:
        train, test = self.rows
        y = self.samples.y
        assert y is not None  # without targets no samples are held out
        machine = self._trained(state, train)
        parts = self.X[train], y[train], self.X[test], y[test]
        with self.screen.working("testing"):
            held_out = predictions(machine, self.X[test], y[test])
            measures = measured(machine, held_out)
            baselines = compared_with_baselines(*parts, self.plan.regresses)
        words = [measure_in_words(measure) for measure in measures]
        head = f"on {test.size:,} samples held out"
        self.screen.say_all("tested", [f"{head}: {words[0]}", *words[1:]])
        self.screen.say("", baselines)
        state = replace(state, stage="all", solutions=[], measures=measures, held_out=held_out)
        self.keeper.keep(state)
        return state

    def _trained(self, state: Checkpoint, rows: np.ndarray) -> Any:
        """The machine trained on these rows, resumed from the checkpoint."""
        machine = state.begun(self.plan.estimator())
        y = None if self.samples.y is None or self.options.one_class else self.samples.y[rows]
        what = "training on all samples" if state.stage == "all" else "training for the test"
        with self.screen.working(what) as bar:
            recorder = Recorder(bar.of_a_fit(getattr(machine, "tol", 1e-3)))
            machine = fitted(
                machine,
                self.X[rows],
                y,
                limit=self._seconds_left(),
                callback=recorder,
                keep=lambda machine: self.keeper.keep(
                    replace(state, solutions=solutions_of(machine))
                ),
            )
        single = len(solutions_of(machine)) == 1
        self.curve = recorder.curve() if single else None
        return machine

    def _seconds_left(self) -> float | None:
        limit = self.options.max_seconds
        return None if limit is None else max(0.1, limit - (time.perf_counter() - self.began))

    def _described_data(self) -> str:
        X, y = self.samples.X, self.samples.y
        kind = ("sparse " if sparse.issparse(X) else "") + "feature" + "s" * (X.shape[1] != 1)
        text = f"{self.samples.name}: {X.shape[0]:,} samples, {X.shape[1]:,} {kind}"
        if y is not None and not self.plan.regresses:
            counts = class_counts(y)
            shown = ", ".join(f"{name}: {count:,}" for name, count in list(counts.items())[:6])
            text += f" ({shown}{', …' if len(counts) > 6 else ''})"
        return text

    def _record(self, state: Checkpoint) -> Training:
        y = self.samples.y
        classifies = y is not None and not (self.plan.regresses or self.options.one_class)
        return Training(
            maxmargin=__version__,
            command=self.command,
            source=self.samples.name,
            fingerprint=self.keeper.fingerprint,
            samples=self.samples.size,
            features=int(self.samples.X.shape[1]),
            classes=class_counts(y) if classifies else {},
            seconds=self.keeper.seconds(),
            notes=(*self.samples.notes, *self.plan.reasons),
            measures=state.measures,
            search=state.search,
            curve=self.curve,
            held_out=state.held_out,
        )

    def _tell(self, machine: Any) -> None:
        parts = [f"on all {self.samples.size:,} samples"]
        if hasattr(machine, "n_support_"):
            parts.append(f"{int(np.sum(machine.n_support_)):,} support vectors")
        if hasattr(machine, "tree_"):
            parts.append(f"{machine.get_n_leaves():,} leaves, depth {machine.get_depth()}")
        self.screen.say("trained", ", ".join(parts))
        if hasattr(machine, "certificate_"):
            self.screen.say("certified", certificate_lines(machine.certificate_)[0][1])
        if not finished(machine):
            self.screen.say("", "the time limit was reached before the optimum")
        self.screen.say("saved", f"{self.output}, in {self.keeper.seconds():.1f} s")


def resumable_search(
    plan: Plan, options: MachineOptions, X: Any, y: Any, keeper: Keeper, screen: Screen
) -> Found:
    """Search for the parameters that the plan leaves open, resumed from the checkpoint."""
    with screen.working("choosing parameters") as bar:
        while True:
            course = Course(keeper, bar.update)
            try:
                return searched(plan, options, X, y, course)
            except JournalError as error:
                if keeper.found is None:
                    raise
                keeper.give_up(error)
            except KeyboardInterrupt:
                course.keep()
                raise keeper.stopped() from None


def scaled(X: Any, schema: Schema) -> Any:
    """Encoded inputs on the scale of the schema."""
    if not schema.scaled:
        return X
    if sparse.issparse(X):
        return sparse.csr_array(X.multiply(1.0 / schema.scale))
    return (X - schema.center) / schema.scale


def class_counts(y: Any) -> dict[str, int]:
    labels, counts = np.unique(y, return_counts=True)
    return {str(label): int(count) for label, count in zip(labels, counts)}


def as_json(trained: Model, **more: Any) -> dict[str, Any]:
    """The description of a model as JSON."""
    machine, training = trained.estimator, trained.training
    certificate = getattr(machine, "certificate_", None)
    proven = {}
    if certificate is not None:
        sides = getattr(certificate, "certificates", (certificate,))
        proven = {
            "primal": sum(c.primal for c in sides),
            "dual": sum(c.dual for c in sides),
            "gap": certificate.gap,
            "relative_gap": certificate.relative_gap,
            "violation": certificate.violation,
        }
    parameters = {
        name: value if isinstance(value, str | int | float | bool) or value is None else repr(value)
        for name, value in machine.get_params(deep=False).items()
    }
    result = {
        "machine": type(machine).__name__,
        "parameters": parameters,
        "status": getattr(machine, "status_", None),
        "certificate": proven or None,
        "support_vectors": int(np.sum(machine.n_support_))
        if hasattr(machine, "n_support_")
        else None,
        "classes": list(machine.classes_) if hasattr(machine, "classes_") else None,
        "features": getattr(machine, "n_features_in_", None),
        "target": trained.schema.target if trained.schema else None,
    }
    if training is not None:
        result["training"] = {
            "maxmargin": training.maxmargin,
            "command": training.command,
            "source": training.source,
            "samples": training.samples,
            "features": training.features,
            "classes": training.classes,
            "seconds": training.seconds,
            "notes": training.notes,
            "measures": {
                m.name: {"value": m.value, "low": m.low, "high": m.high} for m in training.measures
            },
            "search": training.search.summary if training.search else None,
        }
    return {**result, **more}
