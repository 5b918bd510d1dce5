"""The captured names of a kernel and of the functions it reaches, read at one moment.

A kernel is compiled for the values its outside names have then: they are part of its
specialization, and a later change is another specialization. Modules of cubepy, the standard
library and NumPy count as constant. What only lowering finds, such as the attribute of a class,
it watches as it goes.
"""

from __future__ import annotations

import builtins
import types
import typing
import weakref
from collections.abc import Hashable, Iterator, Mapping
from operator import is_not
from typing import Any

from cubepy.errors import SourceUnavailable
from cubepy.frontend.keys import comptime_key
from cubepy.frontend.paths import free_paths
from cubepy.frontend.source import KernelSource, capture, closure_values
from cubepy.frontend.structs import fields_of, is_struct
from cubepy.frontend.watched import ABSENT, FUNCTION_PARTS, Watch, Watched, is_fixed
from cubepy.records import dataclass, field, is_dataclass

__all__ = ["Captures", "function_of", "is_made", "read_captures", "source_of"]

# Sources of helpers, with what of the functions they were made from.
_SOURCES: weakref.WeakKeyDictionary[types.FunctionType, tuple[KernelSource, tuple[Any, ...]]] = (
    weakref.WeakKeyDictionary()
)
_PATHS: weakref.WeakKeyDictionary[KernelSource, tuple[tuple[str, ...], ...]] = (
    weakref.WeakKeyDictionary()
)


@dataclass(frozen=True, slots=True)
class Captures:
    """`values`: what each function read by its dotted names; `own`: the names of Python's own that
    it read. Equal if the keys are.
    """

    key: tuple[Hashable, ...] = ()
    values: Mapping[types.FunctionType, Mapping[tuple[str, ...], Any]] = field(
        default_factory=dict, compare=False
    )
    own: Mapping[types.FunctionType, frozenset[str]] = field(default_factory=dict, compare=False)

    def has(self, function: types.FunctionType, name: str) -> bool:
        """Whether a name that a function reads is among them."""
        values = self.values.get(function, {})
        return name in self.own.get(function, ()) or any(path[0] == name for path in values)

    def watched(self, kernel: types.FunctionType) -> Watched:
        """The variables that the values were read from, and the helpers of a kernel.

        The kernel itself is what it was when it was decorated.
        """
        watch = Watch()
        for function, values in self.values.items():
            if function is not kernel:
                watch.function(function)
            for path, captured in values.items():
                _watch_path(watch, function, path, captured)
            for name in self.own[function]:
                watch.variable(function, name, ABSENT)
        return watch.watched()


def function_of(value: object) -> types.FunctionType | None:
    """The Python function behind an object that kernels can call: plain, or decorated."""
    if isinstance(value, types.FunctionType):
        return value
    inner = getattr(value, "function", None)
    ours = type(value).__module__.partition(".")[0] == "cubepy"
    return inner if ours and isinstance(inner, types.FunctionType) else None


def source_of(function: types.FunctionType) -> KernelSource:
    """The source of a helper, captured once."""
    parts = (
        *(getattr(function, part) for part in FUNCTION_PARTS),
        *(function.__kwdefaults__ or {}).values(),
    )
    known = _SOURCES.get(function)
    if known is None or len(known[1]) != len(parts) or any(map(is_not, known[1], parts)):
        known = _SOURCES[function] = (capture(function, through_wrappers=False), parts)
    return known[0]


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
    own: dict[types.FunctionType, frozenset[str]] = {}
    pending: list[KernelSource] = [source]
    pending += _helpers((*arguments.values(), *classes))
    while pending:
        current = pending.pop()
        if current.function in values:
            continue
        read = dict(_read(current))
        values[current.function] = read
        own[current.function] = frozenset(_own_names(current))
        pending += _helpers(read.values())
    key = tuple(
        (path, comptime_key(value)) for part in values.values() for path, value in part.items()
    )
    return Captures(key=key, values=values, own=own)


def _helpers(values: Any) -> Iterator[KernelSource]:
    """Sources of the functions among some values, tuples of functions included."""
    for value in values:
        if isinstance(value, tuple):
            yield from _helpers(value)
            continue
        function = function_of(value)
        if function is None:
            yield from _helpers(_methods(value))
        if function is None or is_fixed(function.__module__):
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
    if is_fixed(cls.__module__) or not (isinstance(value, type) or is_dataclass(value)):
        return
    for reached in _classes(cls):
        for member in vars(reached).values():
            inner = member.fget if isinstance(member, property) else member
            function = function_of(getattr(inner, "__func__", inner))
            if function is not None and not is_made(function):
                yield function


def _classes(cls: type) -> Iterator[type]:
    """A class, its bases, and the structs that its fields are."""
    pending: list[type] = [cls]
    seen: set[type] = {object}
    while pending:
        current = pending.pop()
        if current in seen or is_fixed(current.__module__):
            continue
        seen.add(current)
        yield current
        pending += current.__bases__
        if is_struct(current):
            annotations = [field.annotation for field in fields_of(current)]
            pending += [each for one in annotations for each in (one, *typing.get_args(one))
                        if isinstance(each, type)]  # fmt: skip


def is_made(function: types.FunctionType) -> bool:
    """Whether `dataclass` wrote a function into a class."""
    return function.__code__.co_qualname.startswith("__create_fn__")


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
            if is_fixed(value.__name__):
                break
            value = getattr(value, path[depth], value)
            depth += 1
        yield path[:depth], value


def _watch_path(
    watch: Watch, function: types.FunctionType, path: tuple[str, ...], captured: Any
) -> None:
    """Watch what a dotted name leads through; its last part held `captured`."""
    root, *inner = path
    watch.fields(captured)  # the key of the captures has what they hold
    if not inner:
        watch.variable(function, root, captured)
        return
    cells = closure_values(function)
    holder = cells[root] if root in cells else function.__globals__[root]
    watch.variable(function, root, holder)
    for name in inner[:-1]:
        watch.name(vars(holder), name)
        holder = getattr(holder, name)
    watch.name(vars(holder), inner[-1], captured)


def _own_names(source: KernelSource) -> Iterator[str]:
    """Python's own names that a function reads, which one of the module would hide."""
    names, cells = source.function.__globals__, source.function.__code__.co_freevars
    for root, *_ in _paths_of(source):
        if root not in names and root not in cells and hasattr(builtins, root):
            yield root
