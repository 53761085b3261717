"""A lab in a process of its own, as the command starts it."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def running():
    """(process, address) of a started lab; it is ended by Ctrl-C."""
    command = [sys.executable, "-m", "maxmargin.cli", "lab", "--no-browser"]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # Tests may run where Ctrl-C is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", line)
        assert found, line + process.stderr.read()
        yield process, found[0]
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
