"""What docstrings say about defaults."""

import ast
import importlib
import inspect
import re

import pytest

STATED = re.compile(r"^ *([\w, ]+) : .*default=(.+)$", re.MULTILINE)
MODULES = ("maxmargin", "maxmargin.kernels", "maxmargin.tuning", "maxmargin.solvers")


def documented():
    """Every public class and function with the parameters whose default its docstring states."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            stated = (
                STATED.findall(inspect.cleandoc(value.__doc__ or "")) if callable(value) else []
            )
            if stated:
                found[public] = value, stated
    return found


@pytest.mark.parametrize("name", documented())
def test_defaults_are_those_of_the_docstring(name):
    value, stated = documented()[name]
    parameters = inspect.signature(value).parameters
    for names, default in stated:
        for parameter in names.split(", "):
            assert repr(parameters[parameter].default) == repr(ast.literal_eval(default)), parameter
