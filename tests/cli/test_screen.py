"""What the command says, and when."""

import io
import json
import sys
import time
from types import SimpleNamespace

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

from maxmargin.cli import screen as module
from maxmargin.cli.app import app
from maxmargin.cli.commands import train
from maxmargin.cli.screen import Bar, Screen, plain


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_lines_are_aligned_by_subject(capsys):
    Screen().say("data", "two\nlines")
    assert capsys.readouterr().out == "       data  two\n             lines\n"


def test_words_go_aside_where_output_is_data(capsys):
    Screen(aside=True).say("data", "text")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "       data  text\n")


def test_json_is_all_there_is(capsys):
    screen = Screen(as_json=True)
    screen.say("data", "text")
    screen.result({"gap": np.float64(0.5), "labels": np.array(["a"])})
    assert json.loads(capsys.readouterr().out) == {"gap": 0.5, "labels": ["a"]}


def test_a_result_is_passed_on_at_once(monkeypatch):
    """Who reads a pipe need not wait for the end of the command."""
    output = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", output)
    Screen(as_json=True).result({"gap": 0.5})
    assert output.buffer.getvalue() == b'{"gap": 0.5}\n'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.inf, None),
        ({1: np.int32(2)}, {"1": 2}),
        ((True, None), [True, None]),
        (np.array([1.5, np.nan]), [1.5, None]),
        (polars.Series([1, None]), [1, None]),
        (Ellipsis, "Ellipsis"),
    ],
)
def test_values_become_those_of_json(value, expected):
    assert plain(value) == expected


def wait_until(happened):
    for _ in range(600):
        if happened():
            return
        time.sleep(0.1)


def test_bar_shows_after_a_while(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Screen().working("thinking") as bar:
        wait_until(lambda: bar.progress is not None)
        bar.update(0.5, "half")
        wait_until(lambda: " 50%" in sys.stderr.getvalue())
    assert "thinking" in sys.stderr.getvalue()
    assert " 50%" in sys.stderr.getvalue()


def test_bar_shows_only_on_a_terminal(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Screen().working("thinking") as bar:
        time.sleep(0.4)
        bar.update(0.5, "half")
        time.sleep(0.2)
    assert sys.stderr.getvalue() == ""


def test_short_work_shows_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Screen().working("thinking"):
        pass
    assert sys.stderr.getvalue() == ""


def test_bar_of_a_fit_rises_as_the_violation_falls():
    bar, seen = Bar("fit", shown=False), []
    bar.update = lambda part, note: seen.append((part, note))
    show = bar.of_a_fit(tol=1e-3)
    for violation in (np.inf, 1.0, 0.1, 0.01, 1e-3, 1e-9):
        assert show(SimpleNamespace(violation=violation, gap=1.0)) is False
    assert [part for part, _ in seen] == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])


@pytest.mark.parametrize("work", ["measured", "compared_with_baselines", "predictions", "planned"])
def test_work_of_a_training_run_is_done_while_a_bar_says_what(work, tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    path, bars = tmp_path / "t.csv", []
    columns = {"a": random.normal(size=50), "class": ["no", "yes"] * 25}
    polars.DataFrame(columns).write_csv(path)
    screens = []
    original, working = getattr(train, work), Screen.working

    def noted(*arguments):
        bars.append(screens[0].bar)
        return original(*arguments)

    def recorded(self, what):
        screens.append(self)
        return working(self, what)

    monkeypatch.setattr(Screen, "working", recorded)
    monkeypatch.setattr(train, work, noted)
    done = CliRunner().invoke(app, ["train", str(path), "--no-report", "--linear", "--C", "1"])
    assert done.exit_code == 0, done.output
    assert isinstance(bars[0], Bar)
