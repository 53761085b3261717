"""Calls between compiled functions by symbol, without linking the callee into the caller.

Numba links every function that a function calls into its code and optimises all of it again, at
each level of calls. Functions that are large and called rarely are compiled once on their own
instead, and their callers refer to them by a symbol. Cached code lists the symbols that it refers
to (`required_by`), and `provide` loads these functions before the code that calls them.
"""

from __future__ import annotations

import hashlib
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Any

from llvmlite import binding
from numba.core import cgutils
from numba.extending import intrinsic

from .second_process import second_process

# A function as `provide` finds it: its module, its name, and the types of its arguments.
Place = tuple[str, str, tuple[Any, ...]]

_provided: dict[str, Place] = {}


def callable_by_symbol(dispatcher: Any, result: Any) -> Any:
    """What compiled code calls instead of a dispatcher whose results have this Numba type."""
    module, name = dispatcher.py_func.__module__, dispatcher.py_func.__name__

    def typed(_typing: Any, *types: Any) -> Any:
        def codegen(context: Any, builder: Any, call_type: Any, values: Any) -> Any:
            place = (module, name, call_type.args)
            symbol = symbol_of(place)
            provide(symbol, place)
            convention = context.call_conv
            kind = convention.get_function_type(result, call_type.args)
            callee = cgutils.get_or_insert_function(builder.module, kind, symbol)
            # No status to check: compiled code here raises no exceptions.
            _, returned = convention.call_function(builder, callee, result, call_type.args, values)
            return returned

        if not second_process.has_promised(dispatcher):
            place = (module, name, types)
            provide(symbol_of(place), place)
        return result(*types), codegen

    parameters = signature(dispatcher.py_func).parameters.values()
    plain = [Parameter(one.name, Parameter.POSITIONAL_OR_KEYWORD) for one in parameters]
    context = Parameter("typing_context", Parameter.POSITIONAL_OR_KEYWORD)
    # Numba would pass *types as one tuple.
    typed.__signature__ = Signature([context, *plain])  # type: ignore[attr-defined]
    call = intrinsic(typed)
    call.dispatcher = dispatcher
    call.result = result
    return call


def symbol_of(place: Place) -> str:
    module, name, types = place
    digest = hashlib.sha256(repr(types).encode()).hexdigest()[:16]
    return f"{module}.{name}.{digest}"


def provide(symbol: str, place: Place) -> None:
    """Compile a function, or load it, and make its address known under a symbol."""
    if symbol in _provided:
        return
    module, name, types = place
    call = getattr(import_module(module), name)
    call.dispatcher.compile(types)
    compiled = call.dispatcher.overloads[types]
    if compiled.signature.return_type != call.result:
        raise TypeError(f"{name} returns {compiled.signature.return_type}, not {call.result}")
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    binding.add_symbol(symbol, address)
    _provided[symbol] = place


def required_by(library: Any) -> dict[str, Place]:
    """The functions to which compiled code refers by symbol."""
    names = (function.name for function in library._final_module.functions)
    return {name: _provided[name] for name in names if name in _provided}
