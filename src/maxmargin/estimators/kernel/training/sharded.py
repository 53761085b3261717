"""Training on shards: samples in files larger than memory, or on a cluster.

`SVC`, `SVR` and `OneClassSVM` take a source of chunks (`maxmargin.data.chunks`) or a memory map
larger than `KEPT_BYTES` for X; `maxmargin.distributed` hands in shards on a Dask cluster. What
is fitted is the ordinary model: support vectors are in memory, and nothing else has to be.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from ....dual.machines import Machine, read_plain
from ....kernels import Kernel
from ....runtime.sizes import CHUNK_BYTES, KEPT_BYTES
from ....solvers.linear import is_chunked
from ....solvers.sharded import (
    Backend,
    LocalBackend,
    ShardedSettings,
    ShardedSolution,
    ShardTask,
    solve_sharded,
)
from ....solvers.sharded.inputs import stacked
from ....solvers.sharded.summary import Summary
from ...conditioning import middle_far_from_zero
from ...distinct import Samples
from ...inputs import (
    LARGEST,
    checked_weights,
    is_function,
    is_precomputed,
    kernel_with,
    takes_strings,
)
from ...parameters import ParameterError
from ...targets import class_targets
from ..multiclass import pairs
from .tasks import Outcome, Task


class Job(NamedTuple):
    """One problem: its name, the task for all shards, the sums of α, and how many samples."""

    name: str
    task: ShardTask
    totals: np.ndarray
    samples: int


class Checkpoints(NamedTuple):
    """Functions that save and load the members of a problem, given its number."""

    load: Callable[[int], Any]
    save: Callable[[int, Any, Any], object]


def comes_in_shards(X: Any) -> bool:
    """Whether inputs are read in parts."""
    large = isinstance(X, np.memmap) and X.ndim == 2 and X.nbytes > KEPT_BYTES
    return large or is_chunked(X)


def local_shards(X: Any, y: Any, sample_weight: Any) -> LocalBackend:
    """The parts of a source of chunks, or of an array that may be a memory map."""
    n = int(X.n) if is_chunked(X) else int(X.shape[0])
    weight = None if sample_weight is None else checked_weights(sample_weight, n)
    if y is not None:
        y = column_or_1d(y, warn=True)
        if y.size != n:
            raise ValueError(f"y must have one target a sample: X has {n}, y has {y.size}")
    if is_chunked(X):
        backend = LocalBackend.of_chunks(X, y, weight)
        backend.feature_names = getattr(X, "feature_names", None)
        return backend
    rows = max(1, CHUNK_BYTES // max(1, X.itemsize * X.shape[1]))
    return LocalBackend.of_arrays(X, y, weight, rows)


def train_in_shards(
    estimator: Any,
    backend: Backend,
    reporter: Any,
    data: dict[str, Any],
    checkpoints: Checkpoints | None = None,
) -> bool:
    """Set all fitted attributes of a kernel machine; returns whether Ctrl-C was pressed."""
    refuse(estimator)
    summaries = backend.summaries(isinstance(estimator, ClassifierMixin))
    check(estimator, summaries)
    estimator.n_features_in_ = summaries[0].features
    names = getattr(backend, "feature_names", None)
    if names:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    estimator.shape_fit_ = (sum(s.samples for s in summaries), summaries[0].features)
    estimator.kernel_ = kernel_with(estimator, lambda: gamma_of(estimator.gamma, summaries))
    jobs = jobs_of(estimator, summaries)
    reporter.begin(len(jobs), **data)
    results, interrupted = solved(estimator, backend, jobs, reporter, checkpoints)
    write(estimator, summaries, jobs, results)
    return interrupted


def refuse(estimator: Any) -> None:
    """Raise for parameters that samples in shards do not allow."""
    name, kernel = type(estimator).__name__, estimator.kernel
    if is_precomputed(kernel) or is_function(kernel) or takes_strings(kernel):
        raise ParameterError(
            f"kernel of {name} must be one of vectors where samples are in shards, got {kernel!r}: "
            "name one, or use a kernel of maxmargin.kernels"
        )
    if not hasattr(estimator, "C") and not hasattr(estimator, "nu"):
        raise ParameterError(f"{name} cannot be trained on shards")
    if np.isinf(getattr(estimator, "C", 1.0)):
        raise ParameterError(f"C of {name} must be finite where samples are in shards")
    if not getattr(estimator, "fit_intercept", True):
        raise ParameterError(
            f"fit_intercept of {name} must be True where samples are in shards; a linear machine "
            "without an intercept is LinearSVC or LinearSVR"
        )
    if getattr(estimator, "probability", False):
        raise ParameterError(
            f"probability of {name} must be False where samples are in shards: calibrate with "
            "sklearn.calibration.CalibratedClassifierCV on samples set aside"
        )
    if machine_of(estimator) is None:
        raise ParameterError(f"{name} cannot be trained on shards: use SVC, SVR or OneClassSVM")


def machine_of(estimator: Any) -> str | None:
    """The machine name of an estimator; None if shards do not support it."""
    if isinstance(estimator, ClassifierMixin):
        return str(estimator.loss) if hasattr(estimator, "loss") else None
    if isinstance(estimator, RegressorMixin):
        return "epsilon_svr" if hasattr(estimator, "epsilon") else None
    return "one_class" if hasattr(estimator, "nu") else None


def check(estimator: Any, summaries: Sequence[Summary]) -> None:
    """Raise for samples that no machine can be trained on."""
    name = type(estimator).__name__
    if not sum(s.samples for s in summaries):
        raise ValueError("X has 0 samples: at least one is required")
    widths = {s.features for s in summaries if s.samples}
    if len(widths) != 1:
        raise ValueError(f"all parts of X must have as many features, got {sorted(widths)}")
    largest = max(s.largest for s in summaries)
    if any(not np.isfinite(s.largest) for s in summaries):
        raise ValueError(
            f"Input X contains NaN or infinity, which {name} does not accept: fill or drop these "
            "samples first"
        )
    if largest > LARGEST:
        raise ValueError(
            f"X holds values up to {largest:.3g}, whose squares overflow: scale the inputs, for "
            "example with StandardScaler"
        )
    if not sum(s.weight for s in summaries) > 0:
        raise ValueError(
            "Invalid input - all samples have zero or negative weights. "
            "Give at least some of them a positive sample_weight"
        )


def gamma_of(gamma: Any, summaries: Sequence[Summary]) -> float:
    """γ as a number, as `resolved_gamma`, from sums over all parts."""
    features = summaries[0].features
    if gamma == "auto":
        return 1.0 / features
    if gamma != "scale":
        return float(gamma)
    entries = features * sum(s.weight for s in summaries)
    mean = sum(s.total for s in summaries) / entries
    variance = sum(s.squares for s in summaries) / entries - mean * mean
    return 1.0 / (features * variance) if variance > 1e-15 * mean * mean else 1.0


def jobs_of(estimator: Any, summaries: Sequence[Summary]) -> list[Job]:
    """The problems to solve."""
    kernel, samples = estimator.kernel_, estimator.shape_fit_[0]
    machine = machine_of(estimator)
    assert machine is not None
    if machine == "one_class":
        total = sum(s.weight for s in summaries)
        totals = np.array([min(estimator.nu * total, total)])
        return [Job(type(estimator).__name__, ShardTask(kernel, machine), totals, samples)]
    zero = np.zeros(1)
    if machine == "epsilon_svr":
        low, high = min(s.least for s in summaries), max(s.most for s in summaries)
        offset = middle_far_from_zero(low, high)
        estimator._offset_ = offset
        task = ShardTask(
            kernel, machine, float(estimator.C), float(estimator.epsilon), offset=offset
        )
        return [Job(type(estimator).__name__, task, zero, samples)]
    return class_jobs(estimator, kernel, machine, summaries)


def class_jobs(
    estimator: Any, kernel: Kernel, machine: str, summaries: Sequence[Summary]
) -> list[Job]:
    """A problem for two classes, for each pair of them, or for each class and the rest."""
    labels = np.concatenate([s.labels for s in summaries if s.samples])
    weights = np.concatenate([s.label_weights for s in summaries if s.samples])
    check_classification_targets(labels)
    labels, codes = np.unique(labels, return_inverse=True)
    found = class_targets(labels, np.bincount(codes, weights), estimator.class_weight)
    estimator.classes_, estimator.class_weight_ = found.classes, found.factors
    classes = found.classes
    factors = tuple(zip(classes.tolist(), found.factors.tolist()))

    def job(name: str, positive: Any, negative: Any) -> Job:
        task = ShardTask(
            kernel,
            machine,
            float(estimator.C),
            positive=tuple(positive.tolist()),
            negative=tuple(negative.tolist()),
            factors=factors,
        )
        return Job(name, task, np.zeros(1), estimator.shape_fit_[0])

    if classes.size > 2 and estimator.multi_class == "ovr":
        return [
            job(f"{label} vs rest", classes[[c]], np.delete(classes, c))
            for c, label in enumerate(classes)
        ]
    return [
        job(f"{classes[i]} vs {classes[j]}", classes[[i]], classes[[j]])
        for i, j in pairs(classes.size)
    ]


def solved(
    estimator: Any,
    backend: Backend,
    jobs: list[Job],
    reporter: Any,
    checkpoints: Checkpoints | None,
) -> tuple[list[ShardedSolution], bool]:
    """The solutions of all problems, concurrently if the backend can; and whether Ctrl-C was
    pressed."""
    limit = np.inf if estimator.max_seconds is None else float(estimator.max_seconds)
    stopped = threading.Event()

    def work(number: int) -> ShardedSolution:
        job, save = jobs[number], None
        if checkpoints is not None:
            save = lambda rows, alpha: checkpoints.save(number, rows, alpha)  # noqa: E731
        settings = ShardedSettings(
            tol=float(estimator.tol),
            gap=float(estimator.gap),
            precision=estimator.precision,
            cache_size=estimator.cache_size,
            max_rounds=np.inf if estimator.max_iter == -1 else int(estimator.max_iter),
            max_seconds=limit / -(-len(jobs) // together),
            callback=reporter.listen(number, job.name),
            checkpoint=save,
            random_state=estimator._seed(),
        )
        start = None if checkpoints is None else checkpoints.load(number)
        found = solve_sharded(
            backend, job.task, job.totals, job.samples, settings, start, stopped.is_set
        )
        if found.solution.status in ("interrupted", "stopped"):
            stopped.set()
        reporter.finish(number)
        return found

    together = max(1, min(backend.side_by_side, len(jobs)))
    if together == 1:
        results = [work(number) for number in range(len(jobs))]
        return results, any(r.solution.status == "interrupted" for r in results)
    interrupted = False
    with ThreadPoolExecutor(together) as pool:
        futures = [pool.submit(work, number) for number in range(len(jobs))]
        try:
            wait(futures)
        except KeyboardInterrupt:
            interrupted = True
            stopped.set()
            wait(futures)
        return [future.result() for future in futures], interrupted


def write(
    estimator: Any,
    summaries: Sequence[Summary],
    jobs: list[Job],
    results: list[ShardedSolution],
) -> None:
    """Set the attributes of the fitted function, as after a fit in memory."""
    starts = np.concatenate([[0], np.cumsum([s.samples for s in summaries])])
    places = [starts[result.shard] + result.row for result in results]
    union, first = np.unique(np.concatenate(places), return_index=True)
    X = stacked([result.X for result in results])[first]
    y = None
    if isinstance(estimator, ClassifierMixin):
        labels = np.concatenate([result.y for result in results])[first]
        y = np.searchsorted(estimator.classes_, labels).astype(np.float64)
    ones = np.ones(union.size)
    nothing = np.empty(0, dtype=np.uint64)
    samples = Samples(X, y, ones, nothing, np.arange(union.size), ones, False)
    tasks, outcomes = [], []
    for job, result, own in zip(jobs, results, places):
        machine = Machine(job.task.machine, result.problem, read_plain)
        tasks.append(Task(job.name, machine, (np.searchsorted(union, own),)))
        expansion = machine.read(result.solution.alpha, result.solution.bias)
        outcomes.append(Outcome(result.solution, expansion, result.certificate))
    estimator._write(X, samples, tasks, outcomes)
    estimator.support_ = union[estimator.support_].astype(np.int64)
    estimator._penalty_ = float(getattr(estimator, "C", 1.0))
    estimator.rounds_ = [result.rounds for result in results]
    estimator.moved_bytes_ = sum(result.moved for result in results)
    estimator._write_solutions(
        [job.name for job in jobs],
        [result.solution for result in results],
        [result.certificate for result in results],
    )
    estimator._complete(samples, tasks, outcomes, None)
    estimator._warn(tasks, outcomes)
