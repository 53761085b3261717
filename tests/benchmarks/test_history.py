"""The history of the benchmark: tables of pages and results become runs that are kept."""

import pytest

from benchmarks import history

ROWS = [
    f"| problem-{i} | 100 × 5 | 0.5 | {2.0 + i} | > 4 | 1e-6 | 2e-6, – |"
    for i in range(history.FEWEST_PROBLEMS)
]
PAGE = f"""# Benchmark

## Figures

Medians of three, two cores of a virtual machine, printed by `make bench`.

| problem | n × d | ours, s | scikit-learn | intelex | our gap | their gaps |
|---|---|---|---|---|---|---|
{chr(10).join(ROWS)}
| alone | 5 × 1 | 0.25 | 3 | none | 1e-6 | 2e-6, – |

Text, and | another | table.
"""
ROW = {"fit": None, "over_budget": None}
RESULTS = {
    "machine": {"cores": 2, "processor": "Slow"},
    "problems": [
        {
            "name": "heart",
            "rows": [
                {**ROW, "contender": "maxmargin-float64", "fit": 0.5},
                {**ROW, "contender": "maxmargin-float32", "fit": 0.25},
                {**ROW, "contender": "scikit-learn", "fit": 1.0},
                {**ROW, "contender": "intelex-float64", "over_budget": 60.0},
            ],
        },
        {"name": "absent", "rows": [{**ROW, "contender": "scikit-learn", "fit": 1.0}]},
    ],
}


def test_table_of_a_page_becomes_a_run():
    run = history.from_page(PAGE, "abc", "2026-01-02")
    assert len(run.problems) == history.FEWEST_PROBLEMS + 1
    assert run.problems["problem-1"].ratios == {"scikit-learn": 3.0, "intelex": 4.0}
    assert run.problems["problem-1"].at_least == ["intelex"]
    assert run.problems["alone"] == history.Timing(0.25, {"scikit-learn": 3.0})
    assert run.machine == "two cores of a virtual machine"
    assert run.slowest("scikit-learn") == (2.0, "problem-0")


def test_page_without_a_whole_table_is_no_run():
    assert history.from_page(PAGE.replace(ROWS[0] + "\n", "\n"), "abc", "2026-01-02") is None
    assert history.from_page("# Benchmark\n", "abc", "2026-01-02") is None


def test_results_take_the_faster_precision_and_mark_bounds():
    run = history.from_results(RESULTS, "abc", "2026-01-02")
    expected = history.Timing(0.25, {"scikit-learn": 4.0, "intelex": 240.0}, ["intelex"])
    assert run.problems == {"heart": expected}


def test_kept_runs_are_read_as_they_were_written(tmp_path):
    runs = [
        history.from_page(PAGE, "abc", "2026-01-02"),
        history.from_results(RESULTS, "d", "2026-02-03"),
    ]
    history.write(runs, tmp_path / "history.json")
    assert history.read(tmp_path / "history.json") == runs


def test_repository_keeps_whole_runs_in_order():
    runs = history.read()
    assert [run.date for run in runs] == sorted(run.date for run in runs)
    assert all(len(run.problems) >= history.FEWEST_PROBLEMS for run in runs)
    for peer in history.PEERS:
        names = history.common(runs, peer)
        assert len(names) >= 15
        assert runs[-1].mean_ratio(peer, names) > 1.0


def test_mean_ratio_is_geometric():
    run = history.Run(
        "a",
        "2026-01-02",
        "",
        {n: history.Timing(1.0, {"intelex": r}) for n, r in (("x", 2.0), ("y", 8.0))},
    )
    assert run.mean_ratio("intelex", ["x", "y"]) == pytest.approx(4.0)
