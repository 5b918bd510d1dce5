"""Whether a value known while compiling is of the type that `Comptime[T]` names."""

from __future__ import annotations

import types
import typing
from typing import Any

import numpy as np

from cubepy.frontend.scalars import scalar_of
from cubepy.ir import BOOL, Scalar

__all__ = ["is_of_type", "type_name"]

_NUMBERS: dict[Any, tuple[type, ...]] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (float, int, np.floating, np.integer),
    str: (str,),
}


def is_of_type(value: object, wanted: Any) -> bool:
    """Whether a value is of a type as Python's type checkers say, as far as can be told."""
    if isinstance(wanted, type) and wanted in _NUMBERS:
        return isinstance(value, _NUMBERS[wanted])
    if wanted is None or wanted is types.NoneType:
        return value is None
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        return any(is_of_type(value, each) for each in arguments)
    if origin is typing.Literal:
        return any(type(value) is type(each) and value == each for each in arguments)
    scalar = scalar_of(wanted)
    if scalar is not None:
        return isinstance(value, _NUMBERS[_python_type(scalar)])
    if not isinstance(wanted, type) or wanted is Any or getattr(wanted, "_is_protocol", False):
        return True  # a type variable, text, `Callable[…]`, a protocol: nothing to look at
    try:
        return isinstance(value, wanted)
    except TypeError:  # the class does not say
        return True


def _python_type(scalar: Scalar) -> type:
    if scalar == BOOL:
        return bool
    return float if scalar.is_float else int


def type_name(wanted: Any) -> str:
    """A type as users write it."""
    return wanted.__name__ if isinstance(wanted, type) else str(wanted).removeprefix("typing.")
