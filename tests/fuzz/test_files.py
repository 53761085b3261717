"""A few seconds of the forgeries of files; minutes of them by hand."""

from tests.fuzz.files import run


def test_no_damaged_or_forged_file_does_harm():
    failures = run(seed=0, seconds=15.0)
    assert failures == [], "\n".join(f"{f.what}\n{f.reproduction}" for f in failures)
