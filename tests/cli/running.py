"""Run the command `maxmargin`, as a process of its own or in this one."""

import os
import subprocess
import sys
from contextlib import chdir
from typing import NamedTuple
from unittest.mock import patch

from typer.testing import CliRunner

from maxmargin.cli.app import app

try:
    RUNNER = CliRunner(mix_stderr=False)
except TypeError:  # from Click 8.2 on they are never mixed
    RUNNER = CliRunner()


class Said(NamedTuple):
    """What the command said."""

    out: str
    errors: str


def command(*arguments, cwd, stdin=None, expect=0):
    """Run `maxmargin` with these arguments, which must end with the exit code expected."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-m", "maxmargin.cli", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=environment,
        timeout=400,
    )
    assert done.returncode == expect, done.stderr.decode()
    return Said(done.stdout.decode(), done.stderr.decode())


def command_here(*arguments, cwd, stdin=None, expect=0):
    """The same in this process, for what does not depend on processes: it imports nothing anew."""
    typed = [str(argument) for argument in arguments]
    with chdir(cwd), patch.object(sys, "argv", ["maxmargin", *typed]):
        done = RUNNER.invoke(app, typed, input=stdin)
    assert done.exit_code == expect, f"{done.exception!r}\n{done.output}"
    return Said(done.stdout, done.stderr)
