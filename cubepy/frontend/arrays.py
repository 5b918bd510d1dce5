"""What is known of an array or a view of one: elements, axes, lengths, strides, attributes."""

from __future__ import annotations

import ast

from cubepy.errors import CubeNameError, CubeTypeError, did_you_mean
from cubepy.frontend.comptime import UNKNOWN_VALUE, known_value
from cubepy.frontend.foreign_names import instead_of_call
from cubepy.frontend.frame import Frame
from cubepy.frontend.lengths import Length, Lengths
from cubepy.frontend.scalars import class_of
from cubepy.frontend.values import (
    ArrayMethod,
    ArrayValue,
    Axis,
    Encoded,
    Known,
    Mapped,
    Sliced,
    TupleValue,
    Value,
    format_of,
    memory_of,
)
from cubepy.ir import F32, BufferType, Op, PrivateType, Scalar, SharedType, ops

__all__ = [
    "array_attribute",
    "axis_length",
    "axis_stride",
    "element_of_array",
    "known_length",
    "lengths_of",
    "memory_type",
    "open_axes",
    "rank_of",
]

_METHODS = ("reshape", "view", "vectorized")
_ATTRIBUTES = ("shape", "strides", "ndim", "size", "dtype", *_METHODS)


def memory_type(memory: Op) -> BufferType | SharedType | PrivateType:
    """The type of an op known to be an array."""
    assert isinstance(memory.type, BufferType | SharedType | PrivateType)
    return memory.type


def element_of_array(array: ArrayValue) -> Scalar:
    """The type of the elements as kernels compute with them."""
    return memory_type(memory_of(array)).element if format_of(array) is None else F32


def open_axes(view: Sliced) -> list[tuple[int, Axis]]:
    """The axes that a view has, each with its number in the array below."""
    return [(number, axis) for number, axis in enumerate(view.axes) if axis.index is None]


def rank_of(array: ArrayValue) -> int:
    """How many axes it has."""
    if isinstance(array, Encoded):
        array = array.base
    if isinstance(array, Op):
        return memory_type(array).rank
    return len(open_axes(array)) if isinstance(array, Sliced) else len(array.shape)


def axis_length(frame: Frame, array: ArrayValue, axis: int, at: ast.AST) -> Length:
    """Elements along an axis."""
    if isinstance(array, Encoded):
        array = array.base
    if isinstance(array, Mapped):
        return Lengths(frame, at).of(array.shape[axis])
    if isinstance(array, Sliced):
        number, found = open_axes(array)[axis]
        if found.whole:
            return axis_length(frame, array.base, number, at)
        return Lengths(frame, at).of(found.length)
    type = memory_type(array)
    if isinstance(type, BufferType):
        return frame.emit(ops.LENGTH, array, at=at, attrs={"axis": axis})
    return type.shape[axis]


def known_length(frame: Frame, array: ArrayValue, axis: int) -> int | None:
    """Elements along an axis where that is known while compiling; emits nothing."""
    if isinstance(array, Encoded):
        array = array.base
    if isinstance(array, Mapped):
        return _known(frame, array.shape[axis])
    if isinstance(array, Sliced):
        number, found = open_axes(array)[axis]
        if found.whole:
            return known_length(frame, array.base, number)
        return _known(frame, found.length)
    type = memory_type(array)
    return None if isinstance(type, BufferType) else type.shape[axis]


def _known(frame: Frame, length: Value) -> int | None:
    found = known_value(frame, length)
    return None if found is UNKNOWN_VALUE else int(found)


def lengths_of(frame: Frame, array: ArrayValue, at: ast.AST) -> tuple[Length, ...]:
    """Elements along each axis."""
    return tuple(axis_length(frame, array, axis, at) for axis in range(rank_of(array)))


def axis_stride(frame: Frame, array: ArrayValue, axis: int, at: ast.AST) -> Length:
    """Elements of the memory between neighbours along an axis."""
    if isinstance(array, Encoded):
        array = array.base
    if isinstance(array, Mapped):
        raise frame.error(
            CubeTypeError,
            "the strides of a view whose elements lie anywhere",
            at,
            "only arrays and slices of them have strides",
        )
    if isinstance(array, Sliced):
        number, found = open_axes(array)[axis]
        below = axis_stride(frame, array.base, number, at)
        numbers = Lengths(frame, at)
        return below if found.whole else numbers.mul(below, numbers.of(found.step))
    type = memory_type(array)
    if isinstance(type, BufferType):
        return frame.emit(ops.STRIDE, array, at=at, attrs={"axis": axis})
    stride = 1
    for extent in type.shape[axis + 1 :]:
        stride *= extent
    return stride


def array_attribute(frame: Frame, array: ArrayValue, name: str, at: ast.AST) -> Value:
    """`x.shape`, `x.strides` (in elements), `x.ndim`, `x.size`, `x.dtype`, a method."""
    axes = range(rank_of(array))
    if name == "shape":
        return TupleValue(tuple(_length_value(frame, array, axis, at) for axis in axes))
    if name == "strides":
        strides = (axis_stride(frame, array, axis, at) for axis in axes)
        return TupleValue(tuple(_value(frame, stride, at) for stride in strides))
    if name == "ndim":
        return Known(len(axes))
    if name == "dtype":
        return Known(format_of(array) or class_of(element_of_array(array)))
    if name == "size":
        size = Lengths(frame, at).product(lengths_of(frame, array, at))
        return _value(frame, size, at)
    if name in _METHODS:
        return ArrayMethod(name, array)
    raise frame.error(
        CubeNameError,
        f"arrays in kernels have no attribute {name!r}",
        at,
        did_you_mean(name, list(_ATTRIBUTES))
        or instead_of_call(name)
        or f"they have {', '.join(_ATTRIBUTES[:-1])} and {_ATTRIBUTES[-1]}",
    )


def _length_value(frame: Frame, array: ArrayValue, axis: int, at: ast.AST) -> Value:
    return _value(frame, axis_length(frame, array, axis, at), at)


def _value(frame: Frame, length: Length, at: ast.AST) -> Op:
    """A length as kernels compute with it: an `index`."""
    return Lengths(frame, at).op(length)
