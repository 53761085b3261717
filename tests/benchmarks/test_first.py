"""First contact: import, fit and predict in new processes."""

import json

from benchmarks import first
from benchmarks.contenders import PEERS
from benchmarks.first import First, data_sets, first_contacts, table_of, write


def test_each_contender_is_measured_in_processes_of_its_own():
    said = []
    [row] = first_contacts(PEERS[:1], repeats=1, sizes=(60,), mnist=False, say=said.append)
    assert (row.problem, row.contender) == ("60 × 20", "scikit-learn")
    assert row.total == row.importing + row.fitting + row.predicting > 0.0
    assert row.processor > 0.0
    assert row.megabytes > 10.0
    assert len(said) == 2  # the first run does not count


def test_new_inputs_are_others():
    [(_, (X, y, X_new))] = data_sets((30,), mnist=False)
    assert X.shape == (30, first.FEATURES)
    assert set(y) == {-1, 1}
    assert X_new.shape == (first.NEW_INPUTS, first.FEATURES)


def test_tables_and_files_say_the_same(tmp_path):
    row = First("500 × 20", "maxmargin-float64", 1.0, 0.5, 0.25, 1.75, 2.0, 300.0)
    write([row], {"cores": 2}, tmp_path)
    assert json.loads((tmp_path / "first.json").read_text())["first"][0]["total"] == 1.75
    assert (tmp_path / "first.txt").read_text() == table_of([row]) + "\n"
    assert "500 × 20       maxmargin-float64     1.00    0.50     0.25     1.75" in table_of([row])
