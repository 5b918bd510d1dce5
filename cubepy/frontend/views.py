"""Views of arrays: slices, rows, other shapes, layouts; and where their elements lie.

A view costs nothing at run time: a subscript of it becomes a subscript of the memory, under a test
that it lies within the view. What a slice selects lies inside of the array, so that it needs no
other test.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from cubepy.errors import CubeTypeError, CubeValueError
from cubepy.frontend.arrays import axis_length, lengths_of, rank_of
from cubepy.frontend.calls import Call, call_of, calls_values
from cubepy.frontend.coercion import Operand
from cubepy.frontend.descriptions import counted, describe
from cubepy.frontend.fitting import opened
from cubepy.frontend.frame import Frame
from cubepy.frontend.layouts import Layout
from cubepy.frontend.lengths import Length, Lengths, as_value
from cubepy.frontend.slices import slice_of
from cubepy.frontend.values import (
    NONE,
    ArrayMethod,
    ArrayValue,
    Axis,
    Encoded,
    Known,
    Mapped,
    Poison,
    Sliced,
    TupleValue,
    Value,
)
from cubepy.ir import Op
from cubepy.records import dataclass

__all__ = ["Guard", "Place", "array_method", "part_of", "place_of"]

Part = Length | ast.Slice


@dataclass(frozen=True, slots=True)
class Guard:
    """A subscript must be at least 0 and below a length: that of one of a view's axes."""

    index: Length
    length: Length
    axis: int
    axes: int


@dataclass(frozen=True, slots=True)
class Place:
    """An element of a memory. `guards`: what makes it one of the view. `tested`: whether the
    subscripts may lie outside of the memory nevertheless.
    """

    memory: Op
    indices: tuple[Op, ...]
    guards: tuple[Guard, ...]
    tested: bool


# ── parts of arrays ──────────────────────────────────────────────────────────────────────────────


def part_of(frame: Frame, array: ArrayValue, parts: Sequence[Part]) -> Sliced:
    """`array[parts]` where they are fewer than its axes, or some are slices."""
    rest = iter(enumerate(parts))
    base, before = (array.base, array.axes) if isinstance(array, Sliced) else (array, None)
    axes: list[Axis] = []
    for axis in before or (Axis(whole=True),) * rank_of(array):
        number, part = (0, None) if axis.index is not None else next(rest, (0, None))
        if part is None:
            axes.append(axis)
        elif isinstance(part, ast.Slice):
            axes.append(_sliced(frame, array, number, axis, part))
        else:
            given = as_value(part)
            axes.append(Axis(axis.start, axis.step, axis.length, whole=axis.whole, index=given))
    return Sliced(base, tuple(axes))


def _sliced(frame: Frame, array: ArrayValue, number: int, axis: Axis, part: ast.Slice) -> Axis:
    """A slice of one axis, in terms of the array below."""
    if part.lower is None and part.upper is None and part.step is None:
        return axis
    numbers = Lengths(frame, part)
    start, step, length = slice_of(frame, axis_length(frame, array, number, part), part)
    if not axis.whole:
        below = numbers.of(axis.step)
        start = numbers.add(numbers.of(axis.start), numbers.mul(below, start))
        step = numbers.mul(below, step)
    return Axis(as_value(start), as_value(step), as_value(length))


# ── places ───────────────────────────────────────────────────────────────────────────────────────


def place_of(
    frame: Frame,
    array: ArrayValue,
    indices: Sequence[Length],
    at: ast.AST,
    inside: Sequence[bool] | None = None,
) -> Place:
    """Where `array[indices]` lies; `inside` tells of each subscript whether it is known to be."""
    known = inside or (False,) * len(indices)
    numbers = Lengths(frame, at)
    if isinstance(array, Encoded):
        array = array.base
    if isinstance(array, Op):
        return Place(array, tuple(map(numbers.op, indices)), (), tested=not all(known))
    if isinstance(array, Mapped):
        return _mapped_place(frame, array, indices, at, known)
    given = iter(zip(indices, known, strict=True))
    below: list[Length] = []
    sure: list[bool] = []
    guards: list[Guard] = []
    count, rank = 0, sum(axis.index is None for axis in array.axes)
    for axis in array.axes:
        index, is_inside = next(given) if axis.index is None else (numbers.of(axis.index), False)
        if axis.whole:
            below.append(index)
            sure.append(is_inside)
        else:
            if not is_inside:
                guards.append(Guard(index, numbers.of(axis.length), count, rank))
            below.append(
                numbers.add(numbers.of(axis.start), numbers.mul(numbers.of(axis.step), index))
            )
            sure.append(True)
        count += axis.index is None
    return _behind(guards, place_of(frame, array.base, below, at, sure))


def _behind(guards: Sequence[Guard], place: Place) -> Place:
    return Place(place.memory, place.indices, (*guards, *place.guards), place.tested)


def _mapped_place(
    frame: Frame, array: Mapped, indices: Sequence[Length], at: ast.AST, known: Sequence[bool]
) -> Place:
    numbers = Lengths(frame, at)
    lengths = lengths_of(frame, array, at)
    guards = [
        Guard(index, length, axis, len(lengths))
        for axis, (index, length, inside) in enumerate(zip(indices, lengths, known, strict=True))
        if not inside
    ]
    if array.place is NONE:
        linear: Length = 0
        for index, length in zip(indices, lengths, strict=True):
            linear = numbers.add(numbers.mul(linear, length), index)
        below = _apart(frame, array.base, linear, at)
    else:
        below = _computed(frame, array, [numbers.op(index) for index in indices], at)
    sure = (array.inside,) * len(below)
    return _behind(guards, place_of(frame, array.base, below, at, sure))


def _apart(frame: Frame, array: ArrayValue, linear: Length, at: ast.AST) -> list[Length]:
    """The subscripts of an element counted row after row."""
    numbers = Lengths(frame, at)
    rest = linear
    found: list[Length] = []
    for axis in reversed(range(1, rank_of(array))):
        length = axis_length(frame, array, axis, at)
        found.append(numbers.rest(rest, length))
        rest = numbers.quotient(rest, length)
    return [rest, *reversed(found)]


def _computed(frame: Frame, array: Mapped, indices: list[Op], at: ast.AST) -> list[Length]:
    """What the function of a layout gives: a subscript, or one for each axis below."""
    operands = [Operand(index, at) for index in indices]
    value = opened(frame, call_of(frame, array.place, "layout", at, *operands), at)
    if isinstance(value, Poison):
        return [0] * rank_of(array.base)
    items = value.items if isinstance(value, TupleValue) else (value,)
    rank = rank_of(array.base)
    if len(items) != rank:
        raise frame.error(
            CubeTypeError,
            f"the layout gives {counted(len(items), 'subscript')} for an array with "
            f"{counted(rank, 'axis', 'axes')}",
            at,
            "give one for each axis of the array that is viewed",
        )
    return [Lengths(frame, at).of(item, "what a layout gives") for item in items]


# ── methods ──────────────────────────────────────────────────────────────────────────────────────


MethodHandler = Callable[[Frame, ArrayValue, Call], Value]
_METHODS: dict[str, MethodHandler] = {}


def array_method(name: str) -> Callable[[MethodHandler], MethodHandler]:
    """Say that a function lowers calls of a method of arrays (a name of `arrays.METHODS`)."""

    def remember(handler: MethodHandler) -> MethodHandler:
        _METHODS[name] = handler
        return handler

    return remember


@calls_values
def call_method(frame: Frame, callee: Value, call: Call) -> Value | None:
    """`x.reshape(…)`, `x.view(…)`; None for other values."""
    if not isinstance(callee, ArrayMethod):
        return None
    return _METHODS[callee.name](frame, callee.owner, call)


def _refuse_keywords(frame: Frame, call: Call, use: str) -> None:
    if call.keywords:
        raise frame.error(CubeTypeError, f"{call.name} takes no keywords", call.node, use)


def _extents(frame: Frame, values: Sequence[Value], at: ast.AST) -> list[Length]:
    items: Sequence[Value] = values
    if len(values) == 1:
        group = opened(frame, values[0], at)
        items = group.items if isinstance(group, TupleValue) else values
    if not items:
        raise frame.error(CubeTypeError, "a shape without axes", at, "give an extent for each axis")
    return [Lengths(frame, at).of(item, "an extent") for item in items]


@array_method("reshape")
def _reshaped(frame: Frame, array: ArrayValue, call: Call) -> Value:
    """Another shape of the same elements, row after row; one extent may be -1."""
    at = call.node
    _refuse_keywords(frame, call, "write x.reshape(rows, columns)")
    numbers = Lengths(frame, at)
    shape = _extents(frame, [operand.value for operand in call.positional], at)
    size = numbers.product(lengths_of(frame, array, at))
    open_places = [axis for axis, extent in enumerate(shape) if extent == -1]
    others = numbers.product(tuple(extent for extent in shape if extent != -1))
    _check_extents(frame, shape, open_places, at)
    fits = isinstance(size, int) and isinstance(others, int)
    wrong = fits and (size % others if open_places and others else size != others)  # type: ignore[operator]
    if wrong:
        raise frame.error(
            CubeValueError,
            f"cannot reshape {counted(size, 'element')} to "  # type: ignore[arg-type]
            f"({', '.join(map(str, shape))})",
            at,
            "the extents multiplied must be the number of elements",
        )
    for axis in open_places:
        shape[axis] = numbers.quotient(size, others)
    return Mapped(array, tuple(map(as_value, shape)), NONE, inside=bool(open_places) or fits)


def _check_extents(
    frame: Frame, shape: Sequence[Length], open_places: Sequence[int], at: ast.AST
) -> None:
    if len(open_places) > 1:
        raise frame.error(CubeValueError, "two extents are -1", at, "only one can be computed")
    for extent in shape:
        if isinstance(extent, int) and extent < -1:
            raise frame.error(CubeValueError, f"an extent is {extent}", at, "use numbers from 0 on")


@array_method("view")
def _viewed(frame: Frame, array: ArrayValue, call: Call) -> Value:
    """`x.view(layout)`, `x.view(shape, function)`."""
    at, use = call.node, "write x.view(layout), or x.view(shape, function)"
    _refuse_keywords(frame, call, use)
    values = [operand.value for operand in call.positional]
    if len(values) == 1 and isinstance(values[0], Known) and isinstance(values[0].value, Layout):
        layout = values[0].value
        return Mapped(array, tuple(map(Known, layout.shape)), Known(layout), inside=False)
    if len(values) != 2:
        given = describe(values[0]) if len(values) == 1 else counted(len(values), "argument")
        raise frame.error(
            CubeTypeError, f"x.view takes a cb.Layout, or a shape and a function, not {given}", at,
            use,
        )  # fmt: skip
    shape = _extents(frame, values[:1], at)
    if -1 in shape:
        raise frame.error(CubeValueError, "an extent is -1", at, "use numbers from 0 on")
    _check_extents(frame, shape, (), at)
    return Mapped(array, tuple(map(as_value, shape)), values[1], inside=False)
