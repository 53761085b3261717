"""The registry holds every table and figure of the documents."""

from collections import Counter

import pytest

from reproduction import items


def numbers(source, kind):
    return {
        item.number
        for item in items.items().values()
        if (item.source, item.kind) == (source, kind) and item.number
    }


def test_all_tables_and_figures_of_the_documents_are_listed():
    counts = Counter((i.source, i.kind) for i in items.items().values() if i.number)
    assert counts["thesis", "table"] == 16
    assert counts["thesis", "figure"] == 24
    assert counts["report", "table"] == 2
    assert counts["report", "figure"] == 7


def test_no_number_between_the_first_and_last_of_a_chapter_is_missing():
    for kind in ("table", "figure"):
        by_chapter = {}
        for number in numbers("thesis", kind):
            chapter, place = map(int, number.split("."))
            by_chapter.setdefault(chapter, set()).add(place)
        for places in by_chapter.values():
            assert places == set(range(1, max(places) + 1))


def test_a_number_means_table_and_figure():
    assert {i.key for i in items.chosen("7.2")} == {"table-7.2", "figure-7.2"}
    assert {i.key for i in items.chosen("report-table-1, 6.5")} == {"report-table-1", "table-6.5"}
    assert len(items.chosen("")) == len(items.items())


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match=r"WHAT=99\.1 names no table"):
        items.chosen("7.2,99.1")
    with pytest.raises(ValueError, match="no item is called"):
        items.computes("table-99.1")(print)
