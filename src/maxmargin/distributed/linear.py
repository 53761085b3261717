"""Linear machines on Dask collections and lists of files."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from ..estimators.kernel.training.sharded import check
from ..estimators.linear import glm, svm
from ..estimators.linear.base import Task
from ..estimators.targets import class_targets
from ..solvers.linear.costs import COSTS
from ..solvers.linear.sums import LinearTask, SumsSettings, fit_sums
from .backend import results
from .matrix import DaskMatrix, matrix_of
from .mixin import OnDask, with_parameters_of
from .sums import DaskSums


class LinearOnDask(OnDask):
    """A linear machine whose samples may be on a cluster."""

    status_: Any
    solver: str

    def _train(
        self, X: Any, y: Any, sample_weight: Any, reporter: Any, data: Any, previous: Any
    ) -> bool:
        if self._is_spread(X):
            backend = self._backend(X, y, sample_weight, read=False)
            if self._adds_up() and self._train_by_sums(backend, reporter, data, previous):
                return "interrupted" in np.ravel(self.status_)
            X, y, sample_weight = self._gathered(backend)
        trained: bool = super()._train(  # type: ignore[misc]
            X, y, sample_weight, reporter, data, previous
        )
        return trained

    def _adds_up(self) -> bool:
        """Whether sums over shards are all that the solver needs."""
        joint = getattr(self, "multi_class", "ovr") == "crammer_singer"
        penalty: str = self._penalty()  # type: ignore[attr-defined]
        return penalty == "l2" and self.solver != "coordinate" and not joint

    def _train_by_sums(self, backend: Any, reporter: Any, data: Any, previous: Any) -> bool:
        """Newton steps from sums over shards; returns whether that led to the optimum, or to the
        end of a budget."""
        own: Any = self
        own._began_ = time.perf_counter()
        summaries = backend.summaries(isinstance(self, ClassifierMixin))
        check(self, summaries)
        d = max(s.features for s in summaries)
        if d > COSTS.most_features:
            return False
        self.n_features_in_ = d
        if backend.feature_names:
            self.feature_names_in_ = np.array(backend.feature_names, dtype=object)
        backend.keep(sum(s.nbytes for s in summaries))
        tasks = self._sums_tasks(summaries)
        reporter.begin(len(tasks), **data)
        solutions, passes, moved = [], 1, 0
        known = getattr(previous, "solution_", None)
        known = known if isinstance(known, list) else [known] * len(tasks)
        for number, ((name, task), last) in enumerate(zip(tasks, known)):
            started = last is not None and np.shape(last.w) == (d,)
            settings = SumsSettings(
                tol=float(own.tol),
                first_pull=0.0 if task.smooth else first_pull(task, summaries),
                max_steps=own.max_iter,
                max_seconds=own._seconds_left() / (len(tasks) - number),
                callback=reporter.listen(number, name),
                start=(last.w.copy(), float(last.b)) if started else None,
            )
            make = partial(DaskSums, backend.client, backend.parts, task)
            solution, session = fit_sums(make, d, own._intercept(), settings)
            if solution.status == "precision":
                return False
            solutions.append(solution)
            passes, moved = passes + session.passes, moved + session.moved
            reporter.finish(number)
        own._write([Task(name, None) for name, _ in tasks], solutions)
        self.passes_, self.moved_bytes_ = passes, moved
        del own._began_
        return True

    def _sums_tasks(self, summaries: Any) -> list[tuple[str, LinearTask]]:
        """The problems to solve, with their names."""
        own: Any = self
        if not isinstance(self, ClassifierMixin):
            name = type(self).__name__
            return [(name, LinearTask(own._loss_of_targets(), own._cost(), own._tube()))]
        labels = np.concatenate([s.labels for s in summaries if s.samples])
        weights = np.concatenate([s.label_weights for s in summaries if s.samples])
        labels, codes = np.unique(labels, return_inverse=True)
        found = class_targets(labels, np.bincount(codes, weights), own.class_weight)
        self.classes_ = found.classes
        factors = tuple(zip(found.classes.tolist(), found.factors.tolist()))

        def against_rest(label: Any) -> LinearTask:
            return LinearTask(own._loss_name(), own._cost(), positive=label.item(), factors=factors)

        if found.classes.size == 2:
            low, high = found.classes
            return [(f"{high} vs {low}", against_rest(high))]
        return [(f"{label} vs rest", against_rest(label)) for label in found.classes]

    def _gathered(self, backend: Any) -> tuple[Any, Any, Any]:
        """The matrix of the cluster, with targets and weights in memory."""
        backend.keep()
        client, parts = backend.client, backend.parts
        rest = results(client, [client.submit(_without_inputs, part) for part in parts], _nothing)
        shapes, targets, weights = zip(*rest)
        widths = {shape[1] for shape in shapes if shape[0]}
        if len(widths) != 1:
            raise ValueError(f"parts of X must have equally many features, got {sorted(widths)}")
        if backend.feature_names:
            self.feature_names_in_ = np.array(backend.feature_names, dtype=object)
        matrices = [client.submit(matrix_of, part, pure=False) for part in parts]
        matrix = DaskMatrix(client, matrices, [shape[0] for shape in shapes], widths.pop())
        y = None if targets[0] is None else np.concatenate(targets)
        weight = None if weights[0] is None else np.concatenate(weights)
        return matrix, y, weight

    def _inputs(self, X: Any, y: Any) -> tuple[Any, np.ndarray[Any, Any]]:
        if not isinstance(X, DaskMatrix):
            checked: tuple[Any, np.ndarray[Any, Any]] = super()._inputs(X, y)  # type: ignore[misc]
            return checked
        name = type(self).__name__
        if y is None:
            raise ValueError(f"{name} requires y to be passed, but y is None")
        if not np.isfinite(X.largest):
            raise ValueError(
                f"Input X contains NaN or infinity, which {name} does not accept: fill or drop "
                "these samples first"
            )
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity")
        self.n_features_in_ = X.d
        return X, y


def _without_inputs(part: Any) -> tuple[Any, Any, Any]:
    return part.X.shape, part.y, part.weight


def _nothing() -> None:
    pass


def first_pull(task: LinearTask, summaries: Any) -> float:
    """The first 1/σ: β goes from bound to bound in a band of 1.5 times the size of the targets."""
    weight, samples = sum(s.weight for s in summaries), sum(s.samples for s in summaries)
    size = 1.0
    if task.positive is None:
        low, high = min(s.least for s in summaries), max(s.most for s in summaries)
        size = 0.25 * (high - low) or 1.0
    height = task.C * weight / samples * (1.0 if task.positive is not None else 2.0)
    return float(1.5 * size / height)


@with_parameters_of(svm.LinearSVC)
class LinearSVC(LinearOnDask, svm.LinearSVC):
    """`maxmargin.LinearSVC` for samples on a Dask cluster.

    Inputs and predictions are those of `maxmargin.distributed.SVC`. Inputs stay on the workers, and
    so does everything else that has an entry for each sample: a Newton step moves sums of d²
    numbers (up to 3,000 features; with more, with ``penalty="l1"``, C = ∞ and
    ``solver="coordinate"`` products with all samples move one number for each). Files that are
    large beside the memory of the workers are read again in each of `passes_` passes.

    Attributes
    ----------
    passes_ : int
        Times that all samples were read.
    moved_bytes_ : int
        Bytes sent to workers or received from them.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from maxmargin.distributed import LinearSVC
    >>> X = da.from_array([[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]], chunks=(2, 2))
    >>> y = da.from_array([0, 0, 1, 1], chunks=2)
    >>> with Client(processes=False, dashboard_address=":0", n_workers=1) as client:
    ...     model = LinearSVC(C=10.0).fit(X, y)
    >>> model.predict([[-0.5, -0.5], [0.5, 0.5]])
    array([0, 1])
    """

    _lazy: ClassVar[tuple[str, ...]] = ("predict", "decision_function")


@with_parameters_of(svm.LinearSVR)
class LinearSVR(LinearOnDask, svm.LinearSVR):
    """`maxmargin.LinearSVR` for samples on a Dask cluster.

    Inputs and predictions are those of `maxmargin.distributed.SVC`, what moves and what is read is
    as for `maxmargin.distributed.LinearSVC`.

    Attributes
    ----------
    passes_ : int
        Times that all samples were read.
    moved_bytes_ : int
        Bytes sent to workers or received from them.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from maxmargin.distributed import LinearSVR
    >>> X = da.from_array([[0.0], [1.0], [2.0], [3.0]], chunks=(2, 1))
    >>> y = da.from_array([0.0, 1.0, 2.0, 3.0], chunks=2)
    >>> with Client(processes=False, dashboard_address=":0", n_workers=1) as client:
    ...     model = LinearSVR(C=10.0).fit(X, y)
    >>> model.predict([[1.5]]).round(3)
    array([1.5])
    """

    _lazy: ClassVar[tuple[str, ...]] = ("predict",)

    def _loss_of_targets(self) -> str:
        return str(self.loss)

    def _tube(self) -> float:
        return float(self.epsilon)


@with_parameters_of(glm.LogisticRegression)
class LogisticRegression(LinearOnDask, glm.LogisticRegression):
    """`maxmargin.LogisticRegression` for samples on a Dask cluster.

    Inputs and predictions are those of `maxmargin.distributed.SVC`, what moves and what is read is
    as for `maxmargin.distributed.LinearSVC`.

    Attributes
    ----------
    passes_ : int
        Times that all samples were read.
    moved_bytes_ : int
        Bytes sent to workers or received from them.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from maxmargin.distributed import LogisticRegression
    >>> X = da.from_array([[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]], chunks=(2, 2))
    >>> y = da.from_array([0, 0, 1, 1], chunks=2)
    >>> with Client(processes=False, dashboard_address=":0", n_workers=1) as client:
    ...     model = LogisticRegression(C=10.0).fit(X, y)
    >>> model.predict_proba([[0.0, 0.0]]).round(3)
    array([[0.5, 0.5]])
    """

    _lazy: ClassVar[tuple[str, ...]] = ("predict", "decision_function", "predict_proba")


@with_parameters_of(glm.RidgeRegression)
class RidgeRegression(LinearOnDask, glm.RidgeRegression):
    """`maxmargin.RidgeRegression` for samples on a Dask cluster.

    Inputs and predictions are those of `maxmargin.distributed.SVC`, what moves and what is read is
    as for `maxmargin.distributed.LinearSVC`.

    Attributes
    ----------
    passes_ : int
        Times that all samples were read.
    moved_bytes_ : int
        Bytes sent to workers or received from them.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from maxmargin.distributed import RidgeRegression
    >>> X = da.from_array([[0.0], [1.0], [2.0], [3.0]], chunks=(2, 1))
    >>> y = da.from_array([0.0, 1.0, 2.0, 3.0], chunks=2)
    >>> with Client(processes=False, dashboard_address=":0", n_workers=1) as client:
    ...     model = RidgeRegression(alpha=1.0).fit(X, y)
    >>> model.coef_.round(3)
    array([0.833])
    """

    _lazy: ClassVar[tuple[str, ...]] = ("predict",)

    def _loss_of_targets(self) -> str:
        return "squared"

    def _tube(self) -> float:
        return 0.0
