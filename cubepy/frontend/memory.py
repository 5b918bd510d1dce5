"""Subscripts and attributes of arrays: loads, stores, shapes, strides."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from cubepy.errors import ComptimeError, CubeNameError, CubeTypeError, CubeValueError
from cubepy.frontend.coercion import Operand, as_index, as_store
from cubepy.frontend.comptime import UNKNOWN_VALUE, from_python, known_value
from cubepy.frontend.descriptions import counted, describe, snippet
from cubepy.frontend.dispatch import lower_expression, lowers_expression
from cubepy.frontend.frame import Frame
from cubepy.frontend.scalars import class_of
from cubepy.frontend.values import (
    POISON,
    Known,
    Partial,
    Poison,
    TupleValue,
    Value,
    Vectorized,
    VectorValue,
    is_memory,
)
from cubepy.ir import INDEX, BufferType, Op, PrivateType, SharedType, ops
from cubepy.records import dataclass

__all__ = [
    "Element",
    "WideElement",
    "element_of",
    "load",
    "memory_attribute",
    "memory_length",
    "memory_type",
    "reads_widely",
    "slices_groups",
    "store",
    "subscripts_groups",
    "writes_widely",
]


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array, its subscripts evaluated."""

    memory: Op
    indices: tuple[Op, ...]
    name: str


@dataclass(frozen=True, slots=True)
class WideElement(Element):
    """So many neighbouring elements along the last axis, as one vector."""

    count: int


def memory_type(memory: Op) -> BufferType | SharedType | PrivateType:
    """The type of an op known to be an array."""
    assert isinstance(memory.type, BufferType | SharedType | PrivateType)
    return memory.type


def memory_length(frame: Frame, memory: Op, axis: int, at: ast.AST) -> Op:
    """Elements along an axis: a constant for shared and private arrays."""
    type = memory_type(memory)
    if isinstance(type, BufferType):
        return frame.emit(ops.LENGTH, memory, at=at, attrs={"axis": axis})
    return frame.const(INDEX, type.shape[axis], at)


def memory_attribute(frame: Frame, memory: Op, name: str, at: ast.AST) -> Value:
    """`x.shape`, `x.strides` (in elements), `x.ndim`, `x.size`, `x.dtype`."""
    type = memory_type(memory)
    axes = range(type.rank)
    if name == "shape":
        return TupleValue(tuple(memory_length(frame, memory, axis, at) for axis in axes))
    if name == "strides":
        return TupleValue(tuple(_stride(frame, memory, axis, at) for axis in axes))
    if name == "ndim":
        return Known(type.rank)
    if name == "dtype":
        return Known(class_of(type.element))
    if name == "size":
        size = memory_length(frame, memory, 0, at)
        for axis in axes[1:]:
            size = frame.emit(ops.MUL, size, memory_length(frame, memory, axis, at), at=at)
        return size
    raise frame.error(
        CubeNameError,
        f"arrays in kernels have no attribute {name!r}",
        at,
        "they have shape, strides, ndim, size and dtype",
    )


def _stride(frame: Frame, memory: Op, axis: int, at: ast.AST) -> Op:
    type = memory_type(memory)
    if isinstance(type, BufferType):
        return frame.emit(ops.STRIDE, memory, at=at, attrs={"axis": axis})
    stride = 1
    for extent in type.shape[axis + 1 :]:
        stride *= extent
    return frame.const(INDEX, stride, at)


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
    if isinstance(owner, Partial | Vectorized) or is_memory(owner):
        element = _subscripted(frame, owner, node)
        return load(frame, element, node) if isinstance(element, Element) else element
    return _comptime_subscript(frame, owner, node)


def _single_axis(frame: Frame, node: ast.Subscript) -> Value | None:
    """`x.shape[axis]`: only that one length is read."""
    inner = node.value
    if not isinstance(inner, ast.Attribute) or inner.attr not in ("shape", "strides"):
        return None
    if not isinstance(inner.value, ast.Name) or inner.value not in frame.analysis.variables:
        return None
    owner = lower_expression(frame, inner.value)
    axis = lower_expression(frame, node.slice)
    if not isinstance(owner, Op) or not is_memory(owner):
        return None
    if not isinstance(axis, Known) or not isinstance(axis.value, int):
        return None
    rank = memory_type(owner).rank
    if not -rank <= axis.value < rank:
        raise frame.error(
            CubeValueError,
            f"axis {axis.value} of an array with {counted(rank, 'axis', 'axes')}",
            node.slice,
            f"axes count from 0: the last is {rank - 1}",
        )
    read = memory_length if inner.attr == "shape" else _stride
    return read(frame, owner, axis.value % rank, node)


def element_of(frame: Frame, node: ast.Subscript) -> Element | Poison:
    """The element that a subscript on the left of `=` names."""
    owner = lower_expression(frame, node.value)
    if isinstance(owner, Poison):
        return POISON
    if not isinstance(owner, Partial | Vectorized) and not is_memory(owner):
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
    if isinstance(element, Partial):
        raise _too_few(frame, element, node)
    return element


def _subscripted(
    frame: Frame, owner: Op | Partial | Value, node: ast.Subscript
) -> Element | Partial | Poison:
    memory, given = (owner.memory, owner.indices) if isinstance(owner, Partial) else (owner, ())
    memory = memory.memory if isinstance(memory, Vectorized) else memory
    assert isinstance(memory, Op)
    nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    indices = list(given)
    for position in nodes:
        if isinstance(position, ast.Slice):
            raise frame.error(
                CubeTypeError,
                "a slice in a kernel",
                position,
                "a kernel reads and writes single elements: write the loop out",
            )
        value = lower_expression(frame, position)
        if isinstance(value, Poison):
            return POISON
        items = value.items if isinstance(value, TupleValue) else (value,)
        indices += [_checked_index(frame, item, position) for item in items]
    rank = memory_type(memory).rank
    if len(indices) > rank:
        raise frame.error(
            CubeTypeError,
            f"{len(indices)} subscripts for an array with {counted(rank, 'axis', 'axes')}",
            node,
            "annotate it as Tensor[T] if it has more axes" if rank == 1 else "",
        )
    if isinstance(owner, Vectorized):
        if len(indices) < rank:
            raise _too_few(frame, Partial(memory, tuple(indices)), node)
        return WideElement(memory, tuple(indices), snippet(node.value), owner.count)
    if len(indices) < rank:
        return Partial(memory, tuple(indices))
    return Element(memory, tuple(indices), snippet(node.value))


def _checked_index(frame: Frame, value: Value, at: ast.AST) -> Op:
    known = known_value(frame, value)
    if known is not UNKNOWN_VALUE and isinstance(known, int) and known < 0:
        raise frame.error(
            CubeValueError,
            f"the subscript {known} is negative: arrays in kernels do not count from the end",
            at,
            f"write len(x) - {-known}",
        )
    return as_index(frame, value, at)


def _too_few(frame: Frame, partial: Partial, node: ast.AST) -> Exception:
    rank = memory_type(partial.memory).rank
    return frame.error(
        CubeTypeError,
        f"{counted(len(partial.indices), 'subscript')} for an array with {rank} axes",
        node,
        "give one subscript an axis: t[i, j]",
    )


def load(frame: Frame, element: Element, at: ast.AST) -> Value:
    """Read an element."""
    if isinstance(element, WideElement):
        return _WIDE_READERS[0](frame, element, at)
    check = frame.session.specialization.options.check
    return frame.emit(ops.LOAD, element.memory, *element.indices, at=at, attrs={"check": check})


def store(frame: Frame, element: Element, value: Value, at: ast.AST, value_node: ast.AST) -> None:
    """Write an element, converted as stores convert."""
    if isinstance(element, WideElement):
        _WIDE_WRITERS[0](frame, element, value, at, value_node)
        return
    type = memory_type(element.memory)
    op = as_store(frame, value, type.element, value_node, element.name)
    check = frame.session.specialization.options.check
    frame.emit(ops.STORE, element.memory, *element.indices, op, at=at, attrs={"check": check})


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


Subscripter = Callable[[Frame, Value, Operand, ast.AST], Value | None]
_SUBSCRIPTERS: list[Subscripter] = []


Slicer = Callable[[Frame, Value, slice, ast.AST], Value | None]
_SLICERS: list[Slicer] = []


def slices_groups(slicer: Slicer) -> Slicer:
    """Say which function slices values; it gives None for those it does not know."""
    _SLICERS.append(slicer)
    return slicer


def subscripts_groups(subscripter: Subscripter) -> Subscripter:
    """Say which function subscripts values; it gives None for those it does not know."""
    _SUBSCRIPTERS.append(subscripter)
    return subscripter


def _comptime_subscript(frame: Frame, owner: Value, node: ast.Subscript) -> Value:
    """An element of a tuple or of an object known while compiling."""
    if isinstance(node.slice, ast.Slice):
        return _sliced(frame, owner, node)
    position = lower_expression(frame, node.slice)
    if isinstance(position, Poison):
        return POISON
    for subscripter in _SUBSCRIPTERS:
        item = subscripter(frame, owner, Operand(position, node.slice), node)
        if item is not None:
            return item
    at = known_value(frame, position, plane=True)
    if at is UNKNOWN_VALUE:
        raise frame.error(
            ComptimeError,
            f"the subscript of {describe(owner)} must be known while compiling",
            node.slice,
            "loop with cb.unroll, or copy the elements to cb.local_array",
        )
    return _item(frame, owner, at, node)


def _item(frame: Frame, owner: Value, at: Any, node: ast.Subscript) -> Value:
    """`owner[at]` as Python finds it."""
    holder = owner.items if isinstance(owner, TupleValue) else getattr(owner, "value", None)
    if not hasattr(type(holder), "__getitem__") and not isinstance(holder, type):
        raise frame.error(
            CubeTypeError,
            f"cannot subscript {describe(owner)}",
            node,
            "only arrays, tuples and objects known while compiling have elements",
        )
    assert holder is not None
    try:
        found = holder[at]
    except Exception as error:
        inside = isinstance(error, IndexError) and hasattr(holder, "__len__")
        raise frame.error(
            CubeValueError,
            f"{snippet(node)}: {error}" if str(error) else f"{snippet(node)} cannot be read",
            node.slice,
            f"it has {counted(len(holder), 'element')}" if inside else "",
        ) from error
    return found if isinstance(owner, TupleValue) else from_python(frame, found, node)


def _sliced(frame: Frame, owner: Value, node: ast.Subscript) -> Value:
    assert isinstance(node.slice, ast.Slice)
    bounds = [_bound(frame, part) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
    if bounds[2] == 0:
        raise frame.error(CubeValueError, "the step of a slice is 0", node.slice)
    if isinstance(owner, TupleValue):
        return TupleValue(owner.items[slice(*bounds)])
    for slicer in _SLICERS:
        found = slicer(frame, owner, slice(*bounds), node)
        if found is not None:
            return found
    if isinstance(owner, Known) and isinstance(owner.value, Sequence):
        return Known(owner.value[slice(*bounds)])
    raise frame.error(CubeTypeError, f"cannot slice {describe(owner)}", node)


def _bound(frame: Frame, node: ast.expr | None) -> int | None:
    if node is None:
        return None
    value = known_value(frame, lower_expression(frame, node), plane=True)
    if not isinstance(value, int):
        raise frame.error(
            ComptimeError, "the bounds of a slice must be known while compiling", node
        )
    return value
