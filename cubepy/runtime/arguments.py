"""Array arguments as a launch sees them: the memory they cover, the facts a kernel depends on.

A kernel is specialised for :class:`ArrayFacts` (element, stride classes, layout), never for sizes;
arrays with equal facts share it. Overlap of arguments becomes alias classes. Nothing here asks a
device.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from cubepy.errors import ArgumentError
from cubepy.ir import StrideClass
from cubepy.records import dataclass
from cubepy.runtime.buffers import Buffer
from cubepy.runtime.dlpack import from_dlpack

__all__ = [
    "DATA_WORD",
    "WORDS",
    "ArrayFacts",
    "Span",
    "address_of",
    "alias_classes",
    "array_of",
    "facts_of",
    "find_array",
    "host_array_of",
    "is_writable",
    "span_of",
    "stride_classes",
]

Array = np.ndarray[Any, Any]
#: The memory (0: the host's) and the bytes an array touches, from the first to behind the last.
Span = tuple[int, int, int]

#: That of an array without elements, wherever it points: it overlaps nothing.
EMPTY: Span = (0, 0, 0)
# Distances, in elements, that stand for a class where only the class matters.
_EXAMPLE = {
    StrideClass.ZERO: 0,
    StrideClass.ONE: 1,
    StrideClass.MINUS_ONE: -1,
    StrideClass.OTHER: 3,
}
_CLASSES = {0: StrideClass.ZERO, 1: StrideClass.ONE, -1: StrideClass.MINUS_ONE}

# NPY_ARRAY_WRITEABLE among the flags of an array, part of NumPy's binary interface.
_WRITEABLE = 0x0400


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayFacts:
    """What a specialisation knows of an array argument, and what a launch must check of it.

    `staged`: the elements do not lie as kernels need them (misaligned, or strides that are no
    multiple of the element), so a launch works on a copy. `shape` and `strides` are examples that
    have the classes; sizes are never part of a specialisation.
    """

    dtype: np.dtype[Any]
    classes: tuple[StrideClass, ...]
    writable: bool = True
    staged: bool = False

    @property
    def ndim(self) -> int:
        """Axes of the array."""
        return len(self.classes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Some shape of that rank."""
        return (2,) * len(self.classes)

    @property
    def strides(self) -> tuple[int, ...]:
        """Some strides, in bytes, of those classes."""
        return tuple(_EXAMPLE[kind] * self.dtype.itemsize for kind in self.classes)


def array_of(value: object, place: str) -> Array | Buffer:
    """An argument as a NumPy array on the same memory, or as the buffer it is.

    `place` opens the message of the ArgumentError for what is neither.
    """
    array = find_array(value, place)
    if array is None:
        raise ArgumentError(
            f"{place}: expected an array, got {type(value).__name__}\n"
            "  help: pass a NumPy array, a cubepy Buffer, or an object with DLPack or "
            "__array_interface__"
        )
    return array


def find_array(value: object, place: str) -> Array | Buffer | None:
    """The same, or None for what is no array; ArgumentError for one that kernels cannot use."""
    if isinstance(value, Buffer):
        return value
    array = host_array_of(value, place)
    if array is not None and not array.dtype.isnative:
        raise ArgumentError(
            f"{place} has the byte order of another machine (dtype {array.dtype.str})\n"
            "  help: pass a native array, n = x.astype(x.dtype.newbyteorder('=')); if the kernel "
            "writes it, copy back: x[...] = n"
        )
    return array


def host_array_of(value: Any, place: str) -> Array | None:
    """The host memory of an object as an array; None for what has no elements, such as numbers.

    Objects say how their memory is reached by `__array_interface__`, by DLPack, or by the protocol
    of buffers, which is asked last. Text and NumPy's scalars are no arrays.
    """
    if isinstance(value, np.generic):
        return None
    masked = sys.modules.get("numpy.ma")  # without it there is none; asking np.ma imports it
    if masked is not None and isinstance(value, masked.MaskedArray):
        raise ArgumentError(
            f"{place} is a masked array, and kernels know no masks\n"
            "  help: pass x.filled(…) or x.data"
        )
    if hasattr(value, "__array_interface__"):
        return _by_interface(value, place)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return from_dlpack(value, place)
    if hasattr(value, "__cuda_array_interface__"):
        raise ArgumentError(
            f"{place} is in the memory of a GPU, not of this process\n"
            "  help: copy it to the host first"
        )
    if isinstance(value, bytes | str | int | float | tuple | list) or value is None:
        return None
    try:
        memory = memoryview(value)
    except TypeError:
        return None
    return np.asarray(memory)


def _by_interface(value: Any, place: str) -> Array:
    try:
        return np.asarray(value)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ArgumentError(
            f"{place}: the __array_interface__ of {type(value).__name__} describes no array: "
            f"{error}\n  help: see that it has typestr, shape, data and version 3, as NumPy's do"
        ) from error


def facts_of(array: Array | Buffer) -> ArrayFacts:
    """The facts of one array."""
    itemsize = array.dtype.itemsize
    if isinstance(array, Buffer):
        classes = stride_classes(array.shape, array.strides, itemsize)
        writable = array.view is None or bool(array.view.flags.writeable)
        return ArrayFacts(dtype=array.dtype, classes=classes, writable=writable)
    flags = array.flags
    staged = not flags.aligned or any(stride % itemsize for stride in array.strides)
    contiguous = staged or flags.c_contiguous
    classes = (
        _row_major(array.ndim)
        if contiguous
        else stride_classes(array.shape, array.strides, itemsize)
    )
    return ArrayFacts(
        dtype=array.dtype, classes=classes, writable=is_writable(array), staged=staged
    )


def is_writable(array: Array) -> bool:
    """As `flags.writeable`, which warns of arrays from `broadcast_arrays` even if only read."""
    return bool(array.flags.num & _WRITEABLE)


def _row_major(rank: int) -> tuple[StrideClass, ...]:
    return (*(StrideClass.OTHER,) * (rank - 1), StrideClass.ONE) if rank else ()


@functools.lru_cache(4096)
def stride_classes(
    shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int
) -> tuple[StrideClass, ...]:
    """The class of each axis. The stride of an axis with fewer than two elements says nothing.

    Such an axis counts as row-major, so that sizes do not make new specialisations.
    """
    usual = _row_major(len(shape))
    return tuple(
        usual[axis]
        if length < 2
        else _CLASSES.get(stride // itemsize if stride % itemsize == 0 else 2, StrideClass.OTHER)
        for axis, (length, stride) in enumerate(zip(shape, strides, strict=True))
    )


def _plain_address(array: Array) -> int:
    return int(array.ctypes.data)


#: The process's memory as words of 8 bytes: number n stands at address 8 * n + 8, as none is at 0.
WORDS: Any = ctypes.cast(8, ctypes.POINTER(ctypes.c_uint64))


def _fast_address(
    array: Array,
    words: Sequence[int] = WORDS,
    before: int = object.__basicsize__ - 8,
) -> int:
    # The data pointer stands right behind the object's header; ctypes.data is ten times slower.
    return words[id(array) + before >> 3]


def _layout_is_known() -> bool:
    """Whether the short way gives the right address, tried on a few arrays."""
    if ctypes.sizeof(ctypes.c_void_p) != 8 or object.__basicsize__ % 8:
        return False
    whole = np.arange(12, dtype=np.int16).reshape(3, 4)
    return all(
        _fast_address(array) == _plain_address(array)
        for array in (whole, whole[1:, ::2], whole[::-1], np.zeros(0), np.float32(1) + np.ones(7))
    )


#: What to add to an array's `id` for eight times the number of the word with its address; None if
#: nobody knows.
DATA_WORD = object.__basicsize__ - 8 if _layout_is_known() else None
address_of = _plain_address if DATA_WORD is None else _fast_address


def span_of(array: Array | Buffer) -> Span:
    """The memory that an array touches; that of an empty array overlaps nothing."""
    if isinstance(array, Buffer):
        space, start = id(array.memory), array.offset
    else:
        space, start = 0, address_of(array)
        if array.flags.forc:  # elements without gaps, in either order
            return (space, start, start + array.nbytes) if array.nbytes else EMPTY
    if 0 in array.shape:
        return EMPTY
    low = high = start
    for length, stride in zip(array.shape, array.strides, strict=True):
        reach = (length - 1) * stride
        low, high = (low, high + reach) if reach > 0 else (low + reach, high)
    return (space, low, high + array.dtype.itemsize)


def alias_classes(spans: Sequence[Span]) -> tuple[int, ...]:
    """A number for each array: equal where two overlap, directly or through a third."""
    classes = list(range(len(spans)))
    for number, (space, low, high) in enumerate(spans):
        for earlier in range(number):
            other, start, stop = spans[earlier]
            if space == other and low < stop and start < high:
                old, new = classes[number], classes[earlier]
                classes = [new if entry == old else entry for entry in classes]
    return tuple(classes)
