"""The way of a fit through the package does not get longer: see `python -m benchmarks.walk`."""

import sys
from collections import Counter

import pytest

from benchmarks.walk import calls, walk, walk_warm
from maxmargin.solvers.plan import Plan, row_budget

# Files, calls, crossings and types of records, at most. Lower them when a fit takes a shorter way.
MOST = {
    "SVC.fit, 300": (25, 170, 53, 8),
    "SVC.fit, 12,000": (43, 14_400, 3_550, 9),
    "SVC.predict, 300": (12, 75, 20, 3),
    "LinearSVC.fit, 300": (28, 375, 92, 2),
    "OnlineSVC.fit, 300": (22, 190, 60, 3),
}


def most_called(found):
    """The functions by the number of their calls, the most frequent first."""
    counts = Counter(line.strip() for line in found.tree)
    return "\n".join(f"{count:6,}  {name}" for name, count in counts.most_common(60))


def test_a_walk_counts_files_calls_crossings_and_records():
    def both():
        row_budget(1e9, 0.0, 1)
        Plan(1, "full", "float64")

    found = walk(both)
    assert list(found.files) == ["solvers/plan.py"]
    assert found.calls == 1
    assert found.crossings == 0
    assert found.records == {"Plan": 1}
    assert sys.getprofile() is None


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="comprehensions are no calls any more")
@pytest.mark.parametrize("name", MOST)
def test_a_fit_takes_no_longer_way_than_it_did(name):
    found = walk_warm(calls()[name])
    most_files, most_calls, most_crossings, most_records = MOST[name]
    assert len(found.files) <= most_files, "\n".join(found.files)
    assert found.calls <= most_calls, most_called(found)
    assert found.crossings <= most_crossings, most_called(found)
    assert len(found.records) <= most_records, found.records
