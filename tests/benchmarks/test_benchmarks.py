"""The benchmark: its problems, its contenders and their processes, its tables and files."""

import json
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
import realdata
import sklearn.svm
from scipy import sparse

from benchmarks import (
    cold,
    contenders,
    growth,
    machine,
    problems,
    report,
    results,
    speed,
    workers,
)
from benchmarks.contenders import INTELEX, OWN, PEERS, SKLEARN, Contender, Unavailable
from benchmarks.measure import Bench, Comparison, Row, Settings, _Turn
from benchmarks.problems import (
    MACHINES,
    MADE_UP,
    OTHERS,
    PREDICTION,
    PROBLEMS,
    Problem,
    board,
    load,
)
from benchmarks.workers import BudgetUsed, Failed, Memory, Session, Worker, timed

RATES = {"float32": 2e11, "float64": 1e11}


def tiny(estimator="SVC"):
    return Problem("tiny", 90, 3, {"gamma": 0.5}, estimator=estimator)


def timed_row(contender, *seconds, **more):
    return Row(contender, fits=list(seconds), **more)


def test_problems_are_those_of_the_list():
    others = (
        *("spambase", "ionosphere", "tic-tac-toe", "chess-board-1000", "chess-board-10000"),
        *("chess-board-100000", "chess-board-10000-soft", "a9a", "a9a-csr", "w8a", "connect-4"),
        *("krkopt", "usps", "mnist-10000", "mnist-60000", "cadata", "mnist-zeros"),
    )
    assert tuple(PROBLEMS) == realdata.RAETSCH + others


def test_other_problems_say_what_their_gap_is_computed_from():
    for problem in OTHERS:
        assert problem.parameters.keys() == {"C", "gamma"} | (
            {"epsilon"} if problem.estimator == "SVR" else set()
        )


@pytest.mark.parametrize("name", MADE_UP)
def test_made_up_problems_have_the_size_they_say(name):
    problem = next(problem for problem in OTHERS if problem.name == name)
    X, y, X_new = load(problem)
    assert X.shape == (problem.samples, problem.features)
    assert y.shape == (problem.samples,)
    assert X_new.shape[1] == problem.features
    np.testing.assert_allclose(X.std(axis=0), 1.0)


@pytest.mark.parametrize("name", [*realdata.RAETSCH, "ionosphere", "tic-tac-toe", "connect-4"])
def test_parameters_are_those_of_the_thesis(name):
    row = realdata.TABLE_7_1[name]
    assert PROBLEMS[name].parameters == {"C": row.C, "gamma": row.gamma}


@pytest.mark.parametrize(
    "problem", [*PROBLEMS.values(), *MACHINES, PREDICTION], ids=lambda p: p.name
)
def test_data_have_the_stated_size_and_float(problem, real_data):
    del real_data
    X, y, X_new = load(problem, "float32")
    assert X.shape == (problem.samples, problem.features)
    assert X_new.shape[1] == problem.features
    assert 0 < X_new.shape[0] <= 20_000
    assert X.dtype == X_new.dtype == np.float32
    assert sparse.issparse(X) == problem.csr
    assert (y is None) == (problem.estimator == "OneClassSVM")


def test_regression_is_standardised_on_both_sides(real_data):
    del real_data
    X, y, _ = load(PROBLEMS["cadata"])
    assert np.allclose([X.mean(), y.mean()], 0, atol=1e-12)
    assert np.allclose([X.std(), y.std()], 1, atol=1e-12)


def test_every_sample_of_the_prediction_problem_is_a_support_vector(real_data):
    del real_data
    X, y, X_new = load(PREDICTION)
    model = sklearn.svm.SVC(**PREDICTION.parameters).fit(X, y)
    assert model.support_.size == 2_000
    assert X_new.shape == (10_000, 784)


def test_quick_leaves_the_small_problems():
    quick = {problem.name for problem in problems.selected(None, quick=True)}
    assert quick == {name for name, problem in PROBLEMS.items() if problem.samples < 5_000}
    assert "splice" in quick


def test_patterns_choose_problems():
    chosen = problems.selected(["mnist*", "heart"])
    assert {p.name for p in chosen} == {"mnist-10000", "mnist-60000", "mnist-zeros", "heart"}


def test_unknown_problem_is_refused_by_name():
    with pytest.raises(ValueError, match="no problem is called 'moons'"):
        problems.selected(["moons"])


def test_absent_data_are_a_word_and_no_failure(monkeypatch, tmp_path):
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    with Bench([], Settings(), RATES, print) as bench:
        comparison = bench.compare(PROBLEMS["banana"])
    assert comparison.skipped == realdata.ABSENT
    assert realdata.ABSENT in report.rendered(report.comparison_table(comparison))


def test_patterns_choose_peers_beside_ourselves():
    assert contenders.selected(["intelex*"]) == [*OWN, *PEERS[1:]]
    assert contenders.selected(["none"]) == list(OWN)


def test_unknown_peer_is_refused_by_name():
    with pytest.raises(ValueError, match="no peer is called 'thundersvm'"):
        contenders.selected(["thundersvm"])


def test_peer_that_is_not_installed_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(contenders, "find_spec", lambda _: None)
    assert PEERS[1].missing() == "scikit-learn-intelex is not installed: pip install '.[bench]'"


def test_peer_that_cannot_be_imported_is_unavailable():
    broken = Contender(INTELEX, "sklearn.no_such_module", "float64", "scikit-learn-intelex")
    with pytest.raises(Unavailable, match="scikit-learn-intelex cannot be imported"):
        broken.estimator(tiny())


def test_peer_without_the_estimator_is_unavailable():
    other = Contender(SKLEARN, "sklearn.cluster", "float64", "scikit-learn")
    with pytest.raises(Unavailable, match="scikit-learn has no SVC"):
        other.estimator(tiny())


def test_all_get_the_same_cache():
    present = [c for c in (*OWN, *PEERS) if c.missing() is None]
    assert {c.estimator(tiny()).cache_size for c in present} == {contenders.CACHE_SIZE}


def test_process_over_its_budget_is_ended_and_another_one_goes_on():
    worker = Worker(PEERS[0])
    try:
        worker.ask("prepare", board(20_000))
        with pytest.raises(BudgetUsed):
            worker.ask("fit", budget=0.2)
        worker.ask("prepare", board(40, C=1.0))
        assert worker.ask("fit", budget=60.0).seconds > 0
    finally:
        worker.close()


def test_failure_in_a_process_is_told():
    worker = Worker(PEERS[0])
    try:
        with pytest.raises(Failed, match="AttributeError"):
            worker.ask("no_such_request")
        with pytest.raises(Failed, match="has no LinearRegression"):
            worker.ask("prepare", tiny("LinearRegression"))
    finally:
        worker.close()


def test_short_work_is_repeated_and_long_work_is_not(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(workers, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def taking(seconds):
        def work():
            now[0] += seconds

        return lambda: work

    assert len(timed(taking(0.0))[0]) == 100
    assert len(timed(taking(0.03))[0]) == 4
    assert len(timed(taking(0.11))[0]) == 1


def test_peak_counts_memory_that_was_given_back():
    before = machine.reset_peak()
    np.ones(8_000_000)
    assert machine.peak() - before > 60_000_000


def test_memory_of_a_fit_is_measured_beside_its_inputs():
    session = Session(PEERS[0])
    session.prepare(board(1_500, C=1.0))
    taken = session.memory()
    assert taken.inputs == 1_500 * 2 * 8
    assert taken.peak > 1_500 * 100  # rows of the Gram matrix, of some hundred support vectors


def test_a_peer_is_given_so_many_times_our_seconds_and_no_less_than_a_minute():
    with Bench([], Settings(budget=500.0, patience=10.0), RATES, print) as bench:
        ours, peer = (
            _Turn(SimpleNamespace(contender=contender), tiny(), bench.settings, print)
            for contender in (OWN[0], PEERS[0])
        )
        assert bench._budget(peer, [ours, peer]) == 500.0
        for seconds, budget in ((1.0, 60.0), (20.0, 200.0), (400.0, 500.0)):
            ours.row.fits[:] = [seconds]
            assert bench._budget(peer, [ours, peer]) == budget
            assert bench._budget(ours, [ours, peer]) == 500.0


def test_row_over_budget_is_compared_as_at_least_that_long():
    row = Row(PEERS[0], over_budget=900.0)
    assert row.fit is None
    assert row.at_least == 900.0


def test_exponent_of_a_power_is_found():
    sizes = [1_000, 3_000, 10_000]
    assert growth.exponent(sizes, [1e-6 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    assert growth.exponent([1_000], [1.0]) is None


def test_growth_takes_what_was_measured_already():
    known = {
        problem.name: Comparison(problem, [timed_row(OWN[0], 1e-8 * problem.samples**2)])
        for problem in problems.GROWTH["mnist"]
    }
    with Bench([OWN[0]], Settings(), RATES, print) as bench:
        (curve,) = growth.growth(bench, known, {"mnist": problems.GROWTH["mnist"]})
    assert curve.samples == [5_000, 10_000, 20_000, 40_000, 60_000]
    assert curve.exponent == pytest.approx(2.0)


def test_cold_start_is_timed_in_new_processes(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # what compiles in seconds is not the subject
    found = cold.beginning(repeats=1, sizes={"tiny": 30})
    assert [start.case for start in found.starts] == [
        "first fit ever, tiny (30 samples)",
        "first fit in a new process, tiny (30 samples)",
    ]
    assert min(found.imports.values()) > 0
    assert min(min(start.first, start.again) for start in found.starts) > 0


EXAMPLE = report.Table("Two", ("problem", "fit s"), [("banana", "0.25"), ("ring", "12")])


def test_plain_table_aligns_words_left_and_numbers_right():
    assert report.plain(EXAMPLE) == (
        "Two\nproblem  fit s\n-------  -----\nbanana    0.25\nring        12\n"
    )


def test_table_is_plain_without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    assert report.rendered(EXAMPLE) == report.plain(EXAMPLE)


def test_table_by_rich_has_the_same_cells():
    pytest.importorskip("rich")
    drawn = report.rendered(EXAMPLE)
    assert drawn != report.plain(EXAMPLE)
    assert {"Two", "problem", "banana", "0.25", "ring", "12"} <= set(drawn.split())


def test_ratio_to_an_ended_peer_is_a_lower_bound():
    comparison = Comparison(
        PROBLEMS["banana"], [timed_row(OWN[0], 3.0), timed_row(PEERS[0], over_budget=900.0)]
    )
    ours, peer = report.comparison_table(comparison).rows
    assert (ours[1], ours[2]) == ("3", "1")
    assert (peer[1], peer[2]) == ("> 900", "> 300")


def test_memory_limit_is_ours_alone():
    taken = Memory(inputs=10**9, peak=8 * 10**9)
    rows = [timed_row(OWN[0], 1.0, memory=taken), timed_row(PEERS[0], 1.0, memory=taken)]
    ours, peer = report.memory_table([Comparison(PROBLEMS["banana"], rows)]).rows
    assert ours[2:] == ["1000.0", "8000.0", "7005", "MISSED"]
    assert peer[2:] == ["1000.0", "8000.0", "–", ""]


def test_no_plot_without_matplotlib_and_a_word_about_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    empty = results.Results({}, {}, {})
    assert "matplotlib is not installed" in results.write_plot(empty, tmp_path / "speed.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--repeats", "0"], "must be at least 1, got 0"),
        (["--budget", "-1"], "must be positive, got -1"),
        (["--problems", "moons"], "no problem is called 'moons'"),
    ],
)
def test_wrong_option_is_refused(option, message, capsys):
    with pytest.raises(SystemExit):
        speed.parsed(option)
    assert message in capsys.readouterr().err


def test_run_on_two_tiny_problems_prints_and_writes_everything(monkeypatch, tmp_path, capsys):
    small = board(40, "soft", C=1.0), board(60, "softer", C=0.5)
    monkeypatch.setattr(problems, "GROUPS", {"tuned": small})
    monkeypatch.setattr(speed, "gemm_rate", RATES.get)
    monkeypatch.setattr(
        contenders, "find_spec", lambda name: None if name == "sklearnex" else find_spec(name)
    )
    speed.main(["--repeats", "2", "--output", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "intelex-float32 is left out: scikit-learn-intelex is not installed" in printed
    assert "soft: SVC, 40 × 2, C 1, gamma 0.5" in printed

    written = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))
    assert [problem["name"] for problem in written["problems"]] == ["soft", "softer"]
    for problem in written["problems"]:
        assert [r["contender"] for r in problem["rows"]] == [*(c.name for c in OWN), SKLEARN]
        duals = [r["figures"]["dual"] for r in problem["rows"]]
        assert duals == pytest.approx([duals[0]] * 3, rel=1e-3)
        assert all(len(r["fits"]) == len(r["predictions"]) == 2 for r in problem["rows"])
        assert problem["verdicts"][0]["met"] in (None, False)
    assert (tmp_path / "speed.txt").read_text(encoding="utf-8").count("Targets") == 1
    if find_spec("matplotlib") is not None:
        assert (tmp_path / "speed.png").stat().st_size > 0
