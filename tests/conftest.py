"""Fixtures that every test may take."""

import pytest
import realdata


@pytest.fixture(scope="session")
def real_data():
    """`realdata.load`, or a skip where the shared data sets are absent."""
    if realdata.folder() is None:
        pytest.skip(realdata.ABSENT)
    return realdata.load
