"""The tutorial on adding a kernel runs as printed, and prints what it says it prints."""

import re
from pathlib import Path

import numpy as np
import pytest
from kernels.naive_kernels import block, differences

from maxmargin.kernels import Normalised

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "development" / "add_a_kernel.md"
TEXT = TUTORIAL.read_text(encoding="utf-8")
CODE = re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def names():
    scope = {"__name__": "tutorial"}
    for part in CODE[:-1]:
        exec(part, scope)
    return scope


def test_the_kernel_takes_less_than_thirty_lines():
    assert len([line for line in CODE[0].splitlines() if line.strip()]) < 30


def test_the_last_block_prints_what_the_tutorial_shows(names, capsys):
    exec(CODE[-1], names)
    shown = re.findall(r"^    (.+)$", TEXT.split(CODE[-1])[1], flags=re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == shown


def test_the_kernel_is_what_the_formula_says(names):
    kernel, A, B, W = (names[name] for name in ("kernel", "A", "B", "W"))
    expected = block(lambda x, z: 1 / (1 + 0.5 * ((x - z) ** 2).sum()), A, B)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-13)
    for composed in (kernel, Normalised(kernel + kernel * kernel)):
        expected = differences(composed, A, B, W)
        np.testing.assert_allclose(composed.gradient(A, B, W), expected, rtol=1e-9)
