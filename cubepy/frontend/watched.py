"""The variables that a kernel's code was read from: a changed one makes another kernel.

A :class:`Watch` collects them while a kernel is captured and lowered: names in modules and classes,
what hangs on functions, cells of closures, the code and defaults of functions, and which classes a
class inherits from. The finished :class:`Watched` tells whether each still holds the very object
that it held.
"""

from __future__ import annotations

import gc
import os
import sys
import types
from collections.abc import Mapping
from typing import Any, Final

from cubepy.records import dataclass

__all__ = ["ABSENT", "FUNCTION_PARTS", "Watch", "Watched", "is_fixed"]

# What stands for the value of a variable that is not there.
ABSENT: Final = object()
# What of a function can be exchanged while it stays the same object.
FUNCTION_PARTS = ("__code__", "__defaults__", "__kwdefaults__")
# What of a class another one's bases change: a tuple made anew whenever they do.
LINE = "__mro__"
_OWN = frozenset({"cubepy", "numpy", "ml_dtypes"})
_LIBRARY = os.__file__.removesuffix("os.py")


def is_fixed(module: str | None) -> bool:
    """Whether a module counts as constant: of Python's own library, NumPy, cubepy."""
    root = (module or "").partition(".")[0]
    if root in _OWN:
        return True
    if root not in sys.stdlib_module_names or root == "__main__":
        return False
    file = getattr(sys.modules.get(root), "__file__", None)
    return file is None or file.startswith(_LIBRARY)  # else a file of the user's of that name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Watched:
    """Variables of namespaces (and a name), of closures, and parts of functions and classes or
    slots of instances (and which one), each with what it held.
    """

    names: tuple[tuple[Mapping[str, Any], str, Any], ...] = ()
    cells: tuple[tuple[types.CellType, Any], ...] = ()
    parts: tuple[tuple[object, str, Any], ...] = ()

    def unchanged(self) -> bool:
        """Whether each still holds that very object. An equal one counts as a change."""
        for namespace, name, value in self.names:
            if namespace.get(name, ABSENT) is not value:
                return False
        return not (self.cells or self.parts) or self.rest_unchanged()

    def rest_unchanged(self) -> bool:
        """Whether what is no name does."""
        for holder, part, value in self.parts:
            if getattr(holder, part, ABSENT) is not value:
                return False
        return all(_content(cell) is value for cell, value in self.cells)

    def __bool__(self) -> bool:
        return bool(self.names or self.cells or self.parts)

    def __add__(self, other: Watched) -> Watched:
        if not other:
            return self
        return Watched(
            names=_merged(self.names, other.names),
            cells=(*self.cells, *other.cells),
            parts=_merged(self.parts, other.parts),
        )

    def __sub__(self, other: Watched) -> Watched:
        """What the other does not watch."""
        cells = {id(cell) for cell, _ in other.cells}
        return Watched(
            names=_merged(other.names, self.names)[len(other.names) :],
            cells=tuple(each for each in self.cells if id(each[0]) not in cells),
            parts=_merged(other.parts, self.parts)[len(other.parts) :],
        )


def _merged(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    """Both, without the variables of the second that the first has too."""
    known = {(id(holder), name) for holder, name, _ in first}
    return (*first, *(each for each in second if (id(each[0]), each[1]) not in known))


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # deleted since
        return ABSENT


class Watch:
    """Collects variables; each counts with what it held when it was first read."""

    def __init__(self) -> None:
        self._names: dict[tuple[int, str], tuple[Mapping[str, Any], str, Any]] = {}
        self._cells: dict[int, tuple[types.CellType, Any]] = {}
        self._parts: dict[tuple[int, str], tuple[object, str, Any]] = {}

    def name(self, namespace: Mapping[str, Any], name: str, *held: Any) -> None:
        """A name in a namespace, whether it is there or not; `held` is what it held when read."""
        value = held[0] if held else namespace.get(name, ABSENT)
        self._names.setdefault((id(namespace), name), (namespace, name, value))

    def variable(self, function: types.FunctionType, name: str, *held: Any) -> None:
        """A name as a function reads it. One of Python's own is absent from the module."""
        code = function.__code__
        if name not in code.co_freevars:
            self.name(function.__globals__, name, *held)
            return
        cell = (function.__closure__ or ())[code.co_freevars.index(name)]
        self._cells.setdefault(id(cell), (cell, held[0] if held else _content(cell)))

    def function(self, function: types.FunctionType) -> None:
        """What a function does, and its defaults."""
        for part in FUNCTION_PARTS:
            key = (id(function), part)
            self._parts.setdefault(key, (function, part, getattr(function, part)))
        defaults: Mapping[str, Any] = function.__kwdefaults__ or {}
        for name in defaults:
            self.name(defaults, name)

    def attribute(self, owner: object, name: str) -> None:
        """An attribute, where it can come to have another value."""
        if isinstance(owner, types.ModuleType):
            if not is_fixed(owner.__name__):
                self.name(vars(owner), name)
            return
        if isinstance(owner, types.FunctionType):
            self.name(vars(owner), name)
            return
        if isinstance(owner, type):
            self._class(owner, name)
        elif name in getattr(owner, "__dataclass_fields__", {}):
            self._field(owner, name)  # of a frozen one, which object.__setattr__ can change
            return
        elif _can_get(owner, name):
            self.name(vars(owner), name)
        self._class(type(owner), name)

    def fields(self, owner: object) -> None:
        """All fields of a frozen instance: it is taken apart, or what it holds is captured."""
        if not isinstance(owner, type):
            for name in getattr(owner, "__dataclass_fields__", {}):
                self._field(owner, name)

    def _field(self, owner: object, name: str) -> None:
        if is_fixed(type(owner).__module__):
            return
        if name in getattr(owner, "__dict__", {}):
            self.name(vars(owner), name)
        elif hasattr(owner, name):  # it stands in a slot
            self._parts.setdefault((id(owner), name), (owner, name, getattr(owner, name)))

    def line(self, cls: type) -> None:
        """Which classes a class inherits from, in order: all that exchanging bases changes."""
        if not is_fixed(cls.__module__):
            self._parts.setdefault((id(cls), LINE), (cls, LINE, cls.__mro__))

    def _class(self, cls: type, name: str) -> None:
        """A name of a class: in the first of its bases that has it, and not in those before."""
        self.line(cls)
        for base in cls.__mro__:
            if not is_fixed(base.__module__):
                self.name(_namespace(base), name)
            if name in vars(base):
                return

    def watched(self) -> Watched:
        """What was collected."""
        return Watched(
            names=tuple(self._names.values()),
            cells=tuple(self._cells.values()),
            parts=tuple(self._parts.values()),
        )


def _can_get(owner: object, name: str) -> bool:
    """Whether an instance can come to have an attribute of its own: of one of cubepy's, such as a
    kernel, what its class does not have.
    """
    if not hasattr(owner, "__dict__"):
        return False
    return not is_fixed(type(owner).__module__) or not hasattr(type(owner), name)


def _namespace(cls: type) -> Mapping[str, Any]:
    """The dict behind `vars(cls)`, which machine code can look into."""
    found = [each for each in gc.get_referents(vars(cls)) if type(each) is dict]
    return found[0] if len(found) == 1 else vars(cls)
