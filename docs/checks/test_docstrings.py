"""Docstrings of public names are in numpydoc's form; where users look first, complete as well."""

import importlib
import inspect

import pytest
import reference
from numpydoc.validate import validate

# No docstring; unknown parameters.
ALWAYS = {"GL08", "PR02"}
# In these modules no parameter of a function or estimator is missing. Records say what they hold
# in a section Attributes.
COMPLETE = ("maxmargin", "maxmargin.kernels", "maxmargin.report")
# In these, functions also say what they return.
RETURNS = (
    *COMPLETE,
    "maxmargin.data",
    "maxmargin.models",
    "maxmargin.solvers",
    "maxmargin.solvers.textbook",
)
NAMES = [
    (module, name)
    for module, names in reference.names_of().items()
    for name in names
    if callable(getattr(importlib.import_module(module), name))
]


@pytest.mark.parametrize(("module", "name"), NAMES, ids=".".join)
def test_docstring_is_complete(module, name):
    codes = ALWAYS | ({"PR01"} if module in COMPLETE else set())
    errors = validate(f"{module}.{name}")["errors"]
    assert [error for error in errors if error[0] in codes] == []


@pytest.mark.parametrize("module", RETURNS)
def test_functions_state_parameters_and_results(module):
    place = importlib.import_module(module)
    for name in reference.names_of()[module]:
        if inspect.isfunction(getattr(place, name)):
            errors = validate(f"{module}.{name}")["errors"]
            assert [error for error in errors if error[0] in {"PR01", "RT01"}] == [], name


@pytest.mark.parametrize("module", COMPLETE)
def test_public_methods_have_a_docstring(module):
    place = importlib.import_module(module)
    for name in reference.names_of()[module]:
        value = getattr(place, name)
        for method, member in inspect.getmembers(value, inspect.isfunction):
            if not method.startswith("_") and member.__module__.startswith("maxmargin"):
                assert inspect.getdoc(getattr(value, method)), f"{name}.{method}"


@pytest.mark.parametrize(
    "name", ["hinge", "squared_hinge", "hard_margin", "epsilon_svr", "nu_svc", "nu_svr"]
)
def test_machines_say_what_their_arguments_are(name):
    errors = validate(f"maxmargin.dual.{name}")["errors"]
    assert [error for error in errors if error[0] in {"PR01", "PR02", "RT01"}] == []
