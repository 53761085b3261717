"""The page on plots: its examples run, and it names every plot there is."""

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

from maxmargin import report

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "plots.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in BLOCKS:
        exec(compile(code, "plots.md", "exec"), names)
    assert (tmp_path / "report.html").exists()
    pyplot.close("all")


def test_every_plot_is_named():
    assert all(f"`{name}`" in PAGE for name in report.__all__ if name.endswith("Display"))
