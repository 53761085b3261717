"""Run the command `maxmargin` as a process of its own."""

import os
import subprocess
import sys
from typing import NamedTuple


class Said(NamedTuple):
    """What a process said."""

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
