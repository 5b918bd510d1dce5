"""What a kernel is made from, told in the same words by every process: its origin.

Equal origins lower to equal IR, so a process that finds an origin in the store need not lower. All
that lowering reads is part of it: texts and places of functions, their defaults and annotations,
what captured names and comptime values are. Where something cannot be told apart for sure, such as
a class with data of other kinds than those listed here, there is no origin, and the kernel is
lowered in every process.
"""

from __future__ import annotations

import dataclasses
import struct
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

import numpy as np

from cubepy.errors import CubeError
from cubepy.frontend.captures import function_of, source_of
from cubepy.frontend.signature import Specialization
from cubepy.frontend.source import KernelSource
from cubepy.frontend.structs import fields_of, is_struct

__all__ = ["origin_of"]

Told = tuple[Any, ...]

# What these modules hold changes with their version only.
_CONSTANT = frozenset(
    {
        *("abc", "builtins", "cmath", "collections", "cubepy", "dataclasses", "enum", "functools"),
        *("math", "numpy", "operator", "types", "typing"),
    }
)
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
    beside; a class by what is in it, the first time.
    """

    def __init__(self, functions: tuple[types.FunctionType, ...]) -> None:
        self._functions = {function: number for number, function in enumerate(functions)}
        self._classes: dict[type, int] = {}

    def tell(self, value: Any) -> Told:
        """A value by its type and content."""
        kind = type(value)
        if kind in _PLAIN:
            return (kind.__name__, repr(value))
        if kind is float:
            return ("float", struct.pack("<d", value).hex())
        if kind in (tuple, frozenset):
            told = [self.tell(item) for item in value]
            return (kind.__name__, *(told if kind is tuple else sorted(told)))
        for kinds, tell in _TELLERS:
            if isinstance(value, kinds):
                return tell(self, value)
        if dataclasses.is_dataclass(value) or isinstance(value, tuple):
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
            return ("function", number)
        name = function.__globals__.get("__name__")
        if not _is_constant(name):
            raise _UntoldError
        held = (cell.cell_contents for cell in function.__closure__ or ())
        told = (self.tell(value) for value in (*held, *(function.__defaults__ or ())))
        return ("function", name, function.__qualname__, *told)

    def _instance(self, value: Any) -> Told:
        """A frozen dataclass or a named tuple."""
        cls = type(value)
        if isinstance(value, tuple):
            items = tuple(value)
        elif getattr(cls, "__dataclass_params__").frozen:  # noqa: B009 (no such stub)
            items = tuple(getattr(value, each.name) for each in dataclasses.fields(value))
        else:
            raise _UntoldError
        return ("instance", self.class_(cls), *(self.tell(item) for item in items))

    def class_(self, cls: Any) -> Told:
        """A class of a constant module by name; another by its bases and all that is in it."""
        name = (cls.__module__, cls.__qualname__)
        if _is_constant(cls.__module__):
            return ("class", *name)
        known = self._classes.get(cls)
        if known is not None:
            return ("class", known)
        self._classes[cls] = len(self._classes)
        bases = tuple(self.class_(base) for base in cls.__bases__)
        if issubclass(cls, Enum):
            values = self.pairs({each: made.value for each, made in cls.__members__.items()})
        elif dataclasses.is_dataclass(cls):
            values = self._fields(cls)
        elif hasattr(cls, "_field_defaults"):
            values = (cls._fields, self.pairs(cls._field_defaults))
        else:
            raise _UntoldError
        return ("class", *name, bases, values, tuple(self._members(cls)))

    def _fields(self, cls: Any) -> Told:
        struct = is_struct(cls)
        annotations = {each.name: each.annotation for each in fields_of(cls)} if struct else {}
        told = []
        for field in dataclasses.fields(cls):
            if field.default_factory is not dataclasses.MISSING:
                raise _UntoldError
            known = field.default is not dataclasses.MISSING
            default = self.tell(field.default) if known else ()
            told.append((field.name, field.kw_only, default))
        return (*told, self.pairs(annotations))

    def _members(self, cls: Any) -> Iterator[Told]:
        """What is written in a class but for its fields, which may be found among its members."""
        known = {*getattr(cls, "_fields", ()), *getattr(cls, "__members__", ()), *_OF_TUPLES}
        for name, member in vars(cls).items():
            inner = member.fget if isinstance(member, property) else member
            inner = getattr(inner, "__func__", getattr(inner, "func", inner))
            if isinstance(inner, types.FunctionType):
                if name not in known and not _is_made(inner):
                    yield (name, type(member).__name__, self.function(inner))
            elif name not in known and not (name.startswith("_") and name.endswith("_")):
                slot = isinstance(member, types.MemberDescriptorType)
                yield (name, "slot" if slot else self.tell(member))


# What a named tuple has of its own.
_OF_TUPLES = ("_asdict", "_field_defaults", "_fields", "_make", "_replace")


def _is_made(function: types.FunctionType) -> bool:
    """Whether a method was written by the standard library, from the fields of its class."""
    inner: types.FunctionType = getattr(function, "__wrapped__", function)
    made = inner.__code__.co_qualname.startswith("__create_fn__")
    return made or str(function.__globals__.get("__name__")).startswith("namedtuple_")


def _is_constant(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in _CONSTANT


def _tell_scalar(_: _Teller, value: np.generic) -> Told:
    return ("numpy", value.dtype.str, value.tobytes().hex())


def _tell_dtype(_: _Teller, value: np.dtype[Any]) -> Told:
    if value.hasobject or value.names:
        raise _UntoldError
    return ("dtype", value.str)


def _tell_member(teller: _Teller, value: Enum) -> Told:
    return ("member", teller.class_(type(value)), value.name)


def _tell_method(teller: _Teller, value: types.MethodType) -> Told:
    return ("method", teller.tell(value.__func__), teller.tell(value.__self__))


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
    (np.ufunc, lambda _, value: ("ufunc", value.__name__)),
    (Enum, _tell_member),
    (type, _Teller.class_),
    (types.FunctionType, _Teller.function),
    (types.MethodType, _tell_method),
    (types.BuiltinFunctionType, _tell_builtin),
    (types.ModuleType, _tell_module),
    (typing.TypeVar, _tell_variable),
)
