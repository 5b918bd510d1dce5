"""Whether Python's and NumPy's objects lie in memory as the machine code of calls expects.

Arguments are read without Python, so the places of a few fields must be known: the data pointer of
an array, the value of a float. They have been the same for years, but nobody promises them.
`why_not` compares each with what Python says, once a process; where anything differs, launches go
the general way.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cubepy.config import current
from cubepy.runtime import Buffer
from cubepy_cpu.host import host_architecture

__all__ = ["FIELDS", "buffer_offsets", "function_offsets", "layout", "line_offset", "why_not"]

#: Where fields are, in bytes from the object's start.
FIELDS: Mapping[str, int] = {
    "OBJECT_TYPE": 8,
    "TYPE_VECTORCALL": 56,
    "TUPLE_LENGTH": 16,
    "TUPLE_ITEMS": 24,
    "BYTES_CONTENT": 32,
    "CELL_VALUE": 16,
    "SCALAR_VALUE": 16,
    "ARRAY_DATA": 16,
    "ARRAY_NDIM": 24,
    "ARRAY_DIMENSIONS": 32,
    "ARRAY_STRIDES": 40,
    "ARRAY_DTYPE": 56,
    "ARRAY_FLAGS": 64,
}
_FUNCTION_PARTS = ("__code__", "__defaults__", "__kwdefaults__")
_TRIED = {(3, 11), (3, 12), (3, 13)}


@functools.cache
def why_not() -> str:
    """Why calls cannot be taken in machine code here; "" if they can."""
    if not current().runtime.native:
        return "it is switched off (native)"
    system = (
        (sys.implementation.name == "cpython", "this Python is not CPython"),
        (sys.platform == "linux", f"the system is {sys.platform}"),
        (host_architecture() in ("x86_64", "aarch64"), f"this is {host_architecture()}"),
        (sys.version_info[:2] in _TRIED, "it was never tried on this version of Python"),
        ("t" not in getattr(sys, "abiflags", ""), "this Python is free-threaded"),
        (not hasattr(sys, "gettotalrefcount"), "this Python is a debug build"),
    )
    reasons = [reason for usual, reason in system if not usual]
    if not reasons:
        reasons = [f"{what} is laid out differently" for what, same in _compared() if not same]
    return ", ".join(reasons)


def layout() -> Mapping[str, int]:
    """Fields by name, those of buffers included."""
    return {**FIELDS, **buffer_offsets()}


@functools.cache
def buffer_offsets() -> Mapping[str, int]:
    """Where a Buffer holds its device and its view, found by looking; -1: nowhere."""
    device, view = object(), object()
    buffer = Buffer(
        device=device,  # type: ignore[arg-type]
        memory=None,
        dtype=np.dtype(np.float32),
        shape=(),
        strides=(),
        view=view,  # type: ignore[arg-type]
    )
    size = Buffer.__basicsize__ // 8
    words = list((ctypes.c_int64 * size).from_address(id(buffer)))
    places = {"BUFFER_DEVICE": id(device), "BUFFER_VIEW": id(view)}
    return {name: 8 * words.index(at) if at in words else -1 for name, at in places.items()}


@functools.cache
def function_offsets() -> Mapping[str, int]:
    """Where a function holds its code and its defaults, found by looking; 0: nowhere."""

    def probed(first: int = 1, *, second: int = 2) -> None:
        """Has of everything what no other function has."""

    size = type(probed).__basicsize__ // 8
    words = list((ctypes.c_int64 * size).from_address(id(probed)))
    parts = {name: id(getattr(probed, name)) for name in _FUNCTION_PARTS}
    return {name: 8 * words.index(at) if at in words else 0 for name, at in parts.items()}


@functools.cache
def line_offset() -> int:
    """Where a class holds the tuple of what it inherits from, found by looking; 0: nowhere."""

    class Probed:
        """Has a line of its own."""

    kind: Any = type(Probed)
    words = list((ctypes.c_int64 * (kind.__basicsize__ // 8)).from_address(id(Probed)))
    at = id(Probed.__mro__)
    return 8 * words.index(at) if words.count(at) == 1 else 0


def _word(value: object, field: str) -> int:
    return ctypes.c_int64.from_address(id(value) + FIELDS[field]).value


def _compared() -> Iterator[tuple[str, bool]]:
    """What was looked at, and whether it is as expected."""
    yield "an object", object.__basicsize__ == 16 and _word(1.5, "OBJECT_TYPE") == id(float)
    yield "a float", ctypes.c_double.from_address(id(1.5) + FIELDS["SCALAR_VALUE"]).value == 1.5
    pair = ("a", "b")
    yield "a tuple", (_word(pair, "TUPLE_LENGTH"), _word(pair, "TUPLE_ITEMS")) == (2, id("a"))
    text = b"0123456789"
    content = ctypes.string_at(id(text) + FIELDS["BYTES_CONTENT"], len(text))
    yield "bytes", (_word(text, "TUPLE_LENGTH"), content) == (len(text), text)
    yield "a cell", _word(types.CellType("content"), "CELL_VALUE") == id("content")
    yield "a NumPy scalar", all(_scalar_as_expected(value) for value in _scalars())
    yield "a Buffer", -1 not in buffer_offsets().values()
    arrays = _arrays()
    yield "a NumPy array", all(_array_as_expected(array) for array in arrays)


def _scalars() -> tuple[np.generic, ...]:
    return (np.float64(-2.5), np.float32(3.25), np.int64(-(1 << 40)), np.int32(-7))


def _scalar_as_expected(value: np.generic) -> bool:
    raw = ctypes.string_at(id(value) + FIELDS["SCALAR_VALUE"], value.dtype.itemsize)
    return raw == value.tobytes()


def _arrays() -> tuple[np.ndarray[Any, Any], ...]:
    whole = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    frozen = np.zeros((3, 0, 5))
    frozen.flags.writeable = False
    return (whole, whole[:, 1:, ::2], whole.T[::-1], np.zeros(7, np.float32), frozen)


def _array_as_expected(array: np.ndarray[Any, Any]) -> bool:
    def axes(field: str) -> tuple[int, ...]:
        return tuple((ctypes.c_int64 * array.ndim).from_address(_word(array, field)))

    def number(field: str) -> int:
        return ctypes.c_int32.from_address(id(array) + FIELDS[field]).value

    return (
        _word(array, "ARRAY_DATA") == array.ctypes.data
        and number("ARRAY_NDIM") == array.ndim
        and number("ARRAY_FLAGS") == array.flags.num
        and axes("ARRAY_DIMENSIONS") == array.shape
        and axes("ARRAY_STRIDES") == array.strides
        and _word(array, "ARRAY_DTYPE") == id(array.dtype)
    )
