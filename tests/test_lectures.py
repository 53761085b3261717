"""Every line of docs/study/algorithms.md runs, and the page is the one generated."""

import warnings
from functools import cache

import pytest

from benchmarks.lectures import ENTRIES, PAGE, SETUP, page


@cache
def names():
    scope = {}
    exec(SETUP, scope)
    return scope


def test_page_is_the_one_generated():
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.document} {entry.place}")
def test_line_runs(entry):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert eval(entry.line, dict(names())) is not None
