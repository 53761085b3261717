"""What a first fit compiles, counted in a process with an empty cache: it must not grow."""

import numba
import pytest

from benchmarks import compile as compiling
from benchmarks.compile import Account, Function, measured, summary, table

# Functions that the first fit of 500 samples compiles, and specialisations of them.
MOST_FUNCTIONS, MOST_SPECIALISATIONS = 50, 52


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_a_first_fit_compiles_few_functions_and_none_for_several_layouts(tmp_path):
    account = measured("small", str(tmp_path))
    names = [function.name for function in account.functions]
    assert len(set(names)) <= MOST_FUNCTIONS, summary("small", account)
    assert len(names) <= MOST_SPECIALISATIONS, table(account, 60)
    own = [name for name in names if name.startswith("maxmargin.")]
    assert len(own) == len(set(own)), "a function was compiled twice"
    assert not any(".batch." in name for name in own), "batches are compiled for several problems"


def test_the_table_adds_up_specialisations():
    account = Account([Function("f", "int64", 1.0, 3.0), Function("f", "float64", 0.5, 0.5)])
    assert account.compiling == 1.5
    assert "   1.50     3.50      2  f" in table(account, 5)
    assert "2 specialisations of 1 functions" in summary("case", account)


def test_every_case_has_a_name_on_the_command_line():
    assert {"small", "large", "predict", "warmup"} <= set(compiling.CASES)
