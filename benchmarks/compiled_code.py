"""Print a digest of all that the package's compiled functions are made of.

python -m benchmarks.compiled_code

It covers bytecode, defaults, and the constants and functions of modules that the bytecode names.
While it stays the same, what Numba has cached stays valid, whatever else changes in the source.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

import maxmargin

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(maxmargin.__file__).parent


def modules_with_compiled_code() -> Iterator[ModuleType]:
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "runtime.jit import" in text or "numba" in text:
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            yield importlib.import_module(".".join(parts).removesuffix(".__init__"))


def compiled_functions() -> dict[str, Any]:
    """Each compiled function of the package by its module and name."""
    return {
        f"{module.__name__}.{name}": value.py_func
        for module in modules_with_compiled_code()
        for name, value in sorted(vars(module).items())
        if isinstance(value, Dispatcher)
    }


def code_text(code: CodeType) -> str:
    consts = [code_text(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return repr((code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars, consts))


def value_text(value: Any, names: tuple[str, ...]) -> str:
    """A global of compiled code as text."""
    if isinstance(value, Dispatcher):
        return f"{value.py_func.__module__}.{value.py_func.__qualname__}"
    if isinstance(value, ModuleType):
        if not value.__name__.startswith("maxmargin"):
            return value.__name__
        inside = {name: value_text(getattr(value, name, None), names) for name in names}
        return f"{value.__name__} {inside}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    if callable(value):
        return f"{value.__module__}.{getattr(value, '__qualname__', type(value).__name__)}"
    return repr(value)


def function_text(function: Any) -> str:
    code = function.__code__
    names = all_names(code)
    used = [name for name in names if name in function.__globals__]
    values = {name: value_text(function.__globals__[name], names) for name in used}
    cells = [value_text(cell.cell_contents, names) for cell in function.__closure__ or ()]
    return repr((code_text(code), function.__defaults__, values, cells))


def all_names(code: CodeType) -> tuple[str, ...]:
    inner = [name for c in code.co_consts if isinstance(c, CodeType) for name in all_names(c)]
    return (*code.co_names, *inner)


def digest() -> str:
    texts = {name: function_text(function) for name, function in compiled_functions().items()}
    return hashlib.sha256(repr(texts).encode()).hexdigest()


if __name__ == "__main__":
    print(digest())
