"""Keys of comptime values: equal only if type and bits are, so `1`, `True`, `1.0` differ.

Also says which objects may be captured at all: what can change after compilation must not be read
while compiling.
"""

from __future__ import annotations

import struct
import types
from collections.abc import Hashable, Mapping, MutableMapping, MutableSequence, MutableSet
from enum import Enum
from typing import Any

import numpy as np

from cubepy import records
from cubepy.frontend.watched import is_fixed
from cubepy.records import dataclass

__all__ = ["comptime_key", "mutable_kind", "mutable_part"]

_ATOMS: tuple[Any, ...] = (
    int, str, bytes, complex, type(None), type(Ellipsis), range, slice,
)  # fmt: skip
_CODE_TYPES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    type,
    types.ModuleType,
)
_MUTABLE: tuple[type[Any], ...] = (list, dict, set, bytearray, memoryview, np.ndarray)


@dataclass(frozen=True, slots=True, eq=False)
class _Identity:
    """An object as itself, kept alive."""

    value: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.value is other.value

    def __hash__(self) -> int:
        return object.__hash__(self.value)


Functions = frozenset[types.FunctionType]


def comptime_key(value: object, inside: Functions = frozenset()) -> Hashable:
    """A hashable that stands for a comptime value by type and bits.

    `inside`: functions whose keys this is part of, for a closure may hold itself.
    """
    if isinstance(value, Enum):
        return (type(value), value.name)
    if isinstance(value, np.generic):
        return (type(value), value.dtype.str, value.tobytes())
    if isinstance(value, float):
        return (type(value), struct.pack("<d", value))
    for atom in _ATOMS:
        if isinstance(value, atom):
            # a class of the user's may write its own
            return (type(value), hex(value) if atom is int else atom.__repr__(value))
    if isinstance(value, tuple | frozenset):
        return (type(value), *(comptime_key(item, inside) for item in value))
    if isinstance(value, types.FunctionType):
        return _function_key(value, inside)
    if isinstance(value, types.MethodType):
        function: types.FunctionType = value.__func__  # type: ignore[assignment]
        return ("method", _function_key(function, inside), comptime_key(value.__self__, inside))
    if records.is_dataclass(value) and not isinstance(value, type):
        fields = records.fields(value)
        return (type(value), *(comptime_key(getattr(value, each.name), inside) for each in fields))
    if isinstance(value, types.ModuleType | type) or mutable_kind(value) is not None:
        return _Identity(value)
    if is_fixed(type(value).__module__):
        return (type(value), value, repr(value))  # 1.0 and 1.00 are equal decimals
    return (type(value), value)


def _function_key(function: types.FunctionType, inside: Functions) -> Hashable:
    """Code, defaults and what a closure holds: functions made by one `def` differ in the latter.

    Captured names of modules are apart, for they are the same to all functions of that code.
    """
    if function in inside:
        return _Identity(function)
    within = inside | {function}
    defaults = tuple(comptime_key(value, within) for value in function.__defaults__ or ())
    keywords: Mapping[str, Any] = function.__kwdefaults__ or {}
    pairs = tuple((name, comptime_key(value, within)) for name, value in keywords.items())
    held = tuple(_cell_key(cell, within) for cell in function.__closure__ or ())
    return (function.__code__, defaults, pairs, held)


def _cell_key(cell: types.CellType, inside: Functions) -> Hashable:
    try:
        return comptime_key(cell.cell_contents, inside)
    except ValueError:  # not assigned yet
        return _Identity(cell)


def mutable_kind(value: object) -> str | None:
    """What a mutable object is, in words, or None for one that cannot change."""
    if isinstance(value, _MUTABLE):
        return "a NumPy array" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    if isinstance(value, (Enum, *_CODE_TYPES, *_ATOMS)) or value is NotImplemented:
        return None
    if callable(value) and is_fixed(type(value).__module__):
        return None
    if records.is_dataclass(value):
        frozen = getattr(type(value), "__dataclass_params__").frozen  # noqa: B009 (no such stub)
        return (
            None
            if frozen
            else f"an instance of {type(value).__name__} (a dataclass that is not frozen)"
        )
    if type(value).__hash__ not in (None, object.__hash__):
        return None  # compares by content, so it promises not to change
    return f"an instance of {type(value).__name__}"


_CONTAINERS = (MutableSequence, MutableMapping, MutableSet)


def mutable_part(value: object) -> object | None:
    """A container that can change: the value, or one in a tuple or frozenset that it is."""
    if isinstance(value, (*_MUTABLE, types.MappingProxyType, *_CONTAINERS)):
        return value
    if isinstance(value, tuple | frozenset):
        return next((part for part in map(mutable_part, value) if part is not None), None)
    return None
