"""The way of a fit through the package does not get longer: see `python -m benchmarks.walk`."""

import sys

import pytest

from benchmarks.walk import calls, walk, walk_warm
from maxmargin.solvers.plan import Plan, stage_sizes

# Files, calls and types of records, at most. Lower them when a fit takes a shorter way.
MOST = {
    "SVC.fit, 300": (38, 290, 9),
    "SVC.predict, 300": (16, 140, 4),
    "LinearSVC.fit, 300": (30, 430, 3),
    "OnlineSVC.fit, 300": (30, 300, 5),
}


def test_a_walk_counts_files_calls_crossings_and_records():
    def both():
        stage_sizes(100)
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
    most_files, most_calls, most_records = MOST[name]
    assert len(found.files) <= most_files, "\n".join(found.files)
    assert found.calls <= most_calls, "\n".join(found.tree)
    assert len(found.records) <= most_records, found.records
