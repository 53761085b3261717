"""What Dask estimators add to the local ones: client, checkpoint, lazy predictions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from ..estimators.kernel.training.sharded import Checkpoints
from ..estimators.template import learned
from .checkpoint import checkpoints_in
from .docstrings import merged
from .inputs import blocks_of, file_readers, is_collection, is_dask_array, is_files


class OnDask:
    """Samples on a cluster; to be listed before a local estimator among the base classes."""

    client: Any
    checkpoint: Any
    # Methods that are lazy if the samples are a Dask collection.
    _lazy: ClassVar[tuple[str, ...]] = ()
    # The local estimator.
    _single: ClassVar[type]

    def single_machine(self) -> Any:
        """The fitted model as an estimator that does not depend on Dask.

        Returns
        -------
        estimator
            Of the class of the same name in `maxmargin`.
        """
        names = inspect.signature(self._single).parameters
        # A callback concerns the fit only, and may hold objects that cannot be sent to workers.
        model = self._single(**{name: getattr(self, name) for name in names if name != "callback"})
        vars(model).update(learned(self))
        return model

    def __sklearn_clone__(self) -> Any:
        """A client is shared, not copied."""
        kind: Any = type(self)
        own_parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        others = {name: value for name, value in own_parameters.items() if name != "client"}
        copies = {name: clone(value, safe=False) for name, value in others.items()}
        return kind(client=self.client, **copies)

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        state = dict(vars(self) if state is None else state)
        if not isinstance(state.get("client"), str):
            state["client"] = None
        return state

    def _is_spread(self, X: Any) -> bool:
        """Whether the samples are on a cluster or in files."""
        return is_collection(X) or is_files(X)

    def _backend(self, X: Any, y: Any, sample_weight: Any, read: bool = True) -> Any:
        """The shards of a collection, or of a list of files, which may be left to be read by each
        task."""
        from .backend import DaskBackend, client_of, parts_of

        client = client_of(self._client())
        if is_files(X):
            readers = file_readers(X, y, sample_weight)
            backend = DaskBackend(client, list(readers))
            if read:
                backend.keep()
            return backend
        blocks = blocks_of(X, y, sample_weight)
        futures = parts_of(client, blocks.X, blocks.y, blocks.weight)
        return DaskBackend(client, futures, blocks.feature_names)

    def _client(self) -> Any:
        if isinstance(self.client, str):
            from distributed import Client

            return Client(self.client)
        return self.client

    def _checkpoints(self) -> Checkpoints | None:
        if self.checkpoint is None:
            return None
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        return checkpoints_in(self.checkpoint, parameters)


def with_parameters_of(single: type) -> Callable[[type], type]:
    """Give a class the constructor parameters of the local estimator, and `client` and
    `checkpoint`; make its predictions lazy and its docstring complete."""

    def changed(kind: type) -> type:
        own = inspect.signature(single).parameters
        more = {"client": None, "checkpoint": None}

        def __init__(self: Any, **parameters: Any) -> None:
            unknown = parameters.keys() - own.keys() - more.keys()
            if unknown:
                raise TypeError(
                    f"{kind.__name__} has no parameter {sorted(unknown)[0]!r}; it takes "
                    f"{', '.join([*own, *more])}"
                )
            defaults = {name: parameter.default for name, parameter in own.items()}
            vars(self).update({**defaults, **more, **parameters})

        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in [*((n, p.default) for n, p in own.items()), *more.items()]
        ]
        first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        __init__.__signature__ = inspect.Signature([first, *keywords])  # type: ignore[attr-defined]
        kind.__init__ = __init__  # type: ignore[misc]
        kind._single = single  # type: ignore[attr-defined]
        kind.__doc__ = merged(single, kind)
        for name in kind._lazy:  # type: ignore[attr-defined]
            setattr(kind, name, lazily(getattr(single, name)))
        return kind

    return changed


def lazily(method: Any) -> Any:
    """A method that is called for every block of a Dask collection when it is computed."""

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        if not is_collection(X):
            return method(self, X)
        from dask.delayed import delayed

        # A few zeros show the shape and type of the result.
        model = self.single_machine()
        shown = getattr(model, method.__name__)(np.zeros((1, self.n_features_in_)))
        whole = delayed(model, pure=True)
        if is_dask_array(X):
            blocks = X.rechunk({1: -1})
            shape = (
                {"drop_axis": 1} if shown.ndim == 1 else {"chunks": (X.chunks[0], shown.shape[1:])}
            )
            return blocks.map_blocks(
                answer_of, model=whole, method=method.__name__, dtype=shown.dtype,
                meta=shown[:0], **shape,
            )  # fmt: skip
        import pandas

        columns = None if shown.ndim == 1 else range(shown.shape[1])
        made = pandas.Series if shown.ndim == 1 else pandas.DataFrame
        meta = made(shown[:0]) if columns is None else made(shown[:0], columns=columns)
        return X.map_partitions(
            frame_of, model=whole, method=method.__name__, meta=meta, enforce_metadata=False
        )

    return answer


def answer_of(X: Any, model: Any, method: str) -> Any:
    return getattr(model, method)(X)


def frame_of(X: Any, model: Any, method: str) -> Any:
    import pandas

    values = getattr(model, method)(X)
    made = pandas.Series if values.ndim == 1 else pandas.DataFrame
    return made(values, index=X.index)
