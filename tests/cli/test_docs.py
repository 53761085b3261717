"""The page on the command line names every command, option, format and exit code there is."""

import re
from pathlib import Path

import typer.main

from maxmargin.cli.app import app
from maxmargin.cli.errors import ExitCode
from maxmargin.data.sources import ENDINGS
from maxmargin.tuning import STRATEGIES
from maxmargin.tuning.regression.strategies import REGRESSION_STRATEGIES

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guide" / "command_line.md").read_text("utf-8")
COMMANDS = typer.main.get_command(app).commands
LEAVES = [
    leaf
    for command in COMMANDS.values()
    for leaf in getattr(command, "commands", {"": command}).values()
]
# Options that `--help` explains well enough.
SELF_EXPLAINING = {"--output", "--report", "--scale", "--plot", "--impute"}


def test_every_command_is_named():
    assert all(re.search(rf"`{name}\b", PAGE) for name in COMMANDS)


def test_every_option_of_train_is_named():
    for option in COMMANDS["train"].params:
        names = {name for name in option.opts if name.startswith("--")}
        assert not names or names & SELF_EXPLAINING or any(name in PAGE for name in names), names


def test_options_in_the_page_exist():
    known = {
        name
        for command in LEAVES
        for option in command.params
        for name in (*option.opts, *option.secondary_opts)
    }
    assert set(re.findall(r"--[a-zC][\w-]*", PAGE)) <= known | {"--help"}


def test_every_ending_is_named():
    assert all(f"`{ending}`" in PAGE for ending in ENDINGS)


def test_every_exit_code_is_named():
    assert all(f"| {code} |" in PAGE for code in set(ExitCode) - {ExitCode.TERMINATED})


def test_strategies_in_the_help_are_those_there_are():
    (option,) = (o for o in COMMANDS["train"].params if o.name == "strategy")
    assert all(name in option.help for name in (*STRATEGIES, *REGRESSION_STRATEGIES))
