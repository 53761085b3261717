"""The tables of the performance page are written from what was measured."""

import pytest

from benchmarks.contenders import INTELEX, OURS, SKLEARN
from benchmarks.speed_page import HEADER, PAGE, first_table, lines, with_lines


def row(contender, fit, gap=1e-5, over_budget=None):
    figures = None if fit is None else {"relative_gap": gap}
    return {"contender": contender, "fit": fit, "over_budget": over_budget, "figures": figures}


RESULTS = {
    "machine": {"cores": 2, "processor": "one"},
    "problems": [
        {
            "name": "heart",
            "rows": [
                row(f"{OURS}-float64", 0.5, 2e-5),
                row(f"{OURS}-float32", 0.25, 3e-12),
                row(SKLEARN, 1.0, 0.5),
                row(f"{INTELEX}-float64", None, over_budget=60.0),
            ],
        },
        {"name": "no such problem", "rows": [row(f"{OURS}-float64", 1.0)]},
    ],
}


def test_a_line_has_the_faster_float_ratios_and_gaps():
    assert lines(RESULTS) == {"heart": "| heart | 270 × 13 | 0.25 | 4 | > 240 | 3e-12 | 5e-1, – |"}


def test_lines_are_replaced_in_the_table_of_their_group_and_others_stay():
    old = "| german | 1,000 × 20 | 1 | 1 | 1 | 1 | 1, 1 |"
    head = "\n".join(HEADER)
    text = f"before\n<!-- measured: tuned -->\n\n{head}\n{old}\n\n<!-- end: tuned -->\nafter\n"
    found = with_lines(text, "tuned", lines(RESULTS)).splitlines()
    assert found[0] == "before"
    assert found[-1] == "after"
    names = [line.split(" | ")[0] for line in found if line.startswith("| ")]
    assert names == ["| problem", "| heart", "| german"]
    assert old in found


def test_first_contact_has_a_line_for_each_data_set_and_a_column_for_each_contender():
    rows = [
        {"problem": "500 × 20", "contender": "ours-float64", "total": 1.234, "megabytes": 1280.4},
        {"problem": "500 × 20", "contender": "peer", "total": 0.5, "megabytes": 90.0},
    ]
    assert first_table(rows).splitlines() == [
        "| data | ours, float64 | peer |",
        "|---|---|---|",
        "| 500 × 20 | 1.23 (1,280 MB) | 0.50 (90 MB) |",
    ]


@pytest.mark.parametrize("name", ["tuned", "others", "machines", "new processes", "ablation"])
def test_the_page_has_a_place_for_each_table(name):
    text = PAGE.read_text("utf-8")
    assert text.index(f"<!-- measured: {name} -->") < text.index(f"<!-- end: {name} -->")
