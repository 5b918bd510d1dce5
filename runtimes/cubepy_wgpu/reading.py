"""Memories on their way to the host: copied into staging buffers, all in one submission.

A staging buffer takes as many memories as the limit on buffers allows, which is nearly always all
of them. It is mapped without waiting; the thread of wgpu-py that polls the device hears when the
mapping is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import wgpu

from cubepy.records import dataclass
from cubepy.runtime import Buffer, Event

if TYPE_CHECKING:
    from cubepy_wgpu.device import WgpuDevice

__all__ = ["Arrival", "send"]

_USES = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
# Copies begin and end at words; mapped arrays at the multiples that any element has.
_WORD, _ALIGNED = 4, 16
# Seconds between two looks at whether the device is still there.
_PATIENCE = 1.0
Read = tuple[Buffer, np.ndarray[Any, Any]]
Octets = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Staging:
    """A staging buffer, the promise of its mapping, and where the octets of each array begin."""

    buffer: Any
    promise: Any
    arrays: Sequence[tuple[Octets, int]]

    def hand_out(self) -> None:
        """Fill the arrays, once it is mapped; raises what the driver says if it is not."""
        self.promise.sync_wait()
        mapped = np.frombuffer(self.buffer.read_mapped(copy=False), np.uint8)
        for octets, start in self.arrays:
            octets[:] = mapped[start : start + octets.size]
        del mapped
        self.buffer.unmap()
        self.buffer.destroy()


class Arrival(Event):
    """All of it is mapped; who waits first fills the arrays."""

    def __init__(self, device: WgpuDevice, stagings: list[_Staging]) -> None:
        self._device = device
        self._stagings = stagings
        self._mapped = [each.promise._thread_event for each in stagings]  # noqa: SLF001

    @property
    def done(self) -> bool:
        return all(each.is_set() for each in self._mapped)

    def wait(self) -> None:
        """Others may use the device meanwhile."""
        for each in self._mapped:
            while not each.wait(_PATIENCE):
                self._device.alloc(1)  # a device that is gone says so, though nothing comes of it
        with self._device.driver("reading back"):
            while self._stagings:
                self._stagings[-1].hand_out()
                self._stagings.pop()

    @property
    def seconds(self) -> float:
        """When that is seen."""
        self.wait()
        return self._device.record().seconds


def send(device: Any, reads: Sequence[Read], largest: int) -> list[_Staging]:
    """Give the queue the copies; staging buffers have at most `largest` bytes."""
    filled = [
        (buffer.memory, array.reshape(-1).view(np.uint8)) for buffer, array in reads if array.nbytes
    ]
    encoder = device.create_command_encoder()
    sent = []
    for group in _groups(filled, largest):
        staging = device.create_buffer(size=group[-1][2] + _whole(group[-1][1].size), usage=_USES)
        for memory, octets, start in group:
            encoder.copy_buffer_to_buffer(memory, 0, staging, start, _whole(octets.size))
        sent.append((staging, [(octets, start) for _, octets, start in group]))
    device.queue.submit([encoder.finish()])
    return [
        _Staging(buffer=staging, promise=staging.map_async("READ_NOSYNC"), arrays=arrays)
        for staging, arrays in sent
    ]


def _whole(size: int) -> int:
    return -(-size // _WORD) * _WORD


def _groups(
    filled: Sequence[tuple[Any, Octets]], largest: int
) -> Iterator[list[tuple[Any, Octets, int]]]:
    """What shares a staging buffer, and where in it each memory begins."""
    group: list[tuple[Any, Octets, int]] = []
    stop = 0
    for memory, octets in filled:
        start = -(-stop // _ALIGNED) * _ALIGNED
        if group and start + _whole(octets.size) > largest:
            yield group
            group, start = [], 0
        group.append((memory, octets, start))
        stop = start + _whole(octets.size)
    if group:
        yield group
