"""The README's examples print what the README says they print."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n+^```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# Gaps and violations at the level of rounding differ between machines.
ROUNDING = re.compile(r"\b(\d\.\de-1\d|0\.0e\+00)\b")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("code", "shown"), EXAMPLE.findall(README.read_text("utf-8")))
def test_example_prints_the_output_shown(code, shown, capsys):
    exec(compile(code, str(README), "exec"), {})
    printed = capsys.readouterr().out
    assert ROUNDING.sub("tiny", printed) == ROUNDING.sub("tiny", shown)


def test_readme_opens_with_an_example():
    assert README.read_text("utf-8").index("```python") < 500
