"""What a kernel is made from, told in the same words by every process: its origin.

Equal origins lower to equal IR, so a process that finds an origin in the store need not lower. All
that lowering reads is part of it: texts and places of functions, their defaults and annotations,
what captured names and comptime values are. Told is only what has no more to it than is told:
numbers, texts, tuples of them, functions, and what cubepy, NumPy and a few modules of Python own.
With anything else, such as a class or an instance of the user's, there is no origin, and the kernel
is lowered in every process.
"""

from __future__ import annotations

import struct
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

import numpy as np

from cubepy import records
from cubepy.errors import CubeError
from cubepy.frontend.captures import function_of, source_of
from cubepy.frontend.signature import Specialization
from cubepy.frontend.source import KernelSource

__all__ = ["origin_of"]

Told = tuple[Any, ...]

# What these modules hold changes with their version only.
_CONSTANT = frozenset(
    {
        *("abc", "builtins", "cmath", "collections", "dataclasses", "enum", "functools", "math"),
        *("operator", "types", "typing"),
    }
)
# And the modules in the folders of these.
_PACKAGES = {
    name: (sys.modules[name].__file__ or "").removesuffix("__init__.py")
    for name in ("cubepy", "numpy")
}
_PLAIN = (bool, int, str, bytes, complex, type(None), type(Ellipsis), range, slice)


class _UntoldError(Exception):
    """Something that may be another thing in another process, though it looks the same."""


def origin_of(source: KernelSource, specialization: Specialization) -> bytes | None:
    """The origin of a kernel; None if it has none."""
    try:
        return repr(tuple(_origin(source, specialization))).encode()
    except (_UntoldError, CubeError):  # what is wrong, lowering says with its place
        return None


def _origin(source: KernelSource, specialization: Specialization) -> Iterator[Told]:
    captured = specialization.captures.values
    teller = _Teller(tuple(captured))
    yield ("versions", sys.version, np.__version__, __debug__)
    yield ("kernel", teller.function(source.function), source.options)
    yield ("launch", repr(specialization.options))
    yield ("types", *((name, str(type)) for name, type in specialization.types))
    yield ("generics", *((name, str(type)) for name, type in specialization.generics))
    yield ("comptime", teller.pairs(specialization.values))
    for function, values in captured.items():
        yield _told_source(source if function is source.function else source_of(function), teller)
        yield teller.pairs(values)


def _told_source(source: KernelSource, teller: _Teller) -> Told:
    function, node, lines = source.function, source.node, source.text.lines
    last = node.end_lineno or node.lineno
    place = (source.text.filename, node.lineno, node.col_offset, last, node.end_col_offset)
    annotations = teller.pairs(source.annotations)
    defaults = (teller.tell(function.__defaults__ or ()), teller.pairs(function.__kwdefaults__))
    return ("".join(lines[node.lineno - 1 : last]), place, defaults, annotations)


class _Teller:
    """Tells values. A function is told by its place among the captured ones, whose texts stand
    beside.
    """

    def __init__(self, functions: tuple[types.FunctionType, ...]) -> None:
        self._functions = {function: number for number, function in enumerate(functions)}

    def tell(self, value: Any) -> Told:
        """A value by its type and content."""
        kind = type(value)
        if kind in _PLAIN:
            return (kind.__name__, hex(value) if kind is int else repr(value))
        if kind is float:
            return ("float", struct.pack("<d", value).hex())
        if kind is tuple:
            return ("tuple", *map(self.tell, value))
        if kind is frozenset and all(type(item) in _PLAIN for item in value):
            return ("frozenset", *sorted(repr(self.tell(item)) for item in value))
        for kinds, tell in _TELLERS:
            if isinstance(value, kinds):
                return tell(self, value)
        if records.is_dataclass(value):
            return self._instance(value)  # a layout too, which has a function and more
        function = function_of(value)
        if function is not None:
            return ("kernel", self.function(function))
        if typing.get_origin(value) is not None:
            return ("generic", self.tell(typing.get_origin(value)), self._items(value))
        raise _UntoldError

    def pairs(self, values: Mapping[Any, Any] | None) -> Told:
        """Named values."""
        return tuple((name, self.tell(value)) for name, value in (values or {}).items())

    def _items(self, generic: Any) -> Told:
        """The arguments of a generic class; those of `Callable` stand in a list."""
        items = typing.get_args(generic)
        return tuple(self.tell(tuple(each) if isinstance(each, list) else each) for each in items)

    def function(self, function: types.FunctionType) -> Told:
        """A function of the user's by its number, one of a constant module by name and closure."""
        number = self._functions.get(function)
        if number is not None:
            if set(vars(function)) - {"__wrapped__"}:
                raise _UntoldError  # a kernel may read what was hung on it
            return ("function", number)
        name = str(function.__globals__.get("__name__"))
        if not _is_constant(name) or function.__globals__ is not vars(sys.modules[name]):
            raise _UntoldError
        held = (cell.cell_contents for cell in function.__closure__ or ())
        told = (self.tell(value) for value in (*held, *(function.__defaults__ or ())))
        return ("function", name, function.__qualname__, *told)

    def _instance(self, value: Any) -> Told:
        """An instance of one of cubepy's own frozen classes."""
        cls = type(value)
        told = _tell_class(self, cls)
        if not getattr(cls, "__dataclass_params__").frozen or hasattr(value, "__dict__"):  # noqa: B009 (no such stub)
            raise _UntoldError
        items = (self.tell(getattr(value, each.name)) for each in records.fields(value))
        return ("instance", told, *items)


def _is_constant(module: object) -> bool:
    """Whether a module, by its name, is one whose content its version tells."""
    if not isinstance(module, str) or module not in sys.modules:
        return False
    folder = _PACKAGES.get(module.partition(".")[0])
    if folder is None:
        return module in _CONSTANT
    file = getattr(sys.modules[module], "__file__", None) or ""
    return bool(folder) and file.startswith(folder)


def _tell_class(_: _Teller, cls: type) -> Told:
    """A class that a constant module really has under the name that the class gives itself."""
    if not _is_constant(cls.__module__):
        raise _UntoldError
    found: Any = sys.modules[cls.__module__]
    for name in cls.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is not cls:
        raise _UntoldError
    return ("class", cls.__module__, cls.__qualname__)


def _tell_scalar(_: _Teller, value: np.generic) -> Told:
    return ("numpy", value.dtype.str, value.dtype.name, value.tobytes().hex())


def _tell_dtype(_: _Teller, value: np.dtype[Any]) -> Told:
    if value.hasobject or value.names:
        raise _UntoldError
    return ("dtype", value.str, value.name)  # small floats have one `str`


def _tell_member(teller: _Teller, value: Enum) -> Told:
    return ("member", _tell_class(teller, type(value)), value.name)


def _tell_method(teller: _Teller, value: types.MethodType) -> Told:
    return ("method", teller.tell(value.__func__), teller.tell(value.__self__))


def _tell_ufunc(_: _Teller, value: np.ufunc) -> Told:
    if getattr(np, value.__name__, None) is not value:
        raise _UntoldError
    return ("ufunc", value.__name__)


def _tell_builtin(_: _Teller, value: types.BuiltinFunctionType) -> Told:
    if not _is_constant(value.__module__):
        raise _UntoldError
    return ("builtin", value.__module__, value.__qualname__)


def _tell_module(_: _Teller, value: types.ModuleType) -> Told:
    if not _is_constant(value.__name__):
        raise _UntoldError
    return ("module", value.__name__)


def _tell_variable(teller: _Teller, value: typing.TypeVar) -> Told:
    bounds = (value.__bound__, *value.__constraints__)
    return ("variable", value.__name__, *(teller.tell(each) for each in bounds))


_TELLERS: tuple[tuple[Any, Callable[[_Teller, Any], Told]], ...] = (
    (np.generic, _tell_scalar),
    (np.dtype, _tell_dtype),
    (np.ufunc, _tell_ufunc),
    (Enum, _tell_member),
    (type, _tell_class),
    (types.FunctionType, _Teller.function),
    (types.MethodType, _tell_method),
    (types.BuiltinFunctionType, _tell_builtin),
    (types.ModuleType, _tell_module),
    (typing.TypeVar, _tell_variable),
)
