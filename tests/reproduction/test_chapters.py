"""Pieces of the chapters, on small parts of their data."""

import numpy as np
import pytest

from reproduction import chapter06_figures, chapter07_figures, chapter08, report001
from reproduction.items import Verdict, printed
from reproduction.runs import Run


def test_online_policies_and_batch_machine_are_compared(monkeypatch):
    def small_board(partition):
        task = chapter08.chess(partition)
        return chapter08.first(
            task._replace(X_test=task.X_test[:500], y_test=task.y_test[:500]), 200
        )

    monkeypatch.setitem(chapter08.TASKS, "chess", small_board)
    found = chapter08.one_partition("chess", 0, None)
    assert found["mvp"]["dual"] < found["second_order"]["dual"] < found["batch"]["dual"]
    assert found["batch"]["dual"] <= found["batch"]["primal"]
    assert found["samples"] == 200


def test_maximum_gain_is_stuck_at_the_counter_example(tmp_path):
    results = chapter06_figures.counter_example(Run("toy", 1, folder=tmp_path))
    page = chapter06_figures.show_counter_example(results, printed("figure-6.1"))
    assert page.verdict is Verdict.PATTERN
    assert "α⁽²⁾ is not where the greedy policy ends: it differs by 0.0066" in page.reason
    results["violating"]["(3,1)"] = 0.1
    page = chapter06_figures.show_counter_example(results, printed("figure-6.1"))
    assert page.verdict is Verdict.DIFFERS


def test_planned_path_ends_in_the_optimum(tmp_path):
    results = chapter07_figures.two_working_sets(Run("toy", 1, folder=tmp_path))
    page = chapter07_figures.show_two_working_sets(results, {})
    assert page.verdict is Verdict.REPRODUCED
    results["planned"][-1][0] += 0.01
    page = chapter07_figures.show_two_working_sets(results, {})
    assert page.verdict is Verdict.DIFFERS


def test_report_has_its_ones_and_sevens(real_data):
    del real_data
    assert report001.samples("mnist")[1].size == 10_853


def test_report_gets_the_printed_accuracies_of_heart(real_data):
    del real_data
    own = [report001.one_split("heart", 42, C)["own"]["accuracy"] for C in (1.0, 10.0)]
    assert np.round(own, 2).tolist() == printed("report-table-1")["heart"]["own"][:2]


def test_own_descent_and_the_library_agree_on_the_toy_set():
    found = report001.one_split("toy", 0, 1.0)
    assert found["own"]["accuracy"] == pytest.approx(found["ours"]["accuracy"], abs=0.2)
