"""What Python reads while it computes for a kernel: found in the code it would run, and watched.

Code that Python runs is not lowered, so nobody sees what it reads. It is looked through instead:
names of modules and closures that it reads, attributes it mentions of the modules, classes and
functions in its reach, and functions it may call, likewise. What can change in place is refused.
What lies outside of Python, such as a file, is read once.
"""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import inspect
import operator
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from cubepy.errors import ComptimeError
from cubepy.frontend.captures import function_of, is_made
from cubepy.frontend.frame import Frame
from cubepy.frontend.keys import mutable_kind
from cubepy.frontend.watched import ABSENT, Watch, is_fixed
from cubepy.records import is_dataclass

__all__ = ["watch_python"]

_READ_ANYTHING = ("globals", "locals", "vars", "eval", "exec")
_READERS = tuple(getattr(builtins, name) for name in _READ_ANYTHING)
_GLOBAL, _ATTRIBUTE = ("LOAD_GLOBAL", "LOAD_NAME"), ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM")
# Functions of packages that are installed are run, and not looked through.
_INSTALLED = ("site-packages", "dist-packages")


class _ChangesError(Exception):
    """Python would read something that nobody can watch: what, and what to do instead."""


def watch_python(frame: Frame, roots: Iterable[Any], at: ast.AST) -> None:
    """Watch what Python reads when it calls, or asks, some objects; refuse what changes in place.

    Code among them reads its names from the others.
    """
    reach = _Reach(frame.session.watch)
    try:
        reach.follow(map(_asked, roots))
    except _ChangesError as error:
        what, advice = error.args
        message = f"Python would read {what}, which can change after the kernel is compiled"
        raise frame.error(ComptimeError, message, at, advice) from error


_FROZEN = "make it a tuple or a frozen dataclass, or pass it as a Comptime parameter"


def _asked(root: Any) -> Any:
    """An object that Python is to ask; what Python has just made, such as a list, is nobody's."""
    kind = None if is_fixed(type(root).__module__) else mutable_kind(root)
    if kind is not None and getattr(root, "__dict__", True):  # it has a state
        raise _ChangesError(kind, _FROZEN)
    return root


class _Reach:
    """The objects in reach of some code, and the names of attributes that it mentions."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._kept: dict[int, object] = {}  # by identity, so that none is looked at twice
        self._owners: list[Any] = []
        self._mentioned: dict[str, None] = {}
        self._pending: list[Any] = []
        self._any = False  # whether names of attributes may be computed

    def follow(self, roots: Iterable[Any]) -> None:
        """Look through everything in reach."""
        self._pending.extend(roots)
        done: set[tuple[int, str]] = set()
        while self._pending:
            while self._pending:
                self._look_at(self._pending.pop())
            for owner in list(self._owners):
                for name in self._names_of(owner):
                    if (id(owner), name) not in done:
                        done.add((id(owner), name))
                        self._attribute(owner, name)

    def _look_at(self, value: Any) -> None:
        if id(value) in self._kept:
            return
        self._kept[id(value)] = value
        if isinstance(value, types.CodeType):
            self._code(value, None)
        elif isinstance(value, types.ModuleType | type):
            self._namespace(value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, str):
            self._mentioned.setdefault(value)
        elif value is getattr:
            self._any = True
        elif any(value is reader for reader in _READERS):
            advice = "write the names out, or use getattr(module, name)"
            raise _ChangesError(f"what {value.__name__} gives", advice)
        elif isinstance(value, operator.attrgetter | operator.methodcaller):
            names = value.__reduce__()[1]
            self._mentioned |= {part: None for each in names for part in str(each).split(".")}
        else:
            self._look_inside(value)
            self._class_of(value)

    def _look_inside(self, value: Any) -> None:
        if isinstance(value, functools.partial):
            for name in value.keywords:
                self._watch.name(value.keywords, name)
        if isinstance(value, list | set | dict):
            self._pending.extend(_parts_of(value))  # just made, as all that is inside
        else:
            self._watch.fields(value)
            for part in _parts_of(value):
                self._read(part)

    def _namespace(self, owner: Any) -> None:
        name = owner.__name__ if isinstance(owner, types.ModuleType) else owner.__module__
        if is_fixed(name):
            return
        self._owners.append(owner)
        if isinstance(owner, type):
            self._watch.line(owner)
            for base in owner.__mro__:
                if not is_fixed(base.__module__):
                    self._methods(owner, base)

    def _methods(self, cls: type, base: type) -> None:
        """Functions of a class, which operators and protocols of Python call by themselves."""
        for name, member in list(vars(base).items()):
            if isinstance(member, _MEMBERS):
                self._watch.attribute(cls, name)
                self._watch.attribute(base, name)  # which super() finds
                self._pending.append(member)

    def _class_of(self, value: Any) -> None:
        if not is_fixed(type(value).__module__):
            self._pending.append(type(value))
            if hasattr(value, "__dict__"):
                self._owners.append(value)  # an enum's member, a number with more to it
        elif function_of(value) is not None:
            self._owners.append(value)  # a kernel, with what was hung on it

    def _function(self, function: types.FunctionType) -> None:
        self._pending.append(getattr(function, "__wrapped__", None))
        # By its globals: a wrapper may say that it is of the module of what it wraps.
        if is_fixed(function.__globals__.get("__name__")) or is_made(function):
            return
        self._watch.function(function)
        self._owners.append(function)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._read(default)
        for name in function.__code__.co_freevars:
            self._variable(function, name)
        if not any(place in function.__code__.co_filename for place in _INSTALLED):
            self._code(function.__code__, function)

    def _code(self, code: types.CodeType, function: types.FunctionType | None) -> None:
        for instruction in dis.get_instructions(code):
            if instruction.opname in _GLOBAL:
                self._variable(function, instruction.argval)
            elif instruction.opname in _ATTRIBUTE:
                self._mentioned.setdefault(instruction.argval)
            elif instruction.opname == "IMPORT_NAME":
                self._import(function, instruction.argval)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant, function)
            elif isinstance(constant, str) and constant.isidentifier():
                self._mentioned.setdefault(constant)

    def _import(self, function: types.FunctionType | None, name: str) -> None:
        """`import` of a module that is there is a way to its names; another may find anything."""
        if is_fixed(name):
            return
        module = sys.modules.get(name)
        if module is None or function is None:
            advice = "import it where the file begins"
            raise _ChangesError(f"what `import {name}` finds", advice)
        self._watch.name(sys.modules, name)
        self._pending.append(module)

    def _variable(self, function: types.FunctionType | None, name: str) -> None:
        value = vars(builtins).get(name, ABSENT)
        if function is None:  # the names of a comprehension are among the roots
            self._pending.append(value)
            return
        self._watch.variable(function, name)
        value = function.__globals__.get(name, value)
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:
                value = ABSENT
        self._read(value, f"{name!r}, ")

    def _names_of(self, owner: Any) -> Iterable[str]:
        every = vars(owner) if self._any and hasattr(owner, "__dict__") else {}
        plain = (name for name, value in every.items() if mutable_kind(value) is None)
        return {**self._mentioned, **dict.fromkeys(plain)}

    def _attribute(self, owner: Any, name: str) -> None:
        self._watch.attribute(owner, name)  # also where it is not: it may come
        self._read(inspect.getattr_static(owner, name, ABSENT), f"{name!r}, ")
        if not isinstance(owner, type):
            return
        for base in owner.__mro__[1:]:  # which super() finds
            if name in vars(base) and not is_fixed(base.__module__):
                self._watch.attribute(base, name)
                self._read(vars(base)[name], f"{name!r}, ")

    def _read(self, value: Any, named: str = "") -> None:
        """What a name holds, or something inside a value."""
        kind = mutable_kind(value) if value is not ABSENT else None
        if kind is not None and not hasattr(type(value), "__get__"):
            raise _ChangesError(f"{named}{kind}", _FROZEN)
        self._pending.append(value)


_MEMBERS = (*(types.FunctionType, property, staticmethod, classmethod, functools.cached_property),)


def _parts_of(value: Any) -> Iterator[Any]:
    """Objects inside an object that Python may ask when it asks that."""
    if isinstance(value, tuple | frozenset | list | set):
        yield from value
    elif isinstance(value, dict):
        yield from (*value, *value.values())
    elif isinstance(value, types.MethodType | staticmethod | classmethod):
        yield from (value.__func__, getattr(value, "__self__", None))
    elif isinstance(value, property):
        yield value.fget
    elif isinstance(value, functools.cached_property):
        yield value.func
    elif isinstance(value, types.BuiltinMethodType):
        yield getattr(value, "__self__", None)
    elif isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (getattr(value, name, None) for name in type(value).__dataclass_fields__)
    yield function_of(value)
    if callable(value):
        yield getattr(value, "__wrapped__", None)
