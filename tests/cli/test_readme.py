"""The README's commands run as printed, one after the other."""

import re
import shlex
from pathlib import Path

import pytest
from cli.running import command

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
COMMANDS = re.findall(r"^\$ maxmargin (.*)$", README, re.MULTILINE)


def test_commands_run_and_leave_their_files(tmp_path):
    pytest.importorskip("skl2onnx")
    assert len(COMMANDS) >= 5
    for line in COMMANDS:
        command(*shlex.split(line), cwd=tmp_path)
    demo = tmp_path / "maxmargin-demo"
    written = {path.name for path in (*tmp_path.iterdir(), *demo.iterdir())}
    expected = {"cells.csv", "cells.mm", "cells.html", "predictions.csv", "linear.mm"}
    assert expected | {"linear.html", "report.html", "linear.onnx"} <= written
