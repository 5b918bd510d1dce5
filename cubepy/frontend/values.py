"""What an expression of a kernel may be while it is lowered.

A scalar or a memory is an IR op; everything else is one of the small classes here: something known
while compiling, a group of values (a tuple, a struct), a function written inside the kernel, a
method with its owner, a view of an array. `flatten` takes a value
apart into what a call can hand over at run time and a :class:`Skeleton` that puts it together again
on the other side.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any, TypeVar

from cubepy.frontend.keys import comptime_key
from cubepy.frontend.stored_formats import StoredFormat
from cubepy.ir import Op, Scalar, Type
from cubepy.records import dataclass, replace

__all__ = [
    "NONE",
    "POISON",
    "RECURSION",
    "ArrayMethod",
    "ArrayValue",
    "Axis",
    "Encoded",
    "Group",
    "Known",
    "LocalFunction",
    "Mapped",
    "Method",
    "Poison",
    "Skeleton",
    "Sliced",
    "StructValue",
    "Text",
    "TupleValue",
    "Value",
    "VectorValue",
    "Vectorized",
    "as_array",
    "flatten",
    "format_of",
    "holds_number",
    "holds_poison",
    "is_memory",
    "is_number",
    "items_in_order",
    "kept",
    "memory_of",
    "rebuild",
    "same_kind",
    "with_items",
]

G = TypeVar("G", bound="Group")


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A Python object known while compiling. A number is weak: it takes the type of its company.

    `kept`: a variable that is assigned it stays comptime; other numbers make a typed local.
    """

    value: Any
    kept: bool = False


NONE = Known(None)


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Values that are assigned, handed over and returned together, each for itself.

    `maker`: the class of a named tuple or of a struct; None for a plain tuple.
    """

    items: tuple[Value, ...]
    maker: Callable[..., Any] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is besides its items."""
        return (type(self), self.maker)


class TupleValue(Group):
    """A tuple, or a named tuple: items are reached by number."""

    __slots__ = ()


class ListValue(TupleValue):
    """A tuple written in square brackets: a tuple in all but what messages call it."""

    __slots__ = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """That of a tuple."""
        return (TupleValue, self.maker)


class StructValue(Group):
    """A struct: items are reached by the names of its fields."""

    __slots__ = ()


class VectorValue(Group):
    """A vector: so many scalars of one type."""

    __slots__ = ()

    @property
    def element(self) -> Scalar:
        """The type of its elements."""
        type = getattr(self.items[0], "type", None)
        assert isinstance(type, Scalar)
        return type


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A function of a struct's class with the struct that it was reached through."""

    function: FunctionType
    owner: Value


@dataclass(frozen=True, slots=True, eq=False)
class LocalFunction:
    """A `def` or `lambda` inside a kernel. `captured` has the values of the names it reads there.

    `owner` is where it stands: names and constants it finds nowhere else are looked up there.
    """

    node: ast.FunctionDef | ast.Lambda
    owner: Any
    defaults: Mapping[str, Value]
    captured: Callable[[], Mapping[str, Value]]


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """What a view does with one axis of the array below: element i is `start + i * step` there.

    `whole`: the axis as it is; then `start`, `step`, `length` say nothing. `index`: the subscript
    that is given already, so that the view has no such axis.
    """

    start: Value = NONE
    step: Value = NONE
    length: Value = NONE
    whole: bool = False
    index: Value | None = None

    @property
    def values(self) -> tuple[Value, ...]:
        """What it is made of."""
        given = () if self.index is None else (self.index,)
        return given if self.whole else (self.start, self.step, self.length, *given)

    def with_values(self, values: Iterator[Value]) -> Axis:
        """The same of other values, taken from `values`."""
        start, step, length = (NONE if self.whole else next(values) for _ in range(3))
        index = None if self.index is None else next(values)
        return Axis(start, step, length, self.whole, index)


@dataclass(frozen=True, slots=True, eq=False)
class Sliced:
    """A part of an array: `x[lo:hi:step]`, `t[i]`. Everything in it lies inside of the array, but
    for subscripts of whole axes.
    """

    base: Op | Mapped | Encoded
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """An array whose elements lie in another one where `place` says, a function of the subscripts,
    or (None) row after row. `inside`: known to lie there.
    """

    base: Op | Sliced | Mapped | Encoded
    shape: tuple[Value, ...]
    place: Value
    inside: bool


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """An array whose elements are numbers of a format: decoded when read, encoded when written."""

    base: Op
    format: StoredFormat


@dataclass(frozen=True, slots=True, eq=False)
class ArrayMethod:
    """`x.reshape`, `x.view`, `x.vectorized`: a method of an array with the array."""

    name: str
    owner: Op | Sliced | Mapped | Encoded


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A text of run-time values: a format of `str.format` with a hole for each of the values."""

    form: str
    values: tuple[Op, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Vectorized:
    """An array whose elements are reached `count` at a time: `x.vectorized(4)`."""

    array: Op | Sliced | Mapped | Encoded
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Poison:
    """The result of something that was wrong and has been reported: anything goes with it."""


Value = (
    Op | Known | Group | Method | LocalFunction | Sliced | Mapped | Encoded | Vectorized
    | ArrayMethod | Text | Poison
)  # fmt: skip
ArrayValue = Op | Sliced | Mapped | Encoded

POISON = Poison()
RECURSION = object()  # what a function inside a kernel sees in place of itself


def kept(value: Value) -> Value:
    """A value whose numbers stay comptime when they are assigned."""
    if isinstance(value, Group):
        return with_items(value, [kept(item) for item in value.items])
    return Known(value.value, kept=True) if isinstance(value, Known) else value


def with_items(group: G, items: Iterable[Value]) -> G:
    """A group of the same kind."""
    return replace(group, items=tuple(items))


def items_in_order(value: Value) -> tuple[Value, ...] | None:
    """The items of what is reached by number, a tuple or a vector; None for other values."""
    return value.items if isinstance(value, TupleValue | VectorValue) else None


def same_kind(a: Value, b: Value) -> bool:
    """Whether two values are groups alike, item for item of the same meaning."""
    alike = isinstance(a, Group) and isinstance(b, Group) and a.key == b.key
    return alike and len(a.items) == len(b.items)  # type: ignore[union-attr]


def holds_poison(value: Value) -> bool:
    """Whether some part of a value was wrong and has been reported."""
    if isinstance(value, Group):
        return any(holds_poison(item) for item in value.items)
    return isinstance(value, Poison)


def holds_number(value: Value) -> bool:
    """Whether some part of a value is a number known while compiling; a bool has but one type."""
    if isinstance(value, Group):
        return any(holds_number(item) for item in value.items)
    return is_number(value) and not isinstance(getattr(value, "value", None), bool)


def is_memory(value: Value) -> bool:
    """Whether a value is an array: of the device, of the cube or of the unit."""
    return isinstance(value, Op) and hasattr(value.type, "rank")


def as_array(value: Value) -> ArrayValue | None:
    """The value if it is an array or a view of one."""
    if isinstance(value, Sliced | Mapped | Encoded):
        return value
    return value if isinstance(value, Op) and is_memory(value) else None


def memory_of(array: ArrayValue) -> Op:
    """The memory that an array's elements lie in."""
    while not isinstance(array, Op):
        array = array.base
    return array


def format_of(array: ArrayValue) -> StoredFormat | None:
    """The format that an array's elements are stored in; None where they are plain scalars."""
    while not isinstance(array, Op):
        if isinstance(array, Encoded):
            return array.format
        array = array.base
    return None


def is_number(value: Value) -> bool:
    """Whether a value is a number or bool known while compiling."""
    return isinstance(value, Known) and isinstance(value.value, bool | int | float)


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    """A value without its run-time parts: `type` for one of those, `known`, or `parts` and what
    makes the value of them.

    `key` tells skeletons apart that make different code.
    """

    key: tuple[Any, ...]
    type: Type | None = None
    known: Known | None = None
    parts: tuple[Skeleton, ...] = ()
    make: Callable[[tuple[Value, ...]], Value] | None = None


def flatten(value: Value, inside: tuple[ast.AST, ...] = ()) -> tuple[Skeleton, list[Op]]:
    """The skeleton of a value and its run-time parts in order.

    `inside`: functions whose captured values are being flattened; they see no more of each other.
    """
    if isinstance(value, Op):
        return Skeleton(("op", value.type), type=value.type), [value]
    if isinstance(value, Group):
        group = value
        return _parts(value.items, value.key, lambda items: with_items(group, items), inside)
    if isinstance(value, Method):
        return _flatten_method(value, inside)
    if isinstance(value, LocalFunction) and value.node in inside:
        return flatten(Known(RECURSION))
    if isinstance(value, LocalFunction):
        return _flatten_function(value, inside)
    if isinstance(value, Sliced | Mapped | Encoded | Vectorized | ArrayMethod):
        return _flatten_view(value, inside)
    if isinstance(value, Text):
        return _flatten_text(value, inside)
    if isinstance(value, Known):
        return Skeleton(("known", comptime_key(value.value)), known=value), []
    return Skeleton(("poison",), make=lambda _: POISON), []


def _parts(
    values: Sequence[Value],
    key: tuple[Any, ...],
    make: Callable[[tuple[Value, ...]], Value],
    inside: tuple[ast.AST, ...],
) -> tuple[Skeleton, list[Op]]:
    pairs = [flatten(value, inside) for value in values]
    skeletons = tuple(skeleton for skeleton, _ in pairs)
    whole = (*key, *(skeleton.key for skeleton in skeletons))
    return Skeleton(whole, parts=skeletons, make=make), [op for _, ops in pairs for op in ops]


def _flatten_method(value: Method, inside: tuple[ast.AST, ...]) -> tuple[Skeleton, list[Op]]:
    def make(parts: tuple[Value, ...]) -> Value:
        return Method(value.function, parts[0])

    return _parts((value.owner,), ("method", value.function), make, inside)


def _flatten_function(
    value: LocalFunction, inside: tuple[ast.AST, ...]
) -> tuple[Skeleton, list[Op]]:
    captured = value.captured()

    def make(parts: tuple[Value, ...]) -> Value:
        names = dict(zip(captured, parts, strict=True))
        return LocalFunction(value.node, value.owner, value.defaults, lambda: names)

    key = ("local", id(value.node), tuple(captured))
    return _parts(tuple(captured.values()), key, make, (*inside, value.node))


def _flatten_text(value: Text, inside: tuple[ast.AST, ...]) -> tuple[Skeleton, list[Op]]:
    def make(parts: tuple[Value, ...]) -> Value:
        return Text(value.form, tuple(part for part in parts if isinstance(part, Op)))

    return _parts(value.values, ("text", value.form), make, inside)


def _flatten_view(
    value: Sliced | Mapped | Encoded | Vectorized | ArrayMethod, inside: tuple[ast.AST, ...]
) -> tuple[Skeleton, list[Op]]:
    def make(parts: tuple[Value, ...]) -> Value:
        base: Any = parts[0]
        if isinstance(value, ArrayMethod):
            return ArrayMethod(value.name, base)
        if isinstance(value, Vectorized):
            return Vectorized(base, value.count)
        if isinstance(value, Encoded):
            return Encoded(base, value.format)
        if isinstance(value, Mapped):
            return Mapped(base, parts[2:], parts[1], value.inside)
        rest = iter(parts[1:])
        return Sliced(base, tuple(axis.with_values(rest) for axis in value.axes))

    if isinstance(value, ArrayMethod):
        return _parts((value.owner,), ("array method", value.name), make, inside)
    if isinstance(value, Vectorized):
        return _parts((value.array,), ("vectorized", value.count), make, inside)
    if isinstance(value, Encoded):
        return _parts((value.base,), ("encoded", value.format), make, inside)
    if isinstance(value, Mapped):
        values = (value.base, value.place, *value.shape)
        return _parts(values, ("mapped", value.inside), make, inside)
    key = ("sliced", tuple((axis.whole, axis.index is None) for axis in value.axes))
    given = [each for axis in value.axes for each in axis.values]
    return _parts((value.base, *given), key, make, inside)


def rebuild(skeleton: Skeleton, ops: Iterator[Op]) -> Value:
    """The value of a skeleton, its run-time parts taken from `ops`."""
    if skeleton.type is not None:
        return next(ops)
    if skeleton.known is not None:
        return skeleton.known
    assert skeleton.make is not None
    return skeleton.make(tuple(rebuild(part, ops) for part in skeleton.parts))
