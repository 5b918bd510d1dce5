"""Host arrays on devices with memory of their own: copied in before a launch, back after it.

Arrays that overlap share one device memory, so that a kernel sees them overlap there too. Only the
elements of arrays that the kernel writes are copied back; bytes between them stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubepy.records import dataclass
from cubepy.runtime.arguments import address_of, span_of
from cubepy.runtime.base import Device
from cubepy.runtime.pool import Lease

__all__ = ["Staged", "stage"]

Array = np.ndarray[Any, Any]
# Device memories are aligned to this, so addresses keep their remainder.
ALIGNMENT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """One host array in device memory: the element with all subscripts 0 is at byte `offset`."""

    array: Array
    lease: Lease
    offset: int
    size: int

    @property
    def memory(self) -> Any:
        """The device's own memory."""
        return self.lease.memory

    def copy_back(self, device: Device) -> None:
        """Bring the array's elements home."""
        if self.array.size:
            device_bytes = np.empty(self.size, np.uint8)
            device.read(self.memory, device_bytes)
            np.copyto(self.array, _view(self.array, device_bytes, self.offset))


def stage(device: Device, arrays: Sequence[Array]) -> list[Staged]:
    """Copy arrays to `device`; the result is in their order."""
    spans = [span_of(array) for array in arrays]
    order = sorted(range(len(arrays)), key=lambda number: spans[number][1])
    staged: dict[int, Staged] = {}
    while order:
        group = _take_overlapping(order, spans)
        low = spans[group[0]][1] // ALIGNMENT * ALIGNMENT
        size = max(spans[number][2] for number in group) - low
        image = np.zeros(max(1, size), np.uint8)
        members = [arrays[number] for number in group]
        for array in members:
            if array.size:
                np.copyto(_view(array, image, address_of(array) - low), array)
        lease = device.pool.take(image.nbytes)
        lease.uses.settle(writes=True)
        device.write(lease.memory, image)
        for number, array in zip(group, members, strict=True):
            offset = address_of(array) - low if array.size else 0
            staged[number] = Staged(array=array, lease=lease, offset=offset, size=image.nbytes)
    return [staged[number] for number in range(len(arrays))]


def _take_overlapping(order: list[int], spans: Sequence[tuple[int, int, int]]) -> list[int]:
    """Remove the first of `order`, and all that overlap it directly or through another."""
    group = [order.pop(0)]
    stop = spans[group[0]][2]
    while order and spans[order[0]][1] < stop:
        stop = max(stop, spans[order[0]][2])
        group.append(order.pop(0))
    return group


def _view(array: Array, image: Array, offset: int) -> Array:
    """The elements of `array`, as they lie in an image of the memory around it."""
    return np.ndarray(array.shape, array.dtype, image.data, offset, array.strides)
