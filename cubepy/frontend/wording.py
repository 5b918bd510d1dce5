"""Python objects as error messages show them: short, and without addresses."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from cubepy.errors import shown

__all__ = ["describe_object"]


def describe_object(value: object) -> str:
    """A Python object in an error message: never its address, never pages of it."""
    if value is None or value is ...:
        return "..." if value is ... else "None"
    if isinstance(value, bool):
        return f"the bool {value}"
    if isinstance(value, int | float):
        return f"the {'float' if isinstance(value, float) else 'integer'} {shown(value)}"
    for kinds, word in _NAMED:
        if isinstance(value, kinds):
            return f"the {word} {getattr(value, '__name__', '')}"
    kind = type(value).__name__
    text = "" if type(value).__repr__ is object.__repr__ else shown(value)
    if not text or " at 0x" in text or len(text) > _LONGEST:
        return f"{'an' if kind[0] in 'aeiouAEIO' else 'a'} {kind}"
    return f"the {kind} {text}"


_NAMED: tuple[tuple[Any, str], ...] = (
    (type, "type"),
    (ModuleType, "module"),
    (FunctionType | BuiltinFunctionType, "function"),
    (MethodType, "method"),
)
_LONGEST = 60
