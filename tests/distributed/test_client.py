"""Clients and parameters of estimators on Dask."""

import inspect
import re

import dask.array as da
import numpy as np
import pytest
from distributed import Client

from maxmargin import distributed
from maxmargin.distributed import SVC

ESTIMATORS = [name for name in distributed.__all__ if name != "LostCluster"]


def test_without_a_client_the_error_says_how_to_start_one():
    X, y = da.from_array(np.eye(4), chunks=2), da.from_array(np.array([0, 1, 0, 1]), chunks=2)
    with pytest.raises(ValueError, match="client = Client"):
        SVC().fit(X, y)


def test_a_client_of_another_kind_is_refused():
    X, y = da.from_array(np.eye(4), chunks=2), da.from_array(np.array([0, 1, 0, 1]), chunks=2)
    with pytest.raises(TypeError, match="client must be"):
        SVC(client=3).fit(X, y)


def test_a_client_serves_that_is_not_the_default_one():
    X, y = da.from_array(np.eye(4), chunks=2), da.from_array(np.array([0, 1, 0, 1]), chunks=2)
    settings = {"processes": False, "dashboard_address": ":0", "n_workers": 1}
    with Client(set_as_default=False, **settings) as client:
        assert SVC(client=client).fit(X, y).status_ == "converged"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_docstrings_list_every_parameter_and_have_an_example(name):
    kind = getattr(distributed, name)
    before, after = kind.__doc__.split("Attributes\n----------\n")
    for parameter in inspect.signature(kind).parameters:
        assert re.search(rf"^(\w+, )*{parameter}(, \w+)*( : |$)", before, re.MULTILINE)
    assert "moved_bytes_ : int" in after
    assert f"from maxmargin.distributed import {name}" in after
