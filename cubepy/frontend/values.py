"""What an expression of a kernel may be while it is lowered.

A scalar or a memory is an IR op; everything else is one of the small classes here: something known
while compiling, a group of values (a tuple, a struct), a function written inside the kernel, a
method with its owner, an n-D memory with some of its subscripts given. `flatten` takes a value
apart into what a call can hand over at run time and a :class:`Skeleton` that puts it together again
on the other side.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any, TypeVar

from cubepy.frontend.keys import comptime_key
from cubepy.ir import Op, Scalar, Type
from cubepy.records import dataclass, replace

__all__ = [
    "NONE",
    "POISON",
    "RECURSION",
    "Group",
    "Known",
    "LocalFunction",
    "Method",
    "Partial",
    "Poison",
    "Skeleton",
    "StructValue",
    "Text",
    "TupleValue",
    "Value",
    "VectorValue",
    "Vectorized",
    "VectorizedMethod",
    "flatten",
    "holds_poison",
    "is_memory",
    "is_number",
    "items_in_order",
    "kept",
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
class Partial:
    """A memory with fewer subscripts than axes: `tile[i]` of `tile[i][j]`."""

    memory: Op
    indices: tuple[Op, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A text of run-time values: a format of `str.format` with a hole for each of the values."""

    form: str
    values: tuple[Op, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Vectorized:
    """A memory whose elements are reached `count` at a time: `x.vectorized(4)`."""

    memory: Op
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class VectorizedMethod:
    """`x.vectorized`, to be called with a count."""

    memory: Op


@dataclass(frozen=True, slots=True, eq=False)
class Poison:
    """The result of something that was wrong and has been reported: anything goes with it."""


Value = (
    Op | Known | Group | Method | LocalFunction | Partial | Text
    | Vectorized | VectorizedMethod | Poison
)  # fmt: skip

POISON = Poison()
NONE = Known(None)
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


def is_memory(value: Value) -> bool:
    """Whether a value is an array: of the device, of the cube or of the unit."""
    return isinstance(value, Op) and hasattr(value.type, "rank")


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
    if isinstance(value, Partial):
        return _parts((value.memory, *value.indices), ("partial",), _partial, inside)
    if isinstance(value, Text):
        return _flatten_text(value, inside)
    if isinstance(value, Vectorized):
        return _flatten_view(value, inside)
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


def _flatten_view(value: Vectorized, inside: tuple[ast.AST, ...]) -> tuple[Skeleton, list[Op]]:
    def make(parts: tuple[Value, ...]) -> Value:
        (memory,) = parts
        assert isinstance(memory, Op)
        return Vectorized(memory, value.count)

    return _parts((value.memory,), ("vectorized", value.count), make, inside)


def _partial(parts: tuple[Value, ...]) -> Value:
    memory, *indices = (part for part in parts if isinstance(part, Op))
    return Partial(memory, tuple(indices))


def rebuild(skeleton: Skeleton, ops: Iterator[Op]) -> Value:
    """The value of a skeleton, its run-time parts taken from `ops`."""
    if skeleton.type is not None:
        return next(ops)
    if skeleton.known is not None:
        return skeleton.known
    assert skeleton.make is not None
    return skeleton.make(tuple(rebuild(part, ops) for part in skeleton.parts))
