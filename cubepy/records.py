"""The standard library's `dataclass` for frozen classes, without the time it takes to make one.

The standard decorator takes up to a millisecond a class, for it writes methods as text, compiles
them, and looks for special annotations: most of the time that `import cubepy` would take. Here all
frozen classes share functions that look up the fields; a call costs the same. `Field`, `replace`
and `fields` are the standard library's own; classes that are not frozen are made by it altogether.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields, is_dataclass, replace
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "field", "fields", "is_dataclass", "replace"]


def _dataclass(
    cls: type | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
    eq: bool = True,
    repr: bool = True,
) -> Any:
    """As the standard library's, with the same meaning of every option."""

    def decorate(decorated: type) -> type:
        if not frozen:
            make = dataclasses.dataclass(slots=slots, kw_only=kw_only, eq=eq, repr=repr)
            return make(decorated)
        return _frozen(decorated, slots=slots, kw_only=kw_only, eq=eq, repr=repr)

    return decorate if cls is None else decorate(cls)


def _frozen(cls: type, *, slots: bool, kw_only: bool, eq: bool, repr: bool) -> type:
    own = {name for name, value in vars(cls).items() if value is not None}
    known = _fields(cls, kw_only=kw_only)
    puts: _Puts = []
    methods: dict[str, Any] = {
        "__dataclass_fields__": {each.name: each for each in known},
        "__dataclass_params__": _PARAMETERS,
        "__match_args__": tuple(each.name for each in known if not each.kw_only),
        "__init__": _initializer(cls, known, puts),
        "__setattr__": _refuse_assignment,
        "__delattr__": _refuse_deletion,
    }
    if _REPLACE is not None:
        methods["__replace__"] = _REPLACE
    if repr:
        methods["__repr__"] = _representation(known)
    if eq:
        values = _values(each.name for each in known if each.compare)
        methods |= {"__eq__": _equality(values), "__hash__": _hash(values)}
    if slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name in own & methods.keys():
        del methods[name]
    made = _with_slots(cls, known, methods) if slots else cls
    for name, method in () if slots else methods.items():
        setattr(made, name, method)
    puts += [(each.name, _setter(made, each.name)) for each in known]
    return made


_Puts = list[tuple[str, Callable[[Any, Any], None]]]


@dataclasses.dataclass(frozen=True)
class _Standard:
    """A class of the standard library's making: what all frozen ones have in common."""

    field: int


_PARAMETERS: Any = _Standard.__dataclass_params__  # type: ignore[attr-defined]
_REPLACE: Any = getattr(_Standard, "__replace__", None)  # of Python 3.13 and later
_KIND: Any = fields(_Standard)[0]._field_type  # type: ignore[attr-defined] # noqa: SLF001


def _fields(cls: type, *, kw_only: bool) -> tuple[Field[Any], ...]:
    """Those of the bases and its own. A class keeps no `field(…)`, only plain defaults."""
    known: dict[str, Field[Any]] = {}
    for base in cls.__mro__[-1:0:-1]:
        known |= getattr(base, "__dataclass_fields__", {})
    for name, annotation in get_annotations(cls).items():
        default = vars(cls).get(name, MISSING)
        one: Any = default if isinstance(default, Field) else field(default=default)
        one.name, one.type, one._field_type = name, annotation, _KIND  # noqa: SLF001
        if one.kw_only is MISSING:
            one.kw_only = kw_only
        assert "ClassVar" not in str(annotation), f"{cls.__name__}.{name}: put it outside the class"
        assert one.init, f"{cls.__name__}: every field takes a value"
        assert one.default.__class__.__hash__, f"{cls.__name__}: a default that can change"
        known[name] = one
        if default is not one.default:
            delattr(cls, name)
    return tuple(known.values())


def _with_slots(cls: type, known: tuple[Field[Any], ...], methods: Mapping[str, Any]) -> type:
    """The class again, for a class cannot be given slots later; defaults make way for them."""
    names = [each.name for each in known]
    inherited = {name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())}
    content = {**vars(cls), **methods}
    content["__slots__"] = tuple(name for name in names if name not in inherited)
    for name in (*names, "__dict__", "__weakref__"):
        content.pop(name, None)
    again = type(cls)(cls.__name__, cls.__bases__, content)
    again.__qualname__ = cls.__qualname__
    return again


def _initializer(cls: type, known: tuple[Field[Any], ...], puts: _Puts) -> Callable[..., None]:
    """Fields by name, and by position where that is permitted; every one is set once.

    `puts` will be what sets each field, which nobody knows before the class is made.
    """
    positional = [each.name for each in known if not each.kw_only]
    count = len(known)
    defaults = {each.name: each.default for each in known if each.default is not MISSING}
    factories = {
        each.name: each.default_factory for each in known if each.default_factory is not MISSING
    }
    finish: Callable[[Any], None] | None = getattr(cls, "__post_init__", None)

    def __init__(self: Any, *arguments: Any, **values: Any) -> None:  # noqa: N807 - becomes it
        if arguments:
            _place(cls, positional, arguments, values)
        if len(values) != count:
            values = {**defaults, **values}
            for name, make in factories.items():
                if name not in values:
                    values[name] = make()
        try:
            for name, put in puts:
                put(self, values[name])
        except KeyError:
            raise _mismatch(cls, values) from None
        if len(values) != count:
            raise _mismatch(cls, values)
        if finish is not None:
            finish(self)

    return __init__


def _place(
    cls: type, positional: list[str], arguments: tuple[Any, ...], values: dict[str, Any]
) -> None:
    """Give arguments without a name those of the first fields."""
    if len(arguments) > len(positional):
        raise TypeError(
            f"{cls.__name__} takes {len(positional)} positional arguments, got {len(arguments)}"
        )
    for name, value in zip(positional, arguments, strict=False):
        if name in values:
            raise TypeError(f"{cls.__name__} got two values for {name!r}")
        values[name] = value


def _mismatch(cls: Any, values: dict[str, Any]) -> TypeError:
    """Which fields there are too many, or too few; `values` has the defaults already."""
    names = [each.name for each in fields(cls)]
    unknown = [name for name in values if name not in names]
    if unknown:
        return TypeError(f"{cls.__name__} has no field {unknown[0]!r}")
    missing = ", ".join(repr(name) for name in names if name not in values)
    return TypeError(f"{cls.__name__} is missing {missing}")


def _setter(cls: type, name: str) -> Callable[[Any, Any], None]:
    """What sets a field of an object whose class refuses it."""
    for base in cls.__mro__:
        if name in vars(base) and hasattr(vars(base)[name], "__set__"):
            put: Callable[[Any, Any], None] = vars(base)[name].__set__
            return put

    def set_in_dict(instance: Any, value: Any) -> None:
        object.__setattr__(instance, name, value)

    return set_in_dict


def _values(names: Any) -> Callable[[Any], tuple[Any, ...]]:
    """The values of some fields, as a tuple."""
    chosen = tuple(names)
    if len(chosen) > 1:
        return attrgetter(*chosen)
    if not chosen:
        return lambda instance: ()
    (only,) = chosen
    get = attrgetter(only)
    return lambda instance: (get(instance),)


def _equality(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], Any]:
    def __eq__(self: Any, other: Any) -> Any:  # noqa: N807
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    return __eq__


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


def _representation(known: tuple[Field[Any], ...]) -> Callable[[Any], str]:
    shown = [each.name for each in known if each.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({inside})"

    return __repr__


def _refuse_assignment(self: Any, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass  # type checkers know this one
else:
    dataclass = _dataclass
