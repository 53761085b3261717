"""The documents' statistics: medians, quartiles, rank tests, and the signs they are printed as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from scipy.stats import mannwhitneyu, wilcoxon

# Significance levels of the thesis's signs <, << and <<<.
LEVELS = (0.05, 0.01, 0.001)


class Summary(TypedDict):
    """Location and spread of a sample."""

    mean: float
    deviation: float
    median: float
    lower: float
    upper: float
    count: int


def summary(values: Sequence[float]) -> Summary:
    """Mean, standard deviation (of the sample), median and quartiles."""
    x = np.asarray(values, dtype=np.float64)
    lower, median, upper = np.quantile(x, (0.25, 0.5, 0.75))
    return {
        "mean": float(x.mean()),
        "deviation": float(x.std(ddof=1)) if x.size > 1 else 0.0,
        "median": float(median),
        "lower": float(lower),
        "upper": float(upper),
        "count": int(x.size),
    }


def paired(left: Sequence[float], right: Sequence[float]) -> float:
    """p of the one-sided paired Wilcoxon test; small where `left` is larger than `right`."""
    if np.array_equal(left, right):
        return 1.0
    return float(wilcoxon(left, right, alternative="greater").pvalue)


def rank_sum(left: Sequence[float], right: Sequence[float]) -> float:
    """p of the one-sided Mann–Whitney test; small where `left` is smaller than `right`."""
    return float(mannwhitneyu(left, right, alternative="less").pvalue)


def two_sided(left: Sequence[float], right: Sequence[float]) -> float:
    """p of the two-sided Mann–Whitney test, the thesis's Wilcoxon rank sum test."""
    return float(mannwhitneyu(left, right, alternative="two-sided").pvalue)


def paired_sign(left: Sequence[float], right: Sequence[float], level: float = 0.05) -> str:
    """The sign of Table 7.2: ">" where left is significantly larger, "<" where smaller."""
    if paired(left, right) < level:
        return ">"
    return "<" if paired(right, left) < level else ""


def comparison_sign(row: Sequence[float], column: Sequence[float]) -> str:
    """The sign of Tables 12 and 13: "<<" where the row is better at 0.01, or p itself."""
    for sign, p in (("<", rank_sum(row, column)), (">", rank_sum(column, row))):
        strength = sum(p < level for level in LEVELS)
        if strength:
            return sign * strength
    return f"{rank_sum(row, column):.2f}"


def smallest_p(count: int) -> float:
    """The smallest p that a one-sided paired Wilcoxon test of so many pairs can give."""
    return 0.5**count
