"""Valid files of every format, how each is read and used, and which errors may refuse it."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars
from scipy import sparse

from maxmargin import SVC, SVR, LinearSVC, LogisticRegression, OneClassSVM, OnlineSVC
from maxmargin import kernels as k
from maxmargin.cli.commands.predict import load_any
from maxmargin.cli.commands.train import Reading, read_samples
from maxmargin.cli.errors import UsageError
from maxmargin.cli.options import MachineOptions
from maxmargin.cli.plan import planned
from maxmargin.data import Column, DataError, Schema
from maxmargin.data.chunks import SvmlightChunks
from maxmargin.models import (
    Checkpoint,
    HeldOut,
    Measure,
    ModelFileError,
    SearchTable,
    Training,
    load,
    load_checkpoint,
    save,
    save_checkpoint,
    write_libsvm,
)
from maxmargin.tuning import Journal, JournalError, Task, gaussian_start, tuned

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.normal(size=(24, 3))
LABELS = np.where(INPUTS[:, 0] + INPUTS[:, 1] > 0, "yes", "no")
THREE = (INPUTS[:, 0] > 0).astype(int) + (INPUTS[:, 1] > 0)
SPARSE = sparse.csr_array(np.where(INPUTS > 0, INPUTS, 0.0))
TEXTS = ["ACGTACGT", "ACGTTCGT", "GGGGCCCC", "GGGACCCC"]
TASK = Task(INPUTS, LABELS, gaussian_start(INPUTS, LABELS, "radial"), effort=0.05)
STRATEGIES = ("posterior", "span", "radius_margin", "kta")


class Kind(NamedTuple):
    """How files of a kind are treated.

    Attributes
    ----------
    family : str
        Of the format: what can be done to such files.
    read, use : callable
        Reads a path; uses what was read, with inputs and labels.
    refusals : tuple of exceptions
        What reading may raise.
    checked : bool
        Whether checksums cover the file.
    """

    family: str
    read: Callable[[Path], Any]
    use: Callable[[Any, Any, Any], None]
    refusals: tuple[type[BaseException], ...]
    checked: bool


# ---- how files are used --------------------------------------------------------------------


def use_model(model: Any, inputs: Any, labels: Any) -> None:
    """Predict, and save and load once more."""
    del labels
    estimator = model.estimator if hasattr(model, "estimator") else model
    vectors = getattr(estimator, "support_vectors_", None)
    if isinstance(vectors, list):
        inputs = TEXTS
    elif str(getattr(estimator, "kernel", "")) in ("precomputed", "Precomputed()"):
        inputs = np.zeros((4, estimator.n_features_in_))
    elif estimator.n_features_in_ != inputs.shape[1]:
        shape = (4, estimator.n_features_in_)
        inputs = sparse.csr_array(shape) if sparse.issparse(vectors) else np.ones(shape)
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(estimator, method):
            if method == "predict_proba" and not getattr(estimator, "probA_", np.ones(1)).size:
                continue
            getattr(estimator, method)(inputs)
    str(estimator), repr(getattr(estimator, "certificate_", None))


def use_stream(model: Any, inputs: Any, labels: Any) -> None:
    """Predict, learn more, and finish."""
    del labels
    inputs = TEXTS if getattr(model, "n_features_in_", None) is None else inputs
    if hasattr(model, "n_features_in_") and model.n_features_in_ != inputs.shape[1]:
        inputs = np.ones((4, model.n_features_in_))
    model.predict(inputs), model.decision_function(inputs)
    model.set_params(max_seconds=0.5)
    if model.class_weight != "balanced":
        count = len(inputs)
        model.partial_fit(inputs, model.classes_[np.arange(count) % model.classes_.size])
    model.finish()


def use_checkpoint(checkpoint: Any, inputs: Any, labels: Any) -> None:
    """Go on with the fit or the search."""
    if checkpoint.journal is not None:
        name = checkpoint.fingerprint
        strategy = name if name in STRATEGIES else "posterior"
        try:
            tuned(TASK, strategy, journal=checkpoint.journal, callback=lambda now: now.seconds > 1)
        except JournalError:
            return
    machine = LinearSVC if checkpoint.stage == "test" else SVC
    try:
        begun = checkpoint.begun(machine(warm_start=True, max_seconds=0.5))
        begun._check_parameters()
    except (ValueError, TypeError):
        return
    begun.set_params(max_seconds=0.5, callback=None)
    try:
        begun.fit(inputs, labels)
    except ValueError as error:
        # Parameters such as C = 1e300 may be impossible for these samples, resumed or not.
        with contextlib.suppress(ValueError):
            machine(**begun.get_params()).fit(inputs, labels)
            raise AssertionError(f"only the resumed fit raises {error}") from error


def use_samples(samples: Any, inputs: Any, labels: Any) -> None:
    """Choose a machine and fit it, shortly."""
    del inputs, labels
    try:
        plan = planned(MachineOptions(C=1.0, probability=False), samples.X, samples.y)
    except UsageError:
        return
    machine = plan.estimator(max_seconds=0.3)
    if samples.size * samples.X.shape[1] < 10**6:
        try:
            machine.fit(samples.X, samples.y)
        except ValueError as error:
            # What the estimator refuses is told as an error of usage.
            if not str(error):
                raise


def use_chunks(source: Any, inputs: Any, labels: Any) -> None:
    del inputs, labels
    for part in range(len(source.edges) - 1):
        source.read(part)


def read_table(path: Path) -> Any:
    return read_samples(str(path), Reading())


def read_filled(path: Path) -> Any:
    return read_samples(str(path), Reading(impute="median"))


MODELS = {
    "svc.mm": lambda: SVC(probability="platt").fit(INPUTS, THREE),
    "sparse.mm": lambda: SVC().fit(SPARSE, THREE),
    "texts.mm": lambda: SVC(kernel=k.Oligo(2, 1.0)).fit(TEXTS, [0, 0, 1, 1]),
    "gram.mm": lambda: SVC(kernel="precomputed").fit(INPUTS @ INPUTS.T, LABELS),
    "composed.mm": lambda: SVC(
        kernel=k.Sum(k.Gaussian([0.1, 0.2, 0.3]), k.Scaled(k.Polynomial(2), 0.5))
    ).fit(INPUTS, LABELS),
    "svr.mm": lambda: SVR().fit(INPUTS, INPUTS[:, 0]),
    "novelty.mm": lambda: OneClassSVM().fit(INPUTS),
    "linear.mm": lambda: LinearSVC().fit(INPUTS, THREE),
    "logistic.mm": lambda: LogisticRegression().fit(INPUTS, LABELS),
}
STREAMS = {
    "three.online": lambda: OnlineSVC(budget=10).fit(INPUTS, THREE),
    "sparse.online": lambda: OnlineSVC().fit(SPARSE, LABELS),
    "texts.online": lambda: OnlineSVC(kernel=k.Oligo(2, 1.0)).fit(TEXTS, [0, 0, 1, 1]),
    "single.online": lambda: OnlineSVC(kernel="poly").fit(INPUTS.astype(np.float32), LABELS),
}
MODEL_ERRORS, DATA_ERRORS = (ModelFileError,), (DataError,)
EXPECTED: dict[str, Kind] = {
    **{name: Kind("mm", load, use_model, MODEL_ERRORS, True) for name in MODELS},
    **{name: Kind("online", OnlineSVC.load, use_stream, MODEL_ERRORS, True) for name in STREAMS},
    **{
        f"{name}.checkpoint": Kind(
            "checkpoint", load_checkpoint, use_checkpoint, MODEL_ERRORS, True
        )
        for name in ("svc", "linear", *STRATEGIES)
    },
    **{
        f"{name}.libsvm": Kind(
            "libsvm model", lambda path: load_any(str(path)), use_model, MODEL_ERRORS, False
        )
        for name in ("svc", "one_class")
    },
    "data.svm": Kind("svmlight", read_table, use_samples, DATA_ERRORS, False),
    "chunks.svm": Kind("svmlight", SvmlightChunks, use_chunks, (DataError, ValueError), False),
    "data.csv": Kind("csv", read_table, use_samples, DATA_ERRORS, False),
    "gaps.csv": Kind("csv", read_filled, use_samples, DATA_ERRORS, False),
    "data.csv.gz": Kind("compressed", read_table, use_samples, DATA_ERRORS, False),
    "data.svm.xz": Kind("compressed", read_table, use_samples, DATA_ERRORS, False),
    "data.npz": Kind("npz", read_table, use_samples, DATA_ERRORS, False),
    "packed.npz": Kind("npz", read_table, use_samples, DATA_ERRORS, False),
    "sparse.npz": Kind("npz", read_table, use_samples, DATA_ERRORS, False),
    "data.parquet": Kind("parquet", read_filled, use_samples, DATA_ERRORS, False),
    "data.arrow": Kind("arrow", read_filled, use_samples, DATA_ERRORS, False),
}


# ---- how files are made --------------------------------------------------------------------


def build(folder: Path) -> None:
    """Write a valid file of each name in `EXPECTED`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _models(folder)
        _checkpoints(folder)
    write_libsvm(SVC(probability="platt").fit(INPUTS, THREE), folder / "svc.libsvm")
    write_libsvm(OneClassSVM().fit(INPUTS), folder / "one_class.libsvm")
    _data(folder)


def _models(folder: Path) -> None:
    tested = HeldOut(LABELS[:4], LABELS[1:5], np.zeros(4))
    table = SearchTable("tried", np.array(["grid"]), np.ones(1), {"log_C": np.ones(1)})
    measures = (Measure("accuracy", 0.5, 0.4, 0.6),)
    training = Training(
        "1", "maxmargin train", "a.csv", "f", 24, 3, {"no": 12, "yes": 12}, 1.0, ("a",), measures
    )
    columns = (Column("a", "number", fill=1.0), Column("b", "category", ("x", "y"), "x"))
    for name, make in MODELS.items():
        model = make()
        details: dict[str, Any] = {"resumable": name == "svr.mm"}
        if name == "logistic.mm":
            details["schema"] = Schema(columns, "class", np.zeros(3), np.ones(3))
            details["training"] = training
        elif name == "svc.mm":
            more = {**vars(training), "search": table, "held_out": tested}
            details["training"] = Training(**more)
        save(model, folder / name, **details)
    for name, make in STREAMS.items():
        make().save(folder / name, rows=name != "sparse.online")


def _checkpoints(folder: Path) -> None:
    def write(name: str, *fields: Any, **more: Any) -> None:
        save_checkpoint(Checkpoint(*fields, **more), folder / f"{name}.checkpoint")

    machine = SVC(C=10.0).fit(INPUTS, LABELS)
    write("svc", "f", "all", {"kernel": k.Gaussian(0.5), "C": 2.0}, [machine.solution_])
    write("linear", "f", "test", {"C": 2.0}, [LinearSVC().fit(INPUTS, LABELS).solution_])
    for strategy in STRATEGIES:
        journal, calls = Journal(), []

        def stop(now: Any, calls: list[Any] = calls) -> bool:
            calls.append(now)
            return len(calls) >= 12

        tuned(TASK, strategy, journal=journal, callback=stop)
        write(strategy, strategy, "search", {}, journal=journal)


def _data(folder: Path) -> None:
    text = "".join(f"{label} 1:{row[0]:.4g} 3:{row[2]:.4g}\n" for row, label in zip(INPUTS, THREE))
    table = polars.DataFrame(
        {
            "x": INPUTS[:, 0],
            "n": np.arange(24),
            "t": polars.Series(["2020-01-02"] * 24).str.to_date(),
            "c": ["red", "green", None] * 8,
            "class": LABELS,
        }
    )
    plain = polars.DataFrame({"x": INPUTS[:, 0], "n": np.arange(24), "class": LABELS})
    for name in ("data.svm", "chunks.svm"):
        (folder / name).write_text(text)
    plain.write_csv(folder / "data.csv")
    table.write_csv(folder / "gaps.csv")
    (folder / "data.csv.gz").write_bytes(gzip.compress((folder / "data.csv").read_bytes()))
    (folder / "data.svm.xz").write_bytes(lzma.compress(text.encode()))
    table.write_parquet(folder / "data.parquet")
    table.write_ipc(folder / "data.arrow")
    names = np.array(["a", "b", "c"])
    np.savez(folder / "data.npz", X=INPUTS, y=LABELS, feature_names=names)
    np.savez_compressed(folder / "packed.npz", X=INPUTS.astype(np.float32), y=THREE)
    sparse.save_npz(folder / "sparse.npz", SPARSE)
