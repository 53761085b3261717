"""One lab for all tests of a module."""

import pytest
from lab.serving import running

from maxmargin.lab.rooms import NAMES, answer, example


@pytest.fixture(scope="module")
def lab():
    """The address of a running lab."""
    # What has to be compiled is compiled here: tests of the browser wait for some seconds only.
    for name in NAMES:
        answer(name, example(name))
    with running() as (_, address):
        yield address
