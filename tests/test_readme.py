"""The README's first example prints what the README says it prints."""

import re
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Gaps and violations at the level of rounding differ between machines.
ROUNDING = re.compile(r"\b(\d\.\de-1\d|0\.0e\+00)\b")


def test_first_example_prints_the_output_shown(capsys):
    (language, code), (shown_as, shown) = BLOCK.findall(README.read_text("utf-8"))[:2]
    assert (language, shown_as) == ("python", "text")
    exec(compile(code, str(README), "exec"), {})
    printed = capsys.readouterr().out
    assert ROUNDING.sub("tiny", printed) == ROUNDING.sub("tiny", shown)
