"""The scripts in examples/ run, without a warning, and print something.

The one on gene starts takes data and options: test_gene_starts.py.
"""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
EXAMPLES = sorted(set(FOLDER.glob("*.py")) - {FOLDER / "gene_starts.py"})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example_runs_and_prints(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
