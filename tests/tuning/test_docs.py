"""The page on tuning: its examples run."""

import re
from pathlib import Path

import numpy as np
import pytest
from tuning.problems import assert_gradient, blobs, board

from maxmargin.kernels import Gaussian
from maxmargin.tuning import Point

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "tuning.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_example_runs(code, monkeypatch, capsys):
    monkeypatch.setattr("maxmargin.tuning.auto.classifier.EVALUATIONS", 50)
    X, y = board(60)
    code = code.replace("evaluations=5000", "evaluations=20").replace("seconds=10", "seconds=0.05")
    exec(compile(code, str(PAGE), "exec"), {"X": X, "y": y, "np": np})
    if "print" in code:
        assert "posterior" in capsys.readouterr().out


def test_example_of_an_objective_has_its_gradient():
    (code,) = (block for block in BLOCKS if "class MeanSimilarity" in block)
    names = {}
    exec(compile(code, str(PAGE), "exec"), names)
    X, y = blobs(30)
    assert_gradient(names["MeanSimilarity"](X, y), Point(Gaussian([0.4, 0.7]), 2.0))
