"""The standard library's `dataclass`, without the time it takes to make a class.

The standard decorator takes up to a millisecond a class, for it writes methods as text, compiles
them, and looks for special annotations: most of the time that `import cubepy` would take. Here all
classes share functions that look up the fields; a call costs the same. To the standard library they
are dataclasses like its own, but it is imported only when it is asked about one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from operator import attrgetter
from reprlib import recursive_repr
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cubepy.late import late_import

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
        return _made(decorated, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq, repr=repr)

    return decorate if cls is None else decorate(cls)


def _made(cls: type, *, frozen: bool, slots: bool, kw_only: bool, eq: bool, repr: bool) -> type:
    own = {name for name, value in vars(cls).items() if value is not None}
    known = _fields(cls, kw_only=kw_only)
    puts: _Puts = []
    methods: dict[str, Any] = {
        _KNOWN: known,
        "__dataclass_fields__": _WhenAsked(_standard_fields, known),
        "__dataclass_params__": _WhenAsked(_standard_parameters, (frozen, eq, repr)),
        "__match_args__": tuple(each.name for each in known if not each.kw_only and each.init),
        "__init__": _initializer(cls, [each for each in known if each.init], puts),
    }
    if frozen:
        methods |= {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}
    if sys.version_info >= (3, 13):
        methods["__replace__"] = _replace
    if repr:
        methods["__repr__"] = _representation
    if eq:
        values = _values(each.name for each in known if each.compare)
        methods |= {"__eq__": _equality(values), "__hash__": _hash(values) if frozen else None}
    if slots and frozen:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name in own & methods.keys():
        del methods[name]
    made = _with_slots(cls, known, methods) if slots else cls
    for name, method in () if slots else methods.items():
        setattr(made, name, method)
    puts += [(each.name, _setter(made, each.name)) for each in known if each.init]
    return made


_Puts = list[tuple[str, Callable[[Any, Any], None]]]
_KNOWN = "__cubepy_fields__"
_MISSING: Any = object()
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class _Field:
    """One field, with the words of the standard library's."""

    __slots__ = (
        *("compare", "default", "default_factory", "init", "kw_only", "metadata", "name"),
        *("repr", "type"),
    )
    name: str
    type: Any

    def __init__(
        self,
        default: Any = _MISSING,
        *,
        default_factory: Any = _MISSING,
        init: bool = True,
        compare: bool = True,
        repr: bool = True,
        kw_only: bool | None = None,
        metadata: Mapping[Any, Any] = _NOTHING,
    ) -> None:
        assert init or default is _MISSING, "a field that no call gives is set by __post_init__"
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.compare = compare
        self.repr = repr
        self.kw_only = kw_only
        self.metadata = metadata


def _fields(cls: type, *, kw_only: bool) -> tuple[_Field, ...]:
    """Those of the bases and its own. A class keeps no `field(…)`, only plain defaults."""
    known: dict[str, _Field] = {}
    for base in cls.__mro__[-2:0:-1]:
        known |= {each.name: each for each in vars(base).get(_KNOWN, ())}
    content = vars(cls)
    for name, annotation in _annotations(cls).items():
        assert "ClassVar" not in str(annotation), f"{cls.__name__}.{name}: put it outside the class"
        one = content.get(name, _MISSING)
        assert one.__class__.__hash__, f"{cls.__name__}: a default that can change"
        if one.__class__ is not _Field:
            one = _Field(one)
        elif one.default is _MISSING:
            delattr(cls, name)
        else:
            assert one.default.__class__.__hash__, f"{cls.__name__}: a default that can change"
            setattr(cls, name, one.default)
        one.name, one.type = name, annotation
        if one.kw_only is None:
            one.kw_only = kw_only
        known[name] = one
    return tuple(known.values())


def _annotations(cls: type) -> Mapping[str, Any]:
    """A class's own, which from Python 3.14 on are not simply there."""
    if sys.version_info >= (3, 14):
        with late_import:
            import inspect  # noqa: PLC0415

        return inspect.get_annotations(cls)
    own: Mapping[str, Any] = vars(cls).get("__annotations__", {})
    return own


class _WhenAsked:
    """An attribute of a class that is made when somebody looks."""

    __slots__ = ("_about", "_made", "_make")

    def __init__(self, make: Callable[[Any], Any], about: Any) -> None:
        self._make = make
        self._about = about
        self._made: Any = None

    def __get__(self, instance: object, owner: type) -> Any:
        if self._made is None:
            self._made = self._make(self._about)
        return self._made


def _standard() -> Any:
    with late_import:
        import dataclasses  # noqa: PLC0415 - that is the point of all this

    return dataclasses


def _standard_fields(known: tuple[_Field, ...]) -> Mapping[str, Any]:
    """The fields as the standard library's own functions want to have them."""
    dataclasses = _standard()
    made = {}
    for each in known:
        one = dataclasses.field(
            default=dataclasses.MISSING if each.default is _MISSING else each.default,
            default_factory=(
                dataclasses.MISSING if each.default_factory is _MISSING else each.default_factory
            ),
            init=each.init,
            compare=each.compare,
            repr=each.repr,
            kw_only=each.kw_only,
            metadata=each.metadata,
        )
        one.name, one.type, one._field_type = each.name, each.type, dataclasses._FIELD  # noqa: SLF001
        made[each.name] = one
    return made


def _standard_parameters(options: tuple[bool, bool, bool]) -> Any:
    frozen, eq, repr = options
    made = _standard().dataclass(frozen=frozen, eq=eq, repr=repr)(type("_Standard", (), {}))
    return made.__dataclass_params__


def _replace(instance: Any, /, **changes: Any) -> Any:
    """A copy with other values for some fields."""
    known = getattr(type(instance), _KNOWN, None)
    if known is None:
        return _standard().replace(instance, **changes)
    values = {each.name: getattr(instance, each.name) for each in known if each.init}
    return type(instance)(**{**values, **changes})


def _own_fields(cls: Any) -> Any:
    """The fields of a class, or of an instance of one."""
    found = getattr(cls, _KNOWN, None)
    return _standard().fields(cls) if found is None else found


def _is_dataclass(value: object) -> bool:
    cls = value if isinstance(value, type) else type(value)
    return any("__dataclass_fields__" in vars(base) for base in cls.__mro__)


def _with_slots(cls: type, known: tuple[_Field, ...], methods: Mapping[str, Any]) -> type:
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


def _initializer(cls: type, known: list[_Field], puts: _Puts) -> Callable[..., None]:
    """Fields by name, and by position where that is permitted; every one is set once.

    `puts` will be what sets each field, which nobody knows before the class is made.
    """
    positional = [each.name for each in known if not each.kw_only]
    names = [each.name for each in known]
    complete = _completion(known)
    finish: Callable[[Any], None] | None = getattr(cls, "__post_init__", None)
    count = len(known)
    enough = count if len(positional) == count else -1  # positions say it all

    def __init__(self: Any, *arguments: Any, **values: Any) -> None:  # noqa: N807 - becomes it
        if len(arguments) == enough and not values:
            for (_, put), value in zip(puts, arguments):  # noqa: B905 - lengths are equal
                put(self, value)
        else:
            if arguments:
                _place(cls, positional, arguments, values)
            if len(values) != count:
                values = complete(values)
            try:
                for name, put in puts:
                    put(self, values[name])
            except KeyError:
                raise _mismatch(cls, names, values) from None
            if len(values) != count:
                raise _mismatch(cls, names, values)
        if finish is not None:
            finish(self)

    return __init__


def _completion(known: list[_Field]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What adds defaults to values."""
    defaults = {each.name: each.default for each in known if each.default is not _MISSING}
    factories = {
        each.name: each.default_factory for each in known if each.default_factory is not _MISSING
    }

    def complete(values: dict[str, Any]) -> dict[str, Any]:
        values = {**defaults, **values}
        for name, make in factories.items():
            if name not in values:
                values[name] = make()
        return values

    return complete


def _place(
    cls: type, positional: list[str], arguments: tuple[Any, ...], values: dict[str, Any]
) -> None:
    """Give arguments without a name those of the first fields."""
    if len(arguments) > len(positional):
        raise _refusal(cls, f"takes {len(positional)} positional arguments, got {len(arguments)}")
    for name, value in zip(positional, arguments, strict=False):
        if name in values:
            raise _refusal(cls, f"got two values for {name!r}")
        values[name] = value


def _mismatch(cls: type, names: list[str], values: dict[str, Any]) -> TypeError:
    """Which fields there are too many, or too few; `values` has the defaults already."""
    unknown = [name for name in values if name not in names]
    if unknown:
        return _refusal(cls, f"has no field {unknown[0]!r}")
    missing = ", ".join(repr(name) for name in names if name not in values)
    return _refusal(cls, f"is missing {missing}")


def _refusal(cls: type, problem: str) -> TypeError:
    """The error for arguments that do not fit; a class that users meet has a kind of its own."""
    kind: Callable[[str], TypeError] = getattr(cls, "_refusal", TypeError)
    return kind(f"{cls.__name__} {problem}")


def _setter(cls: type, name: str) -> Callable[[Any, Any], None]:
    """What sets a field of an object whose class refuses it."""
    for base in cls.__mro__:
        put: Callable[[Any, Any], None] | None = getattr(vars(base).get(name), "__set__", None)
        if put is not None:
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


@recursive_repr()
def _representation(self: Any) -> str:
    shown = (each.name for each in getattr(self, _KNOWN) if each.repr)
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{self.__class__.__qualname__}({inside})"


def _refuse_assignment(self: Any, name: str, value: object) -> None:
    raise _standard().FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise _standard().FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in _own_fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for each, value in zip(_own_fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


if TYPE_CHECKING:  # type checkers know these
    from dataclasses import dataclass, field, fields, is_dataclass, replace
else:
    dataclass, field, fields = _dataclass, _Field, _own_fields
    is_dataclass, replace = _is_dataclass, _replace
