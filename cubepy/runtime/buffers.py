"""Arrays in the memory of a device.

A :class:`Buffer` is a memory that a device gave, with an element type, a shape and strides over it.
It is made by `Device.array` and `Device.empty`; launches take it like a NumPy array.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from cubepy.errors import ArgumentError, OutOfMemoryError, shown
from cubepy.ir import is_element
from cubepy.records import dataclass, field
from cubepy.runtime.dlpack import CPU_DEVICE, capsule_of
from cubepy.runtime.events import Uses
from cubepy.runtime.pool import Lease

if TYPE_CHECKING:
    from cubepy.runtime.base import Device

__all__ = ["Buffer", "empty_buffer", "row_major_strides", "wrapped_buffer"]


class _Referable:
    """What weak references may be made of."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Buffer(_Referable):
    """An array on a device. `offset` and `strides` count bytes, as NumPy's do.

    `view` is the same memory as a NumPy array, where it is the host's; `lease` keeps it from being
    used for anything else, `uses` are the launches on streams that work on it.
    """

    device: Device
    memory: Any
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    view: np.ndarray[Any, Any] | None = None
    lease: Lease | None = None
    uses: Uses = field(default_factory=Uses)

    @staticmethod
    def _refusal(problem: str) -> ArgumentError:
        return ArgumentError(
            f"{problem}\n"
            "  help: a device makes buffers: device.array(numbers), device.empty(shape, dtype)"
        )

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """A copy on the device of that name."""
        return _buffer_again, (self.device, self.numpy())

    @property
    def ndim(self) -> int:
        """Axes of the array."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements of the array."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a buffer without axes")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<Buffer {self.dtype} {self.shape} on {self.device.name}>"

    def numpy(self) -> np.ndarray[Any, Any]:
        """A NumPy array with the content, after all launches that write it; always a copy."""
        copied = np.empty(self.shape, self.dtype)
        self.uses.settle(writes=False)
        self.copy_to(copied)
        return copied

    def copy_to(self, array: np.ndarray[Any, Any]) -> None:
        """Fill a contiguous array of its shape and type, after launches given to no stream only."""
        if self.view is not None:
            np.copyto(array, self.view)
        elif array.nbytes:
            self.device.read(self.memory, array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:  # noqa: FBT001 - NumPy's protocol
        """As NumPy wants it: the memory itself where it is the host's and no copy is asked for."""
        if self.view is None or copy:
            if copy is False:
                raise ValueError(f"{self!r} cannot be seen by the host without a copy")
            array = self.numpy()
        else:
            array = self._shared()
        wanted = array.dtype if dtype is None else np.dtype(dtype)
        if copy is False and wanted != array.dtype:
            raise ValueError(f"{self!r} becomes {wanted} only by a copy")
        return array.astype(wanted, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU_DEVICE

    def __dlpack__(self, **wishes: Any) -> Any:
        """For consumers of DLPack: the memory itself where it is the host's, otherwise a copy."""
        if self.view is not None:
            return capsule_of(self._shared(), wishes)
        if wishes.pop("copy", None) is False:
            raise BufferError(f"{self!r} cannot be seen by the host without a copy")
        return capsule_of(self.numpy(), wishes)

    def __buffer__(self, flags: int) -> memoryview:
        """The buffer protocol, which classes written in Python have from 3.12 on."""
        array: Any = self._shared() if self.view is not None else self.numpy()
        return memoryview(array)

    def _shared(self) -> np.ndarray[Any, Any]:
        """The memory itself, once no stream works on it any more."""
        assert self.view is not None
        self.uses.settle(writes=True)
        return self.view

    def to(self, device: Device) -> Buffer:
        """The same content on another device; this buffer itself if it is there."""
        if not hasattr(device, "array"):  # the class of devices is above this file
            raise ArgumentError(
                f"a buffer goes to a Device, not to {device!r}\n  help: buffer.to(cb.device('cpu'))"
            )
        return self if device is self.device else device.array(self.numpy())


def row_major_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Byte strides of an array without gaps whose last axis is the fastest."""
    strides = [itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def empty_buffer(device: Device, shape: int | tuple[int, ...], dtype: Any) -> Buffer:
    """A buffer of arbitrary content on `device`."""
    try:
        element = np.dtype(dtype)
    except TypeError:
        raise ArgumentError(
            f"no element type of kernels is {dtype!r}\n  help: {_ELEMENTS}"
        ) from None
    if not is_element(element):
        raise ArgumentError(f"no element type of kernels is {element}\n  help: {_ELEMENTS}")
    extents = _extents(shape)
    size = math.prod(extents) * element.itemsize
    if size >= _MOST_BYTES:
        raise OutOfMemoryError(
            f"{device.name}: no room for a buffer of shape {shown(extents)}\n"
            "  help: its bytes are more than an address reaches: work on parts"
        )
    lease = device.pool.take(max(1, size))
    return Buffer(
        device=device,
        memory=lease.memory,
        dtype=element,
        shape=extents,
        strides=row_major_strides(extents, element.itemsize),
        view=device.host_view(lease, extents, element),
        lease=lease,
        uses=lease.uses,
    )


# What to do about elements that kernels do not have.
_ELEMENTS = "give a number or bool type of NumPy or ml_dtypes, for example np.float32"
# What an address reaches.
_MOST_BYTES = 1 << 63


def _several(shape: Any) -> tuple[int, ...]:
    try:
        return (operator.index(shape),)
    except TypeError:  # arrays have an __index__ too, which only those without axes allow
        return tuple(map(operator.index, shape))


def _extents(shape: object) -> tuple[int, ...]:
    """A shape, given as a number or several."""
    try:
        extents = _several(shape)
    except TypeError:
        raise ArgumentError(
            f"a buffer cannot have the shape {shown(shape)}\n"
            "  help: give a whole number, or a tuple of them"
        ) from None
    if any(extent < 0 for extent in extents):
        raise ArgumentError(
            f"a buffer cannot have the shape {shown(extents)}\n  help: use numbers from 0 on"
        )
    return extents


def wrapped_buffer(device: Device, array: np.ndarray[Any, Any]) -> Buffer:
    """A buffer that is the memory of a host array, on a device that works on it."""
    if not is_element(array.dtype):
        raise ArgumentError(f"no element type of kernels is {array.dtype}\n  help: {_ELEMENTS}")
    return Buffer(
        device=device,
        memory=device.wrap(array),
        dtype=array.dtype,
        shape=array.shape,
        strides=array.strides,
        view=array,
    )


def _buffer_again(device: Device, data: np.ndarray[Any, Any]) -> Buffer:
    return device.array(data)
