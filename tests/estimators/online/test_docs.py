"""The page on online learning says what is so."""

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "online.md"


def test_examples_of_the_page_run():
    outcome = doctest.testfile(str(PAGE), module_relative=False)
    assert outcome.attempted > 10
    assert outcome.failed == 0
