"""Where there is no cluster."""

import dask.array as da
import numpy as np
import pytest

from maxmargin.distributed import SVC


def test_without_a_client_the_error_says_how_to_start_one():
    X, y = da.from_array(np.eye(4), chunks=2), da.from_array(np.array([0, 1, 0, 1]), chunks=2)
    with pytest.raises(ValueError, match="client = Client"):
        SVC().fit(X, y)


def test_a_client_of_another_kind_is_refused():
    X, y = da.from_array(np.eye(4), chunks=2), da.from_array(np.array([0, 1, 0, 1]), chunks=2)
    with pytest.raises(TypeError, match="client must be"):
        SVC(client=3).fit(X, y)
