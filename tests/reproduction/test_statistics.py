"""The statistics, against values worked out by hand."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, wilcoxon

from reproduction import statistics


def test_summary_by_hand():
    found = statistics.summary([1.0, 2.0, 3.0, 4.0, 10.0])
    assert found["mean"] == 4.0
    assert found["deviation"] == pytest.approx(np.sqrt(50 / 4))
    assert (found["lower"], found["median"], found["upper"]) == (2.0, 3.0, 4.0)
    assert statistics.summary([3.0])["deviation"] == 0.0


def test_paired_test_counts_signed_ranks():
    # All five differences are positive: one of 2⁵ assignments of signs is as extreme.
    left, right = [5, 7, 9, 12, 20], [4, 5, 6, 8, 15]
    assert statistics.paired(left, right) == pytest.approx(1 / 32)
    assert statistics.smallest_p(5) == 1 / 32
    assert statistics.paired(right, left) == pytest.approx(1.0)
    assert statistics.paired(left, left) == 1.0
    assert statistics.paired(left, right) == wilcoxon(left, right, alternative="greater").pvalue
    assert statistics.paired_sign(left, right) == ">"
    assert statistics.paired_sign(right, left) == "<"
    assert statistics.paired_sign([1, 2], [0, 1]) == ""


def test_rank_sum_counts_arrangements():
    # Three below three: one of 20 arrangements.
    assert statistics.rank_sum([1, 2, 3], [4, 5, 6]) == pytest.approx(1 / 20)
    low, high = np.arange(10.0), np.arange(10.0) + 20
    assert statistics.rank_sum(low, high) == mannwhitneyu(low, high, alternative="less").pvalue
    assert statistics.comparison_sign(low, high) == "<<<"
    assert statistics.comparison_sign(high, low) == ">>>"
    assert statistics.comparison_sign([1, 2, 3], [4, 5, 6]) == "0.05"
