"""What `AutoSVC` and `AutoSVR` share: the course of a fit, and predictions."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ...estimators.parameters import check_boolean, check_callable, check_number, check_option
from ..journal import Journal, SearchInterrupted
from ..outcome import Chosen
from ..search import METRICS

NUMBERS = [np.float64, np.float32]


class AutoMachine(BaseEstimator):  # type: ignore[misc]
    """A machine that chooses its kernel and other parameters during `fit`.

    Order of calls in `fit`: `_checked` (parameters, inputs, targets), `_chosen` (the search; sets
    `search_` and `C_`), `_machine` (an estimator with what was found), its `fit`, `_take_over` (its
    attributes).
    """

    # The attribute that holds the fitted machine.
    _fitted_name = ""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_common_parameters(self) -> None:
        check_option(self, "metric", METRICS)
        check_boolean(self, "scale")
        check_number(self, "cv", 2, closed="left", whole=True)
        check_number(self, "max_seconds", 0, np.inf, closed="right", optional=True)
        check_number(self, "n_jobs", 1, closed="left", whole=True)
        check_callable(self, "callback")

    @abstractmethod
    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Inputs and targets, after checking them and the parameters."""

    @abstractmethod
    def _chosen(
        self, X: Any, y: NDArray[Any], seed: int, began: float, journal: Journal | None
    ) -> Chosen:
        """Search."""

    @abstractmethod
    def _machine(self, seed: int, seconds: float | None, samples: int) -> Any:
        """The estimator to fit, with the parameters found."""

    def fit(self, X: Any, y: Any) -> Any:
        """Choose kernel and parameters, then train on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self
        """
        began = time.perf_counter()
        X, y = self._checked(X, y)
        seed = self._seed()
        try:
            self.search_ = self._chosen(X, y, seed, began, None)
        except SearchInterrupted as interrupted:
            self.search_ = interrupted.found
            raise
        self.C_ = self.search_.C
        left = None
        if self.max_seconds is not None:
            left = max(self.max_seconds - (time.perf_counter() - began), 0.05)
        model = self._machine(seed, left, len(y))
        try:
            model.fit(X, y)
        finally:
            if hasattr(model, "solution_"):
                self._take_over(model)
        return self

    def search(self, X: Any, y: Any, *, journal: Journal | None = None) -> Chosen:
        """Choose kernel and parameters, and train nothing.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Targets.
        journal : Journal, optional
            Records the search; the journal of an equal search that ended early is resumed.

        Returns
        -------
        Chosen

        Examples
        --------
        >>> from maxmargin import AutoSVC
        >>> from maxmargin.data import chess_board
        >>> chosen = AutoSVC(strategy="kta").search(*chess_board(200, random_state=0))
        >>> chosen.status, [stage.what for stage in chosen.stages][-1]
        ('finished', 'path of C')
        """
        began = time.perf_counter()
        X, y = self._checked(X, y)
        return self._chosen(X, y, self._seed(), began, journal)

    def _seed(self) -> int:
        state = self.random_state
        return 0 if state is None else int(check_random_state(state).randint(2**31 - 1))

    def _search_seconds(self, began: float) -> float:
        """Seconds left for the search, which may use 60 % of the time limit."""
        if self.max_seconds is None:
            return np.inf
        return max(0.0, 0.6 * float(self.max_seconds) - (time.perf_counter() - began))

    def _take_over(self, model: Any) -> None:
        setattr(self, self._fitted_name, model)
        for name, value in vars(model).items():
            if name.endswith("_") and not name.startswith("_") and name != "n_features_in_":
                setattr(self, name, value)

    def _fitted_and_inputs(self, X: Any) -> tuple[Any, Any]:
        """The fitted machine, and inputs checked against those of the fit."""
        check_is_fitted(self, self._fitted_name)
        return getattr(self, self._fitted_name), self._new_inputs(X)

    def _new_inputs(self, X: Any) -> Any:
        """Inputs of a prediction."""
        return validate_data(self, X, accept_sparse="csr", dtype=NUMBERS, order="C", reset=False)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class or value of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        model, X = self._fitted_and_inputs(X)
        return np.asarray(model.predict(X))
