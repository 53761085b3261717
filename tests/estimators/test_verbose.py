"""The live line that `verbose` shows."""

import inspect
import io
import sys

import pytest
from sklearn.datasets import load_iris

import maxmargin
from maxmargin import SVC


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_nothing_is_shown_by_default():
    public = {name: inspect.signature(getattr(maxmargin, name)) for name in maxmargin.__all__}
    options = {name: signature.parameters.get("verbose") for name, signature in public.items()}
    shown = {name: option.default for name, option in options.items() if option is not None}
    assert {"SVC", "SVR", "LinearSVC", "KernelRidge"} <= shown.keys()
    assert not any(shown.values())


def test_verbose_is_silent_where_there_is_no_terminal(iris, capfd):
    X, y = iris
    SVC(verbose=1).fit(X, y)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("with_rich", [True, False])
def test_verbose_shows_one_live_line_on_a_terminal(iris, monkeypatch, with_rich):
    X, y = iris
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("maxmargin.estimators.progress.LINE_EVERY", 0.0)
    if not with_rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    SVC(verbose=1).fit(X, y)
    shown = screen.getvalue()
    for part in ("0 vs 1 (1/3)", "1 vs 2 (3/3)", "violation", "gap", "support vectors", "rows"):
        assert part in shown
