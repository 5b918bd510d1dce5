"""`x.vectorized(N)`: neighbouring elements of an array read and written as vectors.

Vector `i` is elements N·i to N·i + N - 1 along the last axis. It is inside or outside as a whole:
one test decides for all its elements, which a target may therefore read at once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from cubepy.errors import CubeTypeError, CubeValueError
from cubepy.frontend.arrays import axis_length, element_of_array, memory_type, rank_of
from cubepy.frontend.calls import Call, required
from cubepy.frontend.comptime import comptime_value
from cubepy.frontend.descriptions import describe
from cubepy.frontend.expressions import reads_attributes
from cubepy.frontend.fitting import opened
from cubepy.frontend.frame import Frame
from cubepy.frontend.lengths import Length, Lengths
from cubepy.frontend.memory import (
    Element,
    WideElement,
    bounds_attributes,
    decoded,
    encoded,
    fetched,
    put,
    reads_widely,
    writes_widely,
)
from cubepy.frontend.python_functions import measures
from cubepy.frontend.scalars import class_of
from cubepy.frontend.values import (
    ArrayValue,
    Known,
    TupleValue,
    Value,
    Vectorized,
    VectorValue,
    format_of,
    memory_of,
)
from cubepy.frontend.vector_types import is_count, lengths
from cubepy.frontend.views import array_method, place_of
from cubepy.ir import Op, SlotType, ops

__all__: list[str] = []


@reads_attributes
def attribute(frame: Frame, owner: Value, name: str, at: ast.AST) -> Value | None:
    """`shape`, `size`, `ndim`, `dtype` of `x.vectorized(N)`."""
    if not isinstance(owner, Vectorized):
        return None
    numbers = Lengths(frame, at)
    rank = rank_of(owner.array)
    shape = TupleValue(tuple(numbers.op(_length(frame, owner, axis, at)) for axis in range(rank)))
    known: dict[str, Value] = {
        "shape": shape,
        "ndim": Known(rank),
        "dtype": Known(format_of(owner.array) or class_of(element_of_array(owner.array))),
    }
    return known.get(name)


def _length(frame: Frame, view: Vectorized, axis: int, at: ast.AST) -> Length:
    """Vectors along an axis: fewer than elements along the last."""
    length = axis_length(frame, view.array, axis, at)
    if axis < rank_of(view.array) - 1:
        return length
    return Lengths(frame, at).quotient(length, view.count)


@measures
def measure(frame: Frame, value: Value, at: ast.AST) -> Op | None:
    """`len(x.vectorized(N))`."""
    if not isinstance(value, Vectorized):
        return None
    return Lengths(frame, at).op(_length(frame, value, 0, at))


@array_method("vectorized")
def make(frame: Frame, array: ArrayValue, call: Call) -> Value:
    """`x.vectorized(N)`."""
    (operand,) = required(frame, call, "count")
    count = comptime_value(frame, operand.value, operand.node, "the number of elements")
    if not is_count(count):
        raise frame.error(
            CubeValueError,
            f"vectors of {count!r} elements",
            operand.node,
            lengths(count),
        )
    return Vectorized(array, count)


# ── reading and writing ──────────────────────────────────────────────────────────────────────────


@reads_widely
def read(frame: Frame, element: WideElement, at: ast.AST) -> Value:
    """The vector at some subscripts; zeros outside."""
    return decoded(frame, format_of(element.array), _read(frame, element, at), at)


def _read(frame: Frame, element: WideElement, at: ast.AST) -> VectorValue:
    type = memory_type(memory_of(element.array)).element
    check = frame.session.specialization.options.check
    if check == "unchecked":
        places = _places(frame, element, at)
        return VectorValue(tuple(fetched(frame, place, at) for place in places))
    slots = [
        frame.append_to(frame.builder.current, ops.LOCAL, SlotType(type), {"element": type}, at)
        for _ in range(element.count)
    ]

    def inside() -> None:
        for slot, place in zip(slots, _places(frame, element, at), strict=True):
            frame.emit(ops.STORE_LOCAL, slot, fetched(frame, place, at), at=at)

    def outside() -> None:
        if check == "validate":
            _report(frame, element, at)
        for slot in slots:
            frame.emit(ops.STORE_LOCAL, slot, frame.const(type, 0, at), at=at)

    _where_inside(frame, element, inside, outside, at)
    return VectorValue(tuple(frame.emit(ops.LOAD_LOCAL, slot, at=at) for slot in slots))


@writes_widely
def write(
    frame: Frame, element: WideElement, value: Value, at: ast.AST, value_node: ast.AST
) -> None:
    """Write the vector at some subscripts; a number fills it. Outside nothing is written."""
    values = _values(frame, element, value, value_node)
    check = frame.session.specialization.options.check

    def inside() -> None:
        for place, item in zip(_places(frame, element, at), values, strict=True):
            put(frame, place, item, at)

    def outside() -> None:
        if check == "validate":
            _report(frame, element, at)

    if check == "unchecked":
        inside()
    else:
        _where_inside(frame, element, inside, outside, at)


def _values(frame: Frame, element: WideElement, value: Value, at: ast.AST) -> list[Op]:
    """The elements to be written, as stores convert them."""
    type, format = memory_type(memory_of(element.array)).element, format_of(element.array)
    value = opened(frame, value, at)
    items: Sequence[Value] = (value,) * element.count
    if isinstance(value, VectorValue):
        items = value.items
        if len(items) != element.count:
            raise frame.error(
                CubeTypeError,
                f"cannot store {describe(value)} where {element.count} elements are",
                at,
                f"write .vectorized({len(items)})",
            )
    return [encoded(frame, format, item, type, at, element.name) for item in items]


def _where_inside(
    frame: Frame,
    element: WideElement,
    inside: Callable[[], None],
    outside: Callable[[], None],
    at: ast.AST,
) -> None:
    condition = _is_inside(frame, element, at)
    regions = []
    for run in (inside, outside):
        with frame.branch() as opened_region:
            run()
        regions.append(opened_region.close())
    frame.emit(ops.IF, condition, at=at, regions=tuple(regions))


def _is_inside(frame: Frame, element: WideElement, at: ast.AST) -> Op:
    """Whether every subscript is from 0 to below the vectors along its axis."""
    view = Vectorized(element.array, element.count)
    numbers = Lengths(frame, at)
    result: Op | None = None
    for axis, subscript in enumerate(element.indices):
        index = numbers.op(subscript)
        not_before = frame.emit(ops.GE, index, numbers.op(0), at=at)
        below = frame.emit(ops.LT, index, numbers.op(_length(frame, view, axis, at)), at=at)
        part = frame.emit(ops.BIT_AND, not_before, below, at=at)
        result = part if result is None else frame.emit(ops.BIT_AND, result, part, at=at)
    assert result is not None
    return result


def _places(frame: Frame, element: WideElement, at: ast.AST) -> list[Element]:
    """Where all elements lie, which are inside along the axes that the vector is subscripted by.

    What the array is a view of may still end before them: an axis may be fixed at a place outside.
    """
    numbers = Lengths(frame, at)
    first = numbers.mul(element.indices[-1], element.count)
    inside = (True,) * len(element.indices)
    places = (
        place_of(
            frame, element.array, (*element.indices[:-1], numbers.add(first, number)), at, inside
        )
        for number in range(element.count)
    )
    return [Element(place, element.name) for place in places]


def _report(frame: Frame, element: WideElement, at: ast.AST) -> None:
    """Report the subscript that is outside, along the last axis that of the last element.

    For one so far off that it would wrap around, the vector's own.
    """
    numbers = Lengths(frame, at)
    last = len(element.indices) - 1
    for axis, subscript in enumerate(element.indices):
        index, length = numbers.op(subscript), axis_length(frame, element.array, axis, at)
        if axis == last:
            near = frame.emit(
                ops.BIT_AND,
                frame.emit(ops.GE, index, numbers.op(0), at=at),
                frame.emit(ops.LT, index, numbers.op(length), at=at),
                at=at,
            )
            end = numbers.add(numbers.mul(subscript, element.count), element.count - 1)
            index = numbers.op(numbers.where(near, end, index))
        name = element.name.partition(".vectorized")[0]
        attrs = bounds_attributes(name, axis, len(element.indices))
        frame.emit(ops.CHECK_BOUNDS, index, numbers.op(length), at=at, attrs=attrs)
