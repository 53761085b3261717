"""A certificate as a picture: primal and dual value converge to the optimum."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..plots.display import BLACK, BLUE, GREEN, VERMILLION, Display
from ..words import gap_in_words


class CertificateDisplay(Display):
    """Primal and dual value of machines stopped after 1, 2, 4, … steps.

    Every point is the certificate of a fit, recomputed from its model; the optimum lies in the
    shaded band. The right panel shows the gap relative to the objective.

    Parameters
    ----------
    steps : int array
    primal, dual : float arrays
        Primal values that are infinite are left out.
    certificate : Certificate
        Of the last fit.
    gap : float, optional
        The relative gap that was requested.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.report import CertificateDisplay
    >>> X, y = chess_board(200, random_state=0)
    >>> display = CertificateDisplay.from_estimator(SVC(C=100.0, gamma=2.0), X, y)
    >>> bool((display.primal >= display.dual).all())
    True
    """

    panels = (1, 2)
    size = (9.6, 4.2)

    def __init__(
        self,
        *,
        steps: np.ndarray,
        primal: np.ndarray,
        dual: np.ndarray,
        certificate: Any,
        gap: float | None = None,
    ) -> None:
        self.steps, self.primal, self.dual = steps, primal, dual
        self.certificate, self.gap = certificate, gap

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, ax: Any = None
    ) -> CertificateDisplay:
        """Fit copies of an estimator with growing step limits and plot their certificates.

        Parameters
        ----------
        estimator : SVC, NuSVC, SVR, NuSVR or OneClassSVM
            With several classes, values are sums over all problems.
        X, y : inputs and targets
        ax : two Axes, optional
        """
        fits = stopped_fits(estimator, X, y)
        rows = [(limit, *values_of(model.certificate_)) for limit, model in fits]
        proof = fits[-1][1].certificate_
        steps, primal, dual = np.array(rows, dtype=np.float64).T
        gap = getattr(estimator, "gap", None)
        return cls(steps=steps, primal=primal, dual=dual, certificate=proof, gap=gap).plot(ax)

    @property
    def relative(self) -> np.ndarray:
        """Gaps relative to the objective."""
        scale = np.maximum(np.abs(self.primal), np.abs(self.dual))
        result: np.ndarray = np.abs(self.primal - self.dual) / np.maximum(
            scale, np.finfo(float).tiny
        )
        return result

    def _draw(self, ax: Any) -> None:
        left, right = ax
        style = {"marker": "o", "markersize": 5}
        known = np.isfinite(self.primal)
        sides = (self.steps[known], self.dual[known], self.primal[known])
        left.fill_between(*sides, color=BLUE, alpha=0.13, linewidth=0, label="optimum inside")
        left.plot(self.steps[known], self.primal[known], color=VERMILLION, label="primal", **style)
        left.plot(self.steps, self.dual, color=BLUE, label="dual", **style)
        left.axhline(self.dual[-1], color=BLACK, linestyle=":", linewidth=1.2)
        end, low = self.primal[-1], float(self.dual.min())
        top = min(self.primal[known].max(), end + 1.5 * max(end - low, 1e-12))
        pad = 0.05 * max(top - low, 1e-12)
        left.set_ylim(low - pad, top + pad)
        left.set(xscale="log", xlabel="steps", ylabel="objective", title="primal and dual value")
        left.legend(loc="best", fontsize=10)
        positive = np.maximum(self.relative, 1e-16)
        right.loglog(self.steps[known], positive[known], color=BLUE, **style)
        if self.gap is not None and np.isfinite(self.gap) and self.gap > 0:
            right.axhline(self.gap, color=GREEN, linestyle="--", linewidth=1.5)
            place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            right.annotate(
                f"gap = {self.gap:g}", (0.0, self.gap), (6, 4), color=GREEN, fontsize=11, **place
            )
        claim = gap_in_words(self.certificate).split(",")[0]
        right.set(xlabel="steps", ylabel="gap / objective", title=f"result {claim}")
        right.title.set_fontsize(12)


def stopped_fits(estimator: Any, X: Any, y: Any) -> list[tuple[int, Any]]:
    """Copies of an estimator stopped after 1, 2, 4, … steps, up to the optimum."""
    fits, limit = [], 1
    for _ in range(40):
        model = clone(estimator).set_params(max_iter=limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        fits.append((limit, model))
        if model.fit_status_ == 0:
            break
        limit *= 2
    return fits


def values_of(certificate: Any) -> tuple[float, float]:
    """Primal and dual value, summed over all problems."""
    parts = list(certificate) if hasattr(certificate, "names") else [certificate]
    return sum(part.primal for part in parts), sum(part.dual for part in parts)
