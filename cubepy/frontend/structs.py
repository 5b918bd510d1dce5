"""`@struct`: frozen dataclasses that kernels build, take apart and are given.

On the host a struct is the dataclass it is. In a kernel its fields are values of their own, so what
counts here is which fields a class has, with which annotations and defaults.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

from cubepy.errors import ArgumentError, CubeTypeError, Diagnostic, did_you_mean
from cubepy.frontend.watched import is_fixed
from cubepy.late import late_import
from cubepy.location import UNKNOWN, Loc
from cubepy.records import dataclass, fields

if TYPE_CHECKING:
    import dataclasses

__all__ = ["Field", "fields_of", "how_to_make", "is_struct", "names_of", "struct", "written_method"]

T = TypeVar("T")
_MARK = "__cubepy_struct__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a struct. `default`: a tuple with its one default value, or empty."""

    name: str
    annotation: Any
    default: tuple[Any, ...] = ()
    keyword_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    """Where a class was defined: annotations that are text are evaluated there."""

    place: Loc
    names: Mapping[str, Any]
    local: Mapping[str, Any]


_FIELDS: weakref.WeakKeyDictionary[type, tuple[Field, ...]] = weakref.WeakKeyDictionary()
_ORIGINS: weakref.WeakKeyDictionary[type, _Origin] = weakref.WeakKeyDictionary()


@dataclass_transform(frozen_default=True)
def struct(cls: type[T]) -> type[T]:
    """Make a class a struct: a frozen dataclass that kernels know by its fields.

    Stands above a plain class, or above one that is a frozen dataclass already.
    """
    caller = sys._getframe(1)  # noqa: SLF001 (where the class stands, for errors and its names)
    place = Loc(file=caller.f_code.co_filename, line=caller.f_lineno)
    if not isinstance(cls, type):
        raise _refused(
            f"cb.struct stands above a class, not {cls!r}", place, "write it above `class Name:`"
        )
    if _is_known(cls):
        raise _refused(
            f"cb.struct stands above a class of yours, not {cls.__module__}.{cls.__qualname__}",
            place,
            "write a class with fields of that type",
        )
    if "__dataclass_fields__" not in cls.__dict__:
        try:
            with late_import:
                import dataclasses  # noqa: PLC0415 - most programs have no structs

            cls = dataclasses.dataclass(frozen=True)(cls)
        except TypeError as error:
            raise _refused(f"{cls.__name__}: {error}", place) from error
    _check(cls, place)
    setattr(cls, _MARK, True)
    if "__init__" in vars(cls):
        _explain(cls)
    local = {} if caller.f_locals is caller.f_globals else _mentioned(cls, caller.f_locals)
    _ORIGINS[cls] = _Origin(place=place, names=caller.f_globals, local=local)
    return cls


def _is_known(cls: type) -> bool:
    """Whether a class of Python, NumPy or cubepy is there already, as one just written is not."""
    names = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    return is_fixed(cls.__module__) and names.get(cls.__name__) is cls


def _mentioned(cls: type, names: Mapping[str, Any]) -> Mapping[str, Any]:
    """Those of some names that annotations of a class may mean, which are text."""
    texts = [text for text in inspect.get_annotations(cls).values()
             if isinstance(text, str)]  # fmt: skip
    return {name: names[name] for name in names if any(name in text for text in texts)}


def _refused(message: str, place: Loc, help: str = "") -> CubeTypeError:
    return CubeTypeError(Diagnostic(message=message, loc=place, help=help))


def _check(cls: type, place: Loc) -> None:
    if not getattr(cls, "__dataclass_params__").frozen:  # noqa: B009 (no such stub)
        raise _refused(
            f"the dataclass {cls.__name__} is not frozen: a struct is a value and never changes",
            place,
            "write @dataclass(frozen=True), or @cb.struct alone",
        )
    for name in ("__post_init__", "__init__", "__new__"):
        if written_method(cls, name) is not None:
            raise _refused(
                f"the struct {cls.__name__} has {name}, which kernels would not run",
                place,
                "compute the fields in a classmethod that makes the struct",
            )
    for field in fields(cls):
        if not field.init:
            raise _refused(
                f"the field {field.name} of struct {cls.__name__} is not given when it is made",
                place,
                "leave init=False out, or make it a property",
            )


def _explain(cls: type) -> None:
    """Let a wrong call of the class say which fields it has, as one in a kernel does."""
    made = vars(cls)["__init__"]

    @functools.wraps(made)
    def explained(self: object, *given: object, **named: object) -> None:
        try:
            made(self, *given, **named)
        except TypeError as error:
            reason = _misfit(cls, given, named)
            if not reason:
                raise
            raise ArgumentError(reason) from error

    setattr(cls, "__init__", explained)  # noqa: B010 (mypy knows better than to assign a method)


def _misfit(cls: type, given: Sequence[object], named: Mapping[str, object]) -> str:
    """What is wrong with the arguments of a call of a struct's class."""
    names, name = [field.name for field in fields(cls)], cls.__name__
    places = [field.name for field in fields(cls) if not field.kw_only]
    if len(given) > len(places):
        count = "1 field" if len(places) == 1 else f"{len(places)} fields"
        return f"{name} has {count}, got {len(given)}\n  help: {how_to_make(cls)}"
    for word in named:
        if word not in names:
            help = did_you_mean(word, names) or how_to_make(cls)
            return f"{name}: the field {word!r} is unknown\n  help: {help}"
        if word in places[: len(given)]:
            return f"{name}: the field {word!r} is given twice\n  help: {how_to_make(cls)}"
    for field in fields(cls):
        if field.name not in (*places[: len(given)], *named) and not _default(field):
            return f"{name}: the field {field.name!r} is missing\n  help: {how_to_make(cls)}"
    return ""


def how_to_make(cls: type) -> str:
    """A help line: the fields of a struct, and the methods of its class that make one."""
    names = ", ".join(field.name for field in fields(cls))
    makers = [
        f"{cls.__name__}.{name}(…)"
        for name, found in vars(cls).items()
        if isinstance(found, classmethod) and not name.startswith("_")
    ]
    text = f"its fields are ({names})" if names else "it has no fields"
    return f"{text}; {' or '.join(makers)} makes one" if makers else text


def is_struct(value: object) -> bool:
    """Whether an object is a class under `@struct`, or derived from one."""
    return isinstance(value, type) and any(_MARK in vars(base) for base in value.__mro__)


def written_method(cls: type, name: str) -> types.FunctionType | None:
    """A method that the class or a base of it writes out; None for those that dataclasses make."""
    found = inspect.getattr_static(cls, name, None)
    if not isinstance(found, types.FunctionType) or is_fixed(found.__globals__.get("__name__")):
        found = getattr(found, "__wrapped__", None) or found  # a kernel, or made by dataclasses
    if not isinstance(found, types.FunctionType):
        return None
    return None if found.__code__.co_qualname.startswith("__create_fn__") else found


def fields_of(cls: type) -> tuple[Field, ...]:
    """The fields of a struct in order, annotations evaluated where the class stands."""
    known = _FIELDS.get(cls)
    if known is None:
        annotations = _annotations(cls)
        known = _FIELDS[cls] = tuple(
            Field(
                name=field.name,
                annotation=annotations[field.name],
                default=_default(field),
                keyword_only=field.kw_only is True,
            )
            for field in fields(cls)
        )
    return known


def _default(field: dataclasses.Field[Any]) -> tuple[Any, ...]:
    with late_import:
        import dataclasses  # noqa: PLC0415

    if field.default is not dataclasses.MISSING:
        return (field.default,)
    if field.default_factory is not dataclasses.MISSING:
        return (field.default_factory(),)
    return ()


def _annotations(cls: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        for name, value in inspect.get_annotations(base).items():
            found[name] = _evaluated(base, name, value) if isinstance(value, str) else value
    return found


def _evaluated(cls: type, name: str, text: str) -> Any:
    """The object that an annotation's text means, by the one evaluator the library offers."""

    def holder() -> None: ...

    holder.__annotations__ = {name: text}
    names = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    origin = _ORIGINS.get(cls, _Origin(place=UNKNOWN, names=names, local={}))
    parameters = {each.__name__: each for each in getattr(cls, "__type_params__", ())}
    scope = {**origin.local, cls.__name__: cls, **parameters}
    try:
        return inspect.get_annotations(
            holder, globals=dict(origin.names), locals=scope, eval_str=True
        )[name]
    except Exception as error:
        raise _refused(
            f"the annotation {text!r} of the field {name} of {cls.__name__} cannot be evaluated: "
            f"{error}",
            origin.place,
            "import the names it uses where the struct is defined",
        ) from error


def names_of(maker: Any) -> tuple[str, ...]:
    """The names of the items of a struct's class or a named tuple's; none for other classes."""
    if is_struct(maker):
        return tuple(field.name for field in fields_of(maker))
    return tuple(getattr(maker, "_fields", ()))
