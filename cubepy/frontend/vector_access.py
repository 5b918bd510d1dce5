"""`x.vectorized(N)`: neighbouring elements of an array read and written as vectors.

Vector `i` is elements N·i to N·i + N - 1 along the last axis. It is inside or outside as a whole:
one test decides for all its elements, which a target may therefore read at once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from cubepy.errors import CubeTypeError, CubeValueError
from cubepy.frontend.calls import Call, calls_values, required
from cubepy.frontend.coercion import as_store
from cubepy.frontend.comptime import comptime_value
from cubepy.frontend.descriptions import describe
from cubepy.frontend.expressions import reads_attributes
from cubepy.frontend.fitting import opened
from cubepy.frontend.frame import Frame
from cubepy.frontend.memory import (
    WideElement,
    memory_length,
    memory_type,
    reads_widely,
    writes_widely,
)
from cubepy.frontend.python_functions import measures
from cubepy.frontend.scalars import class_of
from cubepy.frontend.values import (
    Known,
    TupleValue,
    Value,
    Vectorized,
    VectorizedMethod,
    VectorValue,
    is_memory,
)
from cubepy.frontend.vector_types import LONGEST, is_count
from cubepy.ir import INDEX, Op, SlotType, ops

__all__: list[str] = []


@reads_attributes
def attribute(frame: Frame, owner: Value, name: str, at: ast.AST) -> Value | None:
    """`x.vectorized` of an array; `shape`, `size`, `ndim`, `dtype` of what it gives."""
    if isinstance(owner, Op) and is_memory(owner) and name == "vectorized":
        return VectorizedMethod(owner)
    if not isinstance(owner, Vectorized):
        return None
    rank = memory_type(owner.memory).rank
    shape = TupleValue(tuple(_length(frame, owner, axis, at) for axis in range(rank)))
    known: dict[str, Value] = {
        "shape": shape,
        "ndim": Known(rank),
        "dtype": Known(class_of(memory_type(owner.memory).element)),
    }
    return known.get(name)


def _length(frame: Frame, view: Vectorized, axis: int, at: ast.AST) -> Op:
    """Vectors along an axis: fewer than elements along the last."""
    length = memory_length(frame, view.memory, axis, at)
    if axis < memory_type(view.memory).rank - 1:
        return length
    return frame.emit(ops.FLOOR_DIV, length, frame.const(INDEX, view.count, at), at=at)


@measures
def measure(frame: Frame, value: Value, at: ast.AST) -> Op | None:
    """`len(x.vectorized(N))`."""
    return _length(frame, value, 0, at) if isinstance(value, Vectorized) else None


@calls_values
def make(frame: Frame, target: Value, call: Call) -> Value | None:
    """`x.vectorized(N)`."""
    if not isinstance(target, VectorizedMethod):
        return None
    (operand,) = required(frame, call, "count")
    count = comptime_value(frame, operand.value, operand.node, "the number of elements")
    if not is_count(count):
        raise frame.error(
            CubeValueError,
            f"vectors of {count!r} elements",
            operand.node,
            f"a vector has 1, 2, 4 … {LONGEST} elements, a power of two",
        )
    return Vectorized(target.memory, count)


# ── reading and writing ──────────────────────────────────────────────────────────────────────────


@reads_widely
def read(frame: Frame, element: WideElement, at: ast.AST) -> Value:
    """The vector at some subscripts; zeros outside."""
    type = memory_type(element.memory).element
    places = range(element.count)
    check = frame.session.specialization.options.check
    if check == "unchecked":
        positions = _positions(frame, element, at)
        return VectorValue(tuple(_load(frame, element, each, check, at) for each in positions))
    slots = [
        frame.append_to(frame.builder.current, ops.LOCAL, SlotType(type), {"element": type}, at)
        for _ in places
    ]

    def inside() -> None:
        for slot, position in zip(slots, _positions(frame, element, at), strict=True):
            value = _load(frame, element, position, "unchecked", at)
            frame.emit(ops.STORE_LOCAL, slot, value, at=at)

    def outside() -> None:
        if check == "validate":
            _load(frame, element, _outside(frame, element, at), check, at)
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
        for position, item in zip(_positions(frame, element, at), values, strict=True):
            _store(frame, element, position, item, "unchecked", at)

    def outside() -> None:
        if check == "validate":
            _store(frame, element, _outside(frame, element, at), values[-1], check, at)

    if check == "unchecked":
        inside()
    else:
        _where_inside(frame, element, inside, outside, at)


def _values(frame: Frame, element: WideElement, value: Value, at: ast.AST) -> list[Op]:
    """The elements to be written, as stores convert them."""
    type = memory_type(element.memory).element
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
    return [as_store(frame, item, type, at, element.name) for item in items]


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
    view = Vectorized(element.memory, element.count)
    result: Op | None = None
    for axis, index in enumerate(element.indices):
        not_before = frame.emit(ops.GE, index, frame.const(INDEX, 0, at), at=at)
        below = frame.emit(ops.LT, index, _length(frame, view, axis, at), at=at)
        part = frame.emit(ops.BIT_AND, not_before, below, at=at)
        result = part if result is None else frame.emit(ops.BIT_AND, result, part, at=at)
    assert result is not None
    return result


def _positions(frame: Frame, element: WideElement, at: ast.AST) -> list[Op]:
    """Subscripts along the last axis of all elements."""
    size = frame.const(INDEX, element.count, at)
    first = frame.emit(ops.MUL, element.indices[-1], size, at=at)
    others = [
        frame.emit(ops.ADD, first, frame.const(INDEX, number, at), at=at)
        for number in range(1, element.count)
    ]
    return [first, *others]


def _outside(frame: Frame, element: WideElement, at: ast.AST) -> Op:
    """A subscript along the last axis that shows the fault: of the last element of the vector.

    For one so far off that it would wrap around, the vector's own.
    """
    index = element.indices[-1]
    axis = memory_type(element.memory).rank - 1
    length = memory_length(frame, element.memory, axis, at)
    not_before = frame.emit(ops.GE, index, frame.const(INDEX, 0, at), at=at)
    near = frame.emit(ops.BIT_AND, not_before, frame.emit(ops.LT, index, length, at=at), at=at)
    return frame.emit(ops.SELECT, near, _positions(frame, element, at)[-1], index, at=at)


def _load(frame: Frame, element: WideElement, position: Op, check: str, at: ast.AST) -> Op:
    indices = (*element.indices[:-1], position)
    return frame.emit(ops.LOAD, element.memory, *indices, at=at, attrs={"check": check})


def _store(
    frame: Frame, element: WideElement, position: Op, value: Op, check: str, at: ast.AST
) -> None:
    indices = (*element.indices[:-1], position)
    frame.emit(ops.STORE, element.memory, *indices, value, at=at, attrs={"check": check})
