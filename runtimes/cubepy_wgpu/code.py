"""A kernel that a device has built: its pipeline, its argument block, what it is given."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import wgpu

from cubepy.ir import BufferType
from cubepy.target import ArrayGroup, Artifact, Extra, array_groups
from cubepy_wgpu.clock import Clock
from cubepy_wgpu.commands import dispatch

__all__ = ["Code"]

_EXTRAS = struct.Struct(f"<{len(Extra)}i")
_USES = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST


class Code:
    """Launches of one kernel are encoded one after the other, under the device's lock.

    `groups` are the arrays of each binding. A bind group is kept for the memories it was made of,
    until somebody says that they are to go.
    """

    def __init__(self, device: Any, pipeline: Any, artifact: Artifact, clock: Clock | None) -> None:
        self.groups: tuple[ArrayGroup, ...] = array_groups(artifact.abi, artifact.access)
        self._device = device
        self._clock = clock
        self._pipeline = pipeline
        self._block = device.create_buffer(
            size=8 * len(artifact.abi.words) + _EXTRAS.size, usage=_USES
        )
        self._given: tuple[list[Any], Any] = ([], None)
        self._written: tuple[bytes, Any] = (b"", None)
        arrays = [n for n, each in enumerate(artifact.abi.types) if isinstance(each, BufferType)]
        self._bindings = [arrays.index(group.arguments[0]) for group in self.groups]

    def memories(self, arrays: Sequence[Any]) -> list[Any]:
        """The memory of each binding, from those of all arrays in order."""
        return [arrays[number] for number in self._bindings]

    def encode(self, memories: list[Any], words: bytes, parts: Iterable[Any]) -> None:
        """Give the queue the parts of a launch."""
        bound = self._bound(memories)
        queue = self._device.queue
        for first, count in parts:
            if self._written != (words, first):
                queue.write_buffer(self._block, 0, words + _EXTRAS.pack(*first, 0))
                self._written = (words, first)
            stamped = self._clock.wanted() if self._clock else None
            dispatch(self._device, self._pipeline, bound, count, stamped)

    def let_go(self) -> None:
        """Keep no memory alive."""
        self._given = ([], None)

    def _bound(self, memories: list[Any]) -> Any:
        before, bound = self._given
        return bound if bound is not None and before == memories else self._bind(memories)

    def _bind(self, memories: list[Any]) -> Any:
        entries = [
            {"binding": number, "resource": {"buffer": memory, "offset": 0, "size": memory.size}}
            for number, memory in enumerate((self._block, *memories))
        ]
        layout = self._pipeline.get_bind_group_layout(0)
        bound = self._device.create_bind_group(layout=layout, entries=entries)
        self._given = (memories, bound)
        return bound
