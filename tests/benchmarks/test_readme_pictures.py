"""The README's chart shows the tables of the page on performance."""

from benchmarks.readme import ROOT, SHOWN, rows_of, speed_chart


def test_readme_states_the_range_of_the_chart():
    rows = {row[0]: row for row in rows_of("Figures")}
    ratios = [float(rows[name][3]) for name in SHOWN]
    stated = f"{min(ratios):.0f} to {max(ratios):.0f} times faster"
    assert stated in (ROOT / "README.md").read_text("utf-8")


def test_chart_has_a_bar_for_each_problem_and_each_first_contact():
    left, right = speed_chart().axes
    assert len(left.patches) == len(SHOWN)
    assert [patch.get_width() for patch in right.patches] == [
        float(row[1]) for row in rows_of("First contact")
    ]
