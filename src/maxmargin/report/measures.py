"""Quality measures with 95 % confidence intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ..models.training import HeldOut, Measure


def share(name: str, hits: int, count: int) -> Measure:
    """A share of successes, with Wilson's interval.

    Examples
    --------
    >>> from maxmargin.report.measures import share
    >>> share("accuracy", 90, 100)
    Measure(name='accuracy', value=0.9, low=0.825..., high=0.944...)
    """
    z = 1.959963984540054  # the normal deviate of 95 %
    p, z2 = hits / count, z**2
    middle = (p + z2 / (2 * count)) / (1 + z2 / count)
    half = z * np.sqrt(p * (1 - p) / count + z2 / (4 * count**2)) / (1 + z2 / count)
    low = 0.0 if hits == 0 else float(middle - half)
    high = 1.0 if hits == count else float(middle + half)
    return Measure(name, p, low, high)


def mean_share(name: str, hits: NDArray[Any], counts: NDArray[Any]) -> Measure:
    """The mean p of shares p_k, with an interval from those of the shares (Zou and Donner, 2008)::

        low = p − √(Σ_k (p_k − low_k)²) / K,   high = p + √(Σ_k (high_k − p_k)²) / K

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.report.measures import mean_share
    >>> mean_share("balanced accuracy", np.array([90, 5]), np.array([100, 10]))
    Measure(name='balanced accuracy', value=0.7, low=0.56..., high=0.83...)
    """
    shares = [share(name, int(hit), int(count)) for hit, count in zip(hits, counts)]
    value = float(np.mean([each.value for each in shares]))
    below = float(np.linalg.norm([each.value - each.low for each in shares]))
    above = float(np.linalg.norm([each.high - each.value for each in shares]))
    return Measure(name, value, value - below / len(shares), value + above / len(shares))


def resampled(
    name: str,
    function: Callable[..., float],
    *columns: np.ndarray,
    bounded: bool = False,
    resamples: int = 500,
    largest: int = 20_000,
) -> Measure:
    """A measure with percentiles of its bootstrap distribution; `bounded` limits it to 1.

    There are `resamples` of at most `largest` samples each.
    """
    value = float(function(*columns))
    random = np.random.default_rng(0)
    count = len(columns[0])
    drawn = []
    for _ in range(resamples):
        rows = random.integers(count, size=min(count, largest))
        try:
            drawn.append(float(function(*(column[rows] for column in columns))))
        except ValueError:
            continue
    finite = np.array([x for x in drawn if np.isfinite(x)])
    if finite.size < resamples // 2:
        return Measure(name, value, np.nan, np.nan)
    # The interval of all samples is shorter than that of resamples with fewer.
    factor = np.sqrt(min(1.0, largest / count))
    low, high = np.percentile(finite, [2.5, 97.5])
    low, high = value + factor * (low - value), value + factor * (high - value)
    if bounded and high - low < 1.0 / count:
        # Resamples of samples without an error have none: the bound of a share of successes
        # (Clopper and Pearson) is the best approximation for the mean of several shares.
        low = min(low, 0.025 ** (1.0 / smallest_part(columns[0]))) if value > 0.5 else low
    return Measure(name, value, low, high)


def smallest_part(targets: np.ndarray) -> int:
    """Samples of the rarest class."""
    return int(np.unique(targets, return_counts=True)[1].min())


def of_classes(held_out: HeldOut, classes: np.ndarray) -> tuple[Measure, ...]:
    """Accuracy, balanced accuracy and, given decision values, the area under the ROC curve."""
    target, predicted = held_out.target, held_out.predicted
    right = target == predicted
    measures = [share("accuracy", int(right.sum()), right.size)]
    codes = np.unique(target, return_inverse=True)[1]
    counts = np.bincount(codes)
    hits = np.bincount(codes[right], minlength=counts.size)
    measures.append(mean_share("balanced accuracy", hits, counts))
    if classes.size == 2 and held_out.decision.ndim == 1 and held_out.decision.size:
        positive = (target == classes[1]).astype(int)
        if 0 < positive.sum() < positive.size:
            area = resampled(
                "area under ROC", area_under_roc, positive, held_out.decision, bounded=True
            )
            measures.append(area)
    return tuple(measures)


def of_numbers(held_out: HeldOut) -> tuple[Measure, ...]:
    """R², mean absolute and root mean square error."""
    columns = np.asarray(held_out.target, float), np.asarray(held_out.predicted, float)
    return (
        resampled("R²", determination, *columns),
        resampled("mean absolute error", absolute_error, *columns),
        resampled("root mean square error", square_error, *columns),
    )


def area_under_roc(positive: np.ndarray, decision: np.ndarray) -> float:
    """The fraction of pairs of a positive and a negative sample in order; ties count half."""
    above = int(positive.sum())
    below = positive.size - above
    if not above or not below:
        raise ValueError("one class alone has no ROC")
    ranks = rankdata(decision)[positive.astype(bool)].sum()
    return float((ranks - above * (above + 1) / 2) / (above * below))


def absolute_error(target: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.abs(target - predicted).mean())


def square_error(target: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.sqrt(((target - predicted) ** 2).mean()))


def determination(target: np.ndarray, predicted: np.ndarray) -> float:
    spread = float(((target - target.mean()) ** 2).sum())
    return 1.0 - float(((target - predicted) ** 2).sum()) / spread if spread > 0 else np.nan


def predictions(estimator: Any, X: Any, target: np.ndarray) -> HeldOut:
    """Predictions of an estimator for samples whose target is known."""
    none = np.empty(0)
    decision = estimator.decision_function(X) if hasattr(estimator, "decision_function") else none
    probability = none
    if hasattr(estimator, "predict_proba"):
        probability = estimator.predict_proba(X)
    return HeldOut(target, estimator.predict(X), np.asarray(decision), np.asarray(probability))


def measured(estimator: Any, held_out: HeldOut) -> tuple[Measure, ...]:
    """The measures that suit an estimator."""
    if hasattr(estimator, "classes_"):
        return of_classes(held_out, estimator.classes_)
    return of_numbers(held_out)
