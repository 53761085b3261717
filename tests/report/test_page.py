"""Parts of pages in HTML."""

from maxmargin.report.page import bullets


def test_bullets_are_a_list_with_texts_escaped_and_nothing_for_no_texts():
    assert bullets(["a < b", "c"]) == "<ul><li>a &lt; b</li><li>c</li></ul>"
    assert bullets([]) == ""
