"""One lab for all tests of a module."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(scope="module")
def lab():
    """The address of a running lab."""
    from serving import running

    with running() as (_, address):
        yield address
