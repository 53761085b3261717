"""Docstrings of all public names are complete in numpydoc's form, and show an example."""

import importlib
import inspect

import pytest
import reference
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate

# No docstring; missing and unknown parameters; no section Returns.
CODES = ("GL08", "PR01", "PR02", "RT01")
NAMES = [
    (module, name)
    for module, names in reference.names_of().items()
    for name in names
    if callable(getattr(importlib.import_module(module), name))
]
IDS = [f"{module}.{name}" for module, name in NAMES]


def described(value):
    """Names in the sections Parameters and, where records say what they hold, Attributes."""
    text = ClassDoc(value)
    listed = (entry.name.split(",") for entry in (*text["Parameters"], *text["Attributes"]))
    return {name.strip() for names in listed for name in names}


@pytest.mark.parametrize(("module", "name"), NAMES, ids=IDS)
def test_docstring_is_complete(module, name):
    value = getattr(importlib.import_module(module), name)
    errors = [error for error in validate(f"{module}.{name}")["errors"] if error[0] in CODES]
    missing = [error for error in errors if error[0] == "PR01"]
    if (
        missing
        and inspect.isclass(value)
        and set(inspect.signature(value).parameters) <= described(value)
    ):
        errors.remove(*missing)
    assert errors == []


@pytest.mark.parametrize(("module", "name"), NAMES, ids=IDS)
def test_docstring_has_an_example(module, name):
    # The doctests of `make test` run it.
    assert ">>>" in inspect.getdoc(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize("module", reference.MODULES)
def test_public_methods_have_a_docstring(module):
    place = importlib.import_module(module)
    silent = [
        f"{name}.{method}"
        for name in reference.names_of()[module]
        for method, member in inspect.getmembers(getattr(place, name), inspect.isfunction)
        if not method.startswith("_")
        and member.__module__.startswith("maxmargin")
        and not inspect.getdoc(getattr(getattr(place, name), method))
    ]
    assert silent == []
