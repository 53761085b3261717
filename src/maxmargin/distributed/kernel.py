"""`SVC`, `SVR` and `OneClassSVM` on Dask collections, lists of files and chunks."""

from __future__ import annotations

from typing import Any, ClassVar

from ..estimators.kernel import one_class, svc, svr
from ..estimators.kernel.training.sharded import comes_in_shards, local_shards, train_in_shards
from .mixin import OnDask, with_parameters_of


class OnShards(OnDask):
    """A kernel machine whose samples may be on a cluster."""

    def _train(
        self, X: Any, y: Any, sample_weight: Any, reporter: Any, data: Any, previous: Any
    ) -> bool:
        backend = None
        if self._is_spread(X):
            backend = self._backend(X, y, sample_weight)
        elif comes_in_shards(X):
            backend = local_shards(X, y, sample_weight)
        if backend is None:
            trained: bool = super()._train(  # type: ignore[misc]
                X, y, sample_weight, reporter, data, previous
            )
            return trained
        return train_in_shards(self, backend, reporter, data, self._checkpoints())


@with_parameters_of(svc.SVC)
class SVC(OnShards, svc.SVC):
    """`maxmargin.SVC` for samples on a Dask cluster.

    X is a `dask.array`, a `dask.dataframe` or a list of files (``.npy``, or Parquet with the name
    of a column as y). With arrays in memory, sources of chunks and memory maps it trains in this
    process, as `maxmargin.SVC` does. The fitted attributes are those of `maxmargin.SVC`, with the
    certificate of the same problem; `single_machine` returns such an estimator. `predict` and the
    other prediction methods are lazy on Dask collections.

    For samples in shards `max_iter` limits the rounds, `probability` must be False, `warm_start`
    has no effect, and C must be finite.

    Attributes
    ----------
    rounds_ : list of int
        Rounds of each problem.
    moved_bytes_ : int
        Bytes sent to workers or received from them.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from maxmargin.distributed import SVC
    >>> X = da.from_array([[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]], chunks=(2, 2))
    >>> y = da.from_array([0, 0, 1, 1], chunks=2)
    >>> with Client(processes=False, dashboard_address=":0", n_workers=1) as client:
    ...     model = SVC(kernel="linear", C=10.0).fit(X, y)
    >>> model.certificate_
    Certificate(primal=0.25, dual=0.25, relative gap 0.0e+00, violation 0.0e+00)
    """

    _lazy: ClassVar[tuple[str, ...]] = ("predict", "decision_function")


@with_parameters_of(svr.SVR)
class SVR(OnShards, svr.SVR):
    """`maxmargin.SVR` for samples on a Dask cluster.

    Inputs, predictions and limits are those of `maxmargin.distributed.SVC`.

    Attributes
    ----------
    rounds_ : list of int
        Rounds of each problem.
    moved_bytes_ : int
        Bytes sent to workers or received from them.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from maxmargin.distributed import SVR
    >>> X = da.from_array([[0.0], [1.0], [2.0], [3.0]], chunks=(2, 1))
    >>> y = da.from_array([0.0, 1.0, 2.0, 3.0], chunks=2)
    >>> with Client(processes=False, dashboard_address=":0", n_workers=1) as client:
    ...     model = SVR(kernel="linear", C=10.0, epsilon=0.0).fit(X, y)
    >>> model.predict([[1.5]]).round(3)
    array([1.5])
    """

    _lazy: ClassVar[tuple[str, ...]] = ("predict",)


@with_parameters_of(one_class.OneClassSVM)
class OneClassSVM(OnShards, one_class.OneClassSVM):
    """`maxmargin.OneClassSVM` for samples on a Dask cluster.

    Inputs, predictions and limits are those of `maxmargin.distributed.SVC`.

    Attributes
    ----------
    rounds_ : list of int
        Rounds of each problem.
    moved_bytes_ : int
        Bytes sent to workers or received from them.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from maxmargin.distributed import OneClassSVM
    >>> X = da.from_array([[0.0], [0.1], [0.2], [0.3]], chunks=(2, 1))
    >>> with Client(processes=False, dashboard_address=":0", n_workers=1) as client:
    ...     model = OneClassSVM(gamma=1.0, nu=0.5).fit(X)
    >>> model.predict([[0.15], [9.0]])
    array([ 1, -1])
    """

    _lazy: ClassVar[tuple[str, ...]] = ("predict", "decision_function", "score_samples")
