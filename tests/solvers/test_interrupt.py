"""Ctrl-C ends a run wherever it is, soon, and leaves a feasible point."""

import json
import signal
import subprocess
import sys
import time

import pytest
from clock import Stopwatch

from maxmargin.solvers.interrupt import deferred_interrupts

# What a process prints before and after a run that Ctrl-C ends.
INTERRUPTED = """
import json, signal, sys, time
import numpy as np
from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import hinge
from maxmargin.kernels import FromFunction, Gaussian
from maxmargin.solvers.drivers import base as run
from sklearn.metrics.pairwise import rbf_kernel

signal.signal(signal.SIGINT, signal.default_int_handler)
phase = sys.argv[1]
small, y_small = chess_board(50, random_state=0)
for driver in ("full", "rows", "blocks"):
    solve(hinge(y_small, 1e6).problem, Gaussian(0.5).bind(small), driver=driver)

X, y = chess_board(2000, random_state=0)
problem, ways = hinge(y, 1e6).problem, {"face": False}
gram = Gaussian(0.2).bind(X)
if phase == "matrix":
    def function(A, B):
        if len(A) > 32:
            time.sleep(0.3)
        return rbf_kernel(A, B, gamma=0.5)
    gram, ways = FromFunction(function).bind(X), {"driver": "full"}
elif phase == "face":
    # From this start a single face step takes more than a thousand rounds.
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], size=3000)
    problem = hinge(y, 1e3).problem
    gram = Gaussian(0.1).bind(rng.normal(size=(3000, 5)))
    ways = {"alpha": y * rng.uniform(1.0, 2.0, size=3000), "driver": "full"}
    face_step = run.face_step
    def watched(active, must_end, most):
        if run.face_step is watched:
            print("running", flush=True)
            run.face_step = face_step
        return face_step(active, must_end)
    run.face_step = watched
else:
    ways["driver"] = phase

if phase != "face":
    print("running", flush=True)
solution = solve(problem, gram, **ways)
inside = (problem.lower <= solution.alpha) & (solution.alpha <= problem.upper)
print(json.dumps({
    "status": solution.status,
    "feasible": bool(inside.all() and abs(solution.alpha.sum()) < 1e-6),
    "restored": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
}), flush=True)
"""


@pytest.mark.parametrize("phase", ["full", "rows", "blocks", "matrix", "face"])
def test_ctrl_c_comes_back_soon_with_a_feasible_point(phase):
    command = [sys.executable, "-c", INTERRUPTED, phase]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "running\n"
        time.sleep(0.5)
        watch = Stopwatch(process.pid)
        process.send_signal(signal.SIGINT)
        report = process.stdout.readline()
        took = watch.seconds
        process.kill()
    assert json.loads(report) == {"status": "interrupted", "feasible": True, "restored": True}
    assert took < 0.5


def test_a_run_that_may_be_short_changes_the_handler_only_if_it_is_not():
    original = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with deferred_interrupts(may_be_short=True) as interrupt:
            assert not interrupt.pressed
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            assert not interrupt.pressed
            signal.raise_signal(signal.SIGINT)
            assert interrupt.pressed
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, original)


def test_a_second_ctrl_c_is_not_held_back():
    original = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with deferred_interrupts() as interrupt:
            assert not interrupt.pressed
            signal.raise_signal(signal.SIGINT)
            assert interrupt.pressed
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, original)
