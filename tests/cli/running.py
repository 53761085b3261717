"""Run the command `maxmargin`, as a process of its own, quickly started or not, or in this one."""

import os
import signal
import subprocess
import sys
import traceback
from contextlib import chdir
from typing import NamedTuple
from unittest.mock import patch

from preloading import fork_server
from typer.testing import CliRunner

from maxmargin.cli import main
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


class Child:
    """`maxmargin` in a child of a process that has imported everything, with errors in a file.

    Signals reach it as they reach a process of its own, which takes two seconds longer to start.
    `before` is Python code to execute first.
    """

    def __init__(self, arguments, errors, before=""):
        server = fork_server()
        waiting, ready = server.Pipe(duplex=False)
        place = f"/proc/{os.getpid()}/fd/{errors.fileno()}"
        arguments = [str(argument) for argument in arguments]
        self.process = server.Process(target=run, args=(arguments, place, before, ready))
        self.process.start()
        ready.close()
        waiting.recv()

    def poll(self):
        return self.process.exitcode

    def wait(self, seconds):
        self.process.join(seconds)
        if self.poll() is None:
            raise subprocess.TimeoutExpired("maxmargin", seconds)
        return self.poll()

    def send_signal(self, number):
        os.kill(self.process.pid, number)


def run(arguments, errors, before, ready):
    """The command in this process, which ends with it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    nothing, written = os.open(os.devnull, os.O_RDWR), os.open(errors, os.O_WRONLY | os.O_APPEND)
    for source, target in ((nothing, 0), (nothing, 1), (written, 2)):
        os.dup2(source, target)
    sys.argv = ["maxmargin", *arguments]
    exec(before, {})
    code = 1
    try:
        ready.send(None)
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except KeyboardInterrupt:  # ends a process as the signal does
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
