"""Arrays in the memory of a device.

A :class:`Buffer` is a memory that a device gave, with an element type, a shape and strides over it.
It is made by `Device.array` and `Device.empty`; launches take it like a NumPy array.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cubepy.errors import ArgumentError
from cubepy.ir import scalar_of_numpy
from cubepy.records import dataclass, field
from cubepy.runtime.events import Uses
from cubepy.runtime.pool import Lease

if TYPE_CHECKING:
    from cubepy.runtime.base import Device

__all__ = ["Buffer", "empty_buffer", "row_major_strides"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Buffer:
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
        if copied.nbytes:
            self.device.read(self.memory, copied)
        return copied

    def to(self, device: Device) -> Buffer:
        """The same content on another device; this buffer itself if it is there."""
        return self if device is self.device else device.array(self.numpy())


def row_major_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Byte strides of an array without gaps whose last axis is the fastest."""
    strides = [itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def empty_buffer(device: Device, shape: int | tuple[int, ...], dtype: Any) -> Buffer:
    """A buffer of arbitrary content on `device`."""
    element = np.dtype(dtype)
    if scalar_of_numpy(element) is None:
        raise ArgumentError(f"no element type of kernels is {element}")
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(extent < 0 for extent in extents):
        raise ArgumentError(f"a buffer cannot have the shape {extents}")
    lease = device.pool.take(max(1, math.prod(extents) * element.itemsize))
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
