"""The README's chart shows the tables of the page on performance."""

from benchmarks.readme import (
    PAGE,
    README,
    ROOT,
    SHOWN,
    contact_table,
    contact_words,
    first_contact,
    rows_of,
    speed_chart,
)


def test_readme_states_the_range_of_the_chart():
    rows = {row[0]: row for row in rows_of("Figures")}
    ratios = [float(rows[name][3]) for name in SHOWN]
    stated = f"{min(ratios):.0f} to {max(ratios):.0f} times faster"
    assert stated in (ROOT / "README.md").read_text("utf-8")


def test_chart_has_a_bar_for_each_problem_and_each_first_contact():
    left, right = speed_chart().axes
    assert len(left.patches) == len(SHOWN)
    assert [patch.get_width() for patch in right.patches] == list(first_contact().values())


def test_pages_state_the_first_contact_that_was_measured():
    assert contact_words(first_contact()) in README.read_text("utf-8")
    assert contact_table(first_contact()) in PAGE.read_text("utf-8")
