"""Compiled functions that others call by symbol are compiled once, also from the cache."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import maxmargin

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
SOURCE = Path(maxmargin.__file__).resolve().parents[1]
INNER = """
from numba import float64, int64
from numba.types import Tuple
from maxmargin.runtime.jit import called_by_symbol

@called_by_symbol(Tuple((int64, float64)))
def inner(values, factor):
    total = 0.0
    for a in range(values.size):
        total += values[a]
    return values.size, {factor} * total

@called_by_symbol(int64)
def misdeclared(values):
    return 1.5 * values[0]
"""
OUTER = """
from maxmargin.runtime.jit import borrowing
from inner import inner, misdeclared

@borrowing
def middle(values, factor):
    size, total = inner(values, factor)
    return total / size

@borrowing
def outer(values):
    return middle(values, 2.0) + 1.0

@borrowing
def wrong(values):
    return misdeclared(values)
"""
WORK = """
import numpy as np
import outer, inner
print(outer.outer(np.arange(5.0)), outer.outer(np.arange(5, dtype=np.float32)))
print(*[len(f.stats.cache_hits) for f in (outer.outer, inner.inner.dispatcher)])
print(*[len(f.stats.cache_misses) for f in (outer.outer, inner.inner.dispatcher)])
"""


@pytest.fixture
def run(tmp_path):
    def run(code=WORK, factor="factor"):
        (tmp_path / "inner.py").write_text(INNER.format(factor=factor))
        (tmp_path / "outer.py").write_text(OUTER)
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join((str(SOURCE), str(tmp_path))),
                "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
            },
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        return done.stdout.split() or done.stderr

    return run


def test_a_function_called_by_symbol_is_loaded_before_its_caller(run):
    assert run() == ["5.0", "5.0", "0", "0", "2", "2"]
    assert run() == ["5.0", "5.0", "2", "2", "0", "0"]


def test_a_changed_function_needs_no_new_code_of_its_caller(run):
    assert run()[0] == "5.0"
    changed = run(factor="10.0 * factor")
    assert changed[:2] == ["41.0", "41.0"]
    assert changed[2:] == ["2", "0", "0", "2"]


def test_results_of_another_type_than_declared_are_refused(run):
    told = run("import numpy as np, outer; outer.wrong(np.arange(5.0))")
    assert "misdeclared returns float64, not int64" in told
