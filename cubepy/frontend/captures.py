"""The captured names of a kernel and of the functions it reaches, read at one moment.

A kernel is compiled for the values its outside names have then: they are part of its
specialization, and a later change is another specialization. Modules of cubepy, the standard
library and NumPy count as constant.
"""

from __future__ import annotations

import builtins
import sys
import types
import typing
import weakref
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from cubepy.errors import SourceUnavailable
from cubepy.frontend.keys import comptime_key
from cubepy.frontend.paths import free_paths
from cubepy.frontend.source import KernelSource, capture, closure_values
from cubepy.frontend.structs import fields_of, is_struct
from cubepy.records import dataclass, field, is_dataclass

__all__ = ["Captures", "function_of", "read_captures", "source_of"]

_FIXED = frozenset(sys.stdlib_module_names) | {"cubepy", "numpy", "ml_dtypes"}
_SOURCES: weakref.WeakKeyDictionary[types.FunctionType, KernelSource] = weakref.WeakKeyDictionary()
_PATHS: weakref.WeakKeyDictionary[KernelSource, tuple[tuple[str, ...], ...]] = (
    weakref.WeakKeyDictionary()
)


@dataclass(frozen=True, slots=True)
class Captures:
    """`values`: what each function read by its dotted names. Equal if the keys are."""

    key: tuple[Hashable, ...] = ()
    values: Mapping[types.FunctionType, Mapping[tuple[str, ...], Any]] = field(
        default_factory=dict, compare=False
    )

    def objects(self) -> tuple[Any, ...]:
        """All values in a fixed order, to be compared by identity."""
        return tuple(value for part in self.values.values() for value in part.values())


def function_of(value: object) -> types.FunctionType | None:
    """The Python function behind an object that kernels can call: plain, or decorated."""
    if isinstance(value, types.FunctionType):
        return value
    inner = getattr(value, "function", None)
    ours = type(value).__module__.partition(".")[0] == "cubepy"
    return inner if ours and isinstance(inner, types.FunctionType) else None


def source_of(function: types.FunctionType) -> KernelSource:
    """The source of a helper, captured once."""
    known = _SOURCES.get(function)
    if known is None:
        known = _SOURCES[function] = capture(function)
    return known


def _paths_of(source: KernelSource) -> tuple[tuple[str, ...], ...]:
    known = _PATHS.get(source)
    if known is None:
        known = _PATHS[source] = free_paths(source.node)
    return known


def read_captures(
    source: KernelSource, arguments: Mapping[str, object], classes: tuple[type, ...] = ()
) -> Captures:
    """What the kernel's outside names are now; `arguments` may bring functions of their own.

    `classes` are those of its parameters, whose methods it may call.
    """
    values: dict[types.FunctionType, Mapping[tuple[str, ...], Any]] = {}
    pending: list[KernelSource] = [source]
    pending += _helpers((*arguments.values(), *classes))
    while pending:
        current = pending.pop()
        if current.function in values:
            continue
        read = dict(_read(current))
        values[current.function] = read
        pending += _helpers(read.values())
    key = tuple(
        (path, comptime_key(value)) for part in values.values() for path, value in part.items()
    )
    return Captures(key=key, values=values)


def _helpers(values: Any) -> Iterator[KernelSource]:
    """Sources of the functions among some values, tuples of functions included."""
    for value in values:
        if isinstance(value, tuple):
            yield from _helpers(value)
            continue
        function = function_of(value)
        if function is None:
            yield from _helpers(_methods(value))
        if function is None or _is_fixed(function.__module__):
            continue
        try:
            yield source_of(function)
        except (SourceUnavailable, SyntaxError):
            continue  # lowering says so, if it is ever called


def _methods(value: Any) -> Iterator[types.FunctionType]:
    """The functions of a class, of a frozen instance's class, and of those of its fields."""
    if isinstance(value, types.MethodType):
        value = value.__self__
    cls = value if isinstance(value, type) else type(value)
    if _is_fixed(cls.__module__) or not (isinstance(value, type) or is_dataclass(value)):
        return
    for reached in _classes(cls):
        for member in vars(reached).values():
            inner = member.fget if isinstance(member, property) else member
            function = function_of(getattr(inner, "__func__", inner))
            if function is not None and not function.__code__.co_qualname.startswith(_MADE):
                yield function


def _classes(cls: type) -> Iterator[type]:
    """A class, its bases, and the structs that its fields are."""
    pending: list[type] = [cls]
    seen: set[type] = {object}
    while pending:
        current = pending.pop()
        if current in seen or _is_fixed(current.__module__):
            continue
        seen.add(current)
        yield current
        pending += current.__bases__
        if is_struct(current):
            annotations = [field.annotation for field in fields_of(current)]
            pending += [each for one in annotations for each in (one, *typing.get_args(one))
                        if isinstance(each, type)]  # fmt: skip


# How the functions that `dataclass` writes into a class are called.
_MADE = "__create_fn__"


def _is_fixed(module: str | None) -> bool:
    root = (module or "").partition(".")[0]
    return root in _FIXED and root != "__main__"


def _read(source: KernelSource) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Dotted names with their values, cut where the value is no module."""
    cells = closure_values(source.function)
    names = source.function.__globals__
    for path in _paths_of(source):
        root = path[0]
        if root in cells:
            value = cells[root]
        elif root in names:
            value = names[root]
        else:
            value = getattr(builtins, root, None)
            if value is None or isinstance(value, type | types.BuiltinFunctionType):
                continue  # Python's own, or not defined: lowering says so, if it is ever read
        depth = 1
        while isinstance(value, types.ModuleType) and depth < len(path):
            if _is_fixed(value.__name__):
                break
            value = getattr(value, path[depth], value)
            depth += 1
        yield path[:depth], value
