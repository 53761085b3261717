"""The stopwatch of the tests: it counts work and sleep, and not the waits of a busy machine."""

import hashlib
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from clock import Overrun, Stopwatch, threads_of

SPIN = "while True: pass"
counted = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this system does not count waits"
)


@contextmanager
def busy_machine():
    """Three processes for every processor, that do nothing but take it."""
    count = 3 * (os.cpu_count() or 1)
    processes = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def work(seconds):
    """Take a processor for so many seconds."""
    began = time.process_time()
    while time.process_time() - began < seconds:
        pass


@counted
def test_waits_for_a_processor_are_not_counted():
    with busy_machine():
        time.sleep(0.3)  # until they run
        watch = Stopwatch()
        work(0.3)
        seconds, wall = watch.seconds, watch.wall
    assert wall > 0.6
    assert 0.29 < seconds < 0.45


def test_sleep_is_counted():
    watch = Stopwatch()
    time.sleep(0.3)
    assert 0.25 < watch.seconds < watch.wall


@counted
def test_waits_of_another_process_are_not_counted():
    code = "import sys, time\nfor line in sys.stdin:\n    end = time.process_time() + 0.3\n"
    code += "    while time.process_time() < end: pass\n    print('done', flush=True)\n"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        with busy_machine():
            time.sleep(0.3)
            watch = Stopwatch(process.pid)
            process.stdin.write("go\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"
            seconds, wall = watch.seconds, watch.wall
        process.stdin.close()
    assert wall > 0.6
    assert 0.25 < seconds < 0.45


@counted
def test_waits_of_many_threads_do_not_hide_what_they_compute():
    data = bytes(50_000_000)  # a hash of it takes a processor for a while, and not the GIL
    with busy_machine(), ThreadPoolExecutor(8) as pool:
        list(pool.map(hashlib.sha256, [b""] * 8))  # the threads are there
        watch, began = Stopwatch(), time.process_time()
        list(pool.map(hashlib.sha256, [data] * 8))
        computed = time.process_time() - began
        assert watch.seconds >= 0.9 * computed / os.cpu_count()
        assert watch.delay > 1.5


def test_work_within_its_limit_has_no_overrun():
    with Overrun(10.0) as over:
        pass
    assert over.seconds == 0.0


def test_overrun_is_the_time_after_the_limit():
    with Overrun(0.1) as over:
        time.sleep(0.5)
    assert 0.3 < over.seconds < 0.8


@counted
def test_overrun_on_a_busy_machine_is_that_of_an_idle_one():
    with busy_machine():
        time.sleep(0.3)
        with Overrun(0.5) as over:
            end = time.perf_counter() + 0.5
            while time.perf_counter() < end:
                pass
            work(0.4)
    assert 0.3 < over.seconds < 0.8


def test_a_process_that_does_not_exist_has_done_nothing():
    assert threads_of(2**30) == (0.0, 0.0)
