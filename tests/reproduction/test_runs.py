"""Runs keep their parts, go on after a kill, and say where their results come from."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from reproduction import items
from reproduction.__main__ import main, reproduce
from reproduction.items import Item, Page, Table, Verdict
from reproduction.pages import Shown, page_text
from reproduction.runs import Run, as_text

ROOT = Path(__file__).resolve().parents[2]
KILLED = """
import os, signal, sys
from pathlib import Path
from reproduction.runs import Run, as_text

def part(n):
    if n == 2 and sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    print(n, flush=True)
    return n * n

run = Run("toy", 4, folder=Path(sys.argv[1]))
found = run.parts({str(n): lambda n=n: part(n) for n in run.seeds})
run.finished(found, Path(sys.argv[1]))
"""


def child(folder, how):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    command = [sys.executable, "-c", KILLED, str(folder), how]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.mark.skipif(os.name != "posix", reason="kills a process by a signal")
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    assert child(tmp_path, "die").stdout.split() == ["0", "1"]
    with (tmp_path / "toy.jsonl").open("a") as file:
        file.write('{"part": "2", "resu')
    assert child(tmp_path, "live").stdout.split() == ["2", "3"]
    record = json.loads((tmp_path / "toy.json").read_text("utf-8"))
    assert record["results"] == {"0": 0, "1": 1, "2": 4, "3": 9}
    assert record["seeds"] == [0, 1, 2, 3]
    assert record["machine"]["cores"] >= 1
    assert not (tmp_path / "toy.jsonl").exists()


def test_a_line_cut_short_does_not_spoil_the_next_one(tmp_path):
    Run("toy", 2, folder=tmp_path).parts({"a": lambda: 1})
    with (tmp_path / "toy.jsonl").open("a") as file:
        file.write('{"part": "b", "resu')
    Run("toy", 2, folder=tmp_path).parts({"a": lambda: None, "b": lambda: 2})
    assert Run("toy", 2, folder=tmp_path).parts({"a": int, "b": int}) == {"a": 1, "b": 2}


def test_parts_of_other_settings_are_not_used(tmp_path):
    Run("toy", 2, folder=tmp_path).parts({"a": lambda: 1})
    assert Run("toy", 3, folder=tmp_path).parts({"a": lambda: 7}) == {"a": 7}


def toy_item(calls):
    def compute(run):
        found = run.parts({str(seed): lambda seed=seed: calls.append(seed) for seed in run.seeds})
        return {"count": len(found)}

    def show(results, _):
        rows = [["toy", results["count"], None]]
        return Page(Verdict.DIFFERS, "A toy.", [Table(("data", "ours", "printed"), rows)])

    return Item("toy", "thesis", "table", "99.1", "A toy", "99", compute=compute, show=show, full=5)


def test_an_item_from_computation_to_page(tmp_path, monkeypatch):
    calls = []
    where = {"results": tmp_path, "unfinished": tmp_path}
    item, quiet = toy_item(calls), Console(file=io.StringIO())
    reproduce([item], repetitions=3, console=quiet, **where)
    assert calls == [0, 1, 2]
    reproduce([item], repetitions=3, console=quiet, **where)
    assert calls == [0, 1, 2]
    reproduce([item], full=True, first_seed=7, console=quiet, **where)
    assert calls[3:] == [7, 8, 9, 10, 11]
    monkeypatch.setattr(items, "items", lambda: {"toy": item})
    text = page_text(Shown(item, tmp_path))
    assert "**Verdict: differs.** A toy." in text
    assert "| toy | 5 | – |" in text
    assert "FULL=1" in text
    assert "seeds 7 to 11" in text


def test_the_command_lists_and_refuses(capsys):
    assert main(["7.2", "--list"]) == 0
    assert "table-7.2" in capsys.readouterr().out
    assert main(["99.9"]) == 2
    assert "names no table or figure" in capsys.readouterr().err


def test_results_are_written_as_json_with_short_lines():
    record = {"a": [1, 2.5, None], "b": {"c": [[1, 2], []]}, "d": "text with  blanks", "e": True}
    text = as_text(record)
    assert json.loads(text) == record
    assert "[ 1, 2.5, null ]" in text
