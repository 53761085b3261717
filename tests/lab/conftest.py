"""One lab for all tests of a module."""

import pytest
from lab.serving import running


@pytest.fixture(scope="module")
def lab():
    """The address of a running lab."""
    with running() as (_, address):
        yield address
