"""Linear machines on Dask collections and lists of files."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..estimators.linear import glm, svm
from .backend import results
from .matrix import DaskMatrix, matrix_of
from .mixin import OnDask, with_parameters_of


class LinearOnDask(OnDask):
    """A linear machine whose samples may be on a cluster."""

    def _train(
        self, X: Any, y: Any, sample_weight: Any, reporter: Any, data: Any, previous: Any
    ) -> bool:
        if self._is_spread(X):
            X, y, sample_weight = self._gathered(X, y, sample_weight)
        trained: bool = super()._train(  # type: ignore[misc]
            X, y, sample_weight, reporter, data, previous
        )
        return trained

    def _gathered(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """The matrix of the cluster, with targets and weights in memory."""
        backend = self._backend(X, y, sample_weight)
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


@with_parameters_of(svm.LinearSVC)
class LinearSVC(LinearOnDask, svm.LinearSVC):
    """`maxmargin.LinearSVC` for samples on a Dask cluster; see `maxmargin.distributed.SVC`.

    Inputs stay on the workers. A product with all of them moves one number for each sample.

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
    """`maxmargin.LinearSVR` for samples on a Dask cluster; see `maxmargin.distributed.SVC`."""

    _lazy: ClassVar[tuple[str, ...]] = ("predict",)


@with_parameters_of(glm.LogisticRegression)
class LogisticRegression(LinearOnDask, glm.LogisticRegression):
    """`maxmargin.LogisticRegression` for samples on a Dask cluster; see
    `maxmargin.distributed.SVC`."""

    _lazy: ClassVar[tuple[str, ...]] = ("predict", "decision_function", "predict_proba")


@with_parameters_of(glm.RidgeRegression)
class RidgeRegression(LinearOnDask, glm.RidgeRegression):
    """`maxmargin.RidgeRegression` for samples on a Dask cluster; see
    `maxmargin.distributed.SVC`."""

    _lazy: ClassVar[tuple[str, ...]] = ("predict",)
