"""What an expression of a kernel may be while it is lowered.

A scalar or a memory is an IR op; everything else is one of the small classes here: something known
while compiling, a tuple, a function written inside the kernel, an n-D memory with some of its
subscripts given. `flatten` takes a value apart into what a call can hand over at run time and a
:class:`Skeleton` that puts it together again on the other side.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cubepy.frontend.keys import comptime_key
from cubepy.ir import Op, Type
from cubepy.records import dataclass, field

__all__ = [
    "NONE",
    "POISON",
    "RECURSION",
    "Known",
    "LocalFunction",
    "Partial",
    "Poison",
    "Skeleton",
    "Text",
    "TupleValue",
    "Value",
    "flatten",
    "is_memory",
    "is_number",
    "kept",
    "rebuild",
]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A Python object known while compiling. A number is weak: it takes the type of its company.

    `kept`: a variable that is assigned it stays comptime; other numbers make a typed local.
    """

    value: Any
    kept: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TupleValue:
    """Several values. `maker` is the class of a named tuple, or None."""

    items: tuple[Value, ...]
    maker: Callable[..., Any] | None = None


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
class Poison:
    """The result of something that was wrong and has been reported: anything goes with it."""


Value = Op | Known | TupleValue | LocalFunction | Partial | Text | Poison

POISON = Poison()
NONE = Known(None)
RECURSION = object()  # what a function inside a kernel sees in place of itself


def kept(value: Value) -> Value:
    """A value whose numbers stay comptime when they are assigned."""
    if isinstance(value, TupleValue):
        return TupleValue(tuple(kept(item) for item in value.items), value.maker)
    return Known(value.value, kept=True) if isinstance(value, Known) else value


def is_memory(value: Value) -> bool:
    """Whether a value is an array: of the device, of the cube or of the unit."""
    return isinstance(value, Op) and hasattr(value.type, "rank")


def is_number(value: Value) -> bool:
    """Whether a value is a number or bool known while compiling."""
    return isinstance(value, Known) and isinstance(value.value, bool | int | float)


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    """A value without its run-time parts: `type` for one of those, `known`, or `parts`.

    `key` tells skeletons apart that make different code.
    """

    key: tuple[Any, ...]
    type: Type | None = None
    known: Known | None = None
    maker: Callable[..., Any] | None = None
    function: LocalFunction | None = None
    names: tuple[str, ...] = ()
    parts: tuple[Skeleton, ...] = field(default=())


def flatten(value: Value, inside: tuple[ast.AST, ...] = ()) -> tuple[Skeleton, list[Op]]:
    """The skeleton of a value and its run-time parts in order.

    `inside`: functions whose captured values are being flattened; they see no more of each other.
    """
    if isinstance(value, Op):
        return Skeleton(("op", value.type), type=value.type), [value]
    if isinstance(value, TupleValue):
        return _flatten_parts(value.items, ("tuple", value.maker), inside, maker=value.maker)
    if isinstance(value, LocalFunction) and value.node in inside:
        return flatten(Known(RECURSION))
    if isinstance(value, LocalFunction):
        captured = value.captured()
        names = tuple(captured)
        return _flatten_parts(
            tuple(captured.values()),
            ("local", id(value.node), names),
            (*inside, value.node),
            function=value,
            names=names,
        )
    if isinstance(value, Partial):
        return _flatten_parts((value.memory, *value.indices), ("partial",), inside)
    if isinstance(value, Text):
        return _flatten_parts(value.values, ("text", value.form), inside)
    if isinstance(value, Known):
        return Skeleton(("known", comptime_key(value.value)), known=value), []
    return Skeleton(("poison",)), []


def _flatten_parts(
    values: Sequence[Value], key: tuple[Any, ...], inside: tuple[ast.AST, ...], **fields: Any
) -> tuple[Skeleton, list[Op]]:
    pairs = [flatten(value, inside) for value in values]
    skeletons = tuple(skeleton for skeleton, _ in pairs)
    whole = (*key, *(skeleton.key for skeleton in skeletons))
    return Skeleton(whole, parts=skeletons, **fields), [op for _, ops in pairs for op in ops]


def rebuild(skeleton: Skeleton, ops: Iterator[Op]) -> Value:
    """The value of a skeleton, its run-time parts taken from `ops`."""
    if skeleton.type is not None:
        return next(ops)
    if skeleton.known is not None:
        return skeleton.known
    parts = tuple(rebuild(part, ops) for part in skeleton.parts)
    if skeleton.function is not None:
        captured = dict(zip(skeleton.names, parts, strict=True))
        function = skeleton.function
        return LocalFunction(function.node, function.owner, function.defaults, lambda: captured)
    if skeleton.key[0] == "partial":
        memory, *indices = (part for part in parts if isinstance(part, Op))
        return Partial(memory, tuple(indices))
    if skeleton.key[0] == "text":
        return Text(skeleton.key[1], tuple(part for part in parts if isinstance(part, Op)))
    return TupleValue(parts, skeleton.maker) if skeleton.key[0] == "tuple" else POISON
