"""Methods that exist under a condition, and say what to do where it does not hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, cast


class ConditionalMethod:
    """A method that raises the `AttributeError` of its check where it is not available.

    Unlike that of scikit-learn, whose message has only the name, it keeps the text of the check.
    """

    def __init__(self, method: Callable[..., Any], check: Callable[[Any], Any]) -> None:
        self.method, self.check = method, check
        update_wrapper(cast(Any, self), method)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self.method
        self.check(instance)
        return MethodType(self.method, instance)


def available_if(check: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Any]:
    """Make a method available only where the check raises no `AttributeError`."""
    return lambda method: ConditionalMethod(method, check)
