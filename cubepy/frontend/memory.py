"""Subscripts of arrays: loads and stores, checked as the launch asks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from cubepy.errors import CubeTypeError, CubeValueError
from cubepy.frontend.arrays import (
    axis_length,
    axis_stride,
    element_of_array,
    known_length,
    rank_of,
)
from cubepy.frontend.calls import call_of
from cubepy.frontend.coercion import Operand, as_store
from cubepy.frontend.descriptions import counted, describe, element_of_value, snippet, subscripted
from cubepy.frontend.dispatch import lower_expression, lowers_expression
from cubepy.frontend.frame import Frame
from cubepy.frontend.items import item_of
from cubepy.frontend.lengths import Length, Lengths
from cubepy.frontend.stored_formats import StoredFormat
from cubepy.frontend.values import (
    POISON,
    ArrayValue,
    Known,
    Poison,
    Sliced,
    TupleValue,
    Value,
    Vectorized,
    VectorValue,
    as_array,
    format_of,
)
from cubepy.frontend.views import Guard, Part, Place, part_of, place_of
from cubepy.ir import BOOL, F32, F64, Op, Region, Scalar, SlotType, ops
from cubepy.records import dataclass

__all__ = [
    "Element",
    "WideElement",
    "access",
    "bounds_attributes",
    "checked_index",
    "decoded",
    "element_of",
    "encoded",
    "load",
    "reads_widely",
    "store",
    "writes_widely",
]


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array, its subscripts evaluated; `name` is the array's, for messages.

    `format` is what it is stored in, where that is no scalar.
    """

    place: Place
    name: str
    format: StoredFormat | None = None

    @property
    def type(self) -> Scalar:
        """The type in memory."""
        return element_of_array(self.place.memory)


@dataclass(frozen=True, slots=True)
class WideElement:
    """So many neighbouring elements along the last axis, as one vector."""

    array: ArrayValue
    indices: tuple[Length, ...]
    count: int
    name: str


# ── subscripts ───────────────────────────────────────────────────────────────────────────────────


@lowers_expression(ast.Subscript)
def lower_subscript(frame: Frame, node: ast.Subscript) -> Value:
    """`x[i]` of an array, a tuple, or an object known while compiling."""
    axis = _single_axis(frame, node)
    if axis is not None:
        return axis
    owner = lower_expression(frame, node.value)
    if isinstance(owner, Poison):
        return POISON
    if as_array(owner) is None and not isinstance(owner, Vectorized):
        return item_of(frame, owner, node)
    element = _subscripted(frame, owner, node)
    return element if isinstance(element, Sliced | Poison) else load(frame, element, node)


def _single_axis(frame: Frame, node: ast.Subscript) -> Value | None:
    """`x.shape[axis]`: only that one length is read."""
    inner = node.value
    if not isinstance(inner, ast.Attribute) or inner.attr not in ("shape", "strides"):
        return None
    if not isinstance(inner.value, ast.Name) or inner.value not in frame.analysis.variables:
        return None
    array = as_array(lower_expression(frame, inner.value))
    axis = lower_expression(frame, node.slice)
    if array is None or not isinstance(axis, Known) or not isinstance(axis.value, int):
        return None
    rank = rank_of(array)
    if not -rank <= axis.value < rank:
        raise frame.error(
            CubeValueError,
            f"axis {axis.value} of an array with {counted(rank, 'axis', 'axes')}",
            node.slice,
            f"axes count from 0: the last is {rank - 1}",
        )
    read = axis_length if inner.attr == "shape" else axis_stride
    return Lengths(frame, node).op(read(frame, array, axis.value % rank, node))


def element_of(frame: Frame, node: ast.Subscript) -> Element | WideElement | Poison:
    """The element that a subscript on the left of `=` names."""
    owner = lower_expression(frame, node.value)
    if isinstance(owner, Poison):
        return POISON
    if as_array(owner) is None and not isinstance(owner, Vectorized):
        name = snippet(node.value)
        raise frame.error(
            CubeTypeError,
            f"cannot assign to an element of {describe(owner)}",
            node,
            f"make another: {name} = cb.insert({name}, {snippet(node.slice)}, …)"
            if isinstance(owner, VectorValue)
            else "use cb.local_array for a small array of your own",
        )
    element = _subscripted(frame, owner, node)
    if isinstance(element, Sliced):
        raise _not_one_element(frame, owner, element, node)
    return element


def _subscripted(
    frame: Frame, owner: Value, node: ast.Subscript
) -> Element | WideElement | Sliced | Poison:
    array = owner.array if isinstance(owner, Vectorized) else as_array(owner)
    assert array is not None
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    parts: list[Part] = []
    for position in nodes:
        if isinstance(position, ast.Slice):
            parts.append(position)
            continue
        value = _position(frame, position)
        if isinstance(value, Poison):
            return POISON
        items = value.items if isinstance(value, TupleValue) else (value,)
        for item in items:
            length = _known_positions(frame, owner, len(parts))
            parts.append(checked_index(frame, item, position, length))
    rank = rank_of(array)
    if len(parts) > rank:
        raise frame.error(
            CubeTypeError,
            f"{len(parts)} subscripts for an array with {counted(rank, 'axis', 'axes')}",
            node,
            f"write {subscripted(node.value, rank)}"
            + (", or annotate it as Tensor[T] if it has more axes" if rank == 1 else ""),
        )
    indices = [part for part in parts if not isinstance(part, ast.Slice)]
    if isinstance(owner, Vectorized):
        if len(indices) < rank:
            raise _not_one_element(frame, array, part_of(frame, array, parts), node)
        return WideElement(array, tuple(indices), owner.count, snippet(node.value))
    if len(indices) < rank:
        return part_of(frame, array, parts)
    return Element(place_of(frame, array, indices, node), snippet(node.value), format_of(array))


def _position(frame: Frame, node: ast.expr) -> Value:
    """The value of a subscript; a division in it is told of the one way that makes sense here."""
    try:
        return lower_expression(frame, node)
    except CubeTypeError as error:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            raise frame.error(
                CubeTypeError,
                "a subscript must be an integer, and `/` gives fractions",
                node,
                f"write {snippet(ast.BinOp(node.left, ast.FloorDiv(), node.right))}",
            ) from error
        raise


def _known_positions(frame: Frame, owner: Value, axis: int) -> int | None:
    """How many subscripts an axis has, where that is known while compiling."""
    array = owner.array if isinstance(owner, Vectorized) else as_array(owner)
    assert array is not None
    last = rank_of(array) - 1
    length = known_length(frame, array, axis) if axis <= last else None
    if length is None or not isinstance(owner, Vectorized) or axis < last:
        return length
    return length // owner.count


def checked_index(frame: Frame, value: Value, at: ast.AST, length: int | None = None) -> Length:
    """A subscript; one known to be negative, or to lie behind the `length` of its axis, is an
    error.
    """
    index = Lengths(frame, at).of(value)
    if isinstance(index, int) and index < 0:
        raise frame.error(
            CubeValueError,
            f"the subscript {index} is negative: arrays in kernels do not count from the end",
            at,
            f"write len(x) - {-index}",
        )
    if isinstance(index, int) and length is not None and index >= length:
        raise frame.error(
            CubeValueError,
            f"the subscript {index} is outside: the axis has {counted(length, 'element')}",
            at,
            f"its subscripts are 0 to {length - 1}" if length > 1 else
            "its one subscript is 0" if length else "an empty array has no subscripts",
        )  # fmt: skip
    return index


def _not_one_element(frame: Frame, owner: Value, part: Sliced, node: ast.Subscript) -> Exception:
    array = as_array(owner)
    assert array is not None
    rank = rank_of(array)
    whole = all(axis.whole for axis in part.axes)
    if rank_of(part) == rank or not whole:
        how = f"{element_of_value(part, node)}, or loop over them" if whole else "loop over them"
        return frame.error(
            CubeTypeError,
            "an assignment to a slice",
            node,
            f"a kernel writes single elements: {how}",
        )
    given = counted(rank - rank_of(part), "subscript")
    return frame.error(
        CubeTypeError,
        f"{given} for an array with {counted(rank, 'axis', 'axes')}",
        node,
        f"give one subscript an axis: {element_of_value(part, node)}",
    )


# ── accesses ─────────────────────────────────────────────────────────────────────────────────────


def load(frame: Frame, element: Element | WideElement, at: ast.AST) -> Value:
    """Read an element."""
    if isinstance(element, WideElement):
        return _WIDE_READERS[0](frame, element, at)
    return decoded(frame, element.format, fetched(frame, element, at), at)


def fetched(frame: Frame, element: Element, at: ast.AST) -> Op:
    """What memory holds there, as it is."""
    place = element.place
    made = access(
        frame, element, at, element.type,
        lambda attrs: frame.emit(ops.LOAD, place.memory, *place.indices, at=at, attrs=attrs),
    )  # fmt: skip
    assert made is not None
    return made


def decoded(frame: Frame, format: StoredFormat | None, value: Value, at: ast.AST) -> Value:
    """What was read from memory as a number."""
    if format is None:
        return value
    return call_of(frame, Known(format.decode), "decode", at, Operand(value, at))


def encoded(
    frame: Frame, format: StoredFormat | None, value: Value, type: Scalar, at: ast.AST, name: str
) -> Op:
    """A number as it is to be written to elements of a type in memory."""
    if format is None:
        return as_store(frame, value, type, at, name)
    is_wide = isinstance(value, Op) and value.type == F64  # is rounded only once
    op = value if is_wide else as_store(frame, value, F32, at, name, kind=format.name)
    made = call_of(frame, Known(format.encode), "encode", at, Operand(op, at))
    assert isinstance(made, Op)
    return made


def store(
    frame: Frame, element: Element | WideElement, value: Value, at: ast.AST, value_node: ast.AST
) -> None:
    """Write an element, converted as stores convert."""
    if isinstance(element, WideElement):
        _WIDE_WRITERS[0](frame, element, value, at, value_node)
        return
    op = encoded(frame, element.format, value, element.type, value_node, element.name)
    put(frame, element, op, at)


def put(frame: Frame, element: Element, op: Op, at: ast.AST) -> None:
    """Have memory hold a value of its type there."""
    place = element.place
    access(
        frame, element, at, None,
        lambda attrs: frame.emit(ops.STORE, place.memory, *place.indices, op, at=at, attrs=attrs),
    )  # fmt: skip


WideReader = Callable[[Frame, WideElement, ast.AST], Value]
WideWriter = Callable[[Frame, WideElement, Value, ast.AST, ast.AST], None]
_WIDE_READERS: list[WideReader] = []
_WIDE_WRITERS: list[WideWriter] = []


def reads_widely(reader: WideReader) -> WideReader:
    """Say which function reads several elements as a vector."""
    _WIDE_READERS.append(reader)
    return reader


def writes_widely(writer: WideWriter) -> WideWriter:
    """Say which function writes a vector to several elements."""
    _WIDE_WRITERS.append(writer)
    return writer


Attributes = dict[str, Any]


def access(
    frame: Frame, element: Element, at: ast.AST, result: Scalar | None,
    act: Callable[[Attributes], Op],
) -> Op | None:  # fmt: skip
    """Do something to an element that lies in its view; elsewhere nothing, which gives 0.

    `act` is given the attribute that says how the memory's own bounds are tested.
    """
    check, place = frame.session.specialization.options.check, element.place
    if check == "unchecked":
        return act({"check": check})
    guards = [guard for guard in place.guards if not _holds(guard)]
    attributes = {"check": check if place.tested else "unchecked"}
    if check == "validate":
        for guard in guards:
            _validate(frame, guard, element.name, at)
    if not guards:
        return act(attributes)
    return _where_inside(frame, guards, at, result, lambda: act(attributes))


def _holds(guard: Guard) -> bool:
    known = isinstance(guard.index, int) and isinstance(guard.length, int)
    return known and 0 <= guard.index < guard.length  # type: ignore[operator]


def _validate(frame: Frame, guard: Guard, name: str, at: ast.AST) -> None:
    numbers = Lengths(frame, at)
    operands = (numbers.op(guard.index), numbers.op(guard.length))
    attrs = bounds_attributes(name, guard.axis, guard.axes)
    frame.emit(ops.CHECK_BOUNDS, *operands, at=at, attrs=attrs)


def bounds_attributes(name: str, axis: int, axes: int) -> Attributes:
    """What a test of a subscript says when it fails; that there is one axis goes without saying."""
    return {"name": name, "axis": axis, **({"axes": axes} if axes > 1 else {})}


def _where_inside(
    frame: Frame, guards: Sequence[Guard], at: ast.AST, result: Scalar | None,
    act: Callable[[], Op],
) -> Op | None:  # fmt: skip
    """An `if`, which leaves a result in a variable."""
    condition = _conjunction(frame, guards, at)
    slot: Op | None = None
    if result is not None:
        slot = frame.append_to(
            frame.builder.current, ops.LOCAL, SlotType(result), {"element": result}, at
        )
    with frame.branch() as inside:
        made = act()
        if slot is not None:
            frame.emit(ops.STORE_LOCAL, slot, made, at=at)
    with frame.branch() as outside:
        if slot is not None:
            assert result is not None
            zero = False if result is BOOL else 0
            frame.emit(ops.STORE_LOCAL, slot, frame.const(result, zero, at), at=at)
    regions = (inside.close(), outside.close() if slot is not None else Region())
    frame.emit(ops.IF, condition, at=at, regions=regions)
    return None if slot is None else frame.emit(ops.LOAD_LOCAL, slot, at=at)


def _conjunction(frame: Frame, guards: Sequence[Guard], at: ast.AST) -> Op:
    numbers = Lengths(frame, at)
    whole: Op | None = None
    for guard in guards:
        index = numbers.op(guard.index)
        tests = [frame.emit(ops.LT, index, numbers.op(guard.length), at=at)]
        if not isinstance(guard.index, int):
            tests.insert(0, frame.emit(ops.GE, index, numbers.op(0), at=at))
        for test in tests:
            whole = test if whole is None else frame.emit(ops.BIT_AND, whole, test, at=at)
    assert whole is not None
    return whole
